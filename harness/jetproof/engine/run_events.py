"""The events that begin and end a run, and the counts in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from jetproof import clock
from jetproof.engine.identity import now
from jetproof.engine.options import RunOptions, Stop
from jetproof.events import CaseFinished, Emit, Event, RunFinished, RunStarted, SchemaJudged
from jetproof.load.library import Library
from jetproof.model.verdict import Verdict
from jetproof.plan import Plan


class RunEvents:
    """One run for those who listen, of one plan or of several that are played side by side."""

    def __init__(
        self, plans: Sequence[Plan], library: Library, emit: Emit, options: RunOptions, stop: Stop
    ) -> None:
        self._plans = plans
        self._library = library
        self._emit = emit
        self._options = options
        self._stop = stop
        self._verdicts: Counter[Verdict] = Counter()
        self._slowest = 0.0
        self._began = 0.0

    def start(self) -> None:
        self._began = clock.now()
        specs = self._library.specs.values()
        self._emit(
            RunStarted(
                run=self._options.run,
                started_at=now(),
                targets=tuple(target.name for plan in self._plans for target in plan.targets),
                cells=sum(plan.cells for plan in self._plans),
                time_factor=self._options.time_factor,
                suite_hash=self._library.suite_hash,
                clauses=tuple(clause for spec in specs for clause in spec.clauses.values()),
                partial=self._plans[0].partial if self._plans else "",
                command=self._options.command,
            )
        )

    def __call__(self, event: Event) -> None:
        """Pass an event on, and count the verdict that it reports."""
        if isinstance(event, CaseFinished):
            self._verdicts[event.cell.verdict] += event.cell.scored
            self._slowest = max(self._slowest, event.cell.ms)
        elif isinstance(event, SchemaJudged):
            self._verdicts[event.result.verdict] += event.result.scored
        self._emit(event)

    def finish(self) -> RunFinished:
        ended = RunFinished(
            run=self._options.run,
            verdicts=dict(self._verdicts),
            wall_ms=round((clock.now() - self._began) * 1000, 1),
            slowest_case_ms=round(self._slowest, 1),
            interrupted=self._stop.reason is not None,
        )
        self._emit(ended)
        return ended
