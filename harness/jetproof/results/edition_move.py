"""The move of a ledger to another edition: what it scores besides, and what that makes red."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jetproof.load.editions import find_edition, standing_of
from jetproof.load.library import Library
from jetproof.model.claims import is_held_to
from jetproof.model.client_ledger import ClientLedger
from jetproof.model.edition import NEWEST, Edition, edition_key
from jetproof.model.verdict import Cell, Result, Verdict
from jetproof.results import Run
from jetproof.results.digest import would_be_red

_EDITION = re.compile(r"^edition: *(?:\"[^\"]*\"|'[^']*'|\S+)", re.MULTILINE)
_EDITION_LINE = re.compile(r"^edition:.*\n", re.MULTILINE)
_CLIENT = re.compile(r"^client:.*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Move:
    """From one edition to another, by the cells of a run; None is every case."""

    before: Edition | None
    after: Edition | None
    more: tuple[Cell, ...]
    """Cells that the other edition scores and the one before does not."""
    fewer: int
    red: tuple[Result, ...]
    """Those among `more` that no ledger explains."""
    missing: int
    """Cases of the other edition that the run has no verdict for."""

    @property
    def moves(self) -> bool:
        return name_of(self.before) != name_of(self.after)


class Scoring:
    """Which cells of a run each edition scores. Cases of a file elsewhere are scored by all."""

    def __init__(self, library: Library, run: Run, cells: Sequence[Cell]) -> None:
        self._library = library
        self._cells = cells
        self._ours = {case.id for case in library.client_cases}
        self._claims = _claims(run)

    def counted(self, edition: Edition | None) -> list[Cell]:
        return [cell for cell in self._cells if self._scores(edition, cell)]

    def move(self, before: Edition | None, after: Edition | None) -> Move:
        was, will = self.counted(before), self.counted(after)
        before_names, after_names = ({cell.name for cell in some} for some in (was, will))
        more = [cell for cell in will if cell.name not in before_names]
        decided = {(cell.case, cell.case_hash) for cell in self._cells if not _open(cell)}
        current = standing_of(self._library, after, for_clients=True).same if after else ()
        hashes = after.hashes if after else {}
        return Move(
            before,
            after,
            tuple(more),
            sum(cell.name not in after_names for cell in was),
            tuple(would_be_red(cell for cell in more if self._claimed(cell))),
            sum((case, hashes[case]) not in decided for case in current),
        )

    def newer(self, edition: Edition | None) -> Edition | None:
        """The newest edition, if it is newer than this one."""
        newest = find_edition(self._library, NEWEST) if self._library.editions else None
        if edition is None or newest is None:
            return None
        return newest if edition_key(newest.name) > edition_key(edition.name) else None

    def played(self) -> Edition | None:
        """The edition that a ledger without one is written for: the run's own, or the newest if that is
        what was played."""
        named = {cell.edition for cell in self._cells}
        if len(named) == 1 and (name := named.pop()) in self._library.editions:
            return self._library.editions[str(name)]
        newest = find_edition(self._library, NEWEST) if self._library.editions else None
        whole = newest is not None and len(self.counted(newest)) == len(self._cells)
        return newest if whole else None

    def _scores(self, edition: Edition | None, cell: Cell) -> bool:
        if edition is None or cell.case not in self._ours:
            return True
        return edition.scores(cell.case, cell.case_hash)

    def _claimed(self, cell: Cell) -> bool:
        default = self._library.specs[cell.spec].revision if cell.spec in self._library.specs else 0
        claims = self._claims.get(cell.client or "", {})
        return is_held_to(claims, cell.spec, default, cell.spec_revision)


def with_edition(text: str, edition: Edition | None) -> str:
    """A ledger that names this edition, or none; everything else stays as it stands."""
    if edition is None:
        return _EDITION_LINE.sub("", text, count=1)
    named = f"edition: {_quoted(edition.name)}"
    if _EDITION.search(text):
        return _EDITION.sub(named, text, count=1)
    return _CLIENT.sub(lambda found: f"{found[0]}{named}\n", text, count=1)


def named_in(library: Library, ledger: ClientLedger) -> Edition | None:
    return find_edition(library, ledger.edition)


def _quoted(name: str) -> str:
    """As people write it: 2026.11 is no number that anybody mistakes, 2026.10 would be 2026.1."""
    return f'"{name}"' if name.endswith("0") else name


def _open(cell: Cell) -> bool:
    return cell.verdict is Verdict.ERROR


def _claims(run: Run) -> Mapping[str, Mapping[str, int]]:
    """The revisions that each library of a run claims."""
    rows = run.document.get("libraries")
    found: dict[str, Mapping[str, int]] = {}
    for row in rows if isinstance(rows, list) else ():
        claims = row.get("claims")
        found[str(row.get("name"))] = claims if isinstance(claims, dict) else {}
    return found


def name_of(edition: Edition | None) -> str | None:
    """None is every case."""
    return edition.name if edition else None
