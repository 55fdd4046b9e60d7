"""What a person sees of a mutation campaign: a line per mutant, what got away, and the counts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TextIO

from rich.text import Text

from jetproof.campaigns.mutate import Mutation, NeverFailed, Outcome, Trial
from jetproof.model.identity import case_id
from jetproof.model.wording import plural
from jetproof.sinks.console.lines import ALARM, bold, dim, line, pad
from jetproof.sinks.console.progress import Progress
from jetproof.sinks.console.screen import Screen

_LOOKS = {
    Outcome.CAUGHT: ("green", "caught by {0}"),
    Outcome.SURVIVED: (ALARM, "survived {1}"),
    Outcome.IDLE: ("yellow", "its rules never fired in {1}"),
    Outcome.UNTESTED: ("yellow", "no case that can be played names its clauses"),
    Outcome.UNDECIDED: (ALARM, "no case came to a verdict"),
}


class MutateReport:
    """Prints trials as they come, and what they come to."""

    def __init__(self, stream: TextIO) -> None:
        self._screen = Screen(stream)
        self._progress = Progress("mutants")

    def begin(self, mutants: int) -> None:
        """So many mutants are to be tried."""
        self._progress.begin(mutants, time.monotonic())

    def tick(self) -> None:
        """Draw the progress."""
        self._progress.draw(self._screen, time.monotonic())

    def close(self) -> None:
        """Erase the progress."""
        self._screen.hide()

    def say(self, text: str) -> None:
        self._screen.say(text)

    def handle(self, trial: Trial) -> None:
        """One line per mutant."""
        layout = self._screen.layout
        style, words = _LOOKS[trial.outcome]
        names = ", ".join(case_id(cell.case).own for cell in trial.caught_by)
        text = words.format(names, plural(len(trial.played), "case"))
        room = max(20, layout.width - 11 - len(trial.mutant.id))
        outcome, name = (pad(trial.outcome, 8), style), f" {trial.mutant.id}  "
        self._screen.print([line(outcome, name, dim(layout.fit(text, room)))])
        self._progress.advance(time.monotonic())

    def end(self, campaign: Mutation) -> None:
        """What survived and why, which cases nothing made fail, and the counts."""
        escaped = [trial for trial in campaign.trials if trial.outcome is not Outcome.CAUGHT]
        if escaped:
            self._screen.print(["", line(bold("mutants that nothing caught"))])
            for trial in escaped:
                self._screen.print(_escaped_lines(trial))
        never = campaign.never_failed
        self._screen.print(_never_failed_lines(never))
        counts = Counter(trial.outcome for trial in campaign.trials)
        text = ", ".join(f"{counts[name]} {name}" for name in _LOOKS if counts[name])
        seen, cases = len(campaign.items) - len(never), len(campaign.items)
        mutants = f"{len(campaign.trials)} mutants: {text or 'none'}"
        dot = self._screen.layout.separator
        self._screen.print(["", f"{mutants}{dot}{seen} of {cases} cases were seen to fail"])


def _escaped_lines(trial: Trial) -> Iterator[Text]:
    yield line(f"  {trial.mutant.id}: {trial.mutant.about}")
    yield line(dim(f"      breaks {', '.join(trial.mutant.breaks)}"))
    fired = ", ".join(f"{rule} {count}" for rule, count in trial.fired.items())
    yield line(dim(f"      fired: {fired or 'nothing'}"))
    for cell in trial.played:
        yield line(dim(f"      {pad(cell.verdict, 8)} {cell.case}"))


def _never_failed_lines(never: Sequence[NeverFailed]) -> Iterator[Text]:
    tried = [one for one in never if one.mutants]
    untried = [one for one in never if not one.mutants]
    if tried:
        yield line()
        yield line(bold("cases that no mutant of their clauses made fail"))
    for one in tried:
        yield line(f"  {one.case}  ", dim(f"tried: {', '.join(one.mutants)}"))
    if untried:
        yield line()
        yield line(bold("cases whose clauses no mutant breaks"))
    for one in untried:
        yield line(f"  {one.case}")


def markdown(campaign: Mutation) -> str:
    """A table by specification, and whatever got away by name."""
    unseen = {one.case for one in campaign.never_failed}
    lines = [
        "| specification | mutants | caught | cases | seen to fail |",
        "| --- | --- | --- | --- | --- |",
    ]
    specs = list(dict.fromkeys(item.case.spec for item in campaign.items))
    for spec in (*specs, "all"):
        cases = {item.case.id for item in campaign.items if spec in (item.case.spec, "all")}
        concerned = [
            trial
            for trial in campaign.trials
            if spec == "all" or any(cell.case in cases for cell in trial.played)
        ]
        caught = sum(trial.outcome is Outcome.CAUGHT for trial in concerned)
        seen = len(cases - unseen)
        lines.append(f"| {spec} | {len(concerned)} | {caught} | {len(cases)} | {seen} |")
    for trial in campaign.trials:
        if trial.outcome is not Outcome.CAUGHT:
            lines.append(f"\n- `{trial.mutant.id}` {trial.outcome}: {trial.mutant.about}")
    return "\n".join(lines) + "\n"
