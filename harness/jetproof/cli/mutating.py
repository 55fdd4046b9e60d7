"""The work of `jetproof mutate`.

The cases are played once as the server is, and then once for each mutant: the same server behind
a tap that makes it wrong. A mutant is caught if a case that names one of its clauses comes to
a worse verdict, or records another position, than without it. A mutant whose rules never fired
proves nothing, and is said to have done nothing; `error` catches nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import fnmatch
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TextIO

from jetproof.campaigns.interrupts import Interrupts
from jetproof.campaigns.selecting import select_cases
from jetproof.cli.common import laws_of, say, write_json
from jetproof.engine.calibrate import time_factor
from jetproof.engine.retries import AT_ONCE
from jetproof.engine.run import Front, RunOptions, Stop, fresh_run_id, no_front, run
from jetproof.engine.session import Address
from jetproof.errors import JetproofError
from jetproof.load.library import Library, load_library
from jetproof.model.identity import REFERENCE
from jetproof.model.mutant import Mutant
from jetproof.model.verdict import Cell, Verdict
from jetproof.plan import Item, PlanTarget, Selected, Selection, make_plan
from jetproof.sinks.paint import Paint, paint_for
from jetproof.sinks.record import Record
from jetproof.sinks.text import fit, pad, visible
from jetproof.targets.resolve import resolve_one
from jetproof.targets.sweep import Owner, own_run
from jetproof.targets.tap import Tap
from jetproof.targets.topology import RunningTarget
from jetproof.tasks import all_of
from jetproof.wire.rules.model import Pass

_SERVERS_AT_ONCE = 4
_WORSE = (Verdict.FAIL, Verdict.STALE, Verdict.WARN)
CAUGHT, SURVIVED, IDLE, UNTESTED, UNDECIDED = "caught", "survived", "idle", "untested", "error"


@dataclass(frozen=True, slots=True)
class Trial:
    """One mutant: what became of the cases that name its clauses."""

    mutant: Mutant
    outcome: str
    fired: Mapping[str, int] = field(default_factory=dict)
    caught_by: tuple[Cell, ...] = ()
    played: tuple[Cell, ...] = ()

    def document(self) -> dict[str, object]:
        return {
            "mutant": self.mutant.id,
            "about": self.mutant.about,
            "breaks": list(self.mutant.breaks),
            "outcome": self.outcome,
            "fired": dict(self.fired),
            "caught_by": [_brief(cell) for cell in self.caught_by],
            "played": [_brief(cell) for cell in self.played],
        }


async def execute(args: argparse.Namespace) -> int:
    """Play everything and tell what was caught."""
    library = load_library()
    selected = select_cases(library, Selection(tuple(args.patterns)))
    hint = "name one release or build that jetproof starts itself"
    target = await resolve_one(args.server, hint=hint, notify=say)
    if target.fixed is not None:
        raise JetproofError(f"{args.server!r} cannot be made wrong", phase="plan", hint=hint)
    mutants = choose(possible(library.mutants, target), selected.items, args.mutants)
    stream = sys.stderr if args.json or args.markdown else sys.stdout
    paint = paint_for(stream)
    interrupts = Interrupts(Stop(), notify=lambda text: _say(stream, text))
    baseline: dict[str, Cell] = {}
    trials: list[Trial] = []
    with own_run() as owner:
        command = tuple(args.command_line)
        bench = Bench(library, target, interrupts.stop, owner, command, laws_of(args))
        concerned = [item for item in selected.items if any(breaks(each, item) for each in mutants)]
        async with interrupts.heard():
            try:
                baseline = await bench.cells(concerned, no_front)
                trials = await _try_all(
                    bench, mutants, selected.items, baseline, args.jobs, stream, paint
                )
            except asyncio.CancelledError:
                if interrupts.signal is None:
                    raise
    never = never_failed(selected.items, mutants, trials)
    code = interrupts.exit_code or exit_code(trials, baseline.values())
    if args.json:
        write_json(
            {
                "schema": 1,
                "target": target.name,
                "mutants": [trial.document() for trial in trials],
                "never_failed": never,
                "exit_code": code,
            }
        )
    elif args.markdown:
        sys.stdout.write(markdown(trials, never, selected.items))
    elif interrupts.signal is None:
        for line in report(trials, never, len(selected.items), paint):
            stream.write(f"{line}\n")
    return code


def possible(mutants: Sequence[Mutant], target: PlanTarget) -> list[Mutant]:
    """The mutants that the target can be: some are ways for the reference layer alone."""
    return [each for each in mutants if not each.for_reference or target.provider == REFERENCE]


def choose(
    mutants: Sequence[Mutant], items: Sequence[Item], patterns: Sequence[str]
) -> list[Mutant]:
    """The mutants that are named, or all that concern the chosen cases."""
    for pattern in patterns:
        if not fnmatch.filter([mutant.id for mutant in mutants], pattern):
            raise JetproofError(
                f"no mutant matches {pattern!r}",
                phase="plan",
                hint=f"there are: {', '.join(mutant.id for mutant in mutants) or 'none'}; those "
                "of the reference layer need a target such as reference:latest",
            )
    if patterns:
        return [
            mutant
            for mutant in mutants
            if any(fnmatch.fnmatchcase(mutant.id, pattern) for pattern in patterns)
        ]
    clauses = {clause for item in items for clause in item.case.clauses}
    # With every case chosen, a mutant that no case concerns is news as well.
    return [mutant for mutant in mutants if clauses & set(mutant.breaks)] or list(mutants)


def breaks(mutant: Mutant, item: Item) -> bool:
    return bool(set(mutant.breaks) & set(item.case.clauses))


class Bench:
    """Plays cases of one target behind a front, and gives their cells by case."""

    def __init__(
        self,
        library: Library,
        target: PlanTarget,
        stop: Stop,
        owner: Owner,
        command: tuple[str, ...],
        laws: str,
    ) -> None:
        self._library = library
        self._target = target
        self._stop = stop
        self._options = RunOptions(
            again=False,
            confirm=0,
            cases_at_once=AT_ONCE,
            run="",
            time_factor=time_factor(),
            servers_at_once=_SERVERS_AT_ONCE,
            command=command,
            owner=owner,
            laws=laws,
        )

    async def cells(
        self, items: Sequence[Item], front: Front, knobs: Mapping[str, bool] | None = None
    ) -> dict[str, Cell]:
        if not items or self._stop.reason is not None:
            return {}
        plan = make_plan(self._library, Selected(tuple(items)), [self._target], skip=frozenset())
        record = Record(keep_frames=0)
        options = replace(self._options, run=fresh_run_id(), front=front, knobs=knobs or {})
        await run(plan, self._library, record.handle, options, self._stop)
        wanted = {item.case.id for item in items}
        cells = [outcome.cell for outcome in record.outcomes]
        return {cell.case: cell for cell in cells if cell.case in wanted}


async def _try_all(
    bench: Bench,
    mutants: Sequence[Mutant],
    items: Sequence[Item],
    baseline: Mapping[str, Cell],
    at_once: int,
    stream: TextIO,
    paint: Paint,
) -> list[Trial]:
    places = asyncio.Semaphore(at_once)

    async def one(mutant: Mutant) -> Trial:
        async with places:
            trial = await _try(bench, mutant, items, baseline)
        stream.write(f"{trial_line(trial, paint)}\n")
        stream.flush()
        return trial

    return await all_of(*(one(mutant) for mutant in mutants))


async def _try(
    bench: Bench, mutant: Mutant, items: Sequence[Item], baseline: Mapping[str, Cell]
) -> Trial:
    concerned = [item for item in items if breaks(mutant, item)]
    if not concerned:
        return Trial(mutant, UNTESTED)
    fired: Counter[str] = Counter()
    cells = await bench.cells(concerned, mutant_front(mutant, fired), mutant.knobs)
    return judge(mutant, fired, cells, baseline)


def judge(
    mutant: Mutant,
    fired: Mapping[str, int],
    cells: Mapping[str, Cell],
    baseline: Mapping[str, Cell],
) -> Trial:
    """What a mutant's cells say, compared with those of the server as it is."""
    played = tuple(cell for cell in cells.values() if cell.verdict is not Verdict.NOT_APPLICABLE)
    caught = tuple(
        cell for cell in played if cell.case in baseline and catches(baseline[cell.case], cell)
    )
    if caught:
        outcome = CAUGHT
    elif not played:
        outcome = UNTESTED
    elif not any(fired.values()):
        outcome = IDLE
    elif all(cell.verdict is Verdict.ERROR for cell in played):
        outcome = UNDECIDED
    else:
        outcome = SURVIVED
    return Trial(mutant, outcome, dict(fired), caught, played)


