"""Editions and renamed cases: `suites/editions/2026.11.txt` and `suites/renamed.yaml`.

An edition is a text of one line per case, its name and its hash. `jetproof editions --write` writes it; it
is never changed after a release.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jetproof.errors import JetproofError
from jetproof.load.mistakes import Mistake, choices, nearest
from jetproof.load.structure import FileSchema
from jetproof.load.yaml_source import Document
from jetproof.model.case import is_client_suite
from jetproof.model.edition import (
    EVERYTHING,
    NAME,
    NEWEST,
    Edition,
    Standing,
    edition_key,
    in_order,
)
from jetproof.model.fingerprint import clause_fingerprint
from jetproof.model.identity import case_id, schema_key, schema_name

if TYPE_CHECKING:
    from jetproof.load.library import Library

FOLDER = "editions"
SUFFIX = ".txt"
RENAMED = "renamed.yaml"
PROMISE = "promises::"

_HEAD = """\
# Edition {name}: the cases that it scores, each with the hash of what is played and judged.
# Written by `jetproof editions --write {name}`. A released edition is never changed.
edition {name}
"""
_LINE = re.compile(r"(\S+::\S+) ([0-9a-f]{16})")


def read_edition(
    path: Path, file: str, renamed: Mapping[str, str], mistakes: list[Mistake]
) -> Edition | None:
    """The edition in a file, or None with every mistake; `file` is its name for people.

    A case that is gone is none: cases are removed and renamed. `renamed` has today's name by the old one.
    """
    before = len(mistakes)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        mistakes.append(Mistake(file, 1, f"cannot be read: {reason}"))
        return None
    name = path.name.removesuffix(SUFFIX)
    if not NAME.fullmatch(name):
        what = f"{name!r} is no name of an edition: call it by year and month, such as 2026.11"
        mistakes.append(Mistake(file, 1, what))
    told = [(number, line) for number, line in enumerate(lines, 1) if _says(line)]
    if not told or told[0][1] != f"edition {name}":
        place = told[0][0] if told else 1
        mistakes.append(
            Mistake(file, place, f"expected the line `edition {name}` before all cases")
        )
    places: dict[str, int] = {}
    hashes: dict[str, str] = {}
    for number, line in told[1:]:
        found = _LINE.fullmatch(line)
        if found is None:
            what = f"{line[:80]!r} is not a case and its hash: suite::case 0123456789abcdef"
            mistakes.append(Mistake(file, number, what))
            continue
        case = renamed.get(found[1], found[1])
        if case in places:
            what = f"duplicate case {case}: it is in line {places[case]} already"
            mistakes.append(Mistake(file, number, what))
        places.setdefault(case, number)
        hashes.setdefault(case, found[2])
    return Edition(name, hashes) if len(mistakes) == before else None


def read_renamed(
    document: Document,
    schema: FileSchema,
    cases: Collection[str] | None,
    mistakes: list[Mistake],
) -> dict[str, str]:
    """Today's name of each case by a name that it had. `cases` is None if some could not be read."""
    if schema.check(document, mistakes):
        return {}
    data: Any = document.data
    raw: dict[str, str] = data["renamed"]

    def report(old: str, message: str) -> None:
        mistakes.append(Mistake(document.file, document.line_of(("renamed", old)), message))

    found: dict[str, str] = {}
    for old in raw:
        seen, name = {old}, raw[old]
        while name in raw and name not in seen:
            seen.add(name)
            name = raw[name]
        if name in seen:
            report(old, f"{old} is renamed in a circle")
        elif cases is not None and old in cases:
            report(old, f"{old} is the name of a case: a name that is in use was not given up")
        elif cases is not None and name not in cases:
            report(old, f"no case {name}{nearest(name, cases)}")
        else:
            found[old] = name
    return found


