"""Controls of client cases: the tap strips a feature from what the library sends."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jetproof.cli import main
from support.documents import check_document

from .conftest import Gate

Cases = Callable[..., Path]

LOOKS = """\
  - case: looks-at-the-wire
    clauses: [A50-ATOMIC-154]
    feature: atomic-batch
    tap:
      - {id: answered, on: {op: PUB, subject: $stream.a}, do: {answer: {payload: ""}}}
    steps:
      - call: {op: batch.open, as: b}
      - call: {op: batch.add, of: b, subject: $stream.a, data: m1}
      - wire: {op: PUB, subject: $stream.a}
        label: member
        message: {headers: {Nats-Batch-Sequence: 1}}
      - fired: {rule: answered}
"""
EFFECT = """\
  - case: sees-what-the-server-does
    clauses: [A50-ATOMIC-154]
    feature: msg-id
    steps:
      - call: {op: publish, subject: $stream.a, data: m1, msg_id: one}
      - call: {op: publish, subject: $stream.a, data: m1, msg_id: one}
      - stream: {messages: 1}
        label: once
"""
WEAK = """\
  - case: sees-nothing
    clauses: [A50-ATOMIC-154]
    feature: msg-id
    steps:
      - call: {op: publish, subject: $stream.a, data: m1, msg_id: one}
      - stream: {messages: 1}
"""
HONEST = WEAK.replace("sees-nothing", "says-so").replace(
    "feature: msg-id", "feature: {name: msg-id, differs: false, reason: it is sent once}"
)
UNSENT = """\
  - case: library-sends-no-such-thing
    clauses: [A50-ATOMIC-154]
    feature: msg-ttl
    steps:
      - call: {op: publish, subject: $stream.a, data: m1}
"""
INGEST = """\
  - case: reply-subject-loses-its-end
    clauses: [A50-ATOMIC-154]
    feature: fast-ingest
    given:
      stream: {subjects: ["$stream.>"], allow_batched: true}
    steps:
      - call: {op: ingest.open, as: f, flow: 1, gap: fail, ack_timeout_ms: 1000}
      - call: {op: ingest.add, of: f, subject: $stream.a, data: m1, within: 4s}
        label: added
"""
PULLS = """\
  - case: library-sends-it-by-itself
    clauses: [A50-ATOMIC-154]
    steps:
      - request:
          subject: $JS.API.CONSUMER.CREATE.$stream.c
          json: {stream_name: $stream, config: {durable_name: c, ack_policy: explicit}}
        reply: {json: {name: c}}
      - call: {op: consumer.get, as: c, stream: $stream, consumer: c}
      - call: {op: consume, of: c, as: k, max_messages: 5}
      - wire: {op: PUB, subject: $JS.API.CONSUMER.MSG.NEXT.>}
"""


def document(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = main(["controls", *map(str, arguments), "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    check_document("cli/controls", found)
    return code, found


def rows(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["case"].partition("::")[2]: row for row in found["controls"]}


def test_a_control_stands_for_a_library_that_never_sends_the_feature(
    gate: Gate, cases: Cases, capsys: pytest.CaptureFixture[str]
) -> None:
    file = cases(LOOKS, EFFECT, WEAK, HONEST, UNSENT, INGEST)
    done = gate(file, "--client", "reference", "--out", "run")
    assert done.code == 0, done.out
    code, found = document(capsys, file, "--run", "run")
    assert code == 1
    told = {name: (row["outcome"], row["messages"]) for name, row in rows(found).items()}
    assert told == {
        "looks-at-the-wire": ("needed", 1),
        "sees-what-the-server-does": ("needed", 2),
        "sees-nothing": ("vacuous", 1),
        "says-so": ("same", 1),
        "library-sends-no-such-thing": ("vacuous", 0),
        "reply-subject-loses-its-end": ("needed", told["reply-subject-loses-its-end"][1]),
    }
    assert told["reply-subject-loses-its-end"][1] > 0
    why = rows(found)["looks-at-the-wire"]["reason"]
    assert why.startswith("step member, wire.headers.Nats-Batch-Sequence: expected 1, got absent")
    why = rows(found)["library-sends-no-such-thing"]["reason"]
    assert why == "the library sends nothing that carries it"
    for line in Path("run/controls.jsonl").read_text().splitlines():
        assert json.loads(line)["cell"].split(" ")[3].startswith("reference@")


def test_sent_plays_what_a_library_sends_by_itself(
    gate: Gate, cases: Cases, capsys: pytest.CaptureFixture[str]
) -> None:
    file = cases(PULLS, EFFECT)
    assert gate(file, "--client", "reference", "--out", "run").code == 0
    code, found = document(capsys, file, "--run", "run", "--sent")
    assert code == 0
    row = rows(found)["library-sends-it-by-itself"]
    assert (row["feature"], row["declared"], row["outcome"]) == (
        "idle_heartbeat",
        False,
        "vacuous",
    )


def test_the_library_must_be_the_one_that_was_judged(
    gate: Gate, cases: Cases, library: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    file, own = cases(EFFECT), library()
    assert gate(file, "--client", own, "--out", "run").code == 0
    own.write_text("#!/bin/sh\nexit 1\n")
    assert main(["controls", str(file), "--run", "run"]) == 2
    said = capsys.readouterr().err
    assert "my-adapter" in said
    assert "controls are played with the library that run judged" in said


def test_client_cases_are_played_by_a_gate_first(
    cases: Cases, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["controls", str(cases(EFFECT))]) == 2
    said = capsys.readouterr().err
    assert "judges clients" in said
    assert "jetproof gate" in said