def catches(before: Cell, now: Cell) -> bool:
    """Whether a cell shows that something is wrong which was not wrong without the mutant."""
    if Verdict.ERROR in (before.verdict, now.verdict):
        return False
    if now.verdict in _WORSE:
        return before.verdict is not now.verdict or before.reason != now.reason
    return now.verdict is Verdict.POSITION and before.position != now.position


def mutant_front(mutant: Mutant, fired: Counter[str]) -> Front:
    """Puts a tap with the mutant's rules before every node; `fired` counts what they did.

    What the reference layer did wrong is counted by the names of its knobs.
    """

    @contextlib.asynccontextmanager
    async def front(target: RunningTarget) -> AsyncIterator[Address | None]:
        async with contextlib.AsyncExitStack() as stack:
            taps: dict[str, Tap] = {}
            for name in target.nodes:
                tap = Tap(*target.address(name), rules=mutant.rules)
                taps[name] = await stack.enter_async_context(tap)
            try:
                yield lambda node: (taps[node].host, taps[node].port)
            finally:
                for tap in taps.values():
                    # A rule that only remembers has done nothing to the server.
                    doing = [rule.id for rule in tap.rules if not isinstance(rule.do, Pass)]
                    fired.update({rule: tap.fired.get(rule, 0) for rule in doing})
                if target.reference is not None:
                    fired.update(target.reference.fired)

    return front


