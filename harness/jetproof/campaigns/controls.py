"""Controls: does a case that is about an optional feature need that feature?

Every cell that passes is played once more for each feature that its case declares, without what
carries the feature on the wire. A case that still passes, although it must not, proves nothing
about the feature. All cases of a target are played at once, each without its first feature, then
each without its second: a campaign takes about as long as a run. Cells of client libraries are
played with their library; `client_controls` makes their controls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from jetproof.campaigns.client_controls import client_control, lost, publishes
from jetproof.engine.retries import AT_ONCE
from jetproof.engine.run import RunOptions, Stop, fresh_run_id, run
from jetproof.events import CaseFinished, Event, Notice
from jetproof.load.library import Library
from jetproof.model.case import Case, FeatureUse
from jetproof.model.feature import Control, Feature, control, sends
from jetproof.model.verdict import Cell, FrameRecord, Verdict
from jetproof.plan import Item, PlanClient, PlanTarget, Selected, make_plan
from jetproof.results import Key as CellKey
from jetproof.results.controls import ControlResult, Outcome, outcome_of
from jetproof.targets.spec import redacted

CHANGED = "the case has changed since the run; play the run again"

Key = tuple[str, int, str]
"""A case, the revision that it is judged by, and the client library that it judges, if any."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One control that can be played, and the cell that it is about."""

    cell: Cell
    item: Item
    use: FeatureUse
    declared: bool
    messages: int


@dataclass(frozen=True, slots=True)
class _Played:
    """A control that was played, and what it showed."""

    cell: Cell
    frames: Sequence[FrameRecord]


def uses_of(
    library: Library, case: Case, *, sent: bool, seen: Sequence[str] | None = None
) -> Iterator[tuple[FeatureUse, bool]]:
    """The features that a case declares; with `sent`, also those that it only sends.

    What its calls ask for counts as sent by a client case, or what its library was `seen` to send."""
    declared = {use.name for use in case.features}
    for use in case.features:
        yield use, True
    if sent:
        for feature in library.features.values():
            its = sends(case, feature) if seen is None else feature.name in seen
            if feature.name not in declared and its:
                yield FeatureUse(feature.name), False


def undeclared(library: Library, cases: Sequence[Case]) -> list[tuple[Case, Feature]]:
    """Cases that send a feature and do not say whether they are about it."""
    return [
        (case, library.features[use.name])
        for case in cases
        for use, declared in uses_of(library, case, sent=True)
        if not declared
    ]


