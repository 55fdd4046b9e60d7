"""What libraries answer to open questions, and which cell of a case counts for a library."""

from __future__ import annotations

from typing import Any

from jetproof_reports.page.libraries import library_questions, superseded


def row(client: str, answer: str, **more: Any) -> dict[str, Any]:
    made = {
        "case": "s/x::one", "topology": "single", "client": client, "server": "2.15.1",
        "provider": "embedded", "spec": "s", "spec_revision": 1, "verdict": "position",
        "position": {"answer": answer},
    }  # fmt: skip
    return made | more


def test_answers_by_client_and_who_answers_alone() -> None:
    rows = [
        row("go:a@1", "ok"), row("go:a@1", "ok", server="2.14.0"), row("py:b@1", "ok"),
        row("js:c@1", "error"), row("reference@0.1.0", "other"), row("rs:d@1", "late", verdict="n/a"),
    ]  # fmt: skip
    (one,) = library_questions(enumerate(rows))
    assert (one["differ"], one["usual"], one["alone"]) == (True, "ok", "error")
    assert one["answers"] == [
        ["go:a@1", [["ok", [0, 1]]]],
        ["py:b@1", [["ok", [2]]]],
        ["js:c@1", [["error", [3]]]],
        ["reference@0.1.0", [["other", [4]]]],
    ]


def test_the_revision_that_a_library_is_held_to_counts_else_the_later() -> None:
    cells = [
        (0, row("go:a@1", "x", spec_revision=7), True),
        (1, row("go:a@1", "x", spec_revision=10), False),
        (2, row("py:b@1", "x", spec_revision=7), False),
        (3, row("py:b@1", "x", spec_revision=10), False),
        (4, row("py:b@1", "x", spec_revision=7, server="2.14.0"), False),
    ]
    assert superseded(cells) == [1, 2]
