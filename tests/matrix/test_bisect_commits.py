"""`jetproof bisect --good`: the commit of a change, in a checkout that nobody touches."""

from __future__ import annotations

import asyncio
import math
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jetproof.campaigns.bisect import one_case, releases_to_search
from jetproof.campaigns.bisect_commits import Found, Skipped, first_bad
from jetproof.load.library import load_library
from jetproof.targets.releases import this_platform
from support.case_files import CaseFile
from support.commands import Command
from support.documents import Validate
from support.programs import write_build
from targets import fake_go
from targets.fake_go import FakeGo

TWO = """\
  - case: two
    clauses: [A50-ATOMIC-001]
    steps:
      - publish:
          subject: $stream.a
          headers: {Nats-Batch-Id: $batch, Nats-Batch-Sequence: 1}
      - request:
          subject: $stream.b
          headers: {Nats-Batch-Id: $batch, Nats-Batch-Sequence: 2, Nats-Batch-Commit: 1}
        reply: {json: {count: 2}}
"""
LIMIT = "sed -i 's/jetstream {/jetstream { limits { batch { max_msgs: 1 } }/' \"$2\""
BUILD = (
    "if [ -e broken ]; then echo './x.go:1:1: expected declaration' >&2; exit 1; fi; "
    'cp server.sh "$out"; chmod +x "$out"'
)
Commit = Callable[[str, str], str]


# The search


def search(
    answers: Sequence[str | None], parents: Sequence[Sequence[int]] | None = None
) -> tuple[Found | None, list[int]]:
    """What is found in a history whose last commit is the bad one, and what was asked.

    An answer of None is a commit to skip. Without parents, each commit follows the one before."""
    linked = parents or [[number - 1] if number else [] for number in range(len(answers))]
    asked: list[int] = []

    def ancestors(number: int) -> set[int]:
        found = {number}
        for parent in linked[number]:
            found |= ancestors(parent)
        return found

    def halves(good: Sequence[str], bad: str) -> list[str]:
        left = ancestors(int(bad)) - set[int]().union(*(ancestors(int(each)) for each in good))
        size = len(left)
        best = sorted(left, key=lambda n: -min(k := len(ancestors(n) & left), size - k))
        return [str(number) for number in best]

    async def ask(commit: str) -> str:
        asked.append(int(commit))
        answer = answers[int(commit)]
        if answer is None:
            raise Skipped("it does not build")
        return answer

    return asyncio.run(first_bad("0", str(len(answers) - 1), ask, halves)), asked


@given(st.integers(1, 80), st.integers(1, 80))
def test_the_first_bad_commit_is_found_in_few_runs(before: int, after: int) -> None:
    found, asked = search(["good"] * before + ["bad"] * after)
    assert found == Found(str(before))
    assert len(asked) <= math.ceil(math.log2(before + after)) + 2
    assert len(set(asked)) == len(asked)


@given(st.integers(2, 30), st.data())
def test_a_skipped_commit_leaves_the_answer_or_the_doubt(size: int, data: st.DataObject) -> None:
    change = data.draw(st.integers(1, size - 1))
    answers: list[str | None] = ["good"] * change + ["bad"] * (size - change)
    for number in data.draw(st.sets(st.integers(1, size - 1))):
        if number != size - 1:
            answers[number] = None
    found, asked = search(answers)
    assert found is not None
    assert str(change) in (found.commit, *found.doubtful)
    assert all(answers[int(commit)] is None for commit in found.doubtful)
    assert len(set(asked)) == len(asked)


def test_a_change_on_a_side_branch_is_found_there() -> None:
    #          1 - 2 (bad) - 3
    #        /                 \
    #       0 ---- 4 ---------- 5 - 6
    parents = [[], [0], [1], [2], [0], [4, 3], [5]]
    found, _ = search(["good", "good", "bad", "bad", "good", "bad", "bad"], parents)
    assert found == Found("2")


def test_a_merge_may_be_the_first_bad_commit_itself() -> None:
    found, _ = search(["good", "good", "good", "bad", "bad"], [[], [0], [0], [1, 2], [3]])
    assert found == Found("3")


def test_equal_ends_are_no_change() -> None:
    assert search(["good", "bad", "good"]) == (None, [0, 2])


# The command