@dataclass(slots=True)
class Controls:
    """Plays the controls of a run's cells. `results` has one row per cell and feature."""

    library: Library
    options: RunOptions
    stop: Stop = field(default_factory=Stop)
    sent: bool = False
    clients: Mapping[str, PlanClient] = field(default_factory=dict)
    """The client libraries of cells, by the name that a cell has for each."""
    seen: Mapping[CellKey, Sequence[str]] = field(default_factory=dict)
    """By cell: the features that its library was seen to send."""
    results: list[ControlResult] = field(default_factory=list)

    async def play(
        self,
        run_id: str,
        cells: Sequence[Cell],
        cases: Mapping[str, Case],
        targets: Sequence[PlanTarget],
        notify: Callable[[str], None],
    ) -> None:
        """Play what the cells that pass call for, target by target."""
        for target in targets:
            own = [cell for cell in cells if cell.target == redacted(target.name)]
            layers = self._layers(run_id, own, cases)
            for number, layer in enumerate(layers, 1):
                of = "" if len(layers) == 1 else f", {number} of {len(layers)}"
                notify(f"{redacted(target.name)}: {len(layer)} controls{of}")
                await self._layer(run_id, layer, target, notify)

    def _layers(
        self, run_id: str, cells: Sequence[Cell], cases: Mapping[str, Case]
    ) -> list[list[Trial]]:
        """Controls that can be played side by side: no case is in a layer twice."""
        layers: list[list[Trial]] = []
        for cell in cells:
            case = cases.get(cell.case)
            if case is None or cell.verdict is not Verdict.PASS:
                continue
            depth = 0
            seen = None
            if cell.client is not None:
                seen = self.seen.get((cell.name, cell.target, cell.attempt), ())
            for use, declared in uses_of(self.library, case, sent=self.sent, seen=seen):
                feature = self.library.features[use.name]
                made = client_control(case, feature) if cell.client else control(case, feature)
                if cell.case_hash != case.hash:
                    made = Control(None, why_not=CHANGED)
                if made.case is None:
                    trial = Trial(cell, Item(case, cell.spec_revision), use, declared, 0)
                    self._add(run_id, trial, Outcome.IMPOSSIBLE, None, made.why_not)
                    continue
                client = self.clients[cell.client] if cell.client else None
                item = Item(made.case, cell.spec_revision, client, asked=True)
                if depth == len(layers):
                    layers.append([])
                layers[depth].append(Trial(cell, item, use, declared, made.messages))
                depth += 1
        return layers

    async def _layer(
        self,
        run_id: str,
        layer: Sequence[Trial],
        target: PlanTarget,
        notify: Callable[[str], None],
    ) -> None:
        played = await self._played([trial.item for trial in layer], target, notify)
        # A busy machine disturbs some: they are played once more, with less to do.
        again = [trial.item for trial in layer if _undecided(played.get(_key(trial.item)))]
        if again:
            played |= await self._played(again, target, notify, at_once=AT_ONCE)
        for trial in layer:
            one = played.get(_key(trial.item))
            if one is None:
                why = self.stop.reason or "it was not played"
                self._add(run_id, trial, Outcome.NO_VERDICT, None, why)
                continue
            cell, outcome = one.cell, outcome_of(one.cell.verdict, differs=trial.use.differs)
            reason = cell.reason
            if trial.item.client is not None:
                feature = self.library.features[trial.use.name]
                trial = replace(trial, messages=lost(one.frames, feature))
                if not trial.messages and outcome is not Outcome.NO_VERDICT:
                    outcome, reason = _nothing_lost(one, outcome)
            self._add(run_id, trial, outcome, cell.verdict, reason)

    async def _played(
        self,
        items: Sequence[Item],
        target: PlanTarget,
        notify: Callable[[str], None],
        *,
        at_once: int | None = None,
    ) -> dict[Key, _Played]:
        """The cells of controls, each played once."""
        found: dict[Key, _Played] = {}

        def emit(event: Event) -> None:
            if isinstance(event, CaseFinished):
                cell = _decided(event)
                key = (cell.case, cell.spec_revision, cell.client or "")
                found[key] = _Played(cell, event.frames)
            elif isinstance(event, Notice):
                notify(event.text)

        if self.stop.reason is None:
            plan = make_plan(self.library, Selected(tuple(items)), [target], skip=frozenset())
            options = replace(self.options, run=fresh_run_id(), confirm=0, again=False)
            if at_once is not None:
                options = replace(options, cases_at_once=at_once)
            await run(plan, self.library, emit, options, self.stop)
        return found

    def _add(
        self, run_id: str, trial: Trial, outcome: Outcome, verdict: Verdict | None, reason: str
    ) -> None:
        cell = trial.cell
        self.results.append(
            ControlResult(
                run=run_id,
                cell=cell.name,
                case=cell.case,
                spec_revision=cell.spec_revision,
                target=cell.target,
                case_hash=cell.case_hash,
                feature=trial.use.name,
                declared=trial.declared,
                differs=trial.use.differs,
                outcome=outcome,
                control=verdict,
                messages=trial.messages,
                reason=reason,
            )
        )


def _key(item: Item) -> Key:
    return item.case.id, item.revision, item.client.name if item.client else ""


def _undecided(played: _Played | None) -> bool:
    return played is None or played.cell.verdict is Verdict.ERROR


def _nothing_lost(played: _Played, outcome: Outcome) -> tuple[Outcome, str]:
    """What a control shows that was played as the case itself is: the library does not send the
    feature. A case that must need it, and passes, is vacuous with this library."""
    if not publishes(played.frames):
        return Outcome.IMPOSSIBLE, "the tap saw no message of the library"
    if played.cell.verdict is Verdict.PASS:
        return outcome, "the library sends nothing that carries it"
    return Outcome.NO_VERDICT, f"nothing was stripped, and it fails: {played.cell.reason}"


def _decided(event: CaseFinished) -> Cell:
    """The cell of a control.

    Without its feature a case often waits until its time is over. If a check had failed by then, the
    case did not pass, whatever kept it from its end."""
    cell = event.cell
    failed = next((check for check in event.checks if not check.ok), None)
    if cell.verdict is not Verdict.ERROR or failed is None:
        return cell
    reason = f"step {failed.step}: {failed.path}; then {cell.reason}"
    return replace(cell, verdict=Verdict.FAIL, reason=reason)
