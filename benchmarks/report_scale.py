"""Ten million check rows: does a report of them fit into 4 GB, and how far is Spark from DuckDB?

    python benchmarks/report_scale.py [--runs N] [--cases N] [--folder DIR]

A history of ten runs, 32,000 cells and a million check rows each. First the whole report, with
everything that is derived from a run for the first time. Then four questions (the matrix, what differs
between two runs, percentiles, flakiness) to Spark and to DuckDB, on the same files, with two threads
each, in processes of their own. The answers must be equal; the ratio of what they cost is printed.
"""

from __future__ import annotations

import argparse
import json
import math
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from report_data import Size, cost, write_run

THREADS = 2
LIMIT_MB = 4_000
Answer = list[tuple[Any, ...]]


# -- the history -----------------------------------------------------------------------------------


def make_history(place: Path, size: Size, runs: int) -> Path:
    """One run that was really written and added; the others are copies of it with other values."""
    from jetproof_reports.history import History

    history = place / "history"
    with cost() as told:
        kept = History(history).add(write_run(place / "run", 0, size))
    print(f"  written and added {told.cpu:8.1f} CPU s, peak {told.peak_mb:.0f} MB", flush=True)
    for number in range(1, runs):
        copy = history / f"run_id=copy-{number:03}"
        copy.mkdir()
        for path in kept.folder.glob("*.parquet"):
            _copy(path, copy / path.name, number)
    return history


