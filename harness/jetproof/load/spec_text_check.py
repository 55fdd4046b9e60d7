"""Whether the clauses of a specification still stand in a text of it, and what the text says besides.

A specification moves. `check_text` compares a text with the catalogue of one of its revisions:

- a clause *stands* if its sentence is in the text, wherever; it has *moved* if its anchor names
  another place; its sentence is *gone* if nothing in the text has its fingerprint;
- a sentence is *bare* if it sounds normative, and neither a clause nor an entry of `no_clause`
  rests on it, on the element it belongs to or on a part of it.

A sentence of a paragraph, bullet or table row sounds normative if it has one of the words below, or
one of them with "not". Code blocks and headings are not read for it: what a text demands of a
field in a listing is a clause with an anchor into that listing, and nobody can tell by its words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from jetproof.load.sentences import (
    AnchorError,
    Element,
    elements,
    sentence_at,
    sentence_hash,
    title_of,
)
from jetproof.model.clause import Clause, NoClause, Spec

WORDS = (
    "must", "shall", "should", "may", "can", "will", "cannot", "can't", "won't", "mustn't",
    "shouldn't", "never", "always", "only", "required", "recommended",
)  # fmt: skip
"""What makes a sentence sound normative. These specifications say "will" where others say "shall"."""

_SOUNDS_NORMATIVE = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Gone:
    """A clause whose sentence is not in the text, and what stands in its place, if anything."""

    clause: Clause
    now: str | None


@dataclass(frozen=True, slots=True)
class Moved:
    """A clause whose sentence is in the text, but not where its anchor says."""

    clause: Clause
    anchors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bare:
    """A sentence that sounds normative and that no clause rests on."""

    anchor: str
    sentence: str

    @property
    def hash(self) -> str:
        return sentence_hash(self.sentence)


@dataclass(frozen=True, slots=True)
class TextCheck:
    """A text against one revision of its specification."""

    spec: str
    revision: int
    held: int
    """How many clauses hold in the revision."""
    gone: tuple[Gone, ...]
    moved: tuple[Moved, ...]
    unread: tuple[Clause, ...]
    """Clauses without a fingerprint: their sentence could not be read."""
    bare: tuple[Bare, ...]
    explained: int
    """Sentences that sound normative and are explained by `no_clause`."""
    idle: tuple[NoClause, ...]
    """Entries of `no_clause` whose sentence is not in the text."""
    other_title: str | None = None
    """The title of the text, if no text of the specification has it."""

    @property
    def another_document(self) -> bool:
        """Whether the text has another title, and most clauses do not stand in it."""
        return self.other_title is not None and 2 * self.standing < self.held

    @property
    def standing(self) -> int:
        return self.held - len(self.gone) - len(self.unread)


def check_text(spec: Spec, revision: int, markdown: str) -> TextCheck:
    """Compare a text with the clauses that hold in a revision."""
    found, title = list(elements(markdown)), title_of(markdown)
    places: dict[str, list[str]] = {}
    for element in found:
        for anchor, text in element.places():
            places.setdefault(sentence_hash(text), []).append(anchor)
    held = (clause for clause in spec.clauses.values() if clause.holds_in(revision))
    clauses = [clause.as_in(revision) for clause in held]
    gone, moved, unread = [], [], []
    for clause in clauses:
        if clause.sentence_hash is None:
            unread.append(clause)
        elif clause.sentence_hash not in places:
            gone.append(Gone(clause, _at(markdown, clause.anchor)))
        elif clause.anchor not in places[clause.sentence_hash]:
            moved.append(Moved(clause, tuple(places[clause.sentence_hash])))
    stated = {clause.sentence_hash for clause in clauses}
    read = {clause.anchor for clause in unread}
    explained = {entry.sentence_hash for entry in spec.no_clause}
    bare = [
        one for element in found if element.kind != "code" for one in _bare(element, stated, read)
    ]
    return TextCheck(
        spec=spec.id,
        revision=revision,
        held=len(clauses),
        gone=tuple(gone),
        moved=tuple(moved),
        unread=tuple(unread),
        bare=tuple(one for one in bare if one.hash not in explained),
        explained=sum(one.hash in explained for one in bare),
        idle=tuple(entry for entry in spec.no_clause if entry.sentence_hash not in places),
        other_title=None if title is None or spec.is_called(title) else title,
    )


def _bare(element: Element, stated: set[str | None], read: set[str | None]) -> Sequence[Bare]:
    whole, *parts = element.places()
    if sentence_hash(whole[1]) in stated or whole[0] in read:
        return ()
    return [
        Bare(anchor, text)
        for anchor, text in parts
        if _SOUNDS_NORMATIVE.search(text)
        and sentence_hash(text) not in stated
        and anchor not in read
    ]


def _at(markdown: str, anchor: str | None) -> str | None:
    try:
        return None if anchor is None else sentence_at(markdown, anchor)
    except AnchorError:
        return None