def git(folder: Path, *arguments: str) -> str:
    name = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    command = ["git", "-C", str(folder), *name, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeGo:
    monkeypatch.setenv("JETPROOF_CACHE", str(tmp_path / "cache"))
    made = fake_go.install(tmp_path / "fake-go", monkeypatch)
    made.write(BUILD)
    return made


@pytest.fixture
def commit(tmp_path: Path, go: FakeGo) -> Commit:
    """Commits a server to a checkout: one that conforms, one with a limit, or what breaks a build."""
    folder = tmp_path / "nats-server"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "go.mod").write_text("module github.com/nats-io/nats-server/v2\n")

    def make(subject: str, kind: str = "good") -> str:
        (folder / "broken").unlink(missing_ok=True)
        if kind == "broken":
            (folder / "broken").touch()
        elif kind == "dies":
            write_build(folder / "server.sh", does="echo panic: boom; exit 2")
        else:
            write_build(folder / "server.sh")
            if kind == "bad":
                text = (folder / "server.sh").read_text()
                (folder / "server.sh").write_text(text.replace("exec ", f"{LIMIT}\nexec "))
        (folder / "notes").write_text(subject)
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "--date", "2026-01-02T03:04:05Z", "-m", subject)
        return git(folder, "rev-parse", "HEAD")

    return make


CHECKOUT = ("--server", "path:./nats-server")


def bisect(jetproof: Command, case: Path, *more: str) -> Any:
    return jetproof("bisect", "--json", case, *CHECKOUT, *more)


def test_the_commit_that_changed_it_and_nothing_else_is_touched(
    jetproof: Command, case_file: CaseFile, commit: Commit, conforms: Validate, tmp_path: Path
) -> None:
    first = commit("one", "good")
    kinds = ("good", "broken", "good", "bad", "bad", "bad")
    made = [commit(f"then {number}", kind) for number, kind in enumerate(kinds)]
    folder = tmp_path / "nats-server"
    (folder / "notes").write_text("not committed")
    (folder / "broken").touch()
    before = (
        (folder / ".git" / "index").read_bytes(),
        git(folder, "for-each-ref"),
        git(folder, "status", "-s"),
    )
    done = bisect(jetproof, case_file(TWO), "--good", first)
    document = done.document
    conforms("cli/bisect", document)
    assert done.code == document["exit_code"] == 0, done.err
    assert document["commits"]["first"] == {
        "commit": made[3],
        "subject": "then 3",
        "author_date": "2026-01-02T03:04:05+00:00",
    }
    assert document["first_other"]["verdict"] == "fail"
    assert document["last_same"]["verdict"] == "pass"
    assert document["last_same"]["target"] == f"path:./nats-server@{made[2][:12]}"
    assert f"{made[3]} is the first with fail; before it is pass" in done.err
    assert f"--server path:./nats-server@{made[3][:12]}" in done.err
    after = (
        (folder / ".git" / "index").read_bytes(),
        git(folder, "for-each-ref"),
        git(folder, "status", "-s"),
    )
    assert before == after
    assert len(git(folder, "worktree", "list").splitlines()) == 1
    root = tmp_path / "cache" / "servers" / this_platform() / "checkout"
    assert not [path for path in root.iterdir() if path.name.startswith(".")]


def test_commits_that_do_not_build_or_start_are_skipped_and_leave_a_doubt(
    jetproof: Command, case_file: CaseFile, commit: Commit, conforms: Validate
) -> None:
    first = commit("one", "good")
    broken, dies, bad = commit("x", "broken"), commit("y", "dies"), commit("z", "bad")
    done = bisect(jetproof, case_file(TWO), "--good", first, "--bad", "main")
    document = done.document
    conforms("cli/bisect", document)
    assert done.code == document["exit_code"] == 3
    assert document["answered"] is False
    assert document["commits"]["first"]["commit"] == bad
    assert set(document["commits"]["doubtful"]) == {broken, dies}
    why = {row["commit"]: row["reason"] for row in document["commits"]["skipped"]}
    assert "./x.go:1:1: expected declaration" in why[broken]
    assert "no verdict" in why[dies]
    assert f"not decided: the change is {bad} or one of 2 skipped commits before it" in done.err


def test_both_ends_alike_are_no_change(
    jetproof: Command, case_file: CaseFile, commit: Commit
) -> None:
    first = commit("one", "good")
    commit("two", "good")
    done = jetproof("bisect", case_file(TWO), *CHECKOUT, "--good", first)
    assert done.code == 0
    assert "no change: both ends are pass" in done.out


