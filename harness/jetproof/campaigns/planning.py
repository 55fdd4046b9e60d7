"""From a request to what is played: the cases that it names, scored, less what a run already has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jetproof.campaigns.request import Request, Settings
from jetproof.campaigns.resume import check_suites, going_on, played
from jetproof.campaigns.selecting import select_cases
from jetproof.engine.run import RunOptions
from jetproof.load.editions import difference, find_edition, standing_of
from jetproof.load.library import Library
from jetproof.model.case import Case
from jetproof.model.edition import Edition
from jetproof.plan import PlanTarget, Selected, scored_by
from jetproof.results import Run


@dataclass(frozen=True, slots=True)
class Expected:
    """The cells of a release: how many in all, and how many of them have to be played now."""

    cells: int
    to_play: int


@dataclass(frozen=True, slots=True)
class Choice:
    """The cases of a request. `earlier` is the run that is resumed, if one is."""

    library: Library
    request: Request
    selected: Selected
    edition: Edition | None
    earlier: Run | None

    @property
    def cases(self) -> list[Case]:
        return [item.case for item in self.selected.items]

    @property
    def skip(self) -> frozenset[str]:
        """Names of the cells that need not be played again."""
        return played(self.earlier, self.selected) if self.earlier else frozenset()

    @property
    def notices(self) -> tuple[str, ...]:
        """How the cases differ from those of the edition that scores them."""
        if self.edition is None:
            return ()
        unlike = difference(standing_of(self.library, self.edition, for_clients=False))
        return (unlike,) if unlike else ()

    def on(self, targets: Sequence[PlanTarget]) -> Choice:
        """A resumed run goes on with the releases that it had, whatever `latest` means by then."""
        names = tuple(target.name for target in targets)
        return replace(self, request=replace(self.request, servers=names))

    def options(self, settings: Settings) -> RunOptions:
        """How to play it: by its own laws and edition, and going on where an earlier part ended."""
        options = replace(settings, laws=self.request.laws).options()
        options = replace(options, editions=(self.edition,) if self.edition else ())
        return going_on(self.earlier, options) if self.earlier else options


def choose(library: Library, request: Request, earlier: Run | None = None) -> Choice:
    """The cases for servers that a request names."""
    if earlier is not None:
        check_suites(library, earlier)
    edition = find_edition(library, request.edition)
    # `latest` means the edition that was the newest then, however long a run takes to be finished.
    request = replace(request, edition=edition.name if edition else request.edition)
    selected = select_cases(library, request.selection)
    items = scored_by(library, selected.items, edition)
    return Choice(library, request, replace(selected, items=items), edition, earlier)
