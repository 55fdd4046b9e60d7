"""`jetproof soak` on servers that are always right, always wrong, and wrong every other round."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from jetproof.campaigns.load import most_cores
from jetproof.results import read_run
from jetproof.sinks.files import RunFolder
from support.case_files import ASKS, COUNTS, CRASHES, CaseFile
from support.commands import Command, Fake
from support.documents import Validate
from support.processes import children

from .conftest import is_worker

COUNTING = "adr-50/trial::counts @2.15.1 single external"


def test_a_flip_is_found_with_the_rounds_the_checks_and_the_first_frame_that_differs(
    jetproof: Command, fake: Fake, case_file: CaseFile, conforms: Validate, tmp_path: Path
) -> None:
    path = case_file(COUNTS, ASKS)
    done = jetproof(
        "soak", path, "--json", "--rounds", 3, "--server", fake("flaky"), "--out", "out"
    )
    assert done.code == 1, done.err
    document = done.document
    conforms("cli/soak", document)
    flips = {flip["cell"]: flip for flip in document["flips"]}
    # The schema of what a publisher is answered flips along; the other case does not.
    assert set(flips) == {COUNTING, "schemas::pub-ack @2.15.1 any external"}
    flip = flips[COUNTING]
    assert flip["seen"] == ["pass", "fail", "pass"]
    usual, other = flip["outcomes"]
    assert (usual["verdict"], usual["rounds"], usual["failed"]) == ("pass", [1, 3], [])
    assert (other["verdict"], other["rounds"]) == ("fail", [2])
    assert [check["path"] for check in other["failed"]] == ["reply.json.seq"] * 2
    assert other["differs"] == {
        "step": "1",
        "usual": '< main MSG <inbox> {"stream": "stream_<id>", "seq": 1}',
        "here": '< main MSG <inbox> {"stream":"nobody","seq":-1}',
    }
    assert [done["flips"] for done in document["rounds"]] == [0, 2, 2]
    assert json.loads((tmp_path / "out" / "soak.json").read_text()) == document
    assert len({read_run(tmp_path / "out" / f"round-{number}").id for number in (1, 2, 3)}) == 3


def test_a_narrow_terminal_shows_the_differing_frames_one_below_the_other(
    jetproof: Command, fake: Fake, case_file: CaseFile
) -> None:
    done = jetproof("soak", case_file(COUNTS), "--rounds", 4, "--server", fake("flaky"))
    assert f"{COUNTING}\n  pass fail pass fail\n" in done.out
    assert re.search(r"^    step 1  reply.json.seq  1         -1$", done.out, re.MULTILINE)
    [first] = re.findall(r"^    \* - .*\n      \+ .*$", done.out, re.MULTILINE)
    assert '"seq": 1}' in first
    assert '"seq":-1}' in first
    assert done.last == "2 flips in 4 rounds of 1 cell · 1 of the flips in schemas"
    frames = done.out.partition("  frames (")[2].partition("  replay it")[0]
    assert max(map(len, frames.splitlines())) <= 80


def test_a_wide_terminal_shows_them_side_by_side(
    jetproof: Command, fake: Fake, case_file: CaseFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    done = jetproof("soak", case_file(COUNTS), "--rounds", 2, "--server", fake("flaky"))
    [first] = [line for line in done.out.splitlines() if line.startswith("    * ")]
    left, bar, right = first.partition(" | ")
    assert ('"seq": 1}' in left, bar, '"seq":-1}' in right) == (True, " | ", True)
    [head] = [line for line in done.out.splitlines() if line.startswith("  frames")]
    assert head.index(" | ") == first.index(" | ")


def test_only_ten_flips_are_shown_whole_unless_all_are_asked_for(
    jetproof: Command, fake: Fake, case_file: CaseFile
) -> None:
    many = case_file(*(COUNTS.replace("counts", f"counts-{number:02}") for number in range(12)))
    short = jetproof("soak", many, "--rounds", 2, "--server", fake("flaky"))
    assert short.out.count("    * - ") == 10
    assert "further cells that flipped (-v shows them whole)\n" in short.out
    assert "  adr-50/trial::counts-11 @2.15.1 single external\n    pass fail\n" in short.out
    whole = jetproof("soak", many, "-v", "--rounds", 2, "--server", fake("flaky"))
    assert whole.out.count("    * - ") == 12
    assert short.last == whole.last


@pytest.mark.parametrize(("kind", "verdict"), [("polite", "pass"), ("hostile", "fail")])
def test_the_same_verdict_in_every_round_is_no_flip(
    jetproof: Command, fake: Fake, case_file: CaseFile, kind: str, verdict: str
) -> None:
    done = jetproof("soak", case_file(COUNTS), "--json", "--rounds", 3, "--server", fake(kind))
    assert done.code == 0, done.err
    document = done.document
    assert (document["flips"], document["drifting"]) == ([], [])
    assert all(done["verdicts"][verdict] for done in document["rounds"])
    assert done.err.splitlines()[-1] == "0 flips in 3 rounds of 1 cell"


def test_a_cell_without_a_verdict_is_3(jetproof: Command, fake: Fake, case_file: CaseFile) -> None:
    done = jetproof("soak", case_file(CRASHES), "--rounds", 2, "--server", fake("crashes"))
    assert done.code == 3
    assert "some cells got no verdict" in done.last


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--rounds", 1), "needs at least 2 rounds"),
        (("--rounds", 0), "'0' must be a whole number, at least 1"),
        (("--load", 0), "'0' must be a whole number, at least 1"),
        (("--load", -1), "'-1' must be a whole number, at least 1"),
        (("--load", most_cores() + 1), f"--load takes 1 to {most_cores()} on this machine"),
        (("nothing/like/this",), "nothing/like/this"),
    ],
)
def test_a_wrong_request_is_refused_before_anything_starts(
    jetproof: Command, arguments: tuple[object, ...], told: str, tmp_path: Path
) -> None:
    done = jetproof("soak", *arguments)
    assert done.code == 2
    assert told in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_another_soak_is_left_alone(
    jetproof: Command, fake: Fake, case_file: CaseFile
) -> None:
    arguments = ("soak", case_file(ASKS), "--rounds", 2, "--server", fake("polite"), "--out", "o")
    assert jetproof(*arguments).code == 0
    again = jetproof(*arguments)
    assert (again.code, again.err.splitlines()[0]) == (2, "jetproof: o holds another soak")


def test_a_folder_that_cannot_be_written_is_refused(
    jetproof: Command, case_file: CaseFile, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    done = jetproof("soak", case_file(ASKS), "--out", "file/out")
    assert done.code == 2
    assert "cannot write the results to file/out/round-1" in done.err


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_a_disk_that_fills_up_ends_the_soak_and_the_complete_rounds_are_reported(
    jetproof: Command,
    fake: Fake,
    case_file: CaseFile,
    conforms: Validate,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import os

    whole = RunFolder._case

    def full(self: RunFolder, event: object) -> None:
        if self.folder.name == "round-3":
            raise OSError(28, "No space left on device")
        whole(self, event)  # type: ignore[arg-type]

    monkeypatch.setattr(RunFolder, "_case", full)
    load = ("--rounds", 5, "--load", 1)
    done = jetproof("soak", case_file(ASKS), "--json", *load, "--server", fake("polite"))
    assert done.code == 2
    document = done.document
    conforms("cli/soak", document)
    assert len(document["rounds"]) == 2
    assert "No space left on device" in document["failures"][0]
    assert "free some space" in done.err
    assert "stopped in round 3 of 5" in done.err.splitlines()[-1]
    assert not [pid for pid in children(os.getpid()) if is_worker(pid)]


def test_a_server_that_somebody_else_runs_is_shared_by_the_rounds(
    jetproof: Command, fake: Fake, case_file: CaseFile
) -> None:
    url = fake("polite")
    done = jetproof("soak", case_file(ASKS), "--rounds", 2, "--server", url)
    assert f"note {url} is not started again: the rounds share it" in done.out


def test_the_default_release_under_load(jetproof: Command, conforms: Validate) -> None:
    """The real thing: what the load did is in the document."""
    pattern = "adr-50/atomic/append"
    done = jetproof("soak", pattern, "--json", "--rounds", 2, "--load", 1)
    assert done.code == 0, done.err
    document = done.document
    conforms("cli/soak", document)
    assert document["partial"]
    assert document["load"]["cpu_seconds"] > 0
    assert document["load"]["mib_written"] > 0
    assert document["load"]["failures"] == []
    assert done.err.splitlines()[-1] == "0 flips in 2 rounds of 6 cells (load: 1 core)"
    assert re.search(r"^the load used [0-9.]+ CPU seconds on 1 core and wrote ", done.err, re.M)
