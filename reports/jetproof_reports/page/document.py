"""`document`: what the page holds, made of plain rows.

    overview  what matters: a line for each target, new and unstable cells, known causes
    head      what the matrix needs: rows, columns, one letter a verdict, and by number what
              many cells share (reasons, positions, fingerprints). Each cell has a state, and each
              row the differences between any two states of its case (`results.changes.States`)
    tables    the rows of the other views
    evidence  by suite: transcripts, expectations that did not hold, server logs

A cell has a number: its place among all cells of the matrix, row by row, column by column, where
places without a cell do not count. Evidence is filed by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from jetproof.errors import JetproofError
from jetproof.model.identity import case_id
from jetproof.model.verdict import Verdict
from jetproof.results.changes import DIFFERS, KINDS, NO_VERDICT, States
from jetproof_reports.newest import is_scored
from jetproof_reports.page.evidence import evidence_of
from jetproof_reports.page.libraries import (
    held_of,
    is_witness,
    laws_of,
    libraries_of,
    library_questions,
    superseded,
)
from jetproof_reports.page.overview import overview_of
from jetproof_reports.page.revisions import clauses_of, revised_of, unspoken
from jetproof_reports.page.views import REFERENCE, tables_of
from jetproof_reports.plain import (
    Plain,
    Pool,
    Row,
    Tables,
    needed,
    number,
    pairs,
    rows_of,
    text,
    texts,
)

FORMAT = 1
NO_CELL = " "
LOOKS: dict[Verdict, tuple[str, str]] = {
    Verdict.PASS: ("p", "✓"),
    Verdict.UNSTABLE: ("u", "≀"),
    Verdict.FAIL: ("f", "✗"),
    Verdict.STALE: ("s", "≠"),
    Verdict.ERROR: ("e", "‼"),
    Verdict.WARN: ("w", "▲"),
    Verdict.KNOWN: ("k", "≈"),
    Verdict.POSITION: ("o", "◆"),
    Verdict.NOT_APPLICABLE: ("n", "–"),  # noqa: RUF001
}
"""A verdict's letter in the data and its symbol, the one that the console prints as well."""

_CODES = {verdict.value: code for verdict, (code, _) in LOOKS.items()}
_RUN = (
    "run_id", "started_at", "finished_at", "jetproof", "python", "platform", "cores", "suite_hash",
    "partial", "interrupted", "wall_ms", "cells",
)  # fmt: skip
_CELL_KEY = ("case", "spec_revision", "topology", "client", "server", "provider")

Key = tuple[Any, ...]


def document(tables: Tables) -> Plain:
    """The page as plain data; only `matrix` has to be there."""
    if "matrix" not in tables:
        raise JetproofError(
            f"a page needs the table `matrix`, and was given {', '.join(sorted(tables)) or 'none'}",
            phase="write",
            hint="make the page with `jetproof report`, or pass the rows of that table",
        )
    return _Maker(tables).document()