def _copy(source: Path, target: Path, number: int) -> None:
    """Block by block; times move, and so do some verdicts."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    run_id, started = f"copy-{number:03}", f"2026-02-{1 + number:02}T00:00:00.000Z"
    file = pq.ParquetFile(source)
    with pq.ParquetWriter(target, file.schema_arrow, compression="zstd") as out:
        for batch in file.iter_batches(256 * 1024):
            table = pa.Table.from_batches([batch])
            names = table.column_names

            def put(table: pa.Table, name: str, values: Any) -> pa.Table:
                field = table.schema.field(name)
                place = table.column_names.index(name)
                return table.set_column(place, field, pc.cast(values, field.type))

            table = put(table, "run_id", pa.array([run_id] * len(table)))
            if "ms" in names:
                table = put(table, "ms", pc.multiply(table["ms"], 1 + number / 100))
            for name in {"run_at"} | ({"started_at"} if target.stem == "run" else set()):
                if name in names:
                    table = put(table, name, pa.array([started] * len(table)))
            if target.stem == "cells":
                moved = [(n * 31 + number) % 997 == 0 for n in table["cell_no"].to_pylist()]
                table = put(table, "verdict", pc.if_else(pa.array(moved), "fail", table["verdict"]))
            out.write_table(table)


# -- the questions ---------------------------------------------------------------------------------


def whole_report(history: Path, out: Path) -> dict[str, Any]:
    from jetproof_reports.build import build
    from jetproof_reports.session import open_session

    with open_session(f"local[{THREADS}]") as spark:
        report = build([], out, spark=spark, history=history)
    return {"cells": report.rows["matrix"], "runs": len(report.runs)}


def ask_spark(history: Path) -> dict[str, Answer]:
    from pyspark.sql import functions as F

    from jetproof.results.changes import between_sides
    from jetproof_reports.history import History
    from jetproof_reports.questions import rows_of
    from jetproof_reports.reading import read_sources
    from jetproof_reports.session import open_session
    from jetproof_reports.tables import flakiness, latency
    from jetproof_reports.tables.cells import compared, latest

    kept = History(history).runs()
    with open_session(f"local[{THREADS}]") as spark:
        sources = read_sources(spark, [run.folder for run in kept])
        cells = sources.cells.withColumn("fingerprint", F.lit(None).cast("string"))
        a, b = (cells.where(F.col("run_id") == run.run_id) for run in (kept[0], kept[-1]))
        judged = latency.judged(sources.checks)
        tables = {
            "matrix": latest(cells).select("case", "server", "verdict", "run_id"),
            "percentiles": latency.exact_latency(judged).select(
                "case", "step", "server", "n", "p50", "p90", "p99"
            ),
            "flakiness": flakiness.flakiness(cells).select("case", "server", "runs", "flaky"),
        }
        sides = [rows_of(compared(side).toArrow()) for side in (a, b)]
        matched = ["server", "provider", "spec_revision", "client"]
        found = between_sides(*sides, "a", "b", matched)
        return {
            "diff": [(row["case"], row["server_a"], row["kind"]) for row in found],
            **{
                name: list(zip(*(column.to_pylist() for column in table.toArrow()), strict=True))
                for name, table in tables.items()
            },
        }


def ask_duckdb(history: Path) -> dict[str, Answer]:
    import duckdb

    from jetproof_reports.history import History

    kept = History(history).runs()
    database = duckdb.connect(config={"threads": THREADS})
    for name in ("cells", "checks"):
        files = f"{history}/*/{name}.parquet"
        database.execute(
            f"create view {name} as select * from read_parquet('{files}', hive_partitioning=false)"
        )
    broken = "verdict in ('fail', 'stale', 'known', 'warn')"
    questions = {
        "matrix": """
            select "case", server, arg_max(verdict, (run_at, run_id)), max_by(run_id, (run_at, run_id))
            from cells group by "case", server""",
        "diff": f"""
            select "case", server, case when b and not a then 'new-failure' when a and not b then
                'fixed' when a and (verdict_a <> verdict_b or reason_a <> reason_b)
                then 'changed-reason' when verdict_a <> verdict_b then 'changed-position' end as kind
            from (
                select "case", server,
                    any_value({broken}) filter (run_id = $a) as a,
                    any_value({broken}) filter (run_id = $b) as b,
                    any_value(verdict) filter (run_id = $a) as verdict_a,
                    any_value(verdict) filter (run_id = $b) as verdict_b,
                    any_value(reason) filter (run_id = $a) as reason_a,
                    any_value(reason) filter (run_id = $b) as reason_b
                from cells where run_id in ($a, $b) group by "case", server
            ) where kind is not null""",
        "percentiles": """
            select "case", step, server, count(*), quantile_cont(ms, 0.5), quantile_cont(ms, 0.9),
                quantile_cont(ms, 0.99) from checks where kind <> 'schema' group by all""",
        "flakiness": """
            select "case", server, count(distinct run_id), count(distinct verdict) > 1 from cells
            group by "case", server, case_hash, spec_hash, provider, build, topology, client, harness
            having count(*) > 1""",
    }
    sides = {"a": kept[0].run_id, "b": kept[-1].run_id}
    return {
        name: database.execute(sql, sides if "$a" in sql else None).fetchall()
        for name, sql in questions.items()
    }


ENGINES: dict[str, Callable[[Path], dict[str, Answer]]] = {"spark": ask_spark, "duckdb": ask_duckdb}


def equal(one: Answer, other: Answer) -> bool:
    """The same rows; numbers that were interpolated may differ in their last digit."""

    def same(a: Any, b: Any) -> bool:
        return math.isclose(a, b, rel_tol=1e-9) if isinstance(a, float) else bool(a == b)

    if len(one) != len(other):
        return False
    pairs = zip(
        *(sorted(rows, key=lambda row: repr(row[:3])) for rows in (one, other)), strict=True
    )
    return all(same(a, b) for row, others in pairs for a, b in zip(row, others, strict=True))


# -- putting it together ----------------------------------------------------------------------------


def in_a_process(*arguments: str) -> dict[str, Any]:
    command = [sys.executable, __file__, "--child", *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def child(what: str, history: Path, out: Path) -> None:
    with cost() as told:
        made: Any = whole_report(history, out) if what == "report" else ENGINES[what](history)
    if what != "report":
        out.write_bytes(pickle.dumps(made))
        made = {name: len(rows) for name, rows in made.items()}
    print(json.dumps({"cpu": told.cpu, "wall": told.wall, "peak": told.peak_mb, "made": made}))


def shown(what: str, told: dict[str, Any]) -> None:
    print(f"  {what:17} {told['cpu']:8.1f} CPU s {told['wall']:8.1f} s, peak {told['peak']:.0f} MB")
    print(f"  {'':17} {told['made']}", flush=True)


def main(place: Path, size: Size, runs: int) -> None:
    print(f"{runs} runs of {size.cells:,} cells: {runs * size.cells * size.checks:,} check rows")
    history = make_history(place, size, runs)
    report = in_a_process("report", str(history), str(place / "out"))
    shown("report", report)
    print(f"  memory: {report['peak'] / LIMIT_MB:.2f} of 4 GB")
    told = {}
    for engine in ENGINES:
        told[engine] = in_a_process(engine, str(history), str(place / engine))
        shown(engine, told[engine])
    answers = [pickle.loads((place / engine).read_bytes()) for engine in ENGINES]
    for question in answers[0]:
        assert equal(answers[0][question], answers[1][question]), f"{question}: answers differ"
    print(f"  equal answers: {', '.join(answers[0])}")
    for what in ("cpu", "wall"):
        print(f"  Spark / DuckDB by {what}: {told['spark'][what] / told['duckdb'][what]:.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=10, metavar="N")
    parser.add_argument("--cases", type=int, default=1_000, metavar="N")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where 300 MB have room")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        kind, kept_in, target = arguments.child
        child(kind, Path(kept_in), Path(target))
    else:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as scratch:
            main(Path(scratch), Size(arguments.cases, 32, 32, 2), arguments.runs)
