"""Plays a plan: groups side by side, the cases of a group at the same time, every cell an event."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from jetproof.engine import again
from jetproof.engine.client_steps import behind_a_tap
from jetproof.engine.identity import fresh_run_id, fresh_token, now, run_prefix
from jetproof.engine.judge import Rules
from jetproof.engine.options import CASES_AT_ONCE, Front, RunOptions, Stop, no_front
from jetproof.engine.places import Places
from jetproof.engine.play import Play
from jetproof.engine.player import Outcome, play_case
from jetproof.engine.schema_watch import SUITE, SchemaWatch
from jetproof.engine.session import Session
from jetproof.engine.verdicts import Ruling, rule
from jetproof.errors import JetproofError
from jetproof.events import (
    CaseFinished,
    CaseStarted,
    Emit,
    Event,
    Notice,
    RunFinished,
    RunStarted,
    TargetFailed,
    TargetStarted,
    TargetStopped,
)
from jetproof.load.library import Library
from jetproof.model.client_ledger import ClientLedger
from jetproof.model.ledger import REFERENCE
from jetproof.model.verdict import Cell, Verdict
from jetproof.plan import Group, Item, Plan, PlanTarget, why_not
from jetproof.targets.clients.process import AdapterFault
from jetproof.targets.node import Node, NotReady, StartError
from jetproof.targets.reference import REVISIONS
from jetproof.targets.topology import RunningTarget, start_target

__all__ = [
    "CASES_AT_ONCE",
    "Front",
    "RunOptions",
    "Stop",
    "fresh_run_id",
    "no_front",
    "now",
    "run",
    "run_prefix",
]

LOG_LINES = 30


async def run(
    plan: Plan, library: Library, emit: Emit, options: RunOptions, stop: Stop | None = None
) -> RunFinished:
    """Plays everything in the plan. Nothing that a target or a case does ends it early."""
    return await _Run(plan, library, emit, options, stop or Stop()).whole()


class _Run:
    def __init__(
        self, plan: Plan, library: Library, emit: Emit, options: RunOptions, stop: Stop
    ) -> None:
        self.plan = plan
        self.library = library
        self.options = options
        self.stop = stop
        self.verdicts: Counter[Verdict] = Counter()
        self.slowest = 0.0
        self.places = Places(options.servers_at_once)
        self.again: list[Group] = []
        self.seen: dict[tuple[str, int, str], Verdict] = {}
        self.last = not options.again
        self.watches = {
            target.name: SchemaWatch(
                library.schemas,
                target.version,
                REVISIONS if target.provider == REFERENCE else None,
            )
            for target in plan.targets
        }
        self._emit = emit

    async def whole(self) -> RunFinished:
        began = time.monotonic()
        self._emit(self._started())
        for dropped in self.plan.not_applicable:
            cell = self._cell(dropped.item, dropped.target, Ruling(Verdict.NOT_APPLICABLE))
            self.finished(CaseFinished(replace(cell, reason=dropped.reason)))
        await self._groups(self.plan.groups)
        # A machine too slow or too busy for a case among hundreds may do for it alone.
        self.last = True
        for group in again.together(self.again):
            await self._groups([group])
        self._judge_schemas()
        ended = RunFinished(
            run=self.options.run,
            verdicts=dict(self.verdicts),
            wall_ms=round((time.monotonic() - began) * 1000, 1),
            slowest_case_ms=round(self.slowest, 1),
            interrupted=self.stop.reason is not None,
        )
        self._emit(ended)
        return ended

    async def _groups(self, groups: Sequence[Group]) -> None:
        if self.stop.reason is not None:
            return
        tasks = [asyncio.create_task(self._group(group)) for group in groups]
        for task in tasks:
            self.stop.watch(task)
        results = await asyncio.gather(*tasks, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                raise result

    def emit(self, event: Event) -> None:
        self._emit(event)

    def finished(self, event: CaseFinished) -> None:
        cell = event.cell
        self.verdicts[cell.verdict] += 1
        self.slowest = max(self.slowest, cell.ms)
        self._emit(event)
        if self.options.fail_fast and (cell.verdict.nonconforming or cell.verdict is Verdict.ERROR):
            self.stop.now(f"{cell.name} is {cell.verdict}, and --fail-fast was asked for")

    # -- one group ------------------------------------------------------------------------------

    async def _group(self, group: Group) -> None:
        async with self.places.taken(group.weight):
            await self._play_group(group)

    async def _play_group(self, group: Group) -> None:
        began = time.monotonic()
        played: set[tuple[str, int]] = set()
        died: list[str] = []
        session: Session | None = None
        log: tuple[str, ...] = ()

        def on_exit(node: Node, _: int | None) -> None:
            reason = str(node.died)
            died.append(reason)
            if session is not None:
                session.die(reason)

        try:
            async with start_target(
                group.target.name,
                configuration=group.configuration,
                topology=group.topology,
                accounts=group.accounts,
                owner=self.options.owner,
                keep=self.options.keep,
                factor=self.options.time_factor,
                on_unplanned_exit=on_exit,
                notify=lambda text: self.emit(Notice(text)),
                knobs=self.options.knobs,
                release=group.release,
            ) as target:
                self.emit(
                    TargetStarted(
                        group.target.name,
                        str(target.version),
                        target.provider,
                        group.topology,
                        group.configuration,
                        len(group.items),
                        round((time.monotonic() - began) * 1000, 1),
                        group.target.build,
                    )
                )
                try:
                    async with self.options.front(target) as address:
                        session = Session(
                            target,
                            factor=self.options.time_factor,
                            address=address,
                            release=group.target.release,
                            foreign=group.release is not None,
                        )
                        async with session:
                            if died:
                                session.die(died[0])
                            await self._play_items(group, session, played)
                            if target.provider == "external" and not session.dead:
                                await session.sweep(run_prefix(self.options.run))
                except (JetproofError, OSError):
                    log = log_tail(target)  # while there still is one
                    raise
                if self.options.hold is not None:
                    async with self.options.hold(target):
                        pass
            self.emit(TargetStopped(group.target.name, group.topology, group.configuration))
        except (JetproofError, OSError) as problem:
            if isinstance(problem, NotReady) and not self.last and not played:
                said = str(problem).splitlines()[0]
                self.emit(Notice(f"{group.target.name} {group.topology} is started again: {said}"))
                self.again.append(group)
                return
            self._no_verdict(group, played, problem, log)

    async def _play_items(
        self, group: Group, session: Session, played: set[tuple[str, int]]
    ) -> None:
        places = asyncio.Semaphore(again.AT_ONCE if self.last else self.options.cases_at_once)

        async def one(item: Item) -> None:
            # Cases of a library wait for one of its adapters, and not for each other.
            async with contextlib.nullcontext() if item.client and not self.last else places:
                if self.stop.reason is None:
                    await self._play_item(group, item, session)
                    played.add((item.case.id, item.revision))

        async with asyncio.TaskGroup() as tasks:
            # The longest first: one that waits for its turn would be the end of the whole run.
            for item in sorted(group.items, key=lambda item: -item.case.budget):
                tasks.create_task(one(item))

    async def _play_item(self, group: Group, item: Item, session: Session) -> None:
        case = item.case
        rules = Rules(
            group.target.version,
            case.spec,
            item.revision,
            self.library.errors,
            self.library.schemas,
        )
        watch = self.watches[group.target.name]
        token = fresh_token(self.options.run)
        play = Play(case, session, rules, token, schema_watch=watch.see)
        if item.client is None:
            outcome = await self._begun(group, play)
        else:
            outcome = await self._with_library(group, item, play)
        if outcome.disturbed and not self.last and not session.dead:
            self.emit(Notice(f"{case.id} @{group.target.name} is played again: {outcome.error}"))
            self.again.append(replace(group, items=(item,)))
            return
        ruling = self._rule(group, item, outcome)
        if ruling.verdict.nonconforming and (told := await self._witnessed(group, item, session)):
            ruling = replace(ruling, reason=f"{ruling.reason} ({told})")
        cell = self._cell(item, group.target, ruling)
        log: tuple[str, ...] = ()
        if ruling.verdict is Verdict.ERROR or ruling.verdict.nonconforming:
            log = log_tail(session.target)
        cell = replace(
            cell,
            ms=outcome.ms,
            started_at=play.transcript.started_at,
            position=dict(outcome.positions),
            server_log=log,
        )
        if item.client is not None and item.client == self.options.witness:
            self.seen[case.id, item.revision, group.target.name] = ruling.verdict
        self.finished(CaseFinished(cell, outcome.checks, outcome.frames))

    async def _begun(self, group: Group, play: Play) -> Outcome:
        """Plays a case that has all that it waited for: its time begins now."""
        self.emit(CaseStarted(play.case.id, group.target.name))
        play.transcript.begin()
        return await play_case(play)

    async def _with_library(self, group: Group, item: Item, play: Play) -> Outcome:
        """Plays a case with a client library, behind a tap of its own."""
        assert item.client is not None
        if item.client.broken is not None:
            return Outcome((), (), {}, 0.0, item.client.broken)
        try:
            async with (
                self.options.libraries[item.client.name].taken(item.case.budget) as lease,
                behind_a_tap(play, lease),
            ):
                return await self._begun(group, play)
        except AdapterFault as fault:
            return Outcome((), (), {}, 0.0, fault.message)

    async def _witnessed(self, group: Group, item: Item, session: Session) -> str:
        """What the witness sees of a case that a library fails: a server is not blamed on it."""
        witness = self.options.witness
        if item.client is None or witness is None or item.client == witness:
            return ""
        if witness.claims.get(item.case.spec, item.revision) != item.revision:
            return ""  # it keeps to another revision
        if group.alone or why_not(self.library, replace(item, client=witness), group.target):
            return ""
        again = replace(item, client=witness)
        await self._play_item(group, again, session)
        verdict = self.seen.get((again.case.id, again.revision, group.target.name))
        return f"the {witness.library} client: {verdict}" if verdict else ""

    def _rule(self, group: Group, item: Item, outcome: Outcome) -> Ruling:
        if outcome.unsupported is not None and item.client is not None:
            reason = f"{item.client.library} does not support {outcome.unsupported}"
            return Ruling(Verdict.NOT_APPLICABLE, reason)
        if outcome.error is not None:
            return Ruling(Verdict.ERROR, outcome.error)
        return self._ruling(group.target, item, group.topology, outcome)

    def _ruling(self, target: PlanTarget, item: Item, topology: str, outcome: Outcome) -> Ruling:
        if item.client is not None:
            ledger = self.options.ledgers.get(item.client.name, ClientLedger())
            covering = ledger.covering(item.case.id, item.client.version, target.version)
        else:
            covering = [
                entry
                for entry in self.library.deviations
                if entry.covers(item.case.id, target.version, topology, target.provider)
            ]
        return rule(self.library.clauses_of(item.case), outcome.checks, covering)

    def _no_verdict(
        self, group: Group, played: set[tuple[str, int]], problem: Exception, log: tuple[str, ...]
    ) -> None:
        """A target that did not start, or a session that broke: its other cases are `error`."""
        if isinstance(problem, StartError):
            log = tuple(problem.log_tail.splitlines())
        reason = problem.message if isinstance(problem, JetproofError) else str(problem)
        reason = reason.splitlines()[0].rstrip(":")
        if isinstance(problem, JetproofError) and problem.hint:
            reason += f" ({problem.hint.splitlines()[0]})"
        self.emit(TargetFailed(group.target.name, group.topology, group.configuration, reason, log))
        for item in group.items:
            if (item.case.id, item.revision) not in played:
                cell = self._cell(item, group.target, Ruling(Verdict.ERROR, reason))
                self.finished(CaseFinished(replace(cell, started_at=now(), server_log=log)))

    # -- cells ----------------------------------------------------------------------------------

    def _cell(self, item: Item, target: PlanTarget, ruling: Ruling) -> Cell:
        case = item.case
        cell = Cell(
            case=case.id,
            suite=case.suite,
            spec=case.spec,
            spec_revision=item.revision,
            server=str(target.version),
            provider=target.provider,
            topology=case.given.topology,
            configuration=case.given.configuration,
            verdict=ruling.verdict,
            clauses=case.clauses,
            reason=ruling.reason,
            deviation=ruling.deviation,
            case_hash=case.hash,
            target=target.name,
            replay=item.replay(target),
            law=item.law,
            client=item.client.name if item.client else None,
        )
        return replace(cell, attempt=self.options.attempts.get(cell.name, 0) + 1)

    def _judge_schemas(self) -> None:
        for target in self.plan.targets:
            for name, record in sorted(self.watches[target.name].records.items()):
                case = f"{SUITE}::{name}"
                checks = tuple(record.checks.values())
                covering = [
                    entry
                    for entry in self.library.deviations
                    if entry.covers(case, target.version, "any", target.provider)
                ]
                ruling = rule((), checks, covering)
                position = {"seen": str(record.seen)}
                if record.unknown:
                    position["unknown-fields"] = ", ".join(sorted(record.unknown))
                cell = Cell(
                    case=case,
                    suite=SUITE,
                    spec=SUITE,
                    spec_revision=0,
                    server=str(target.version),
                    provider=target.provider,
                    topology="any",
                    configuration="any",
                    verdict=ruling.verdict,
                    clauses=(),
                    reason=ruling.reason,
                    deviation=ruling.deviation,
                    position=position,
                    target=target.name,
                    started_at=now(),
                    replay=f"jetproof run --server {shlex.quote(target.name)}",
                )
                attempt = self.options.attempts.get(cell.name, 0) + 1
                self.finished(CaseFinished(replace(cell, attempt=attempt), checks))

    def _started(self) -> RunStarted:
        clauses = [
            clause for spec in self.library.specs.values() for clause in spec.clauses.values()
        ]
        return RunStarted(
            run=self.options.run,
            started_at=now(),
            targets=tuple(target.name for target in self.plan.targets),
            cells=self.plan.cells,
            time_factor=self.options.time_factor,
            suite_hash=self.library.suite_hash,
            clauses=tuple(clauses),
            partial=self.plan.partial,
            command=self.options.command,
        )


def log_tail(target: RunningTarget) -> tuple[str, ...]:
    lines: list[str] = []
    for name, tail in target.log_tails(LOG_LINES).items():
        prefix = f"{name}: " if len(target.nodes) > 1 else ""
        lines.extend(prefix + line for line in tail.splitlines())
    return tuple(lines)
