"""Rules for catalogues: how clauses stand to each other, to their text and to cases.

`catalogue` checks what one clause is made of. Some rules here hold only where the entry in
`specs.yaml` has a `source`: everybody can look the sentences of such a text up, and none is forgotten.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from jetproof.load.mistakes import Mistake
from jetproof.load.sentences import is_anchor
from jetproof.load.yaml_source import Document, Keys
from jetproof.model.clause import Actor, Clause, Spec, Status

EXAMPLE = "Server Design: bullet 3, sentence 1"

Finding = tuple[Keys, str]
"""Where in the catalogue, and what is wrong there."""


def check_rules(
    document: Document, spec: Spec, listed: Mapping[str, Any], mistakes: list[Mistake]
) -> None:
    """Reports what a catalogue does wrong; `listed` is the entry of its specification."""
    data: Any = document.data
    places: dict[str, Keys] = {}
    for index, raw in enumerate(data["clauses"]):
        places.setdefault(raw["id"], ("clauses", index))
    found = [*_prefix(spec, listed.get("prefix", ""), places), *_hashes(document, spec, places)]
    source = listed.get("source")
    if source is not None:
        found += _order(spec, places)
    if source is not None and source["path"].endswith(".md"):
        found += _anchor_form(data)
    for clause in spec.clauses.values():
        inside = [*_wording(clause), *_contest(clause), *_replaced(clause, spec)]
        if source is not None:
            inside += _place(clause)
        found += (((*places[clause.id], *keys), message) for keys, message in inside)
    _report(document, found, mistakes)


def check_covered(
    document: Document, spec: Spec, tested: Collection[str], mistakes: list[Mistake]
) -> None:
    """Every clause that binds servers is tested by a case; `tested` are the clauses that are."""
    data: Any = document.data
    missing = {
        clause.id
        for clause in spec.clauses.values()
        if clause.actor is not Actor.CLIENT and clause.id not in tested
    }
    found: list[Finding] = [
        (("clauses", index, "id"), f"no case for servers names {raw['id']}: write one")
        for index, raw in enumerate(data["clauses"])
        if raw["id"] in missing
    ]
    _report(document, found, mistakes)


def _report(document: Document, found: list[Finding], mistakes: list[Mistake]) -> None:
    mistakes += (Mistake(document.file, document.line_of(keys), text) for keys, text in found)


def _prefix(spec: Spec, prefix: str, places: Mapping[str, Keys]) -> Iterator[Finding]:
    for name in spec.clauses:
        if not name.startswith(prefix):
            yield (
                (*places[name], "id"),
                f"{name} must begin with {prefix}, the prefix of {spec.id} in specs.yaml",
            )


def _order(spec: Spec, places: Mapping[str, Keys]) -> Iterator[Finding]:
    """Ids of one series (`A50-ATOMIC-`) rise."""
    last: dict[str, str] = {}
    for name in spec.clauses:
        series = name.rpartition("-")[0]
        before = last.get(series, "")
        if name < before:
            yield (
                (*places[name], "id"),
                f"{name} is after {before}: put clauses in order of their ids",
            )
        last[series] = max(name, before)


def _wording(clause: Clause) -> Iterator[Finding]:
    if not clause.text.endswith("."):
        yield ("clause",), "a clause is a sentence: end it with a full stop"


def _place(clause: Clause) -> Iterator[Finding]:
    """Where everybody finds the sentence."""
    if not clause.anchor:
        yield (), f"{clause.id} has no anchor: write where the sentence stands, such as {EXAMPLE}"
    if not clause.sentence_hash:
        yield (), f"{clause.id} has no hash: jetproof spec-check --json lists it"
    if clause.revision_from is None:
        yield (
            (),
            f"{clause.id} has no revisions: write the first one with the sentence, such as {{from: 1}}",
        )


def _contest(clause: Clause) -> Iterator[Finding]:
    contested = clause.status is Status.CONTESTED
    if contested and not clause.contested_with:
        yield (
            ("status",),
            "a contested clause needs contested_with: the clauses that it contradicts",
        )
    if not contested and clause.contested_with:
        yield ("contested_with",), "contested_with needs status: contested"


def _replaced(clause: Clause, spec: Spec) -> Iterator[Finding]:
    """A clause that is replaced ends where the new one begins."""
    old = spec.clauses.get(clause.replaces or "")
    if old is None or clause.revision_from is None:
        return
    if old.revision_to is None or old.revision_to + 1 != clause.revision_from:
        ends = "no last revision" if old.revision_to is None else f"last revision {old.revision_to}"
        yield (
            ("replaces",),
            f"{old.id} has {ends}, and {clause.id} replaces it from revision"
            f" {clause.revision_from} on: give {old.id} revisions.to {clause.revision_from - 1}",
        )


def _anchor_form(data: Any) -> Iterator[Finding]:
    for key in ("clauses", "no_clause"):
        for index, raw in enumerate(data.get(key, ())):
            anchors: list[Finding] = [((key, index, "anchor"), raw.get("anchor") or "")]
            anchors += (
                ((key, index, "reworded", number, "anchor"), place["anchor"])
                for number, place in enumerate(raw.get("reworded", ()))
            )
            for keys, anchor in anchors:
                if anchor and not is_anchor(anchor):
                    yield keys, f"{anchor!r} is not an anchor: write it as {EXAMPLE}"


def _hashes(document: Document, spec: Spec, places: Mapping[str, Keys]) -> Iterator[Finding]:
    """One sentence of one text has one hash.

    A clause is read in the text of the default revision, or of its own if that is newer."""
    first: dict[tuple[int, str], tuple[str | None, int]] = {}
    for clause in spec.clauses.values():
        keys = places[clause.id]
        read: list[tuple[Keys, int, str | None, str | None]] = [
            (
                (*keys, "hash"),
                max(spec.revision, clause.revision_from or 0),
                clause.anchor,
                clause.sentence_hash,
            )
        ]
        read += (
            ((*keys, "reworded", number, "hash"), place.revision, place.anchor, place.sentence_hash)
            for number, place in enumerate(clause.reworded)
        )
        for where, revision, anchor, digest in read:
            if anchor is None:
                continue
            line = document.line_of(where)
            known, at = first.setdefault((revision, anchor), (digest, line))
            if known != digest:
                yield where, f"{anchor!r} has another hash in line {at}: one of the two is wrong"
