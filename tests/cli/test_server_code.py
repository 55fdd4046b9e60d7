"""`--server cover:` and `jetproof coverage --server-code`: which of a server's statements cases reach.

The server is a small Go module (`tests/fakes/go_server`) that runs a real server as its child, so that a
build takes a second. `tests/targets/test_go_real.py` builds a real one.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jetproof.cli import main
from jetproof.results.go_coverage import counter_files, read_counters, read_program
from jetproof.targets.releases import installed_binary
from support.case_files import HEAD, PASSES, SLOW
from support.commands import Command, Done
from support.documents import Validate

SOURCE = Path(__file__).parents[1] / "fakes" / "go_server"
ANOTHER = PASSES.replace("passes", "passes-as-well")
CLUSTER = """\
  - case: in-a-cluster
    clauses: [A50-ATOMIC-001]
    given: {topology: cluster-3}
    steps:
      - request: {subject: $stream.a, headers: {Nats-Batch-Id: $batch, Nats-Batch-Sequence: 1}}
        reply: {empty: true}
"""
KILLS = """\
  - case: kills
    clauses: [A50-ATOMIC-001]
    given: {isolation: server}
    budget: 60s
    steps:
      - request: {subject: $stream.a, payload: one}
        reply: {json: {seq: 1}}
      - action: {kill: n1, then: start, reconnect: main}
      - request: {subject: $stream.a, payload: two, until_there: 10s}
        reply: {json: {seq: 2}}
