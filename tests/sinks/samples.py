"""Hand-made events: runs whose verdicts are known, and a server that answers to do harm."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from jetproof.events import (
    CaseFinished,
    CaseStarted,
    Event,
    RunFinished,
    RunStarted,
    TargetStarted,
    TargetStopped,
)
from jetproof.model.clause import Actor, Clause, Level, Status
from jetproof.model.verdict import Cell, Check, FrameRecord, Verdict
from jetproof.model.versions import Version

HOSTILE = (
    "\x1b[2J\x1b]0;owned\x07\x9b31m\r\nforged line\x00\x7f"
    "\u202eelpmis\u2066\u200b\u2028\udcff\udc80 \U000e0041 end"
)
"""Erases the screen, sets the title, forges a line, reverses text, hides text, is not UTF-8."""


def make_clause(name: str = "A50-ATOMIC-042") -> Clause:
    return Clause(
        id=name,
        spec="adr-50",
        section="Server Behavior",
        level=Level.MUST,
        actor=Actor.SERVER,
        status=Status.NORMATIVE,
        text="A gap in the batch's sequence makes the server reject the batch.",
        revision_from=2,
        revision_to=None,
        applies_from=Version.parse("2.12.0"),
        sentence_hash="0123456789abcdef",
    )


def make_cell(name: str = "commit-1", verdict: Verdict = Verdict.PASS, **more: object) -> Cell:
    suite = str(more.pop("suite", "adr-50/atomic/commit"))
    cell = Cell(
        case=f"{suite}::{name}",
        suite=suite,
        spec="adr-50",
        spec_revision=7,
        server="2.15.1",
        provider="embedded",
        topology="single",
        configuration="default",
        verdict=verdict,
        clauses=("A50-ATOMIC-042",),
        ms=12.5,
        started_at="2026-01-02T03:04:05.678+00:00",
        case_hash="00112233aabbccdd",
        target="2.15.1",
        replay=f"jetproof replay {suite}::{name} --server 2.15.1",
    )
    return replace(cell, **more)  # type: ignore[arg-type]


def make_frame(number: int = 1, **more: object) -> FrameRecord:
    frame = FrameRecord(
        ms=number * 0.5,
        direction=">",
        connection="main",
        op="HPUB",
        subject=f"stream.{number}",
        reply="_INBOX.1",
        headers=(("Nats-Batch-Id", "b1"), ("Nats-Batch-Sequence", str(number))),
        payload=b"hello",
        step="1",
    )
    return replace(frame, **more)  # type: ignore[arg-type]


def make_check(ok: bool = False, **more: object) -> Check:
    check = Check(
        step="2",
        kind="request",
        path="reply.error",
        ok=ok,
        expected="10176",
        actual=None if ok else 10175,
        ms=3.25,
    )
    return replace(check, **more)  # type: ignore[arg-type]


def run_started(cells: int = 1, **more: object) -> RunStarted:
    event = RunStarted(
        run="r1",
        started_at="2026-01-02T03:04:05.000+00:00",
        targets=("2.15.1",),
        cells=cells,
        time_factor=1.25,
        suite_hash="5417e0",
        clauses=(make_clause(),),
        command=("jetproof", "run"),
    )
    return replace(event, **more)  # type: ignore[arg-type]


def whole_run(*finished: CaseFinished, interrupted: bool = False) -> list[Event]:
    """The events of a run that gave these cells."""
    verdicts: dict[Verdict, int] = {}
    events: list[Event] = [
        run_started(len(finished)),
        TargetStarted("2.15.1", "2.15.1", "embedded", "single", "default", len(finished), 31.0),
    ]
    for event in finished:
        verdicts[event.cell.verdict] = verdicts.get(event.cell.verdict, 0) + 1
        events += [CaseStarted(event.cell.case, event.cell.target), event]
    events.append(TargetStopped("2.15.1", "single", "default"))
    events.append(RunFinished("r1", verdicts, 1234.5, 12.5, interrupted))
    return events


def every_verdict() -> list[CaseFinished]:
    """One cell of every verdict, with the evidence that each comes with."""
    frames = tuple(make_frame(number) for number in range(1, 21))
    bad = (
        make_check(ok=True),
        make_check(),
        make_check(path="json.reason", actual={"absent": True}),
    )
    return [
        CaseFinished(make_cell("passes"), (make_check(ok=True),), frames[:2]),
        CaseFinished(make_cell("fails", Verdict.FAIL, reason="step 2: 10175"), bad, frames),
        CaseFinished(make_cell("warns", Verdict.WARN, reason="a should"), bad[:2], frames[:3]),
        CaseFinished(
            make_cell("takes-a-position", Verdict.POSITION, position={"limit": "error 10208"}),
        ),
        CaseFinished(
            make_cell(
                "is-known",
                Verdict.KNOWN,
                reason="D-7: says 10175",
                deviation="D-7",
                kind="bug",
                severity="protocol",
                upstream="https://example.com/7",
            )
        ),
        CaseFinished(make_cell("is-stale", Verdict.STALE, reason="D-8 says that this fails")),
        CaseFinished(
            make_cell(
                "is-unstable",
                Verdict.UNSTABLE,
                reason="failed in 1 of 3 plays: step 2: 10175",
                plays=("fail", "pass", "pass"),
                never_right=True,
            ),
            bad,
            frames,
        ),
        CaseFinished(
            make_cell("does-not-apply", Verdict.NOT_APPLICABLE, reason="applies from 2.16", ms=0.0)
        ),
        CaseFinished(
            make_cell(
                "has-no-verdict",
                Verdict.ERROR,
                reason="the server died",
                server_log=("[1] [INF] starting", "[1] [FTL] out of luck"),
                suite="adr-50/atomic/restart",
            )
        ),
    ]


def hostile_cell(verdict: Verdict = Verdict.FAIL) -> CaseFinished:
    """Everything that a server can put its words into."""
    frame = make_frame(
        direction="<",
        op="HMSG",
        subject=HOSTILE,
        reply=HOSTILE,
        status=503,
        description=HOSTILE,
        headers=((HOSTILE, HOSTILE),),
        payload=HOSTILE.encode("utf-8", "surrogateescape") + b"\xff\xfe" + b"A" * 1_000_000,
        note=HOSTILE,
    )
    return CaseFinished(
        make_cell(
            verdict=verdict,
            reason=HOSTILE * 200,
            position={HOSTILE: HOSTILE},
            server_log=(HOSTILE,),
            server=f"2.15.1{HOSTILE}",
        ),
        (make_check(actual=HOSTILE * 500), make_check(actual={HOSTILE: [HOSTILE, b"\xff"]})),
        (frame,),
    )


def play(sink: object, events: list[Event]) -> None:
    for event in events:
        sink.handle(event)  # type: ignore[attr-defined]
    sink.close()  # type: ignore[attr-defined]


def lines_of(path: Path) -> Iterator[Mapping[str, object]]:
    for line in path.read_text(encoding="ascii").splitlines():
        yield json.loads(line)
