"""Plays a plan: groups side by side, the cases of a group at the same time, every cell an event."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from jetproof import clock
from jetproof.engine import crashes, retries
from jetproof.engine.cells import cell_of
from jetproof.engine.client_steps import behind_a_tap
from jetproof.engine.confirm import Played, is_settled, settle
from jetproof.engine.identity import fresh_run_id, fresh_token, now, run_prefix
from jetproof.engine.judge import Rules
from jetproof.engine.limiter import Places
from jetproof.engine.options import (
    CASES_AT_ONCE,
    Proxy,
    RunOptions,
    Stop,
    no_proxy,
)
from jetproof.engine.play import Play
from jetproof.engine.player import Outcome, play_case
from jetproof.engine.run_events import RunEvents
from jetproof.engine.schema_watch import SchemaRecord, SchemaWatch
from jetproof.engine.session import Session
from jetproof.engine.verdicts import Ruling, rule
from jetproof.engine.wire_schemas import WireSchemas
from jetproof.errors import JetproofError
from jetproof.events import (
    CaseFinished,
    CaseHeld,
    CaseStarted,
    Emit,
    Notice,
    RunFinished,
    SchemaJudged,
    ServerCode,
    TargetFailed,
    TargetStarted,
    TargetStopped,
)
from jetproof.load.editions import held_promises
from jetproof.load.library import Library
from jetproof.model.client_ledger import ClientLedger
from jetproof.model.identity import ANY, REFERENCE, schema_key
from jetproof.model.law_modes import FULL_LAWS, NO_LAWS
from jetproof.model.verdict import (
    ALIVE,
    Cell,
    Result,
    SchemaResult,
    Verdict,
    schema_checks,
)
from jetproof.model.wording import plural
from jetproof.plan import Group, Item, Plan, PlanTarget, is_claimed, why_not
from jetproof.targets.clients.process import AdapterFault
from jetproof.targets.go_build import Built
from jetproof.targets.node import Death, Node, NotReady, StartError, Traces
from jetproof.targets.reference import REVISIONS
from jetproof.targets.topology import RunningTarget, start_target
from jetproof.wire import ConnectTimeout, WireTimeout

__all__ = [
    "CASES_AT_ONCE",
    "Proxy",
    "RunOptions",
    "Stop",
    "fresh_run_id",
    "no_proxy",
    "now",
    "play_plan",
    "run",
    "run_prefix",
]

LOG_LINES = 30


async def run(
    plan: Plan, library: Library, emit: Emit, options: RunOptions, stop: Stop | None = None
) -> RunFinished:
    """Plays everything in the plan. Nothing that a target or a case does ends it early."""
    stop = stop or Stop()
    events = RunEvents([plan], library, emit, options, stop)
    events.start()
    await play_plan(plan, library, events, options, stop)
    return events.finish()


async def play_plan(
    plan: Plan, library: Library, emit: Emit, options: RunOptions, stop: Stop
) -> None:
    """Plays a plan that is all of a run or a part of it: without the events of its ends."""
    await _Run(plan, library, emit, options, stop).whole()


@dataclass(frozen=True, slots=True)
class _Pass:
    """One pass over groups: how much at once, and who gets what was played."""

    cases_at_once: int
    take: Callable[[Played], None]
    put_off: bool = False
    """What a busy machine disturbs is put off until the rest is done."""
    crowded: bool = False
    """Cases of a library wait for one of its adapters, and not for each other."""
    witnessed: bool = True
    how: str = "first"
    """What transcripts call it."""


class _Run:
    def __init__(
        self, plan: Plan, library: Library, emit: Emit, options: RunOptions, stop: Stop
    ) -> None:
        self.plan = plan
        self.library = library
        self.options = options
        self.stop = stop
        self.places = Places(options.servers_at_once)
        self.again: list[Group] = []
        self.victims: list[crashes.Victim] = []
        self.suspects: list[Played] = []
        self.promises = (
            frozenset() if options.laws == NO_LAWS else held_promises(library, options.editions)
        )
        self.schemas = WireSchemas(library.schemas)
        self.watches = {
            (target.name, scored): SchemaWatch(
                self.schemas,
                target.version,
                REVISIONS if target.provider == REFERENCE else None,
            )
            for target in plan.targets
            for scored in (True, False)
        }
        self.emit = emit

    async def whole(self) -> None:
        for dropped in self.plan.not_applicable:
            ruling = Ruling(Verdict.NOT_APPLICABLE, dropped.reason)
            self.finished(CaseFinished(self._cell(dropped.item, dropped.target, ruling)))
        at_once, put_off = self.options.cases_at_once, self.options.again
        first = _Pass(at_once, self._judged, put_off=put_off, crowded=True)
        await self._groups(self.plan.groups, first)
        await self._after_crashes(first)
        # A machine too slow or too busy for a case among hundreds may do for it alone.
        for group in retries.together(self.again):
            await self._groups([group], _Pass(retries.AT_ONCE, self._judged, how="with less to do"))
        await self._confirm()
        self._judge_schemas()

    async def _groups(self, groups: Sequence[Group], during: _Pass) -> None:
        if self.stop.reason is not None:
            return
        tasks = [asyncio.create_task(self._group(group, during)) for group in groups]
        for task in tasks:
            self.stop.watch(task)
        results = await asyncio.gather(*tasks, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                raise result

    def finished(self, event: CaseFinished) -> None:
        self._emitted(event.cell, event)

    def _emitted(self, one: Result, event: CaseFinished | SchemaJudged) -> None:
        self.emit(event)
        if self.options.fail_fast and (one.fails or one.undecided):
            self.stop.now(f"{one.name} is {one.verdict}, and --fail-fast was asked for")

    # -- one group ------------------------------------------------------------------------------

    async def _group(self, group: Group, during: _Pass) -> None:
        async with self.places.taken(group.weight):
            await self._play_group(group, during)

    async def _play_group(self, group: Group, during: _Pass) -> None:
        began = clock.now()
        played: set[tuple[str, int]] = set()
        died: list[Death] = []
        session: Session | None = None
        log: tuple[str, ...] = ()
        build = group.target.build

        def on_exit(node: Node, _: int | None) -> None:
            assert node.died is not None
            died.append(node.died)
            if session is not None:
                session.lose(node.died)

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
                built=_built(group.target),
                on_traces=lambda traces: self._recorded(group, build, traces),
            ) as target:
                build = target.build
                self.emit(
                    TargetStarted(
                        group.target.name,
                        str(target.version),
                        target.provider,
                        group.topology,
                        group.configuration,
                        len(group.items),
                        round((clock.now() - began) * 1000, 1),
                        target.build,
                    )
                )
                try:
                    async with self.options.proxy(target) as address:
                        session = Session(
                            target,
                            factor=self.options.time_factor,
                            address=address,
                            release=group.target.release,
                            foreign=group.release is not None,
                        )
                        async with session:
                            if died:
                                session.lose(died[0])
                            await self._play_items(group, session, played, during)
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
            busy = isinstance(problem, (NotReady, ConnectTimeout, WireTimeout))
            if busy and during.put_off and not played:
                said = str(problem).splitlines()[0]
                self.emit(Notice(f"{group.target.name} {group.topology} is started again: {said}"))
                self.again.append(group)
                return
            self._no_verdict(group, played, problem, log, during)

    def _recorded(self, group: Group, build: str, traces: Sequence[Traces]) -> None:
        """What the servers of a group recorded of their own code."""
        cases = tuple(dict.fromkeys(item.case.id for item in group.items))
        for one in traces:
            self.emit(
                ServerCode(
                    group.target.name,
                    build,
                    group.topology,
                    group.configuration,
                    one.node,
                    cases,
                    one.lives,
                    one.files,
                )
            )

    async def _play_items(
        self, group: Group, session: Session, played: set[tuple[str, int]], during: _Pass
    ) -> None:
        places = asyncio.Semaphore(during.cases_at_once)

        async def one(item: Item) -> None:
            free = item.client is not None and during.crowded
            async with contextlib.nullcontext() if free else places:
                if self.stop.reason is None:
                    await self._play_item(group, item, session, during)
                    played.add((item.case.id, item.revision))

        async with asyncio.TaskGroup() as tasks:
            # The longest first: one that waits for its turn would be the end of the whole run.
            for item in sorted(group.items, key=lambda item: -item.case.budget):
                tasks.create_task(one(item))

    async def _play_item(self, group: Group, item: Item, session: Session, during: _Pass) -> None:
        played = await self._played(group, item, session, during.how)
        outcome = played.outcome
        if outcome.error and self._accuses(session, item) and during.put_off:
            self.victims.append(crashes.victim(group, item, outcome))
            return
        if outcome.disturbed and during.put_off and not session.dead:
            name = f"{item.case.id} @{group.target.name}"
            self.emit(Notice(f"{name} is played again: {outcome.error}"))
            self.again.append(replace(group, items=(item,)))
            return
        if played.red and during.witnessed:
            played = await self._witnessed(played, session)
        during.take(played)

    async def _played(self, group: Group, item: Item, session: Session, how: str) -> Played:
        """Plays one item, and rules on what was seen."""
        case = item.case
        rules = Rules(
            group.target.version,
            case.spec,
            item.revision,
            self.library.errors,
            self.schemas,
        )
        watch = self.watches[group.target.name, item.scored]
        token = fresh_token(self.options.run)
        play = Play(
            case,
            session,
            rules,
            token,
            schema_watch=watch.see,
            promises=self.promises,
            full_laws=self.options.laws == FULL_LAWS,
        )
        if item.client is None:
            outcome = await self._begun(group, play)
        else:
            outcome = await self._with_library(group, item, play)
        if outcome.error and len(group.items) == 1 and self._accuses(session, item):
            outcome = crashes.blamed(outcome, session.crash or "")
        ruling = self._rule(group, item, outcome)
        log: tuple[str, ...] = ()
        if ruling.verdict is Verdict.ERROR or ruling.verdict.nonconforming:
            log = log_tail(session.target)
        return Played(group, item, outcome, ruling, play.transcript.started_at, log, how)

    def _accuses(self, session: Session, item: Item) -> bool:
        """Whether a server's own code gave up, and a case without a library may be the cause."""
        return session.crash is not None and item.client is None and ALIVE in self.promises

    async def _after_crashes(self, during: _Pass) -> None:
        """Plays what lost its server to a crash again, so that one case does not cost the others."""
        for left in reversed(range(crashes.ROUNDS_MOST)):
            victims, self.victims = self.victims, []
            if not victims or self.stop.reason is not None:
                return
            self.emit(Notice(f"a server crashed: {plural(len(victims), 'cell')} played again"))
            await self._groups(crashes.again(victims), replace(during, put_off=left > 0))

    def _judged(self, played: Played) -> None:
        """Reports what was played; a red cell is held until it was played again."""
        most = self.options.confirm
        if not played.red or not most or self.options.fail_fast or not self._counts(played.item):
            self._report(played)
            return
        if sum(one.subject == played.subject for one in self.suspects) >= most:
            over = f"only {most} failing cells of a target are played again"
            self._report(played, (played,), over)
            return
        self.suspects.append(played)
        self.emit(CaseHeld(played.item.case.id, played.group.target.name))

    def _counts(self, item: Item) -> bool:
        """Whether a failure fails the run: a library is not held to a text that it does not claim,
        and nothing to a case that an edition does not score."""
        client = item.client
        claimed = client is None or is_claimed(self.library, client, item.case.spec, item.revision)
        return claimed and item.scored

    def _report(self, played: Played, plays: Sequence[Played] = (), unconfirmed: str = "") -> None:
        """The cell of a case, after one play or several."""
        outcome = played.outcome
        found = settle(plays, unconfirmed) if plays else None
        cell = self._cell(
            played.item,
            played.group.target,
            found.ruling if found else played.ruling,
            ms=outcome.ms,
            started_at=played.started_at,
            position=dict(outcome.positions),
            server_log=played.log,
            plays=found.plays if found else (),
            never_right=found.never_right if found else False,
        )
        shown = found or outcome
        self.finished(CaseFinished(cell, shown.checks, shown.frames, shown.questions))

    # -- confirmation ---------------------------------------------------------------------------

    async def _confirm(self) -> None:
        """Plays suspects again: among the same neighbours first, then alone."""
        tried = self.suspects
        plays: dict[tuple[str, int, str, str], list[Played]] = {one.key: [one] for one in tried}

        def take(played: Played) -> None:
            before = plays.get(played.key)
            if before is not None:
                before.append(played)
            elif played.red:
                name = f"{played.item.case.id} @{played.group.target.name}"
                self.emit(Notice(f"{name} failed while its neighbours were confirmed: not judged"))

        neighbours: dict[tuple[int, ...], Group] = {}
        for one in tried:
            neighbours[tuple(id(item) for item in one.group.items)] = one.group
        if tried:
            self.emit(
                Notice(f"{plural(len(tried), 'cell')} failed, and {_is(len(tried))} played again")
            )
        at_once, neighbourly = self.options.cases_at_once, "among its neighbours"
        among = _Pass(at_once, take, crowded=True, witnessed=False, how=neighbourly)
        for group in neighbours.values():
            await self._groups([group], among)
        alone = _Pass(1, take, witnessed=False, how="alone")
        for one in tried:
            if not is_settled(plays[one.key]):
                await self._groups([replace(one.group, items=(one.item,))], alone)
        for one in tried:
            self._report(one, plays[one.key], self.stop.reason or "")

    # -- one case -------------------------------------------------------------------------------

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

    async def _witnessed(self, played: Played, session: Session) -> Played:
        """With what the witness sees of a case that a library fails: a server is not blamed on it."""
        group, item, witness = played.group, played.item, self.options.witness
        if item.client is None or witness is None or item.client == witness:
            return played
        if witness.claims.get(item.case.spec, item.revision) != item.revision:
            return played  # it keeps to another revision
        own = replace(item, client=witness)
        if group.alone or why_not(self.library, own, group.target):
            return played
        seen = await self._played(group, own, session, "as a witness")
        self._report(seen)
        words = f"the {witness.library} client: {seen.ruling.verdict}"
        ruling = replace(played.ruling, reason=f"{played.ruling.reason} ({words})")
        return replace(played, ruling=ruling)

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
        self,
        group: Group,
        played: set[tuple[str, int]],
        problem: Exception,
        log: tuple[str, ...],
        during: _Pass,
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
                nothing = Outcome((), (), {}, 0.0, reason)
                ruling = Ruling(Verdict.ERROR, reason)
                during.take(Played(group, item, nothing, ruling, now(), log, during.how))

    # -- cells ----------------------------------------------------------------------------------

    def _cell(self, item: Item, target: PlanTarget, ruling: Ruling, **more: object) -> Cell:
        return cell_of(self.library, item, target, ruling, self.options.attempts, **more)

    def _judge_schemas(self) -> None:
        for target in self.plan.targets:
            ours, others = self.watches[target.name, True], self.watches[target.name, False]
            for name in sorted({*ours.records, *others.records}):
                result = self._schema_result(target, name, ours, others)
                self._emitted(result, SchemaJudged(result))

    def _schema_result(
        self, target: PlanTarget, name: str, ours: SchemaWatch, others: SchemaWatch
    ) -> SchemaResult:
        """What messages that scored cases saw, and `others`, say about one schema.

        What only cases that are not scored brought to light makes it one that is not."""
        scored, rest = ours.record(name), others.record(name)
        record = scored.with_(rest)
        ruling, own = self._schema_ruling(target, name, record), True
        if rest.seen and ruling.verdict.nonconforming:
            alone = self._schema_ruling(target, name, scored)
            if scored.violations and alone.verdict.nonconforming:
                ruling, record = alone, scored
            else:
                own = bool(scored.seen) and not rest.violations
        key, editions = schema_key(name), self.options.editions
        current = self.library.schemas.fingerprint(name) if editions else ""
        result = SchemaResult(
            schema=name,
            spec=self.library.schemas.spec_of(name),
            spec_revision=ours.spoken(name),
            server=str(target.version),
            provider=target.provider,
            target=target.name,
            seen=record.seen,
            broken=record.broken,
            unknown_fields=tuple(sorted(record.unknown)),
            violations=tuple(record.violations.values()),
            first_broken=record.first_broken,
            schema_hash=current,
            verdict=ruling.verdict,
            reason=ruling.reason,
            deviation=ruling.entry.id if ruling.entry else None,
            kind=ruling.entry.kind.value if ruling.entry else None,
            severity=ruling.entry.severity.value if ruling.entry else None,
            upstream=ruling.entry.upstream if ruling.entry else None,
            never_right=ruling.verdict.nonconforming,
            started_at=now(),
            replay=f"jetproof run --server {shlex.quote(target.name)}",
            edition=", ".join(edition.name for edition in editions) or None,
            scored=own and all(edition.scores(key, current) for edition in editions),
        )
        return self._after_earlier(result)

    def _after_earlier(self, result: SchemaResult) -> SchemaResult:
        """In a resumed run: what an earlier part saw broken stays so."""
        before = self.options.schemas.get(result.name)
        if before is None:
            return result
        result = replace(result, attempt=before.attempt + 1)
        if not before.fails:
            return result
        reason = f"before the run was resumed: {before.reason}"
        return replace(result, verdict=before.verdict, reason=reason, scored=True)

    def _schema_ruling(self, target: PlanTarget, name: str, record: SchemaRecord) -> Ruling:
        covering = [
            entry
            for entry in self.library.deviations
            if entry.covers(schema_key(name), target.version, ANY, target.provider)
        ]
        return rule((), schema_checks(name, record.violations.values()), covering)


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _built(target: PlanTarget) -> Built | None:
    return None if target.binary is None else Built(target.binary, target.build)


def log_tail(target: RunningTarget) -> tuple[str, ...]:
    lines: list[str] = []
    for name, tail in target.log_tails(LOG_LINES).items():
        prefix = f"{name}: " if len(target.nodes) > 1 else ""
        lines.extend(prefix + line for line in tail.splitlines())
    return tuple(lines)