def never_failed(
    items: Sequence[Item], mutants: Sequence[Mutant], trials: Sequence[Trial]
) -> list[dict[str, object]]:
    """The cases that nothing made fail, and how many mutants tried."""
    failed = {cell.case for trial in trials for cell in trial.caught_by}
    return [
        {
            "case": item.case.id,
            "mutants": [mutant.id for mutant in mutants if breaks(mutant, item)],
        }
        for item in items
        if item.case.id not in failed
    ]


def exit_code(trials: Sequence[Trial], baseline: Iterable[Cell]) -> int:
    """1 if a mutant got away, 3 if the servers gave no verdict."""
    outcomes = {trial.outcome for trial in trials}
    if UNDECIDED in outcomes or any(cell.verdict is Verdict.ERROR for cell in baseline):
        return 3
    return 1 if outcomes & {SURVIVED, IDLE} else 0


_LOOKS = {
    CAUGHT: ("green", "caught by {0}"),
    SURVIVED: ("alarm", "survived {1}"),
    IDLE: ("yellow", "its rules never fired in {1}"),
    UNTESTED: ("yellow", "no case that can be played names its clauses"),
    UNDECIDED: ("alarm", "no case came to a verdict"),
}


def trial_line(trial: Trial, paint: Paint) -> str:
    style, words = _LOOKS[trial.outcome]
    names = ", ".join(visible(cell.case.rpartition("::")[2]) for cell in trial.caught_by)
    count = len(trial.played)
    told = words.format(names, f"{count} case{'' if count == 1 else 's'}")
    head = f"{paint.style(pad(trial.outcome, 8), style)} {visible(trial.mutant.id)}  "
    room = paint.width - 11 - len(trial.mutant.id)
    return head + paint.dim(fit(told, max(20, room)))


def report(
    trials: Sequence[Trial], never: Sequence[Mapping[str, object]], cases: int, paint: Paint
) -> Iterable[str]:
    """What survived and why, which cases nothing made fail, and the counts."""
    escaped = [trial for trial in trials if trial.outcome != CAUGHT]
    if escaped:
        yield ""
        yield paint.bold("mutants that nothing caught")
        for trial in escaped:
            yield f"  {visible(trial.mutant.id)}: {visible(trial.mutant.about)}"
            yield paint.dim(f"      breaks {', '.join(map(visible, trial.mutant.breaks))}")
            fired = ", ".join(f"{visible(rule)} {count}" for rule, count in trial.fired.items())
            yield paint.dim(f"      fired: {fired or 'nothing'}")
            for cell in trial.played:
                yield paint.dim(f"      {pad(cell.verdict, 8)} {visible(cell.case)}")
    untried = [row for row in never if not row["mutants"]]
    vacuous = [row for row in never if row["mutants"]]
    if vacuous:
        yield ""
        yield paint.bold("cases that no mutant of their clauses made fail")
        for row in vacuous:
            names = row["mutants"]
            tried = ", ".join(map(str, names)) if isinstance(names, list) else ""
            yield f"  {visible(str(row['case']))}  {paint.dim(f'tried: {visible(tried)}')}"
    if untried:
        yield ""
        yield paint.bold("cases whose clauses no mutant breaks")
        for row in untried:
            yield f"  {visible(str(row['case']))}"
    yield ""
    counts = Counter(trial.outcome for trial in trials)
    told = ", ".join(f"{counts[name]} {name}" for name in _LOOKS if counts[name])
    seen = cases - len(never)
    dot = paint.dot
    yield f"{len(trials)} mutants: {told or 'none'} {dot} {seen} of {cases} cases were seen to fail"


def markdown(
    trials: Sequence[Trial], never: Sequence[Mapping[str, object]], items: Sequence[Item]
) -> str:
    """A table by specification, and whatever got away by name."""
    unseen = {str(row["case"]) for row in never}
    lines = [
        "| specification | mutants | caught | cases | seen to fail |",
        "| --- | --- | --- | --- | --- |",
    ]
    specs = list(dict.fromkeys(item.case.spec for item in items))
    for spec in (*specs, "all"):
        cases = {item.case.id for item in items if spec in (item.case.spec, "all")}
        concerned = [
            trial
            for trial in trials
            if spec == "all" or any(cell.case in cases for cell in trial.played)
        ]
        caught = sum(trial.outcome == CAUGHT for trial in concerned)
        seen = len(cases - unseen)
        lines.append(f"| {spec} | {len(concerned)} | {caught} | {len(cases)} | {seen} |")
    for trial in trials:
        if trial.outcome != CAUGHT:
            lines.append(f"\n- `{trial.mutant.id}` {trial.outcome}: {trial.mutant.about}")
    return "\n".join(lines) + "\n"


def _brief(cell: Cell) -> dict[str, object]:
    return {"case": cell.case, "verdict": cell.verdict.value, "reason": cell.reason}


def _say(stream: TextIO, text: str) -> None:
    stream.write(f"{text}\n")
    stream.flush()
