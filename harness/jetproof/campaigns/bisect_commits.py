"""Finds the first commit of a checkout on which a case has another verdict: plays it on few commits.

The search is that of `git bisect`, over merges as well. A commit that does not build, or on which the
case has no verdict, is skipped. No file, index or ref of the checkout changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jetproof.campaigns.bisect import CasePlayer, Unanswered, answer
from jetproof.engine.run import RunOptions
from jetproof.errors import JetproofError
from jetproof.events import Notice
from jetproof.load.library import Library
from jetproof.model.verdict import Cell, Verdict
from jetproof.plan import Selected, why_not
from jetproof.targets.checkout import look_at
from jetproof.targets.history import Commit, check_order, commit_of, halves
from jetproof.targets.own_build import is_folder, named
from jetproof.targets.resolve import resolve
from jetproof.targets.spec import TargetSpec, parse_list

DIGITS = 12
Ask = Callable[[str], Awaitable[Hashable]]
Halves = Callable[[Sequence[str], str], list[str]]


class Skipped(Exception):
    """Nothing can be said of a commit; the message is why."""


@dataclass(frozen=True, slots=True)
class Found:
    """The first commit with another answer. `doubtful` are skipped commits that may be it instead."""

    commit: str
    doubtful: tuple[str, ...] = ()


async def first_bad(good: str, bad: str, ask: Ask, halves: Halves) -> Found | None:
    """The first commit after `good` that does not answer like it; None if `bad` answers like it.

    `halves` orders the commits between good ones and a bad one, best first. `ask` raises Skipped
    where there is no answer; at the two ends that ends the search.
    """
    usual = await ask(good)
    if await ask(bad) == usual:
        return None
    known, skipped = [good], set[str]()
    while True:
        between = [commit for commit in halves(known, bad) if commit != bad]
        left = [commit for commit in between if commit not in skipped]
        if not left:
            return Found(bad, tuple(between))
        # Commits that do not build are neighbours: each skipped one leads further away from them.
        away = len(between) - len(left)
        commit = left[min(away * away, len(left) - 1)]
        try:
            same = await ask(commit) == usual
        except Skipped:
            skipped.add(commit)
            continue
        if same:
            known.append(commit)
        else:
            bad = commit


@dataclass(frozen=True, slots=True)
class Commits:
    """Where to look: the commits of a checkout between two ends."""

    spec: TargetSpec
    folder: Path
    good: Commit
    bad: Commit
    count: int

    @property
    def ends(self) -> tuple[str, str]:
        """The two ends as targets."""
        return self.target(self.good.id), self.target(self.bad.id)

    def target(self, commit: str) -> str:
        return f"{self.spec}@{commit[:DIGITS]}"


def checkout_asked(servers: Sequence[str]) -> TargetSpec | None:
    """The one checkout that these targets name, if they do."""
    specs = parse_list(servers) if servers else []
    return specs[0] if len(specs) == 1 and is_folder(specs[0]) else None


async def commits_to_search(spec: TargetSpec, good: str, bad: str) -> Commits:
    """The commits between two revisions of a checkout."""
    folder = named(spec)
    await asyncio.to_thread(look_at, folder)
    first, last = commit_of(folder, good), commit_of(folder, bad)
    check_order(folder, first, last)
    return Commits(spec, folder, first, last, len(halves(folder, [first.id], last.id)))


@dataclass(frozen=True, slots=True)
class CommitsStarted:
    """A search begins: the case, and the commits to look at."""

    case: str
    commits: Commits


@dataclass(frozen=True, slots=True)
class CommitPlayed:
    """The case was played on one commit."""

    commit: Commit
    cell: Cell


@dataclass(frozen=True, slots=True)
class CommitSkipped:
    """A commit gave no verdict."""

    commit: Commit
    why: str


CommitEvent = CommitsStarted | CommitPlayed | CommitSkipped | Notice


@dataclass(frozen=True, slots=True)
class BisectedCommits:
    """What a search over commits found, and everything that it played or skipped."""

    run: str
    case: str
    commits: Commits
    cells: Mapping[str, Cell]
    skipped: Mapping[str, str]
    """Why, by commit."""
    first: Commit | None = None
    doubtful: tuple[str, ...] = ()
    """Skipped commits before `first` that may be the change instead."""
    problem: str = ""
    """Why the search has no answer."""
    signal: int | None = None

    @property
    def answered(self) -> bool:
        return not self.problem and not self.doubtful

    @property
    def first_other(self) -> Cell | None:
        return None if self.first is None else self.cells[self.first.id]

    @property
    def last_same(self) -> Cell | None:
        """A parent of the first bad commit that was played, else the good end."""
        if self.first is None:
            return None
        played = [parent for parent in self.first.parents if parent in self.cells]
        return self.cells[played[0] if played else self.commits.good.id]

    @property
    def exit_code(self) -> int:
        return 0 if self.answered else self.signal or 3


@dataclass(slots=True)
class _Search:
    player: CasePlayer
    commits: Commits
    emit: Callable[[CommitEvent], None]
    cells: dict[str, Cell] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    async def ask(self, commit: str) -> Hashable:
        """Build and play one commit; what the case says there."""
        shown = commit_of(self.commits.folder, commit)
        try:
            cell = await self._played(commit)
        except Skipped as skipped:
            self.skipped[commit] = str(skipped)
            self.emit(CommitSkipped(shown, str(skipped)))
            raise
        self.cells[commit] = cell
        self.emit(CommitPlayed(shown, cell))
        return answer(cell)

    async def _played(self, commit: str) -> Cell:
        try:
            (target,) = await resolve([self.commits.target(commit)], notify=self.player.notify)
        except JetproofError as error:
            raise Skipped(error.message) from error
        if (why := why_not(self.player.library, self.player.selected.items[0], target)) is not None:
            raise Skipped(f"the case does not apply: {why}")
        cell = await self.player.play(target)
        if cell.verdict is Verdict.ERROR:
            raise Skipped(f"no verdict: {cell.reason}")
        return cell


async def bisect_commits(
    library: Library,
    selected: Selected,
    commits: Commits,
    options: RunOptions,
    emit: Callable[[CommitEvent], None],
) -> BisectedCommits:
    """Search the commits for the first one on which the selected case has another verdict."""
    player = CasePlayer(library, selected, options, lambda text: emit(Notice(text)))
    search = _Search(player, commits, emit)
    emit(CommitsStarted(player.case, commits))
    found, problem = None, ""
    try:
        found = await first_bad(
            commits.good.id,
            commits.bad.id,
            search.ask,
            lambda known, end: halves(commits.folder, known, end),
        )
    except Unanswered:
        problem = "interrupted"
    except Skipped:
        problem = "one of the two ends has no verdict"
    return BisectedCommits(
        run=options.run,
        case=player.case,
        commits=commits,
        cells=search.cells,
        skipped=search.skipped,
        first=None if found is None else commit_of(commits.folder, found.commit),
        doubtful=() if found is None else found.doubtful,
        problem=problem,
        signal=player.signal,
    )
