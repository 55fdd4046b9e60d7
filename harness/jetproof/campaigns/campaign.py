"""What the campaigns share that are one run: `run`, `matrix`, `gate`, `replay`.

A campaign is planned by a function of its module, which resolves targets and starts nothing. `play`
then plays it, and reports all of it as events. A new campaign says in `_play` what it plays, and gets
from here: events of a resumed run, the cells so far, the exit code, and an early end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from jetproof.campaigns.resume import with_earlier
from jetproof.engine.run import RunOptions, Stop
from jetproof.events import CaseFinished, Emit, Event, Notice, SchemaJudged
from jetproof.load.library import Library
from jetproof.model.case import Case
from jetproof.model.verdict import Cell, Result, exit_code
from jetproof.results import Run
from jetproof.results.documents.playing import GateLibrary
from jetproof.targets.spec import redacted
from jetproof.targets.sweep import Owner


@dataclass(slots=True, kw_only=True)
class Campaign(ABC):
    """One campaign, planned. `request` is what `run.json` keeps of what was asked for."""

    library: Library
    request: Mapping[str, object]
    cases: Sequence[Case]
    options: RunOptions
    earlier: Run | None = None
    """The run that it goes on with."""
    notices: Sequence[str] = ()
    """What a person should know before it starts."""
    libraries: Sequence[GateLibrary] = ()
    """Who the client libraries are that it judges."""
    stop: Stop = field(default_factory=Stop)
    _results: dict[tuple[str, str], Result] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.options.run

    @property
    def cells(self) -> Sequence[Cell]:
        """The last attempt at every cell so far, those of the resumed run included."""
        return tuple(one for one in self._results.values() if isinstance(one, Cell))

    @property
    def planned(self) -> int | None:
        """How many cells count, if some do not."""
        return None

    def counts(self, result: Result) -> bool:
        """Whether the exit code depends on a cell, or on what was judged of a schema."""
        return True

    @property
    def exit_code(self) -> int:
        """By the verdicts so far."""
        return exit_code(one for one in self._results.values() if self.counts(one))

    async def play(self, emit: Emit, owner: Owner) -> None:
        """Play all of it, until it is done or `stop` says so."""

        def keep(event: Event) -> None:
            if isinstance(event, (CaseFinished, SchemaJudged)):
                one = event.cell if isinstance(event, CaseFinished) else event.result
                self._results[one.name, redacted(one.target)] = one
            emit(event)

        for text in self.notices:
            keep(Notice(text))
        emit_all = keep if self.earlier is None else with_earlier(self.earlier, keep)
        await self._play(emit_all, replace(self.options, owner=owner))

    @abstractmethod
    async def _play(self, emit: Emit, options: RunOptions) -> None: ...
