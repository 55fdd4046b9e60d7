"""Calls of a library that it does not have, or that do not return."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Gate

Write = Callable[..., Path]
FETCHES = """\
  - case: fetches
    clauses: [A50-ATOMIC-154]
    steps:
      - call: {{op: fetch, of: none, max_messages: 1{more}}}
        label: fetched
        answer: any
      - stream: {{messages: 7}}
        label: later
"""
WAITS = """\
  - case: waits
    clauses: [A50-ATOMIC-156]
    tap:
      - {id: lose, on: {op: PUB, subject: $JS.API.CONSUMER.MSG.NEXT.>}, do: drop}
    steps:
      - request:
          subject: $JS.API.CONSUMER.CREATE.$stream.c
          json: {stream_name: $stream, config: {durable_name: c}}
        reply: {json: {name: c}}
      - call: {op: consumer.get, as: c, stream: $stream, consumer: c}
      - call: {op: fetch, of: c, max_messages: 1, expires_ms: 300, within: 600ms}
        answer: {position: {first: "json.messages[0].seq", error: json.error.type}}
"""


def cell() -> dict[str, object]:
    lines = Path("run/cells.jsonl").read_text().splitlines()
    cells: list[dict[str, object]] = [json.loads(line) for line in lines]
    [one] = [each for each in cells if "my-adapter" in str(each["client"])]
    return one


def test_what_is_demanded_and_missing_fails_and_the_case_goes_on(
    gate: Gate, cases: Write, library: Write
) -> None:
    path = cases(FETCHES.format(more=", demanded: true"))
    done = gate(path, "--client", library("fetch-is-missing"), "--out", "run")
    assert done.code == 1
    assert cell()["verdict"] == "fail"
    reason = str(cell()["reason"])
    assert "step fetched, answer: expected a call for fetch" in reason
    assert "step later, stream.messages" in reason


def test_what_is_missing_and_not_demanded_does_not_apply(
    gate: Gate, cases: Write, library: Write
) -> None:
    path = cases(FETCHES.format(more=""))
    assert gate(path, "--client", library("fetch-is-missing"), "--out", "run").code == 0
    assert cell()["verdict"] == "n/a"


def test_a_call_cannot_be_demanded_for_later(gate: Gate, cases: Write, library: Write) -> None:
    path = cases(FETCHES.format(more=", demanded: true, later: x").replace("answer: any", ""))
    done = gate(path, "--client", library())
    assert done.code == 2
    assert "demanded and later exclude each other" in done.err


@pytest.mark.parametrize(
    ("knobs", "first"), [((), "absent"), (("no-timer-of-its-own",), "no answer")]
)
def test_a_call_that_does_not_return_is_a_position(
    gate: Gate, cases: Write, library: Write, knobs: tuple[str, ...], first: str
) -> None:
    text = WAITS if knobs else WAITS.replace("within: 600ms", "within: 8s")
    gate(cases(text), "--client", library(*knobs), "--out", "run")
    assert cell()["position"] == {"first": first, "error": first}
