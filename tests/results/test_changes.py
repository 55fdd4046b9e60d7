"""The kinds of differences between two cells of one case, and the inputs that moved."""

from __future__ import annotations

from typing import Any

import pytest

from jetproof.model.verdict import Verdict
from jetproof.results.changes import (
    KINDS,
    NOT_PLAYED,
    States,
    behaviour,
    between_releases,
    between_revisions,
    between_versions,
    difference,
    first_changes,
    first_changes_of_libraries,
    kind_of,
    position_text,
)


def row(verdict: str, server: str = "2.14.0", **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "case": "s/x::one", "topology": "single", "client": None, "library": None, "client_key": 0,
        "spec": "s", "spec_revision": 1, "server": server, "provider": "embedded",
        "release_key": int(server.replace(".", "")), "build": "", "verdict": verdict,
        "never_right": False, "reason": "", "position": {}, "fingerprint": "f", "case_hash": "c",
        "spec_hash": "h", "harness": "j", "run_id": "r", "run_at": "2026", "attempt": 1,
    }  # fmt: skip
    return made | more


A_POSITION, ANOTHER = {"position": {"p": "1"}}, {"position": {"p": "2"}}


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        (row("pass"), row("fail"), "new-failure"),
        (row("position"), row("known"), "new-failure"),
        (row("pass"), row("unstable", never_right=True), "new-failure"),
        (row("pass"), row("unstable"), None),
        (row("unstable"), row("fail"), None),
        (row("warn"), row("pass"), "fixed"),
        (row("fail", reason="one"), row("fail", reason="two"), "changed-reason"),
        (row("fail"), row("known"), "changed-reason"),
        (row("pass", reason="one"), row("pass", reason="two"), None),
        (row("position", **A_POSITION), row("position", **ANOTHER), "changed-position"),
        (row("pass"), row("position"), "changed-position"),
        (row("pass", position={"seen": "1"}), row("pass", position={"seen": "2"}), None),
        (row("pass"), row("pass", fingerprint="g"), "changed-on-the-wire"),
        (row("pass"), row("pass", fingerprint=None), None),
        (row("n/a"), row("pass"), "new"),
        (None, row("fail"), "new"),
        (row("pass"), row("error"), "gone"),
        (row("pass"), None, "gone"),
        (row("n/a"), row("error"), None),
        (None, None, None),
    ],
)
def test_every_kind(a: dict[str, Any] | None, b: dict[str, Any] | None, kind: str | None) -> None:
    assert kind_of(behaviour(a), behaviour(b)) == kind
    found = difference(a, b, "before", "after")
    assert (None if found is None else found["kind"]) == kind


def test_every_verdict_is_compared() -> None:
    kinds = {
        kind_of(behaviour(row(one)), behaviour(row(other))) for one in Verdict for other in Verdict
    }
    assert kinds - {None} <= set(KINDS)


def test_what_moved() -> None:
    was = row("pass")
    for name, moved in (
        ("spec_hash", ["spec"]),
        ("spec_revision", ["spec"]),
        ("server", ["server"]),
        ("build", ["server"]),
        ("client", ["client"]),
        ("case_hash", ["case"]),
        ("harness", ["harness"]),
        ("run_id", []),
    ):
        found = difference(was, row("fail", **{name: "2.15.0"}), "a", "b")
        assert found is not None
        assert found["what_moved"] == moved, name


def test_a_position_is_told_in_one_order_however_it_came() -> None:
    assert position_text({"b": "2", "a": "1", "seen": "9"}) == "a: 1; b: 2"
    assert position_text([("b", "2"), ("a", "1")]) == "a: 1; b: 2"
    assert position_text(None) == ""


def sides(rows: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return sorted((one["side_a"], one["side_b"], one["kind"]) for one in rows)


def test_each_release_is_compared_with_the_one_before() -> None:
    rows = [
        row("pass", "2.10.0"), row("fail", "2.12.0"), row("fail", "2.14.0"), row("pass", "2.15.0"),
        row("pass", "2.12.0", case="s/x::two"), row("pass", "2.12.0", provider="container"),
    ]  # fmt: skip
    assert sides(between_releases(rows)) == [
        ("2.10.0", "2.12.0", "new"),
        ("2.10.0", "2.12.0", "new-failure"),
        ("2.12.0", "2.14.0", "gone"),
        ("2.14.0", "2.15.0", "fixed"),
    ]


def test_the_releases_of_a_library_are_those_that_it_was_played_on() -> None:
    mine = {"client": "go:x@1", "library": "go:x"}
    rows = [row("pass", "2.10.0", **mine), row("fail", "2.14.0", **mine), row("pass", "2.12.0")]
    assert sides(between_releases(rows)) == [("2.10.0", "2.14.0", "new-failure")]


def test_revisions_and_versions_are_compared_with_the_one_before() -> None:
    revisions = [
        row("fail", spec_revision=7),
        row("fail", spec_revision=8),
        row("pass", spec_revision=10),
    ]
    assert sides(between_revisions(revisions)) == [("s@8", "s@10", "fixed")]
    versions = [
        row("fail", client=f"go:x@{number}", library="go:x", client_key=number)
        for number in (9, 10)
    ]
    versions.append(row("pass", client="go:x@11", library="go:x", client_key=11))
    assert sides(between_versions(versions)) == [("go:x@10", "go:x@11", "fixed")]
    (change, *_) = first_changes_of_libraries(versions)
    assert (change["what"], change["from_client"], change["to_client"]) == (
        "verdict",
        "go:x@10",
        "go:x@11",
    )


def test_first_changes_pass_over_releases_that_prove_nothing() -> None:
    rows = [
        row("pass", "2.10.0"), row("error", "2.11.0"), row("unstable", "2.12.0"),
        row("pass", "2.14.0", fingerprint="g"), row("fail", "2.15.0", fingerprint="g"),
    ]  # fmt: skip
    found = [(one["what"], one["from_server"], one["to_server"]) for one in first_changes(rows)]
    assert found == [("fingerprint", "2.10.0", "2.14.0"), ("verdict", "2.14.0", "2.15.0")]


def test_any_two_states_of_a_case_have_their_difference() -> None:
    states = States.none()
    rows = [
        row("pass"), row("fail", reason="r"), row("n/a"), row("pass", "2.15.0"),
        row("fail", reason="r", harness="k"),
    ]  # fmt: skip
    numbers = [states.number(one) for one in rows]
    assert numbers == [1, 2, 3, 1, 4]
    found = {(a, b): (kind, list(moved)) for a, b, kind, moved in states.changes()}
    assert found[1, 2] == ("new-failure", [])
    assert found[4, 1] == ("fixed", ["harness"])
    assert found[3, 4] == ("new", ["harness"])
    assert found[NOT_PLAYED, 1] == ("new", [])
    assert found[2, NOT_PLAYED] == ("gone", [])
    assert not {(1, 1), (2, 4), (NOT_PLAYED, 3), (3, NOT_PLAYED)} & found.keys()