def find_edition(library: Library, asked: str | None) -> Edition | None:
    """The edition that was asked for; None if every case is scored."""
    if asked is None or asked == EVERYTHING:
        return None
    known = library.editions
    names = in_order(known)
    if asked == NEWEST and names:
        return known[names[-1]]
    if asked in known:
        return known[asked]
    if NAME.fullmatch(asked) and (not names or edition_key(asked) > edition_key(names[-1])):
        newest = f"the newest edition it has is {names[-1]}" if names else "it has no edition"
        raise JetproofError(
            f"this Jetproof does not know the edition {asked}: {newest}",
            phase="plan",
            hint="upgrade: pip install --upgrade jetproof",
        )
    raise JetproofError(
        f"no edition {asked!r}; {choices(asked, names)}",
        phase="plan",
        hint=f"--edition {EVERYTHING} scores every case, --edition {NEWEST} is the newest edition",
    )


def present(library: Library, *, for_clients: bool | None = None) -> dict[str, str]:
    """The hash of all that can be scored today: cases, schemas of wire messages, and promises.

    Only what judges client libraries, or servers, if `for_clients` says so."""
    found = {case.id: case.hash for case in library.cases_for(clients=for_clients)}
    if for_clients is None:
        names = library.schemas.names()
        found |= {schema_key(name): library.schemas.fingerprint(name) for name in names}
        found |= {f"{PROMISE}{name}": its for name, its in _promises(library).items()}
    return found


def held_promises(library: Library, editions: Collection[Edition]) -> frozenset[str]:
    """The promises that every case is held to: those that each edition lists, as they are today."""
    return frozenset(
        name
        for name, its in _promises(library).items()
        if all(edition.scores(f"{PROMISE}{name}", its) for edition in editions)
    )


def _promises(library: Library) -> dict[str, str]:
    return {name: clause_fingerprint(library.clause(name)) for name in library.promises}


def standing_of(library: Library, edition: Edition, *, for_clients: bool | None = None) -> Standing:
    """An edition against the cases of today: all of them, or those for libraries, or for servers."""
    if for_clients is None:
        return edition.standing(present(library))
    hashes = {
        case: its
        for case, its in edition.hashes.items()
        if _command(case) == ("gate" if for_clients else "run")
    }
    return Edition(edition.name, hashes).standing(present(library, for_clients=for_clients))


def _command(case: str) -> str:
    """The command that plays a case, by its name; schemas and promises have none of their own."""
    if schema_name(case) is not None or case.startswith(PROMISE):
        return "every case"
    return "gate" if is_client_suite(case_id(case).suite) else "run"


def difference(standing: Standing) -> str:
    """What an edition does not score and what it misses, in a line; empty if nothing differs."""
    apart = [
        f"{len(names)} {word}"
        for names, word in ((standing.new, "new"), (standing.changed, "changed"))
        if names
    ]
    many = len(standing.new) + len(standing.changed)
    parts = []
    if apart:
        parts.append(f"{' and '.join(apart)} case{'' if many == 1 else 's'} not scored")
    if gone := len(standing.removed):
        verb = "was" if gone == 1 else "were"
        parts.append(f"{gone} of its cases {verb} removed from the suites")
    return f"edition {standing.edition}: {', '.join(parts)}" if parts else ""


def new_edition_file(library: Library, name: str, *, replace: bool) -> Path:
    """Where a new edition is written; with `replace` it may be there already."""
    if not NAME.fullmatch(name):
        raise JetproofError(
            f"{name!r} is no name of an edition",
            phase="plan",
            hint="call it by year and month, such as 2026.11, and 2026.11.1 if a month has two",
        )
    path = library.root / "suites" / FOLDER / f"{name}{SUFFIX}"
    if path.exists() and not replace:
        raise JetproofError(
            f"the edition {name} is there already: gates rely on it",
            phase="write",
            hint="choose another name; --replace writes it anew, before it is released",
        )
    return path


def edition_text(library: Library, name: str) -> str:
    """The file of an edition that scores the cases of today."""
    rows = sorted(present(library).items())
    return _HEAD.format(name=name) + "".join(f"{case} {its}\n" for case, its in rows)


def _says(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")
