"""Positions as tables: who answers what, and the answer that one alone gives."""

from __future__ import annotations

from typing import Any

import pytest

from jetproof.model.verdict import Cell, Verdict
from jetproof.results.positions import odd_answer, position_rows, questions, usual_answer


@pytest.mark.parametrize(
    ("votes", "odd"),
    [
        ({"yes": 3, "no": 1}, "no"),
        ({"no": 1, "yes": 2}, "no"),
        ({"yes": 1, "no": 1}, None),
        ({"yes": 2, "no": 2}, None),
        ({"yes": 3}, None),
        ({"yes": 3, "no": 1, "perhaps": 1}, None),
        ({}, None),
    ],
)
def test_one_is_odd_if_at_least_two_others_agree(votes: dict[str, int], odd: str | None) -> None:
    assert odd_answer(votes) == odd


def test_the_usual_answer_is_the_one_that_most_give() -> None:
    assert usual_answer({"yes": 2, "no": 1, "perhaps": 1}) == "yes"
    assert usual_answer({"yes": 2, "no": 2}) is None
    assert usual_answer({}) is None


def cell(server: str, verdict: Verdict = Verdict.POSITION, **more: Any) -> Cell:
    made: dict[str, Any] = {
        "case": "s/x::one", "suite": "s/x", "spec": "s", "spec_revision": 1, "server": server,
        "provider": "embedded", "topology": "single", "configuration": "js", "verdict": verdict,
        "clauses": ("C-1",), "position": {"answer": "yes"},
    }  # fmt: skip
    return Cell(**(made | more))


def test_one_row_per_answer_with_the_releases_that_give_it() -> None:
    rows = position_rows(
        [
            cell("2.15.1"), cell("2.9.0"), cell("2.12.0", position={"answer": "no", "more": "1"}),
            cell("2.14.0", Verdict.ERROR), cell("2.14.6", Verdict.NOT_APPLICABLE),
            cell("2.15.1", provider="reference"),
        ]
    )  # fmt: skip
    told = [(row["provider"], row["name"], row["value"], row["servers"]) for row in rows]
    assert told == [
        ("embedded", "answer", "yes", ["2.9.0", "2.15.1"]),
        ("embedded", "answer", "no", ["2.12.0"]),
        ("embedded", "more", "1", ["2.12.0"]),
        ("reference", "answer", "yes", ["2.15.1"]),
    ]


def test_answers_of_one_question_stand_together_and_the_reference_apart() -> None:
    cells = [
        cell("2.12.0"), cell("2.14.0"), cell("2.15.1", position={"answer": "no"}),
        cell("2.15.1", provider="container"),
        cell("2.15.1", provider="reference", position={"answer": "other"}),
    ]  # fmt: skip
    servers, reference = questions(position_rows(cells))
    assert [(one["value"], one["odd"]) for one in servers["values"]] == [
        ("yes", False),
        ("no", True),
    ]
    yes = servers["values"][0]["by"]
    assert [(by["provider"], by["servers"]) for by in yes] == [
        ("embedded", ["2.12.0", "2.14.0"]),
        ("container", ["2.15.1"]),
    ]
    assert [one["value"] for one in reference["values"]] == ["other"]
