"""Plays case files, or cases written down in a test, and keeps every event."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from jetproof.data import fixtures_dir
from jetproof.engine.run import RunOptions, Stop, fresh_run_id, run
from jetproof.events import CaseFinished, Event, RunFinished, SchemaJudged, TargetFailed
from jetproof.load.library import Library, load_cases, load_library
from jetproof.model.case import Case
from jetproof.model.verdict import Cell, Check, SchemaResult, exit_code
from jetproof.plan import Selection, make_plan, select
from jetproof.targets.resolve import resolve

SUITES = Path(__file__).parents[1] / "engine" / "suites"
HANG_SECONDS = 90.0

T = TypeVar("T")


@dataclass(slots=True)
class Played:
    """What a run told."""

    events: list[Event] = field(default_factory=list)

    @property
    def finished(self) -> dict[str, CaseFinished]:
        """By the case's name."""
        return {
            event.cell.case.partition("::")[2]: event
            for event in self.events
            if isinstance(event, CaseFinished)
        }

    @property
    def cells(self) -> dict[str, Cell]:
        return {name: event.cell for name, event in self.finished.items()}

    @property
    def verdicts(self) -> dict[str, str]:
        return {name: cell.verdict.value for name, cell in self.cells.items()}

    @property
    def schemas(self) -> dict[str, SchemaResult]:
        return {
            event.result.schema: event.result
            for event in self.events
            if isinstance(event, SchemaJudged)
        }

    def failed(self, name: str) -> list[tuple[str, str, object]]:
        """The failed checks of a case: step, path, actual."""
        return [(c.step, c.path, c.actual) for c in self.checks(name) if not c.ok]

    def checks(self, name: str) -> Sequence[Check]:
        return self.finished[name].checks

    @property
    def target_failures(self) -> list[TargetFailed]:
        return [event for event in self.events if isinstance(event, TargetFailed)]

    @property
    def end(self) -> RunFinished:
        [ended] = [event for event in self.events if isinstance(event, RunFinished)]
        return ended

    @property
    def exit_code(self) -> int:
        return exit_code([*self.cells.values(), *self.schemas.values()])


def demo_library(root: Path) -> Library:
    """The real fixtures, and a specification that says nothing."""
    shutil.copytree(fixtures_dir(), root / "fixtures", ignore=shutil.ignore_patterns("mutants"))
    shutil.copytree(SUITES, root / "suites")
    return load_library(root)


def write_cases(folder: Path, library: Library, cases: str) -> tuple[Case, ...]:
    """Cases from the text below `cases:` of a case file."""
    path = folder / "cases.yaml"
    path.write_text(f"suite: demo/cases\nabout: A test\ncases:\n{cases}", encoding="utf-8")
    return load_cases([path], library)


async def play(
    library: Library,
    cases: Sequence[Case],
    *targets: str,
    stop: Stop | None = None,
    into: Played | None = None,
    **how: Any,
) -> Played:
    """Plays the cases on every target; `into` can be looked at while they are played."""
    played = Played() if into is None else into
    selected = select(library, Selection(), cases)
    plan = make_plan(library, selected, await resolve(targets), skip=frozenset())
    options = RunOptions(**{"run": fresh_run_id(), "time_factor": 1.0, **how})
    await run(plan, library, played.events.append, options, stop)
    return played


def bounded(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a test's coroutine; one that hangs is ended, and with it the test."""

    async def limited() -> T:
        async with asyncio.timeout(HANG_SECONDS):
            return await coroutine

    return asyncio.run(limited())
