"""Runs whose tables are known: written by the harness's own sink, played by no server.

Each case behaves in one way that a table must tell. Names, inboxes, times and the order in which
things arrive differ from run to run, as they do on a wire.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from jetproof.events import CaseFinished, RunFinished, RunStarted, SchemaJudged, TargetStarted
from jetproof.model.clause import Actor, Clause, Level, Status
from jetproof.model.verdict import Cell, Check, FrameRecord, Verdict
from jetproof.model.versions import Version
from jetproof.sinks.files import RunFolder
from support.schema_results import broken_schema, schema_result

SERVERS = ("2.12.0", "2.12.8", "2.14.0", "2.15.0-RC.1")
SUITE = "adr-50/atomic/sample"
TOKENS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(slots=True)
class Wire:
    """Makes the frames of one cell, with names of its own."""

    server: str
    luck: random.Random
    frames: list[FrameRecord] = field(default_factory=list)
    ms: float = 0.0
    asked: int = 0
    token: str = ""

    def __post_init__(self) -> None:
        self.token = "jp" + "".join(self.luck.choices(TOKENS, k=12))

    @property
    def stream(self) -> str:
        return f"stream_{self.token}"

    def tick(self) -> float:
        self.ms += self.luck.uniform(0.1, 3)
        return round(self.ms, 3)

    def send(
        self,
        subject: str,
        step: str,
        document: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> str:
        """One message with a reply subject; the reply subject."""
        self.asked += 1
        inbox = f"_INBOX.{self.token}.r{self.asked}"
        payload = b"" if document is None else json.dumps(document).encode()
        items = None if headers is None else tuple(headers.items())
        op = "PUB" if headers is None else "HPUB"
        self._add(">", "main", op, subject, step, reply=inbox, headers=items, payload=payload)
        return inbox

    def answer(self, inbox: str, step: str, document: object = None, **more: object) -> None:
        payload = b"" if document is None else json.dumps(document, separators=(",", ":")).encode()
        self._add("<", "main", "MSG", inbox, step, payload=payload, **more)

    def ask(self, subject: str, step: str, answer: object, document: object = None) -> None:
        self.answer(self.send(subject, step, document), step, answer)

    def advise(self, kind: str, step: str, **more: object) -> None:
        document = {
            "type": f"io.nats.jetstream.advisory.v1.{kind.lower()}",
            "id": "".join(self.luck.choices(TOKENS + TOKENS.upper(), k=20)) + "A1",
            "timestamp": f"2026-11-16T12:23:{self.luck.randrange(10, 60)}.{self.luck.randrange(10**9)}Z",
            **more,
        }
        payload = json.dumps(document, separators=(",", ":")).encode()
        subject = f"$JS.EVENT.ADVISORY.STREAM.{kind}.{self.stream}"
        self._add("<", "observer", "MSG", subject, step, payload=payload)

    def set_up(self) -> None:
        """A stream is made; its advisory comes when it comes."""
        inbox = self.send(f"$JS.API.STREAM.CREATE.{self.stream}", "given", {"name": self.stream})
        told = {"config": {"name": self.stream, "metadata": {"_nats.ver": self.server}}}
        self.answer(inbox, "given", {**told, f"new_in_{self.server}": True})
        self.advise("CREATED", self.luck.choice(("given", "1")), stream=self.stream)

    def _add(
        self, direction: str, connection: str, op: str, subject: str, step: str, **more: object
    ) -> None:
        made = FrameRecord(self.tick(), direction, connection, op, subject=subject, step=step)
        self.frames.append(replace(made, **more))  # type: ignore[arg-type]


Play = Callable[[Wire], tuple[Verdict, Mapping[str, object]]]


def steady(wire: Wire) -> tuple[Verdict, Mapping[str, object]]:
    wire.ask(f"{wire.stream}.a", "1", {"stream": wire.stream, "seq": 1})
    return Verdict.PASS, {}


def repaired(wire: Wire) -> tuple[Verdict, Mapping[str, object]]:
    """Fails as the ledger says until 2.14.0."""
    code = 10176 if _before(wire, "2.14.0") else 10177
    wire.ask(f"{wire.stream}.a", "1", {"error": {"code": 400, "err_code": code}})
    if _before(wire, "2.14.0"):
        return Verdict.KNOWN, {"deviation": "a50-sample", "reason": "a50-sample: says 10176"}
    return Verdict.PASS, {}


def positioned(wire: Wire) -> tuple[Verdict, Mapping[str, object]]:
    limit = "error 10176" if _before(wire, "2.14.0") else "error 10210"
    wire.ask(f"{wire.stream}.a", "1", {"said": limit})
    return Verdict.POSITION, {"position": {"inflight-limit": limit, "again": "no"}}


def on_the_wire(wire: Wire) -> tuple[Verdict, Mapping[str, object]]:
    """Passes everywhere, and says something else from 2.12.8 on."""
    more = {} if _before(wire, "2.12.8") else {"domain": "hub"}
    wire.ask(f"{wire.stream}.a", "1", {"stream": wire.stream, "seq": 1, **more})
    return Verdict.PASS, {}


def polled(wire: Wire) -> tuple[Verdict, Mapping[str, object]]:
    """Asks until it is there, and gets heartbeats meanwhile: how often, nobody knows."""
    waiting = wire.send(f"{wire.stream}.a", "1")
    for _ in range(wire.luck.randrange(1, 5)):
        wire.answer(waiting, "1", status=100, description="Idle Heartbeat")
    wire.answer(waiting, "1", {"seq": 2})
    for _ in range(wire.luck.randrange(4)):
        wire.ask(f"$JS.API.STREAM.INFO.{wire.stream}", "2", {"state": {"messages": 0}})
    wire.ask(f"$JS.API.STREAM.INFO.{wire.stream}", "2", {"state": {"messages": 2}})
    return Verdict.PASS, {}


def racing(wire: Wire) -> tuple[Verdict, Mapping[str, object]]:
    """Replies and advisories overtake each other, and arrive in later steps."""
    inboxes = [wire.send(f"{wire.stream}.{name}", "1") for name in "abc"]
    numbered = list(enumerate(inboxes, 1))
    wire.luck.shuffle(numbered)
    for number, inbox in numbered:
        wire.answer(inbox, wire.luck.choice(("1", "2")), {"seq": number})
    for reason in wire.luck.sample(("timeout", "incomplete"), 2):
        wire.advise("BATCH_ABANDONED", "2", stream=wire.stream, reason=reason)
    return Verdict.PASS, {}


def unsteady(wire: Wire) -> tuple[Verdict, Mapping[str, object]]:
    """One field is never the same; another one changes with 2.14.0."""
    domain = "old" if _before(wire, "2.14.0") else "new"
    told = {"lag": wire.luck.randrange(10**6), "domain": domain}
    wire.ask(f"{wire.stream}.a", "1", told)
    return Verdict.PASS, {}


def later(wire: Wire) -> tuple[Verdict, Mapping[str, object]]:
    if _before(wire, "2.14.0"):
        return Verdict.NOT_APPLICABLE, {"reason": "S-003 applies from 2.14.0"}
    wire.ask(f"{wire.stream}.a", "1", {"seq": 1})
    return Verdict.PASS, {}


CASES: Mapping[str, tuple[Play, tuple[str, ...]]] = {
    "steady": (steady, ("S-001",)),
    "repaired": (repaired, ("S-001", "S-002")),
    "positioned": (positioned, ("S-002",)),
    "on-the-wire": (on_the_wire, ("S-001",)),
    "polled": (polled, ("S-001",)),
    "racing": (racing, ("S-001",)),
    "unsteady": (unsteady, ("S-001",)),
    "later": (later, ("S-003",)),
}
CLAUSES = ("S-001", "S-002", "S-003", "S-004")


def make_clause(name: str, **more: object) -> Clause:
    clause = Clause(
        id=name,
        spec="adr-50",
        section="Samples",
        level=Level.MUST,
        actor=Actor.SERVER,
        status=Status.NORMATIVE,
        text=f"What {name} says.",
        revision_from=None,
        revision_to=None,
        applies_from=Version.parse("2.12.0"),
        sentence_hash=f"hash-of-{name}",
    )
    return replace(clause, **more)  # type: ignore[arg-type]


def make_cell(case: str, server: str, verdict: Verdict, **more: object) -> Cell:
    cell = Cell(
        case=f"{SUITE}::{case}",
        suite=SUITE,
        spec="adr-50",
        spec_revision=7,
        server=server,
        provider="embedded",
        topology="single",
        configuration="default",
        verdict=verdict,
        clauses=("S-001",),
        ms=12.5,
        started_at="2026-11-16T12:23:15.366Z",
        case_hash=f"hash-{case}",
        target=server,
        replay=f"jetproof replay {SUITE}::{case} --server {server}",
    )
    return replace(cell, **more)  # type: ignore[arg-type]


def played(case: str, server: str, luck: random.Random) -> CaseFinished:
    """One cell of a case that is described above."""
    play, clauses = CASES[case]
    wire = Wire(server, luck)
    wire.set_up()
    verdict, more = play(wire)
    cell = make_cell(case, server, verdict, clauses=clauses, ms=wire.ms, **more)
    if verdict is Verdict.NOT_APPLICABLE:
        return CaseFinished(replace(cell, ms=0.0))
    ok = verdict is not Verdict.KNOWN
    seen = Check("1", "request", "reply.error", ok, "error 10177", None if ok else "error 10176")
    return CaseFinished(cell, (replace(seen, ms=wire.ms),), tuple(wire.frames))


def schema_judged(server: str, seen: int, broken: int = 0) -> SchemaJudged:
    """What the harness adds for each schema of the wire."""
    if not broken:
        return SchemaJudged(schema_result(server=server, target=server, seen=seen))
    wrong = [f"not so {number}" for number in range(broken)]
    return SchemaJudged(broken_schema(*wrong, server=server, target=server, seen=seen))


def every_case(seed: int, servers: Iterable[str] = SERVERS) -> list[CaseFinished]:
    luck = random.Random(seed)
    plays = [(case, server) for case in CASES for server in servers]
    luck.shuffle(plays)
    return [played(case, server, luck) for case, server in plays]


def write_run(
    folder: Path,
    outcomes: Sequence[CaseFinished | SchemaJudged],
    *,
    run: str = "20261116T120000Z-aaaaaa",
    started_at: str = "2026-11-16T12:00:00.000Z",
    clauses: Sequence[Clause] | None = None,
    finish: bool = True,
    libraries: Sequence[dict[str, object]] = (),
) -> Path:
    """A run folder with these cells, as `jetproof run` leaves it."""
    law = tuple(make_clause(name) for name in CLAUSES) if clauses is None else tuple(clauses)
    judged = (one.cell if isinstance(one, CaseFinished) else one.result for one in outcomes)
    targets = tuple(dict.fromkeys(one.target for one in judged))
    with RunFolder.create(folder, libraries=libraries) as sink:
        sink.handle(
            RunStarted(
                run=run,
                started_at=started_at,
                targets=targets,
                cells=len(outcomes),
                time_factor=1.0,
                suite_hash="0123456789abcdef",
                clauses=law,
                command=("jetproof", "run"),
            )
        )
        for target in targets:
            sink.handle(TargetStarted(target, target, "embedded", "single", "default", 1, 1.0))
        for outcome in outcomes:
            sink.handle(outcome)
        if finish:
            sink.handle(RunFinished(run=run, wall_ms=1000.0))
    return folder


def run_of(folder: Path, number: int, **more: object) -> Path:
    """The `number`-th run of every case on every server, an hour after the one before."""
    return write_run(
        folder,
        every_case(number),
        run=f"20261116T{number:02}0000Z-{number:06x}",
        started_at=f"2026-11-16T{number:02}:00:00.000Z",
        **more,  # type: ignore[arg-type]
    )


def _before(wire: Wire, release: str) -> bool:
    return Version.parse(wire.server) < Version.parse(release)