"""

pytestmark = pytest.mark.skipif(shutil.which("go") is None, reason="there is no Go on the PATH")


def git(folder: Path, *arguments: str) -> str:
    name = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    command = ["git", "-C", str(folder), *name, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


class Place:
    """A checkout of the small server, and runs of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checkout = folder / "nats-server"
        shutil.copytree(SOURCE, self.checkout)
        git(self.checkout, "init", "-q", "-b", "main")
        self.commit("the server")

    def commit(self, about: str) -> None:
        git(self.checkout, "add", "-A")
        git(self.checkout, "commit", "-q", "-m", about)

    def write(self, *cases: str) -> Path:
        path = self.folder / "trial.yaml"
        path.write_text(HEAD + "".join(cases))
        return path

    def run(self, out: str, *cases: str, options: tuple[str, ...] = ()) -> Path:
        """Play cases on the checkout; the folder of the run."""
        folder = self.folder / out
        server = f"cover:{self.checkout}"
        arguments = ["run", str(self.write(*cases)), "--server", server, "--out", str(folder)]
        assert main([*arguments, *options]) == 0
        return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache of its own, and the real server that the small one runs."""
    folder = tmp_path_factory.mktemp("cover")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JETPROOF_CACHE", str(folder / "cache"))
        patch.setenv("JETPROOF_TEST_SERVER", str(installed_binary()))
        patch.setenv("NO_COLOR", "1")
        yield folder


@pytest.fixture(scope="module")
def place(home: Path) -> Place:
    return Place(home)


@pytest.fixture(scope="module")
def shared(place: Place) -> Path:
    return place.run("shared", PASSES, ANOTHER, CLUSTER)


@pytest.fixture(scope="module")
def apart(place: Place) -> Path:
    return place.run("apart", PASSES, ANOTHER, CLUSTER, KILLS, options=("--per-case",))


def functions(done: Done) -> dict[str, dict[str, Any]]:
    document: dict[str, Any] = done.document
    (server,) = document["servers"]
    return {each["name"]: each for file in server["files"] for each in file["functions"]}


def rows(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "server-code.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_a_run_keeps_what_its_servers_recorded(shared: Path, conforms: Validate) -> None:
    found = rows(shared)
    for row in found:
        conforms("results/server-code", row)
        assert (row["lives"], len(row["counters"])) == (1, 1)
        assert (shared / "server-code" / row["program"] / row["counters"][0]).is_file()
    nodes = sorted((row["topology"], row["node"], len(row["cases"])) for row in found)
    assert nodes == [
        ("cluster-3", "n1", 1),
        ("cluster-3", "n2", 1),
        ("cluster-3", "n3", 1),
        ("single", "n1", 2),
    ]


def test_functions_are_reached_by_no_case_by_one_or_by_some(
    shared: Path, jetproof: Command, conforms: Validate
) -> None:
    done = jetproof("coverage", "--server-code", shared, "--json")
    assert done.code == 0, done.err
    conforms("cli/server-code", done.document)
    found = functions(done)
    assert (found["crashed"]["reached"], found["crashed"]["cases"]) == (0, 0)
    assert found["clustered"]["only_case"] == "adr-50/trial::in-a-cluster"
    assert found["Run"]["shared"] is True
    assert found["Run"]["only_case"] is None
    assert 0 < found["Run"]["reached"] < found["Run"]["statements"]


def test_per_case_every_case_is_known(apart: Path, jetproof: Command) -> None:
    assert all(len(row["cases"]) == 1 for row in rows(apart))
    done = jetproof("coverage", "--server-code", apart, "--json", "--functions", "run.go")
    found = functions(done)
    assert (found["Run"]["cases"], found["Run"]["shared"]) == (4, False)
    assert len(found["Run"]["reached_by"]) == 4
    assert found["clustered"]["reached_by"] == ["adr-50/trial::in-a-cluster"]
    assert "main" not in found
    one = jetproof("coverage", "--server-code", apart, "--functions", "announce").out
    assert all(f"adr-50/trial::{case}\n" in one for case in ("passes", "in-a-cluster", "kills"))


def test_a_server_that_a_case_kills_is_counted(apart: Path, jetproof: Command) -> None:
    (row,) = [row for row in rows(apart) if row["cases"] == ["adr-50/trial::kills"]]
    assert (row["lives"], len(row["counters"])) == (2, 1)
    done = jetproof("coverage", "--server-code", apart)
    assert "1 server process left no data: killed by a case, or crashed" in done.out


def test_the_numbers_are_those_of_go(shared: Path, tmp_path: Path) -> None:
    (folder,) = (shared / "server-code").iterdir()
    profile = tmp_path / "profile"
    subprocess.run(
        ["go", "tool", "covdata", "textfmt", f"-i={folder}", f"-o={profile}"], check=True
    )
    expected: dict[str, bool] = {}
    for line in profile.read_text().splitlines()[1:]:
        where, _, count = line.rpartition(" ")
        expected[where] = expected.get(where, False) or count != "0"
    program = read_program(next(folder.glob("covmeta.*")))
    reached: dict[int, int] = {}
    for path in counter_files(folder):
        for number, mask in read_counters(path, program).items():
            reached[number] = reached.get(number, 0) | mask
    found = {
        f"{program.module}/{function.file}:{block.line}.{block.column},{block.end_line}."
        f"{block.end_column} {block.statements}": bool(reached.get(number, 0) >> bit & 1)
        for number, function in enumerate(program.functions)
        for bit, block in enumerate(function.blocks)
    }
    assert found == expected
    assert True in expected.values()
    assert False in expected.values()


@pytest.mark.usefixtures("shared")
def test_counters_are_read_wherever_they_begin(home: Path, tmp_path: Path) -> None:
    """They stand behind the arguments of the process, on a boundary of four bytes."""
    (binary,) = (home / "cache").glob("servers/*/checkout/*/nats-server")
    for more in range(4):
        folder = tmp_path / str(more)
        folder.mkdir()
        command = [str(binary), "--version", "x" * more]
        subprocess.run(command, check=True, env={**os.environ, "GOCOVERDIR": str(folder)})
        program = read_program(next(folder.glob("covmeta.*")))
        (file,) = counter_files(folder)
        reached = read_counters(file, program)
        assert [program.functions[number].name for number in reached] == ["main"]


def test_what_a_person_reads_fits_a_terminal(shared: Path, jetproof: Command) -> None:
    done = jetproof("coverage", "--server-code", shared, "-v")
    assert max(map(len, done.out.splitlines())) < 80
    assert "server/run.go" in done.out
    assert "play with --per-case" in done.out
    listed = jetproof("coverage", "--server-code", shared, "--functions")
    assert "crashed" in listed.out
    assert "no case" in listed.out
    assert "in-a-cluster" in listed.out
    assert " Run " not in listed.out
    assert " Run " in jetproof("coverage", "--server-code", shared, "--functions", "-v").out


def test_several_runs_add_up(place: Place, shared: Path, jetproof: Command) -> None:
    alone = place.run("alone", PASSES)
    known = functions(jetproof("coverage", "--server-code", alone, "--json"))
    assert known["clustered"]["reached"] == 0
    both = jetproof("coverage", "--server-code", alone, shared, "--json")
    assert functions(both)["clustered"]["reached"] == 1


def test_shards_are_joined_with_what_they_recorded(
    place: Place, shared: Path, jetproof: Command
) -> None:
    cases = (PASSES, ANOTHER, CLUSTER)
    parts = [place.run(f"part-{n}", *cases, options=("--shard", f"{n}/2")) for n in (1, 2)]
    joined = place.folder / "joined"
    assert jetproof("merge", *parts, "--out", joined).code == 0
    whole = functions(jetproof("coverage", "--server-code", shared, "--json"))
    found = functions(jetproof("coverage", "--server-code", joined, "--json"))
    assert {name: each["reached"] for name, each in found.items()} == {
        name: each["reached"] for name, each in whole.items()
    }


@pytest.fixture
def branch(place: Place, tmp_path: Path) -> Place:
    """A branch that changes a function that is reached, and one that is not."""
    made = Place(tmp_path)
    git(made.checkout, "checkout", "-q", "-b", "work")
    source = made.checkout / "server" / "run.go"
    text = source.read_text()
    added = "\troutes += 2\n\tif routes > 90 {\n\t\troutes = 0\n\t}\n"
    text = text.replace("\troutes++\n", f"\troutes++\n{added}")
    text = text.replace("\treturn err\n}\n", "\terr = errors.Join(err)\n\n\treturn err\n}\n")
    source.write_text("// Package server\n" + text)
    made.commit("changed")
    (made.checkout / "server" / "new.go").write_text(
        "package server\n\nfunc init() {\n\troutes = 0\n}\n"
    )
    (made.checkout / "server" / "run_test.go").write_text("package server\n")
    return made


def test_diff_shows_which_changed_lines_are_reached(
    branch: Place, jetproof: Command, conforms: Validate
) -> None:
    run = branch.run("run", CLUSTER)
    done = jetproof("coverage", "--server-code", run, "--diff", "--json")
    assert done.code == 0, done.err
    conforms("cli/server-code", done.document)
    document: dict[str, Any] = done.document
    diff = document["diff"]
    lines = (branch.checkout / "server" / "run.go").read_text().splitlines()
    plus, joins = lines.index("\troutes += 2") + 1, lines.index("\terr = errors.Join(err)") + 1
    found = {(one["file"], one["line"], one["function"]): one["reached"] for one in diff["ranges"]}
    assert found[("server/run.go", plus, "clustered")] is True
    assert found[("server/run.go", plus + 2, "clustered")] is False  # the body of an `if`
    assert found[("server/run.go", joins, "crashed")] is False
    assert [one["end_line"] for one in diff["ranges"] if one["line"] == plus] == [plus + 1]
    assert found[("server/new.go", 3, "init")] is True  # its block begins at the bracket
    assert (diff["lines_not_reached"], diff["base"]) == (2, "where it left main")
    shown = jetproof("coverage", "--server-code", run, "--diff").out
    assert f"server/run.go:{joins}  crashed" in shown
    assert "routes" not in shown
    assert "clustered" in jetproof("coverage", "--server-code", run, "--diff", "-v").out
    uncommitted = jetproof("coverage", "--server-code", run, "--diff", "HEAD", "--json")
    ranges = uncommitted.document["diff"]["ranges"]  # type: ignore[index]
    assert {one["file"] for one in ranges} == {"server/new.go"}


def test_diff_wants_the_checkout_as_it_was_played(branch: Place, jetproof: Command) -> None:
    run = branch.run("run", PASSES)
    refused = jetproof("coverage", "--server-code", run, "--diff", "no-such-branch")
    assert (refused.code, "has no commit 'no-such-branch'" in refused.err) == (2, True)
    (branch.checkout / "server" / "new.go").unlink()
    done = jetproof("coverage", "--server-code", run, "--diff")
    assert done.code == 2
    assert "is not what was played" in done.err
    moved = branch.checkout.rename(branch.folder / "elsewhere")
    done = jetproof("coverage", "--server-code", run, "--diff")
    assert (done.code, "--checkout" in done.err) == (2, True)
    shutil.rmtree(moved)


def test_a_run_without_data_is_refused(
    jetproof: Command, case_file: Callable[..., Path], tmp_path: Path
) -> None:
    assert jetproof("run", case_file(PASSES), "--out", "plain").code == 0
    done = jetproof("coverage", "--server-code", tmp_path / "plain")
    assert done.code == 2
    assert "no data of server code" in done.err
    assert "--server cover:2.15.1" in done.err
    assert jetproof("coverage", "--server-code", tmp_path / "nothing").code == 2


def test_one_covered_target_among_two(place: Place, jetproof: Command) -> None:
    run = place.run("two", PASSES, options=("--server", "latest"))
    document: dict[str, Any] = jetproof("coverage", "--server-code", run, "--json").document
    (server,) = document["servers"]
    assert server["target"] == f"cover:{place.checkout}"
    assert (server["processes"], server["cases"]) == (1, 1)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda file: file.write_bytes(file.read_bytes()[:-9]), "only a part of it"),
        (lambda file: file.write_bytes(b""), "only a part of it"),
        (lambda file: file.unlink(), "copy the whole run folder"),
    ],
    ids=["cut", "empty", "missing"],
)
@pytest.mark.parametrize("kind", ["covmeta", "covcounters"])
def test_damaged_data_is_named(
    shared: Path,
    tmp_path: Path,
    jetproof: Command,
    kind: str,
    damage: Callable[[Path], object],
    said: str,
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(shared, folder)
    file = next(folder.glob(f"server-code/*/{kind}.*"))
    damage(file)
    done = jetproof("coverage", "--server-code", folder)
    assert done.code == 2
    assert file.name in done.err
    assert said in done.err


def test_an_interrupted_run_shows_what_there_is(
    place: Place, tmp_path: Path, jetproof: Command, process: Callable[..., Any]
) -> None:
    path = place.write(PASSES, SLOW)
    server = f"cover:{place.checkout}"
    child = process("run", path, "--server", server, "--out", tmp_path / "out")
    cells = tmp_path / "out" / "cells.jsonl"
    until = time.monotonic() + 60
    while not (cells.exists() and cells.stat().st_size) and time.monotonic() < until:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    assert child.wait(60) == 130
    done = jetproof("coverage", "--server-code", tmp_path / "out")
    assert done.code == 0, done.err
    assert "the run was interrupted" in done.out


def test_a_lost_run_says_which_cases_left_nothing(
    place: Place, tmp_path: Path, jetproof: Command, process: Callable[..., Any], apart: Path
) -> None:
    path = place.write(PASSES, SLOW)
    server = f"cover:{place.checkout}"
    child = process("run", path, "--server", server, "--out", tmp_path / "out")
    cells = tmp_path / "out" / "cells.jsonl"
    until = time.monotonic() + 60
    while not (cells.exists() and cells.stat().st_size) and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGKILL)
    child.wait(60)
    done = jetproof("coverage", "--server-code", tmp_path / "out")
    assert done.code == 2
    assert "it ended before a server" in done.err
    assert "--resume" in done.err
    lines = (apart / "server-code.jsonl").read_text().splitlines(keepends=True)
    lost = tmp_path / "lost"
    shutil.copytree(apart, lost)
    kept = [line for line in lines if "passes-as-well" not in line]
    (lost / "server-code.jsonl").write_text("".join(kept))
    done = jetproof("coverage", "--server-code", lost)
    assert "1 case left no data: their server did not end" in done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--functions",), "--functions is about the server's own code"),
        (("--diff",), "--diff is about the server's own code"),
        (("--server-code", "RUN", "--errors"), "--errors is about clauses"),
        (("--server-code", "RUN", "--run", "x"), "--run is about clauses"),
        (("--server-code", "RUN", "--functions", "--diff"), "two questions"),
        (("--server-code", "RUN", "--checkout", "x"), "--checkout is for --diff"),
        (("--server-code", "RUN", "--functions", "nothing.go"), "no function and no file"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    shared: Path, jetproof: Command, arguments: tuple[str, ...], said: str
) -> None:
    done = jetproof("coverage", *(shared if each == "RUN" else each for each in arguments))
    assert done.code == 2
    assert said in done.err


def test_per_case_needs_a_covered_target(jetproof: Command, case_file: Callable[..., Path]) -> None:
    done = jetproof("run", case_file(PASSES), "--per-case")
    assert (done.code, "--server cover:2.15.1" in done.err) == (2, True)


def test_a_checkout_that_does_not_build_is_refused(branch: Place, jetproof: Command) -> None:
    (branch.checkout / "server" / "new.go").write_text("package server\n\nfunc broken( {}\n")
    done = jetproof("run", branch.write(PASSES), "--server", f"cover:{branch.checkout}")
    assert done.code == 3
    assert "new.go:3" in done.err
