"""The ledger of a client library after a run: what the run found, turned into entries.

Entries that hold are kept as they stand, comments and all. A case that an entry lists, and that passes or
fails in another way, is taken out of the entry; an entry without cases is removed. New failures get an entry
each, with what was seen; a person then says why, of what kind it is and how severe.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from jetproof.errors import JetproofError
from jetproof.load.client_ledger import LEDGER, read_ledger
from jetproof.load.editions import find_edition
from jetproof.load.library import Library
from jetproof.model.client_ledger import ClientLedger
from jetproof.model.identity import case_id
from jetproof.model.verdict import Cell, Check, Verdict
from jetproof.results import Run
from jetproof.results.edition_move import Move, Scoring, name_of, named_in, with_edition
from jetproof.targets.clients.spec import parse_client

_ENTRY = re.compile(r"^  - id: *(\S+)", re.MULTILINE)
_CASE = re.compile(r"^      (\S+):(?: [^\n]*)?\n(?:(?:        .*)?\n)*", re.MULTILINE)
"""A case of an entry, with its mismatches: everything below it that is indented further."""
Outlived = frozenset[tuple[str, str]]
"""Cases of entries that no longer hold: the entry's id, and the case."""
_HEAD = """\
# Where {client} is known not to keep a sentence, and exactly how.
client: {client}
entries:
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """A case that a library fails in one way, on these servers."""

    case: str
    clauses: tuple[str, ...]
    mismatches: tuple[tuple[str, str, object], ...]
    servers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Update:
    """The ledger that a run asks for."""

    client: str
    path: Path | None
    """The file of the ledger, if it is known."""
    text: str
    """The whole ledger as it should be."""
    is_new: bool
    """Whether there is no ledger yet."""
    found: tuple[Finding, ...]
    outlived: Outlived
    move: Move
    """From the edition that the ledger names to the one that it will name."""
    newer: Move | None
    """To the newest edition, if no edition was asked for and there is a newer one."""


def update_of(
    library: Library, run: Run, client: str, ledger: Path | None, edition: str | None
) -> Update:
    """The ledger of a client after a run; `edition` is the one to move to, if it moves."""
    spec = parse_client(client)
    path = ledger
    if path is None and spec.folder is not None:
        path = spec.folder.folder / LEDGER
    known = read_ledger(path, library) if path and path.exists() else ClientLedger(spec.name)
    cells = [cell for cell in run.latest if cell.library == spec.name]
    if not cells:
        there = sorted({cell.client for cell in run.latest if cell.client})
        raise JetproofError(
            f"{run.folder} has no cells of {spec.name}",
            phase="load",
            hint=f"it has: {', '.join(there) or 'no client library'}",
        )
    text = path.read_text(encoding="utf-8") if path and path.exists() else ""
    scoring, before = Scoring(library, run, cells), named_in(library, known)
    after = find_edition(library, edition) if edition else before
    if not text and not edition:
        after = scoring.played()
    counted = scoring.counted(after)
    gone = _outlived(known, counted)
    found = tuple(_findings(run, counted))
    proposed = propose(text, spec.name, gone, found, library)
    if name_of(after) != known.edition:
        proposed = with_edition(proposed, after)
    newest = None if edition else scoring.newer(before)
    return Update(
        client=spec.name,
        path=path,
        text=proposed,
        is_new=not text,
        found=found,
        outlived=gone,
        move=scoring.move(before, after),
        newer=scoring.move(before, newest) if newest else None,
    )


def propose(
    text: str, client: str, gone: Outlived, found: Sequence[Finding], library: Library
) -> str:
    """The whole file: what stays, byte by byte, and what is new."""
    kept = _without(text, gone) if text else _HEAD.format(client=client)
    taken = set(_ENTRY.findall(kept))
    new = [_entry(finding, taken, library) for finding in found]
    if not new and not _ENTRY.search(kept):
        return kept.rstrip("\n").removesuffix(" []") + " []\n"
    body = kept.rstrip("\n").removesuffix(" []") + "\n"
    for entry in new:
        body += entry if body.endswith("entries:\n") else f"\n{entry}"
    return body


def _outlived(known: ClientLedger, cells: Iterable[Cell]) -> Outlived:
    """What the ledger says of cases that are stale."""
    stale = {cell.case for cell in cells if cell.verdict is Verdict.STALE}
    entries = (entry.deviation for entry in known.entries)
    return frozenset((entry.id, entry.case) for entry in entries if entry.case in stale)


def _findings(run: Run, cells: Sequence[Cell]) -> Iterator[Finding]:
    """Failures, those alike on several servers as one."""
    failed = {
        (cell.name, cell.target, cell.attempt): cell
        for cell in cells
        if cell.verdict in (Verdict.FAIL, Verdict.STALE, Verdict.WARN)
    }
    checks: dict[tuple[str, str, int], list[Check]] = defaultdict(list)
    for key, check in run.checks():
        if key in failed and not check.ok:
            checks[key].append(check)
    alike: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    seen: dict[tuple[str, str], tuple[tuple[str, str, object], ...]] = {}
    for key, cell in failed.items():
        mismatches = tuple(
            dict.fromkeys((check.step, check.path, _plain(check.actual)) for check in checks[key])
        )
        if mismatches:
            name = cell.case, json.dumps(mismatches, default=str)
            alike[name].append(cell)
            seen[name] = mismatches
    played: dict[str, set[str]] = defaultdict(set)
    for cell in cells:
        if cell.verdict is not Verdict.NOT_APPLICABLE:
            played[cell.case].add(cell.server)
    for name, members in sorted(alike.items()):
        servers = {cell.server for cell in members}
        some = () if servers == played[name[0]] else tuple(sorted(servers))
        yield Finding(name[0], members[0].clauses, seen[name], some)


def _plain(actual: object) -> object:
    """An actual value as a ledger writes it; what is a mapping there would be a matcher."""
    if actual == {"absent": True}:
        return "absent"
    return json.dumps(actual) if isinstance(actual, (dict, list)) else actual


def _entry(finding: Finding, taken: set[str], library: Library) -> str:
    identifier = _fresh(case_id(finding.case).own, taken)
    sentences = " ".join(library.clause(clause).text.strip() for clause in finding.clauses)
    rows = [
        {"step": step, "path": path, "actual": {"absent": True} if actual == "absent" else actual}
        for step, path, actual in finding.mismatches
    ]
    seen = "; ".join(f"{row['path']} is {_words(row['actual'])}" for row in rows)
    document: dict[str, object] = {"id": identifier, "kind": "bug", "severity": "protocol"}
    if finding.servers:
        first, last = finding.servers[0], finding.servers[-1]
        document["servers"] = first if first == last else f">={first} <={last}"
    document |= {"text": sentences, "does": f"{seen}.", "cases": {finding.case: rows}}
    entry = yaml.safe_dump([document], sort_keys=False, allow_unicode=True, width=110)
    return "".join(f"  {line}\n" for line in entry.splitlines())


def _words(actual: object) -> str:
    return "absent" if isinstance(actual, Mapping) else str(actual)


def _fresh(name: str, taken: set[str]) -> str:
    """A name that no entry has."""
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}-{number}", number + 1
    taken.add(candidate)
    return candidate


def _without(text: str, gone: Outlived) -> str:
    """The file without some cases; an entry that has none left goes, with the comments before it."""
    starts = [(match.start(), match[1]) for match in _ENTRY.finditer(text)]
    if not starts:
        return text
    pieces = [text[: starts[0][0]]]
    for (start, name), end in zip(starts, [*(s for s, _ in starts[1:]), len(text)], strict=True):
        entry = text[start:end]
        head, below, listed = entry.partition("    cases:\n")
        outlived = {case for entry_id, case in gone if entry_id == name}
        kept = _kept(listed, outlived)
        if not outlived or _CASE.search(kept):
            pieces.append(head + below + kept)
    return "".join(pieces)


def _kept(listed: str, outlived: set[str]) -> str:
    return _CASE.sub(lambda found: "" if found[1] in outlived else found[0], listed)
