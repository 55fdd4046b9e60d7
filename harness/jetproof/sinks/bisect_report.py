"""What a person sees of a bisect: every play as it comes, then what was found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from rich.text import Text

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
from jetproof.sinks.console.lines import bold, dim, line, note, pad, worded
from jetproof.sinks.console.screen import Screen
from jetproof.sinks.text import visible
from jetproof.targets.history import Commit
from jetproof.targets.spec import redacted


class ReleaseReport:
    """A search over releases."""

    def __init__(self, stream: TextIO) -> None:
        self._screen = Screen(stream)
        self._names = 0

    def handle(self, event: SearchEvent) -> None:
        match event:
            case SearchStarted():
                self._screen.print(self._begin(event))
            case SearchPlayed(cell=cell):
                self._screen.print([self._show(cell)])
            case Notice():
                self._screen.print([note(event.text)])

    def end(self, result: Bisected) -> None:
        """Print the answer."""
        self._screen.print(_release_answer(result))

    def _begin(self, event: SearchStarted) -> Iterator[Text]:
        targets, left_out = event.releases.targets, event.releases.left_out
        self._names = max(len(redacted(target.name)) for target in targets)
        yield line(bold(event.case))
        text = plural(len(targets), "release")
        if len(targets) > 1:
            text += f", {redacted(targets[0].name)} to {redacted(targets[-1].name)}"
        if left_out:
            text += f"; {len(left_out)} to which it does not apply are left out"
        yield line(dim(text))

    def _show(self, cell: Cell) -> Text:
        layout = self._screen.layout
        name, verdict = pad(cell.target, self._names), pad(cell.verdict.value, 8)
        why = layout.fit(visible(_reason(cell), 400), max(20, layout.width - self._names - 16))
        shown = worded(cell.verdict, verdict)
        return line("  ", layout.symbol(cell.verdict), f" {name}  ", shown, "  ", dim(why))


def _release_answer(result: Bisected) -> Iterator[Text]:
    new, old = result.first_other, result.last_same
    if not result.answered:
        yield line(worded(Verdict.ERROR, "no answer"), f": {_known_so_far(result)}")
    elif new is None or old is None:
        yield line(bold("no change"), f": {_both_ends(result)}")
    else:
        still = f"{old.server} still has {old.verdict}"
        yield line(bold(f"{new.server} is the first"), f" with {new.verdict}; {still}")
        yield from (line(dim(f"  {cell.replay}")) for cell in (old, new))
    releases = plural(len(result.releases.targets), "release")
    yield line(f"{plural(len(result.cells), 'run')} on {releases}")


class CommitReport:
    """A search over the commits of a checkout."""

    def __init__(self, stream: TextIO) -> None:
        self._screen = Screen(stream)

    def handle(self, event: CommitEvent) -> None:
        match event:
            case CommitsStarted():
                self._screen.print(_commits(event))
            case CommitPlayed(commit=commit, cell=cell):
                look = self._screen.layout.symbol(cell.verdict)
                verdict = worded(cell.verdict, pad(cell.verdict.value, 8))
                self._screen.print(self._row(commit, look, verdict, [_reason(cell)]))
            case CommitSkipped(commit=commit, why=why):
                skipped = pad("skipped", 8), ""
                self._screen.print(self._row(commit, ("-", ""), skipped, why.splitlines()[:4]))
            case Notice():
                self._screen.print([note(event.text)])

    def end(self, result: BisectedCommits) -> None:
        """Print the answer."""
        self._screen.print(_commit_answer(result))

    def _row(
        self, commit: Commit, look: tuple[str, str], verdict: tuple[str, str], why: Sequence[str]
    ) -> Iterator[Text]:
        layout = self._screen.layout
        subject = layout.fit(visible(commit.subject, 200), max(20, layout.width - DIGITS - 16))
        yield line("  ", look, f" {commit.id[:DIGITS]}  ", verdict, f"  {subject}")
        for text in filter(None, why):
            yield line(dim(f"    {layout.fit(visible(text, 400), layout.width - 4)}"))


def _commits(event: CommitsStarted) -> Iterator[Text]:
    commits = event.commits
    yield line(bold(event.case))
    ends = f"{commits.good.id[:DIGITS]} (good) to {commits.bad.id[:DIGITS]} (bad)"
    yield line(dim(f"{commits.spec}: {plural(commits.count, 'commit')}, {ends}"))


def _commit_answer(result: BisectedCommits) -> Iterator[Text]:
    if result.problem:
        yield line(worded(Verdict.ERROR, "no answer"), f": {result.problem}")
    elif result.first is None:
        verdict = result.cells[result.commits.good.id].verdict
        yield line(bold("no change"), f": both ends are {verdict}")
    else:
        yield from _first_commit(result, result.first)
    text = plural(len(result.cells), "run")
    if result.skipped:
        text += f", {plural(len(result.skipped), 'commit')} skipped"
    yield line(text)


def _first_commit(result: BisectedCommits, first: Commit) -> Iterator[Text]:
    new, old = result.first_other, result.last_same
    assert new is not None
    assert old is not None
    if result.doubtful:
        skipped = plural(len(result.doubtful), "skipped commit")
        yield line(bold("not decided"), f": the change is {first.id} or one of {skipped} before it")
        yield from (line(f"  {each}") for each in result.doubtful)
    else:
        before = f" with {new.verdict}; before it is {old.verdict}"
        yield line(bold(f"{first.id} is the first"), before)
    yield line(f"  {visible(first.subject, 200)}")
    yield line(f"  author date {first.date}")
    yield from (line(dim(f"  {cell.replay}")) for cell in (old, new))


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
