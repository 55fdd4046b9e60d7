"""What a person sees of a mutation campaign: a line per mutant, what got away, and the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TextIO

from jetproof.campaigns.mutate import Mutated, NeverFailed, Outcome, Trial
from jetproof.model.wording import plural
from jetproof.sinks.paint import paint_for
from jetproof.sinks.text import fit, pad, visible

_LOOKS = {
    Outcome.CAUGHT: ("green", "caught by {0}"),
    Outcome.SURVIVED: ("alarm", "survived {1}"),
    Outcome.IDLE: ("yellow", "its rules never fired in {1}"),
    Outcome.UNTESTED: ("yellow", "no case that can be played names its clauses"),
    Outcome.UNDECIDED: ("alarm", "no case came to a verdict"),
}


class MutateReport:
    """Prints trials as they come, and what they come to."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._paint = paint_for(stream)

    def say(self, text: str) -> None:
        self._line(text)

    def handle(self, trial: Trial) -> None:
        """One line per mutant."""
        paint = self._paint
        style, words = _LOOKS[trial.outcome]
        names = ", ".join(visible(cell.case.rpartition("::")[2]) for cell in trial.caught_by)
        text = words.format(names, plural(len(trial.played), "case"))
        head = f"{paint.style(pad(trial.outcome, 8), style)} {visible(trial.mutant.id)}  "
        room = paint.width - 11 - len(trial.mutant.id)
        self._line(head + paint.dim(fit(text, max(20, room))))

    def end(self, result: Mutated) -> None:
        """What survived and why, which cases nothing made fail, and the counts."""
        escaped = [trial for trial in result.trials if trial.outcome is not Outcome.CAUGHT]
        if escaped:
            self._line("")
            self._line(self._paint.bold("mutants that nothing caught"))
            for trial in escaped:
                for line in self._escaped(trial):
                    self._line(line)
        for line in self._never_failed(result.never_failed):
            self._line(line)
        self._line("")
        counts = Counter(trial.outcome for trial in result.trials)
        text = ", ".join(f"{counts[name]} {name}" for name in _LOOKS if counts[name])
        seen, cases = len(result.items) - len(result.never_failed), len(result.items)
        self._line(
            f"{len(result.trials)} mutants: {text or 'none'} {self._paint.dot} "
            f"{seen} of {cases} cases were seen to fail"
        )

    def _escaped(self, trial: Trial) -> Iterator[str]:
        paint = self._paint
        yield f"  {visible(trial.mutant.id)}: {visible(trial.mutant.about)}"
        yield paint.dim(f"      breaks {', '.join(map(visible, trial.mutant.breaks))}")
        fired = ", ".join(f"{visible(rule)} {count}" for rule, count in trial.fired.items())
        yield paint.dim(f"      fired: {fired or 'nothing'}")
        for cell in trial.played:
            yield paint.dim(f"      {pad(cell.verdict, 8)} {visible(cell.case)}")

    def _never_failed(self, never: Sequence[NeverFailed]) -> Iterator[str]:
        paint = self._paint
        vacuous = [one for one in never if one.mutants]
        untried = [one for one in never if not one.mutants]
        if vacuous:
            yield ""
            yield paint.bold("cases that no mutant of their clauses made fail")
        for one in vacuous:
            tried = paint.dim(f"tried: {visible(', '.join(one.mutants))}")
            yield f"  {visible(one.case)}  {tried}"
        if untried:
            yield ""
            yield paint.bold("cases whose clauses no mutant breaks")
        for one in untried:
            yield f"  {visible(one.case)}"

    def _line(self, text: str) -> None:
        self._stream.write(f"{text}\n")
        self._stream.flush()


def markdown(result: Mutated) -> str:
    """A table by specification, and whatever got away by name."""
    unseen = {one.case for one in result.never_failed}
    lines = [
        "| specification | mutants | caught | cases | seen to fail |",
        "| --- | --- | --- | --- | --- |",
    ]
    specs = list(dict.fromkeys(item.case.spec for item in result.items))
    for spec in (*specs, "all"):
        cases = {item.case.id for item in result.items if spec in (item.case.spec, "all")}
        concerned = [
            trial
            for trial in result.trials
            if spec == "all" or any(cell.case in cases for cell in trial.played)
        ]
        caught = sum(trial.outcome is Outcome.CAUGHT for trial in concerned)
        seen = len(cases - unseen)
        lines.append(f"| {spec} | {len(concerned)} | {caught} | {len(cases)} | {seen} |")
    for trial in result.trials:
        if trial.outcome is not Outcome.CAUGHT:
            lines.append(f"\n- `{trial.mutant.id}` {trial.outcome}: {trial.mutant.about}")
    return "\n".join(lines) + "\n"
