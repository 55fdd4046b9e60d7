"""The same questions, asked of the same files in SQL by another engine, get the same answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from jetproof_reports.history import History, KeptRun

Rows = list[dict[str, Any]]
Tables = dict[str, Rows]
Ask = Callable[[str], list[tuple[Any, ...]]]

NEWEST = """
    with newest as (
        select * from cells
        qualify row_number() over (
            partition by "case", spec_revision, topology, client, provider, server
            order by run_at desc, run_id desc, attempt desc
        ) = 1
    )
"""


@pytest.fixture(scope="module")
def ask(kept: tuple[History, list[KeptRun]]) -> Ask:
    """Runs SQL over the Parquet files of the history."""
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    database = duckdb.connect()
    for name in ("run", "cells", "checks", "frames", "clauses"):
        files = f"{kept[0].folder}/*/{name}.parquet"
        database.execute(
            f"create view {name} as select * from read_parquet('{files}', hive_partitioning=false)"
        )

    def run(sql: str) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = database.execute(sql).fetchall()
        return rows

    return run


def sorted_rows(rows: Rows, *names: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(row[name] for name in names) for row in rows), key=repr)


def test_matrix(tables: Tables, ask: Ask) -> None:
    names = ("case", "server", "verdict", "reason", "run_id", "attempt", "release_key")
    told = ask(
        f'{NEWEST} select "case", server, verdict, reason, run_id, attempt, release_key from newest'
    )
    assert sorted_rows(tables["matrix"], *names) == sorted(told, key=repr)


def test_verdict_changes_from_release_to_release(tables: Tables, ask: Ask) -> None:
    told = ask(f"""{NEWEST}
        select "case", before, server, verdict_before, verdict from (
            select "case", server, verdict,
                lag(server) over w as before, lag(verdict) over w as verdict_before
            from newest where verdict not in ('n/a', 'error')
            window w as (partition by "case", topology, client, provider order by release_key)
        ) where verdict <> verdict_before
    """)
    rows = [row for row in tables["first_change"] if row["what"] == "verdict"]
    names = ("case", "from_server", "to_server", "from_value", "to_value")
    assert sorted_rows(rows, *names) == sorted(told, key=repr)
    assert told


def test_flakiness(tables: Tables, ask: Ask) -> None:
    told = ask("""
        select "case", server, count(distinct run_id), count(distinct verdict) > 1 from cells
        group by "case", case_hash, server, provider, topology, client having count(*) > 1
    """)
    assert sorted_rows(tables["flakiness"], "case", "server", "runs", "flaky") == sorted(
        told, key=repr
    )


def test_exact_percentiles(tables: Tables, ask: Ask) -> None:
    told = ask("""
        with trips as (
            select run_id, cell_no, "case", server,
                case when direction = '>' then reply else subject end as inbox,
                min(case when direction = '>' then ms end) as asked,
                arg_min(step, ms) filter (direction = '>') as step,
                min(case when direction = '<' then ms end) as answered
            from frames where direction <> '!' group by all having asked is not null
        ), samples as (
            select 'reply' as measure, "case", step, server, answered - asked as ms
            from trips where inbox <> '' and answered >= asked
            union all select 'judged', "case", step, server, ms from checks where kind <> 'schema'
        )
        select measure, "case", step, server, count(*), quantile_cont(ms, 0.5),
            quantile_cont(ms, 0.9), quantile_cont(ms, 0.99), max(ms)
        from samples group by all
    """)
    key = ("measure", "case", "step", "server")
    ours = {tuple(row[name] for name in key): row for row in tables["latency"]}
    assert ours.keys() == {row[:4] for row in told}
    for row in told:
        mine = ours[row[:4]]
        assert mine["n"] == row[4]
        assert [mine[name] for name in ("p50", "p90", "p99", "max")] == pytest.approx(row[5:])


def test_covered_clauses(tables: Tables, ask: Ask) -> None:
    told = ask(f"""{NEWEST}, played as (
            select unnest(clauses) as clause, "case", server from newest
            where verdict not in ('n/a', 'error') and provider <> 'reference'
        )
        select c.clause, count(distinct p."case"), count(distinct p.server)
        from (select distinct clause from clauses) c left join played p using (clause) group by 1
    """)
    ours = [(row["clause"], len(row["cases"]), row["servers_run"]) for row in tables["coverage"]]
    assert sorted(ours) == sorted(told)


def test_error_codes(tables: Tables, ask: Ask) -> None:
    told = ask("""
        select cast(code as int), count(*), list_sort(list(distinct "case")) from (
            select "case", unnest(list_distinct(
                regexp_extract_all(payload, '"err_code":\\s*([0-9]+)', 1))) as code
            from frames where direction = '<'
        ) group by 1
    """)
    assert sorted_rows(tables["coverage_errors"], "err_code", "count", "cases") == sorted(
        told, key=repr
    )
    assert told


def test_regressions_from_release_to_release(tables: Tables, ask: Ask) -> None:
    told = ask(f"""{NEWEST}, steps as (
            select "case", server, verdict, reason, cast(position as varchar) as position,
                lag(server) over w as before, lag(verdict) over w as verdict_before,
                lag(reason) over w as reason_before,
                lag(cast(position as varchar)) over w as position_before,
                verdict in ('fail', 'stale', 'known', 'warn') as broken,
                lag(verdict in ('fail', 'stale', 'known', 'warn')) over w as broken_before
            from newest window w as (partition by "case", topology, client, provider
                order by release_key)
        )
        select * from (
            select "case", before, server, case
                when verdict in ('n/a', 'error') and verdict_before in ('n/a', 'error') then null
                when verdict_before in ('n/a', 'error') then 'new'
                when verdict in ('n/a', 'error') then 'gone'
                when broken and not broken_before then 'new-failure'
                when broken_before and not broken then 'fixed'
                when broken and (verdict <> verdict_before or reason <> reason_before)
                    then 'changed-reason'
                when verdict <> verdict_before or position <> position_before
                    then 'changed-position'
            end as kind from steps where before is not null
        ) where kind is not null
    """)
    rows = [row for row in tables["regressions"] if row["kind"] != "changed-on-the-wire"]
    assert sorted_rows(rows, "case", "side_a", "side_b", "kind") == sorted(told, key=repr)
    assert {row[3] for row in told} == {"fixed", "changed-position", "new"}


def test_trends(tables: Tables, ask: Ask) -> None:
    told = ask("""
        select run_id, run_at, spec, server, verdict, count(*) from (
            select * from cells qualify row_number() over (
                partition by run_id, "case", spec_revision, topology, client, provider, server
                order by attempt desc
            ) = 1
        ) group by all
    """)
    names = ("run_id", "started_at", "spec", "server", "verdict", "cells")
    assert sorted_rows(tables["trends"], *names) == sorted(told, key=repr)


def test_positions_and_deviations(tables: Tables, ask: Ask) -> None:
    told = ask(f"""{NEWEST}
        select "case", entry.key, entry.value, list(server order by release_key) from (
            select "case", server, release_key, unnest(map_entries(position)) as entry from newest
            where verdict not in ('n/a', 'error')
        ) group by all
    """)
    assert sorted_rows(tables["positions"], "case", "name", "value", "servers") == sorted(
        told, key=repr
    )
    told = ask(f"""{NEWEST}
        select deviation, list(server order by release_key), min(reason) from newest
        where deviation is not null group by all
    """)
    assert sorted_rows(tables["deviations"], "deviation", "servers", "reason") == sorted(
        told, key=repr
    )
    assert told


def test_fields_seen(tables: Tables, ask: Ask) -> None:
    told = ask("""
        select name, count(*), list_sort(list(distinct server)) from (
            select server, unnest(list_distinct(
                regexp_extract_all(payload, '"([A-Za-z_][A-Za-z0-9_.-]*)":', 1))) as name
            from frames where direction = '<' and payload like '{%'
        ) group by 1
    """)
    ours = [
        (row["name"], row["count"], sorted(row["servers"]))
        for row in tables["coverage_fields"]
        if row["where"] == "json"
    ]
    assert sorted(ours) == sorted(told)
    assert told
