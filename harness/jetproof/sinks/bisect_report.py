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
from jetproof.sinks.paint import paint_for
from jetproof.sinks.text import fit, pad, visible
from jetproof.targets.history import Commit
from jetproof.targets.spec import redacted


class _Printer:
    """Lines to a stream, each flushed: a search may take minutes between two of them."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._paint = paint_for(stream)

    def _note(self, notice: Notice) -> None:
        self._line(f"{self._paint.style('note', 'yellow')} {visible(notice.text, 2000)}")

    def _line(self, text: str) -> None:
        self._stream.write(f"{text}\n")
        self._stream.flush()


class ReleaseReport(_Printer):
    """A search over releases."""

    _names = 0

    def handle(self, event: SearchEvent) -> None:
        match event:
            case SearchStarted():
                self._begin(event)
            case SearchPlayed(cell=cell):
                self._show(cell)
            case Notice():
                self._note(event)

    def end(self, result: Bisected) -> None:
        """What came of it."""
        paint, targets = self._paint, result.releases.targets
        new, old = result.first_other, result.last_same
        if not result.answered:
            self._line(f"{paint.verdict(Verdict.ERROR, 'no answer')}: {_known_so_far(result)}")
        elif new is None or old is None:
            self._line(f"{paint.bold('no change')}: {visible(_both_ends(result))}")
        else:
            self._line(
                f"{paint.bold(f'{new.server} is the first')} with {new.verdict}; "
                f"{old.server} still has {old.verdict}"
            )
            for cell in (old, new):
                self._line(paint.dim(f"  {visible(cell.replay)}"))
        self._line(f"{plural(len(result.cells), 'run')} on {plural(len(targets), 'release')}")

    def _begin(self, event: SearchStarted) -> None:
        targets, left_out = event.releases.targets, event.releases.left_out
        self._names = max(len(redacted(target.name)) for target in targets)
        self._line(self._paint.bold(visible(event.case)))
        text = plural(len(targets), "release")
        if len(targets) > 1:
            text += f", {redacted(targets[0].name)} to {redacted(targets[-1].name)}"
        if left_out:
            text += f"; {len(left_out)} to which it does not apply are left out"
        self._line(self._paint.dim(visible(text)))

    def _show(self, cell: Cell) -> None:
        paint = self._paint
        name = pad(visible(cell.target), self._names)
        verdict = paint.verdict(cell.verdict, pad(cell.verdict.value, 8))
        why = fit(visible(_reason(cell), 400), max(20, paint.width - self._names - 16))
        self._line(f"  {paint.symbol(cell.verdict)} {name}  {verdict}  {paint.dim(why)}".rstrip())


class CommitReport(_Printer):
    """A search over the commits of a checkout."""

    def handle(self, event: CommitEvent) -> None:
        match event:
            case CommitsStarted():
                self._begin(event)
            case CommitPlayed(commit=commit, cell=cell):
                self._show(commit, cell)
            case CommitSkipped(commit=commit, why=why):
                self._skip(commit, why)
            case Notice():
                self._note(event)

    def end(self, result: BisectedCommits) -> None:
        """What came of it."""
        paint = self._paint
        if result.problem:
            self._line(f"{paint.verdict(Verdict.ERROR, 'no answer')}: {result.problem}")
        elif result.first is None:
            verdict = result.cells[result.commits.good.id].verdict
            self._line(f"{paint.bold('no change')}: both ends are {verdict}")
        else:
            self._found(result, result.first)
        text = plural(len(result.cells), "run")
        if result.skipped:
            text += f", {plural(len(result.skipped), 'commit')} skipped"
        self._line(text)

    def _begin(self, event: CommitsStarted) -> None:
        commits = event.commits
        self._line(self._paint.bold(visible(event.case)))
        ends = f"{commits.good.id[:DIGITS]} (good) to {commits.bad.id[:DIGITS]} (bad)"
        count = plural(commits.count, "commit")
        self._line(self._paint.dim(visible(f"{commits.spec}: {count}, {ends}")))

    def _show(self, commit: Commit, cell: Cell) -> None:
        verdict = self._paint.verdict(cell.verdict, pad(cell.verdict.value, 8))
        self._row(commit, self._paint.symbol(cell.verdict), verdict)
        if why := _reason(cell):
            self._line(self._paint.dim(f"    {fit(visible(why, 400), self._room(4))}"))

    def _skip(self, commit: Commit, why: str) -> None:
        self._row(commit, "-", pad("skipped", 8))
        for line in why.splitlines()[:4]:
            self._line(self._paint.dim(f"    {fit(visible(line, 400), self._room(4))}"))

    def _found(self, result: BisectedCommits, first: Commit) -> None:
        paint, new, old = self._paint, result.first_other, result.last_same
        assert new is not None
        assert old is not None
        if result.doubtful:
            self._line(
                f"{paint.bold('not decided')}: the change is {first.id} or one of "
                f"{plural(len(result.doubtful), 'skipped commit')} before it"
            )
            for each in result.doubtful:
                self._line(f"  {each}")
        else:
            head = paint.bold(f"{first.id} is the first")
            self._line(f"{head} with {new.verdict}; before it is {old.verdict}")
        self._line(f"  {visible(first.subject, 200)}")
        self._line(f"  author date {first.date}")
        for cell in (old, new):
            self._line(paint.dim(f"  {visible(cell.replay)}"))

    def _row(self, commit: Commit, symbol: str, verdict: str) -> None:
        text = fit(visible(commit.subject, 200), self._room(DIGITS + 16))
        self._line(f"  {symbol} {commit.id[:DIGITS]}  {verdict}  {text}".rstrip())

    def _room(self, used: int) -> int:
        return max(20, self._paint.width - used)


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