def test_an_end_without_a_verdict_is_no_answer(
    jetproof: Command, case_file: CaseFile, commit: Commit, conforms: Validate
) -> None:
    first = commit("one", "good")
    commit("two", "broken")
    done = bisect(jetproof, case_file(TWO), "--good", first)
    conforms("cli/bisect", done.document)
    assert done.code == 3
    assert "no answer: one of the two ends has no verdict" in done.err


def test_ends_must_be_in_order(
    jetproof: Command, case_file: CaseFile, commit: Commit, tmp_path: Path
) -> None:
    first = commit("one")
    second = commit("two")
    case = case_file(TWO)
    done = jetproof("bisect", case, *CHECKOUT, "--good", second, "--bad", first)
    assert done.code == 2
    assert "--bad comes after --good in history: exchange them" in done.err
    git(tmp_path / "nats-server", "checkout", "-q", "-b", "side", first)
    commit("aside")
    done = jetproof("bisect", case, *CHECKOUT, "--good", "main", "--bad", "side")
    assert done.code == 2
    assert f"search from where they parted: --good {first[:12]}" in done.err
    done = jetproof("bisect", case, *CHECKOUT, "--good", "side")
    assert "both ends are the commit" in done.err
    done = jetproof("bisect", case, *CHECKOUT, "--good", "v9.9.9")
    assert done.code == 2
    assert "has no commit 'v9.9.9'" in done.err


def test_a_shallow_history_says_how_to_get_the_rest(
    jetproof: Command, case_file: CaseFile, commit: Commit, tmp_path: Path
) -> None:
    first = commit("one")
    middle = commit("two")
    commit("three", "bad")
    whole = tmp_path / "whole"
    (tmp_path / "nats-server").rename(whole)
    git(tmp_path, "clone", "-q", "--depth", "2", f"file://{whole}", "nats-server")
    done = jetproof("bisect", case_file(TWO), *CHECKOUT, "--good", first)
    assert done.code == 2
    assert "git fetch --unshallow" in done.err
    done = jetproof("bisect", case_file(TWO), *CHECKOUT, "--good", middle)
    assert done.code == 0, done.err
    assert "is the first with fail; before it is pass" in done.out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--bad", "HEAD", *CHECKOUT), "--bad names where a search ends"),
        (("--good", "HEAD"), "--good wants one checkout"),
        (("--good", "HEAD", "--server", "2.15.1"), "--good wants one checkout"),
        (("--good", "HEAD", *CHECKOUT, "--candidates"), "are about releases"),
    ],
)
def test_a_wrong_request_says_what_to_write(
    jetproof: Command, case_file: CaseFile, commit: Commit, more: tuple[str, ...], said: str
) -> None:
    commit("one")
    done = jetproof("bisect", case_file(TWO), *more)
    assert done.code == 2
    assert said in done.err
    assert "jetproof bisect CASE --server path:../nats-server --good REV" in done.err


# Release candidates


def test_candidates_between_releases_are_looked_at_on_request(go: FakeGo) -> None:
    versions = "v2.14.9 v2.15.0-preview.1 v2.15.0-RC.2 v2.15.0-fips v2.15.0 v2.15.2-RC.1 v2.15.2 v2.16.0-RC.1"
    go.write(BUILD, listing=f"echo github.com/nats-io/nats-server/v2 {versions}")
    library = load_library()
    case = "adr-50/atomic/commit::commit-1-stores-every-message"
    found = {}
    for candidates in (False, True):
        where = releases_to_search(
            library,
            one_case(library, case),
            ["2.14.6,2.15.1,go:2.15.2"],
            against=None,
            with_candidates=candidates,
            notify=lambda _: None,
        )
        found[candidates] = [target.name for target in asyncio.run(where).targets]
    assert found[False] == ["2.14.6", "2.15.1", "go:2.15.2"]
    assert found[True] == [
        "2.14.6",
        "go:2.15.0-preview.1",
        "go:2.15.0-RC.2",
        "2.15.1",
        "go:2.15.2-RC.1",
        "go:2.15.2",
    ]
    assert go.calls("install") == []


def test_candidates_need_a_listing(
    jetproof: Command, case_file: CaseFile, go: FakeGo, monkeypatch: pytest.MonkeyPatch
) -> None:
    go.remove(monkeypatch)
    done = jetproof("bisect", case_file(TWO), "-s", "2.14.6,2.15.1", "--candidates")
    assert done.code == 2
    assert "which release candidates there are: Go is not installed" in done.err
    assert "https://go.dev/doc/install" in done.err