class _Maker:
    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.matrix = tables["matrix"] or []
        self.more = _newest(tables)
        self.columns = sorted(
            {(_release(row), text(row.get("server")), _provider(row)) for row in self.matrix},
            key=lambda column: (column[2] == REFERENCE, *column),
        )
        self.rows = sorted({_row_key(row) for row in self.matrix}, key=_row_order)
        self.sentences = clauses_of(tables)
        self.numbers: dict[Key, int] = {}
        """The cell's number by its key."""
        self.suites, self.clauses = Pool(), Pool()
        self.reasons, self.positions, self.deviations = Pool(), Pool(), Pool()
        self.fingerprints, self.origins, self.replays = Pool(), Pool(), Pool()
        self.reasons.add("")
        self.positions.add(())
        self.deviations.add("")
        self.fingerprints.add("")

    def document(self) -> Plain:
        for row in rows_of(self.tables, "coverage"):
            self.clauses.add(text(row.get("clause")))
        head = self._head()
        return {
            "format": FORMAT,
            "overview": overview_of(self.tables, self._held()),
            "head": head,
            "tables": {
                **tables_of(self.tables, self.sentences),
                "revised": revised_of(self.tables, self.sentences),
                "library_positions": library_questions(self._of_libraries(head["superseded"])),
            },
            "evidence": evidence_of(
                self.tables, self.numbers, self.suites.values, self.fingerprints, self.more
            ),
        }

    def _head(self) -> Plain:
        by_key = {_key(row): row for row in self.matrix}
        grid: list[str] = []
        cells: dict[str, list[Any]] = {
            name: []
            for name in (
                "reason",
                "position",
                "deviation",
                "fingerprint",
                "origin",
                "replay",
                "ms",
                "state",
            )
        }
        clauses: list[list[int]] = []
        silent: list[list[int]] = []
        states: dict[Key, States] = {}
        for of in self.rows:
            mine = states.setdefault(_twin(of), States.none())
            letters: list[str] = []
            named: list[str] = []
            for _, server, provider in self.columns:
                key = (*_shared(of), server, provider)
                row = by_key.get(key)
                if row is None:
                    letters.append(NO_CELL)
                    continue
                self.numbers[key] = len(self.numbers)
                letters.append(_code(row))
                more = self.more.get(key, {})
                for name, value in self._cell(row, more).items():
                    cells[name].append(value)
                cells["state"].append(mine.number({**more, **row}))
                named = texts(self.more.get(key, row).get("clauses")) or named
            grid.append("".join(letters))
            clauses.append([self.clauses.add(clause) for clause in named])
            judged = {"spec": of[0], "spec_revision": of[3]}
            silent.append(
                [self.clauses.add(name) for name in unspoken(self.sentences, judged, named)]
            )
        stable = {
            text(row.get("fingerprint")): row.get("stable")
            for row in rows_of(self.tables, "fingerprints")
        }
        changes = Pool()
        libraries, laws = libraries_of(self.tables), laws_of(self.tables)
        held_to = [held_of(libraries, laws, of[5], of[0]) if of[5] else None for of in self.rows]
        return {
            "runs": [
                {name: row.get(name) for name in _RUN} for row in rows_of(self.tables, "runs")
            ],
            "verdicts": [
                {
                    "name": verdict.value,
                    "code": code,
                    "symbol": symbol,
                    "decided": verdict not in NO_VERDICT,
                    "suspect": verdict in DIFFERS or verdict is Verdict.UNSTABLE,
                }
                for verdict, (code, symbol) in LOOKS.items()
            ],
            **self._counts(),
            "columns": [{"server": server, "provider": made} for _, server, made in self.columns],
            "rows": {
                "case": [of[2] for of in self.rows],
                "suite": [self.suites.add(of[1]) for of in self.rows],
                "spec": [of[0] for of in self.rows],
                "revision": [of[3] for of in self.rows],
                "topology": [of[4] for of in self.rows],
                "client": [of[5] for of in self.rows],
                "clauses": clauses,
                "unspoken": silent,
                "changes": [changes.add(states[_twin(of)].changes()) for of in self.rows],
                "held_to": held_to,
                "is_held": [
                    held in (None, of[3]) for held, of in zip(held_to, self.rows, strict=True)
                ],
            },
            "changes": [[_change(*one) for one in several] for several in changes.values],
            "kinds": list(KINDS),
            "played": self._played(),
            "grid": grid,
            "cells": cells,
            "suites": self.suites.values,
            "clauses": self.clauses.values,
            "reasons": self.reasons.values,
            "positions": [list(map(list, position)) for position in self.positions.values],
            "deviations": self.deviations.values,
            # Half of a hash is enough to look at; numbers are what is compared.
            "fingerprints": [mark[:8] for mark in self.fingerprints.values],
            "unstable": [
                place
                for place, mark in enumerate(self.fingerprints.values)
                if stable.get(mark) is False
            ],
            "stability_known": any(value is not None for value in stable.values()),
            "origins": [list(origin) for origin in self.origins.values],
            "replays": self.replays.values,
            "never_right": [
                number
                for key, number in self.numbers.items()
                if by_key[key].get("verdict") == Verdict.UNSTABLE and by_key[key].get("never_right")
            ],
            "not_scored": [
                number for key, number in self.numbers.items() if not is_scored(by_key[key])
            ],
            "superseded": superseded(
                (number, by_key[key], _is_claimed(by_key[key], libraries, laws))
                for key, number in self.numbers.items()
                if by_key[key].get("client")
            ),
            "left_out": [],
            "libraries": libraries,
            "laws": laws,
        }

    def _played(self) -> dict[str, list[int]]:
        """By client library: the columns that it was played on."""
        places = {column[1:]: place for place, column in enumerate(self.columns)}
        found: dict[str, set[int]] = {}
        for row in self.matrix:
            if client := row.get("client"):
                place = places[text(row.get("server")), _provider(row)]
                found.setdefault(client, set()).add(place)
        return {client: sorted(on) for client, on in sorted(found.items())}

    def _held(self) -> list[tuple[int, dict[str, Any]]]:
        """The cells that a verdict counts, by number, each with all that is known of it."""
        libraries, laws = libraries_of(self.tables), laws_of(self.tables)
        by_key = {_key(row): row for row in self.matrix}
        return [
            (number, {**self.more.get(key, {}), **by_key[key]})
            for key, number in self.numbers.items()
            if _is_held_to(by_key[key], libraries, laws)
        ]

    def _of_libraries(self, left_out: list[int]) -> list[tuple[int, Row]]:
        """The cells of client libraries that count, by number."""
        by_key = {_key(row): row for row in self.matrix}
        without = set(left_out)
        return [
            (number, by_key[key])
            for key, number in self.numbers.items()
            if by_key[key].get("client") and number not in without
        ]

    def _counts(self) -> Plain:
        """Cells by verdict: of releases, of libraries, and of what stands apart from either."""
        servers = [row for row in self.matrix if not row.get("client")]
        clients = [row for row in self.matrix if row.get("client")]
        return {
            "counts": _counted(row for row in servers if _provider(row) != REFERENCE),
            "reference_counts": _counted(row for row in servers if _provider(row) == REFERENCE),
            "client_counts": _counted(row for row in clients if not is_witness(row["client"])),
            "witness_counts": _counted(row for row in clients if is_witness(row["client"])),
            "gate_counts": self._gate_counts(clients),
        }

    def _gate_counts(self, clients: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
        """By library: the cells that the exit code of the gate counts, those it claims."""
        libraries, laws = libraries_of(self.tables), laws_of(self.tables)
        counts: dict[str, Counter[str]] = {}
        for row in clients:
            if _is_held_to(row, libraries, laws) and is_scored(row):
                counts.setdefault(row["client"], Counter())[text(row.get("verdict"))] += 1
        return {client: dict(counts[client]) for client in sorted(counts)}

    def _cell(self, row: Row, more: Row) -> Plain:
        case, server = text(row.get("case")), text(row.get("server"))
        replay = text(more.get("replay")).replace(case, "{case}").replace(server, "{server}")
        origin = (
            text(row.get("case_hash")),
            text(more.get("spec_hash")),
            text(more.get("harness")),
            text(row.get("run_id")),
        )
        position = tuple((key, text(value)) for key, value in pairs(row.get("position")))
        return {
            "reason": self.reasons.add(text(row.get("reason"))),
            "position": self.positions.add(position),
            "deviation": self.deviations.add(text(row.get("deviation"))),
            "fingerprint": self.fingerprints.add(text(row.get("fingerprint"))),
            "origin": self.origins.add(origin),
            "replay": self.replays.add(replay),
            "ms": number(row.get("ms")),
        }


def _is_held_to(row: Row, libraries: dict[str, Plain], laws: dict[str, int]) -> bool:
    """Whether who was played answers for what the cell was judged by; servers always do."""
    client = row.get("client")
    return not client or (not is_witness(client) and _is_claimed(row, libraries, laws))


def _is_claimed(row: Row, libraries: dict[str, Plain], laws: dict[str, int]) -> bool:
    held = held_of(libraries, laws, row["client"], text(row.get("spec")))
    return held in (None, row.get("spec_revision"))


def _newest(tables: Tables) -> dict[Key, dict[str, Any]]:
    """The row of `cells` behind each cell of the matrix: of the same run, the same attempt."""
    chosen = {
        (_key(row), row.get("run_id"), row.get("attempt")): _key(row) for row in tables["matrix"]
    }
    found = {}
    for row in rows_of(tables, "cells"):
        key = chosen.get((_key(row), row.get("run_id"), row.get("attempt")))
        if key is not None:
            found[key] = row
    return found


def _key(row: Row) -> Key:
    return (*(row.get(name) or None for name in _CELL_KEY[:5]), _provider(row))


def _shared(row_key: Key) -> Key:
    """The part of a cell's key that its whole row has."""
    _, _, case, revision, topology, client = row_key
    return (case, revision or None, topology or None, client)


def _row_key(row: Row) -> Key:
    case = str(needed(row, "case", "matrix"))
    suite = text(row.get("suite")) or case_id(case).suite
    spec = text(row.get("spec")) or suite.partition("/")[0]
    return (
        spec, suite, case, row.get("spec_revision") or 0, text(row.get("topology")),
        row.get("client") or None,
    )  # fmt: skip


def _twin(row_key: Key) -> Key:
    """What rows have in common that only differ in their revision."""
    return (row_key[2], row_key[4], row_key[5])


def _change(a: int, b: int, kind: str, moved: tuple[str, ...]) -> list[Any]:
    return [a, b, KINDS.index(kind), *([list(moved)] if moved else [])]


def _row_order(row_key: Key) -> Key:
    return (*row_key[:5], row_key[5] or "")


def _release(row: Row) -> int:
    key = row.get("release_key")
    return key if isinstance(key, int) else 0


def _provider(row: Row) -> str:
    return text(row.get("provider")) or "embedded"


def _counted(rows: Iterable[Row]) -> dict[str, int]:
    return dict(Counter(text(row.get("verdict")) for row in rows if is_scored(row)))


def _code(row: Row) -> str:
    verdict = str(needed(row, "verdict", "matrix"))
    if verdict not in _CODES:
        raise JetproofError(
            f"`matrix` says {verdict!r} of {row.get('case')}, which is no verdict",
            phase="write",
            hint=f"verdicts are {', '.join(_CODES)}",
        )
    return _CODES[verdict]
