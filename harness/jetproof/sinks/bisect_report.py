"""What a person sees of a bisect: every play as it comes, then what was found."""

from __future__ import annotations

from typing import TextIO

from jetproof.campaigns.bisect import Bisected, SearchEvent, SearchPlayed, SearchStarted
from jetproof.campaigns.bisect_commits import (
    DIGITS,
    BisectedCommits,
    CommitEvent,
    CommitPlayed,
    CommitSkipped,
    CommitsStarted,
)
from jetproof.events import Notice
from jetproof.model.verdict import Cell, Verdict
from jetproof.model.wording import plural
from jetproof.sinks.console.lines import Part, bold, dim, line, pad, worded
from jetproof.sinks.console.screen import Screen
from jetproof.sinks.text import visible
from jetproof.targets.history import Commit
from jetproof.targets.spec import redacted


class _Report:
    """Lines on a screen."""

    def __init__(self, stream: TextIO) -> None:
        self._screen = Screen(stream)

    def _line(self, *parts: Part) -> None:
        one = line(*parts)
        one.rstrip()
        self._screen.print([one])


class ReleaseReport(_Report):
    """A search over releases."""

    _names = 0

    def handle(self, event: SearchEvent) -> None:
        match event:
            case SearchStarted():
                self._begin(event)
            case SearchPlayed(cell=cell):
                self._show(cell)
            case Notice(text=text):
                self._screen.say(text)

    def end(self, result: Bisected) -> None:
        """What came of it."""
        new, old = result.first_other, result.last_same
        if not result.answered:
            self._line(worded(Verdict.ERROR, "no answer"), f": {_known_so_far(result)}")
        elif new is None or old is None:
            self._line(bold("no change"), f": {_both_ends(result)}")
        else:
            still = f" with {new.verdict}; {old.server} still has {old.verdict}"
            self._line(bold(f"{new.server} is the first"), still)
            for cell in (old, new):
                self._line(dim(f"  {cell.replay}"))
        targets = result.releases.targets
        self._line(f"{plural(len(result.cells), 'run')} on {plural(len(targets), 'release')}")

    def _begin(self, event: SearchStarted) -> None:
        targets, left_out = event.releases.targets, event.releases.left_out
        self._names = max(len(redacted(target.name)) for target in targets)
        self._line(bold(event.case))
        text = plural(len(targets), "release")
        if len(targets) > 1:
            text += f", {redacted(targets[0].name)} to {redacted(targets[-1].name)}"
        if left_out:
            text += f"; {len(left_out)} to which it does not apply are left out"
        self._line(dim(text))

    def _show(self, cell: Cell) -> None:
        layout, verdict = self._screen.layout, cell.verdict
        why = layout.fit(visible(_reason(cell), 400), max(20, layout.width - self._names - 16))
        self._line(
            "  ",
            layout.symbol(verdict),
            f" {pad(cell.target, self._names)}  ",
            worded(verdict, pad(verdict.value, 8)),
            "  ",
            dim(why),
        )


class CommitReport(_Report):
    """A search over the commits of a checkout."""

    def handle(self, event: CommitEvent) -> None:
        match event:
            case CommitsStarted():
                self._begin(event)
            case CommitPlayed(commit=commit, cell=cell):
                self._show(commit, cell)
            case CommitSkipped(commit=commit, why=why):
                self._skip(commit, why)
            case Notice(text=text):
                self._screen.say(text)

    def end(self, result: BisectedCommits) -> None:
        """What came of it."""
        if result.problem:
            self._line(worded(Verdict.ERROR, "no answer"), f": {result.problem}")
        elif result.first is None:
            verdict = result.cells[result.commits.good.id].verdict
            self._line(bold("no change"), f": both ends are {verdict}")
        else:
            self._found(result, result.first)
        text = plural(len(result.cells), "run")
        if result.skipped:
            text += f", {plural(len(result.skipped), 'commit')} skipped"
        self._line(text)

    def _begin(self, event: CommitsStarted) -> None:
        commits = event.commits
        self._line(bold(event.case))
        ends = f"{commits.good.id[:DIGITS]} (good) to {commits.bad.id[:DIGITS]} (bad)"
        self._line(dim(f"{commits.spec}: {plural(commits.count, 'commit')}, {ends}"))

    def _show(self, commit: Commit, cell: Cell) -> None:
        symbol = self._screen.layout.symbol(cell.verdict)
        self._row(commit, symbol, worded(cell.verdict, pad(cell.verdict.value, 8)))
        if why := _reason(cell):
            self._below(why)

    def _skip(self, commit: Commit, why: str) -> None:
        self._row(commit, "-", pad("skipped", 8))
        for text in why.splitlines()[:4]:
            self._below(text)

    def _found(self, result: BisectedCommits, first: Commit) -> None:
        new, old = result.first_other, result.last_same
        assert new is not None
        assert old is not None
        if result.doubtful:
            skipped = plural(len(result.doubtful), "skipped commit")
            change = f": the change is {first.id} or one of {skipped} before it"
            self._line(bold("not decided"), change)
            for each in result.doubtful:
                self._line(f"  {each}")
        else:
            before = f" with {new.verdict}; before it is {old.verdict}"
            self._line(bold(f"{first.id} is the first"), before)
        self._line(f"  {visible(first.subject, 200)}")
        self._line(f"  author date {first.date}")
        for cell in (old, new):
            self._line(dim(f"  {cell.replay}"))

    def _row(self, commit: Commit, symbol: Part, verdict: Part) -> None:
        subject = self._fit(visible(commit.subject, 200), DIGITS + 16)
        self._line("  ", symbol, f" {commit.id[:DIGITS]}  ", verdict, f"  {subject}")

    def _below(self, text: str) -> None:
        self._line(dim(f"    {self._fit(visible(text, 400), 4)}"))

    def _fit(self, text: str, used: int) -> str:
        layout = self._screen.layout
        return layout.fit(text, max(20, layout.width - used))


def _reason(cell: Cell) -> str:
    """Why it has the verdict, or the position that it took."""
    if cell.verdict is Verdict.POSITION:
        return "; ".join(f"{key}: {text}" for key, text in cell.position.items())
    return cell.reason


def _both_ends(result: Bisected) -> str:
    first, last = result.cells[0], result.cells[len(result.releases.targets) - 1]
    if len(result.releases.targets) == 1:
        return f"{first.target} is {first.verdict}, and there is no other to compare with"
    unseen = "a change in between that was taken back is not seen"
    return f"{first.target} and {last.target} are both {first.verdict} ({unseen})"


def _known_so_far(result: Bisected) -> str:
    """What the verdicts that there are show, although one is missing."""
    errors = [cell for cell in result.cells.values() if cell.verdict is Verdict.ERROR]
    text = "interrupted"
    if errors:
        text = f"{errors[0].target} gave no verdict: {visible(errors[0].reason, 400)}"
    if between := result.changed_between:
        same, other = between
        text += f"; it changed after {same.server}, in {other.server} at latest"
    return text
