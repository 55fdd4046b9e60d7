"""`controls`: the cells to look at, of a run that is there or is played first, and their controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jetproof.campaigns.client_controls import sent_features
from jetproof.campaigns.controls import Controls, uses_of
from jetproof.campaigns.libraries import Judged, meet, pools
from jetproof.campaigns.request import DEFAULT_TARGETS, Request, Settings
from jetproof.campaigns.selecting import select_cases
from jetproof.campaigns.writing import Writer
from jetproof.engine.run import RunOptions, Stop, run
from jetproof.errors import JetproofError
from jetproof.load.library import Library
from jetproof.model.law_modes import NO_LAWS
from jetproof.model.verdict import Verdict
from jetproof.plan import PlanTarget, Selected, make_plan
from jetproof.results import Run, read_run
from jetproof.results.controls import ControlResult, Outcome
from jetproof.targets.clients.spec import client_named
from jetproof.targets.resolve import resolve
from jetproof.targets.spec import is_redacted, redacted
from jetproof.targets.sweep import Owner

_WRONG = (Outcome.VACUOUS, Outcome.CONTRADICTED)

OpenRun = Callable[[], tuple[Writer, Path]]
"""Opens the folder of the run that is played first."""


@dataclass(slots=True)
class ControlsOfRun:
    """The controls of a run. Without `earlier`, its cases are played first, as they are."""

    controls: Controls
    request: Request
    selected: Selected
    targets: Sequence[PlanTarget]
    libraries: Sequence[Judged]
    earlier: Run | None

    @property
    def stop(self) -> Stop:
        return self.controls.stop

    @property
    def id(self) -> str:
        return self.controls.options.run

    @property
    def results(self) -> Sequence[ControlResult]:
        return self.controls.results

    @property
    def exit_code(self) -> int:
        declared = [one for one in self.results if one.declared]
        if any(one.outcome is Outcome.NO_VERDICT for one in declared):
            return 3
        return 1 if any(one.outcome in _WRONG for one in declared) else 0

    async def play(self, open_run: OpenRun, owner: Owner, notify: Callable[[str], None]) -> None:
        """Play all controls; `earlier` is then the run whose cells they are about."""
        controls, factor = self.controls, self.controls.options.time_factor
        async with pools(self.libraries, factor) as ready:
            controls.options = replace(controls.options, owner=owner, libraries=ready)
            if self.earlier is None:
                self.earlier = await self._played(open_run, controls.options, notify)
            played = self.earlier
            cases = {item.case.id: item.case for item in self.selected.items}
            await controls.play(played.id, played.latest, cases, self.targets, notify)

    async def _played(
        self, open_run: OpenRun, options: RunOptions, notify: Callable[[str], None]
    ) -> Run:
        """The cases as they are: a run like any other."""
        library = self.controls.library
        writer, place = open_run()
        try:
            names = ", ".join(redacted(target.name) for target in self.targets)
            notify(f"{names}: the cases as they are")
            plan = make_plan(library, self.selected, self.targets, skip=frozenset())
            await run(plan, library, writer, options, self.stop)
        finally:
            writer.close()
        if writer.failures:
            raise writer.failures[0]
        return read_run(place)


async def plan_controls(
    library: Library,
    request: Request,
    settings: Settings,
    *,
    earlier: Run | None = None,
    sent: bool = False,
    notify: Callable[[str], None],
) -> ControlsOfRun:
    """Which cases, targets and libraries. `notify` hears of builds."""
    for_clients = False if earlier is None else None
    selected = select_cases(library, request.selection, for_clients=for_clients)
    selected = _concerned(library, selected, sent=sent)
    names = request.servers or (DEFAULT_TARGETS if earlier is None else _targets(earlier))
    targets = await resolve(names, notify=notify)
    # A law may notice what the steps of a case do not: a control is about the steps.
    options = replace(settings, laws=settings.laws or NO_LAWS).options()
    libraries = [] if earlier is None else await _libraries(earlier, library, options.time_factor)
    controls = Controls(
        library, options, sent=sent, clients={one.plan.name: one.plan for one in libraries}
    )
    if sent and libraries and earlier is not None:
        controls.seen = sent_features(earlier, list(library.features.values()))
    request = replace(request, servers=tuple(target.name for target in targets))
    return ControlsOfRun(controls, request, selected, targets, libraries, earlier)


async def _libraries(earlier: Run, library: Library, factor: float) -> list[Judged]:
    """The client libraries whose cells pass in a run, as it judged them."""
    names = dict.fromkeys(
        cell.client
        for cell in earlier.latest
        if cell.client is not None and cell.verdict is Verdict.PASS
    )
    specs = [client_named(name) for name in names]
    found = await meet(specs, None, library, factor)
    for name, one in zip(names, found, strict=True):
        reason = one.plan.missing or one.plan.broken
        if reason or one.plan.name != name:
            raise JetproofError(
                f"{name} cannot be played: {reason or f'{one.plan.name} is here'}",
                phase="plan",
                hint=f"controls are played with the library that {earlier.folder} judged",
            )
    return found


def _concerned(library: Library, selected: Selected, *, sent: bool) -> Selected:
    """The items whose case is about a feature."""
    items = tuple(
        item
        for item in selected.items
        if (sent and item.case.for_client) or any(uses_of(library, item.case, sent=sent))
    )
    if not items:
        raise JetproofError(
            "none of these cases declares an optional feature",
            phase="plan",
            hint="--undeclared lists cases that send one, --sent plays their controls",
        )
    return Selected(items, selected.partial or "only cases about optional features")


def _targets(earlier: Run) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(cell.target for cell in earlier.latest))
    if any(map(is_redacted, names)):
        raise JetproofError(
            f"{earlier.folder} does not keep passwords",
            phase="plan",
            hint="name the target again with --server",
        )
    if not names:
        raise JetproofError(f"{earlier.folder} has no cell", phase="plan")
    return names
