"""What differs between two verdicts of one case, and which of the inputs moved.

This is the one definition of a difference. `jetproof diff`, the tables `regressions` and `first_change`
and the page all show what these functions return. Rows are those of the table `cells`: the newest row of
each cell. Spark finds the newest rows of a history; their number is bounded by cases and targets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from jetproof.model.verdict import Verdict

Row = Mapping[str, Any]
Key = tuple[Any, ...]
Rows = list[dict[str, Any]]

KINDS: Final = (
    "new-failure", "fixed", "changed-reason", "changed-position", "changed-on-the-wire", "new", "gone",
)  # fmt: skip
"""Kinds of differences, worst first."""

PLACE: Final = ("case", "spec_revision", "topology", "client", "provider")
"""One row of the matrix, for one provider; a release makes it a cell."""

DIFFERS: Final = frozenset((Verdict.FAIL, Verdict.STALE, Verdict.KNOWN, Verdict.WARN))
"""Verdicts of a target that does not do what the text says, whether or not a ledger explains it."""
NO_VERDICT: Final = frozenset((Verdict.NOT_APPLICABLE, Verdict.ERROR))
_SHOWN: Final = (
    "verdict", "reason", "position", "server", "provider", "run_id", "fingerprint",
)  # fmt: skip
_COUNT: Final = "seen"
"""How often a schema was seen is a count, and no position."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What is compared of a cell. A cell without a verdict shows no behaviour."""

    verdict: str
    never_right: bool
    reason: str
    position: str
    fingerprint: str | None

    @property
    def differs(self) -> bool:
        """Whether the target does not do what the text says. An unstable one does not if what was seen
        is never right, on whatever machine."""
        return self.verdict in DIFFERS or (self.verdict == Verdict.UNSTABLE and self.never_right)

    @property
    def proves_nothing(self) -> bool:
        """Whether it is unstable and shows no fault: no change may rest on it."""
        return self.verdict == Verdict.UNSTABLE and not self.never_right


@dataclass(frozen=True, slots=True)
class Inputs:
    """What can be to blame for a difference, besides the server."""

    spec: Key
    client: str | None
    case: str
    harness: str


def behaviour(row: Row | None) -> Behaviour | None:
    """The behaviour that a row shows; None without a verdict."""
    if row is None or row["verdict"] in NO_VERDICT:
        return None
    return Behaviour(
        str(row["verdict"]),
        bool(row.get("never_right")),
        row.get("reason") or "",
        position_text(row.get("position")),
        row.get("fingerprint") or None,
    )


def inputs(row: Row) -> Inputs:
    return Inputs(
        (row.get("spec_hash") or "", row.get("spec_revision")),
        row.get("client") or None,
        row.get("case_hash") or "",
        row.get("harness") or "",
    )


def position_text(position: object) -> str:
    """A position as one text that can be compared."""
    if not position:
        return ""
    pairs = position.items() if isinstance(position, Mapping) else position
    named = sorted((str(name), value) for name, value in pairs)  # type: ignore[attr-defined]
    return "; ".join(f"{name}: {value}" for name, value in named if name != _COUNT)


def kind_of(a: Behaviour | None, b: Behaviour | None) -> str | None:
    """The kind of a difference, one of `KINDS`; None if there is none."""
    if a is None or b is None:
        return None if a is b else "new" if a is None else "gone"
    if a.proves_nothing or b.proves_nothing:
        return None
    if a.differs != b.differs:
        return "fixed" if a.differs else "new-failure"
    if a.differs and (a.reason, a.verdict) != (b.reason, b.verdict):
        return "changed-reason"
    if (a.position, a.verdict) != (b.position, b.verdict):
        return "changed-position"
    if a.fingerprint and b.fingerprint and a.fingerprint != b.fingerprint:
        return "changed-on-the-wire"
    return None


def moved(a: Inputs, b: Inputs) -> list[str]:
    """The inputs that differ, besides the server."""
    names = ("spec", "client", "case", "harness")
    return [name for name in names if getattr(a, name) != getattr(b, name)]


def _moved(a: Row | None, b: Row | None) -> list[str]:
    """Which inputs differ: only these can be to blame."""
    if a is None or b is None:
        return []
    found = set(moved(inputs(a), inputs(b)))
    if any(a.get(name) != b.get(name) for name in ("server", "provider", "build")):
        found.add("server")
    return [name for name in ("spec", "server", "client", "case", "harness") if name in found]


def difference(a: Row | None, b: Row | None, side_a: str, side_b: str) -> dict[str, Any] | None:
    """A row of `regressions`, or None if the two show the same."""
    kind = kind_of(behaviour(a), behaviour(b))
    one = a if b is None else b
    if kind is None or one is None:
        return None
    found = {
        "case": one["case"],
        "topology": one["topology"],
        "client": one["client"] or (None if a is None else a["client"]),
        "side_a": side_a,
        "side_b": side_b,
        "kind": kind,
        "what_moved": _moved(a, b),
    }
    for name in _SHOWN:
        for side, row in (("a", a), ("b", b)):
            value = None if row is None else row.get(name)
            if name == "position" and row is not None:
                value = position_text(value)
            found[f"{name}_{side}"] = value
    return found


# -- two sides that somebody chose ---------------------------------------------------------------


def between_sides(
    a: Iterable[Row], b: Iterable[Row], side_a: str, side_b: str, matched: Sequence[str]
) -> Rows:
    """What differs between two sets of cells. `matched` and case and topology say which cells of the
    two are the same cell; of several on one side the newest counts."""
    key = tuple(dict.fromkeys(("case", "topology", *matched)))
    one, other = _newest(a, key), _newest(b, key)
    both = (
        difference(one.get(at), other.get(at), side_a, side_b)
        for at in dict.fromkeys([*one, *other])
    )
    rows = [row for row in both if row is not None]
    rows.sort(key=lambda row: (KINDS.index(row["kind"]), row["case"], row["topology"]))
    return rows


def _newest(rows: Iterable[Row], key: Sequence[str]) -> dict[Key, Row]:
    found: dict[Key, Row] = {}
    for row in sorted(rows, key=lambda row: (row["run_at"], row["run_id"], row["attempt"])):
        found[tuple(row[name] for name in key)] = row
    return found


# -- each with the one before it -------------------------------------------------------------------


def between_releases(latest: Sequence[Row]) -> Rows:
    """Each release of a provider compared with the one before it.

    A case that one of the two was not asked has no verdict there. A library is mostly played on few
    releases: those that it was played on follow each other."""
    chains: dict[Key, set[tuple[int, str]]] = {}
    places: dict[Key, dict[str, Row]] = {}
    for row in latest:
        chain = (row["provider"], row["client"])
        chains.setdefault(chain, set()).add((row["release_key"] or 0, row["server"]))
        places.setdefault(tuple(row[name] for name in PLACE), {})[row["server"]] = row
    steps = {
        chain: [(was, now) for (_, was), (_, now) in pairwise(sorted(released))]
        for chain, released in chains.items()
    }
    found = []
    for place, by_server in places.items():
        for was, now in steps[place[4], place[3]]:
            change = difference(by_server.get(was), by_server.get(now), was, now)
            if change is not None:
                found.append(change)
    return found


def between_revisions(latest: Sequence[Row]) -> Rows:
    """Each revision of a specification compared with the one before it, on the same server."""
    place = tuple(name for name in (*PLACE, "server") if name != "spec_revision")
    pairs = _neighbours(latest, place, ("spec_revision",))
    return _compared(pairs, lambda row: f"{row['spec']}@{row['spec_revision']}")


def between_versions(latest: Sequence[Row]) -> Rows:
    """Each version of a client library compared with the one before it, on the same server."""
    return _compared(_versions(latest), lambda row: str(row["client"]))


def between_runs(recent: Iterable[Row]) -> Rows:
    """The newest run of each cell compared with the run before it: `recent` has the rows of both."""
    pairs = _neighbours(recent, (*PLACE, "server"), ("run_at", "run_id"))
    return _compared(pairs, lambda row: str(row["run_id"]))


def _compared(pairs: Iterable[tuple[Row, Row]], label: Callable[[Row], str]) -> Rows:
    found = (difference(a, b, label(a), label(b)) for a, b in pairs)
    return [row for row in found if row is not None]


def _versions(rows: Iterable[Row]) -> Iterator[tuple[Row, Row]]:
    mine = (row for row in rows if row.get("library"))
    place = ("case", "topology", "provider", "library", "server")
    return _neighbours(mine, place, ("client_key", "client", "spec_revision"))


def _neighbours(
    rows: Iterable[Row], place: Sequence[str], order: Sequence[str]
) -> Iterator[tuple[Row, Row]]:
    """Rows that follow each other in one place."""
    groups: dict[Key, list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in place), []).append(row)
    for mine in groups.values():
        if len(mine) > 1:
            mine.sort(key=lambda row: tuple(row[name] or 0 for name in order))
            yield from pairwise(mine)


# -- the first release with another answer ---------------------------------------------------------


def first_changes(latest: Sequence[Row]) -> Rows:
    """Each change of a verdict, a position or the wire from one release to the next.

    Releases without a verdict, or with one that is unstable and proves nothing, are passed over."""
    settled = [row for row in latest if _is_settled(row)]
    pairs = _neighbours(settled, PLACE, ("release_key", "server"))
    return [row for a, b in pairs for row in _first_changes(a, b)]


def first_changes_of_libraries(latest: Sequence[Row]) -> Rows:
    """Each change from one version of a library to the next, on the same server."""
    pairs = _versions(row for row in latest if _is_settled(row))
    return [row for a, b in pairs for row in _first_changes(a, b)]


def _is_settled(row: Row) -> bool:
    shown = behaviour(row)
    return shown is not None and not shown.proves_nothing


def _first_changes(a: Row, b: Row) -> Iterator[dict[str, Any]]:
    was, now = behaviour(a), behaviour(b)
    for what in ("verdict", "position", "fingerprint"):
        before, after = getattr(was, what), getattr(now, what)
        if before is None or after is None or before == after:
            continue
        yield {
            **{name: b[name] for name in (*PLACE, "release_key")},
            "what": what,
            "from_server": a["server"],
            "to_server": b["server"],
            "from_client": a["client"],
            "to_client": b["client"],
            "from_value": before,
            "to_value": after,
        }


# -- any two cells of one case -----------------------------------------------------------------------

NOT_PLAYED: Final = 0
"""The state of a place without a cell."""

Change = tuple[int, int, str, tuple[str, ...]]
"""Two states, the kind of their difference, and what moved besides the server."""


@dataclass(slots=True)
class States:
    """The states in which the cells of one case were seen, and every difference between two of them.

    A page lets its reader choose any two releases or revisions. A case has few states, however many
    releases there are, so all of its differences are few as well."""

    _numbers: dict[tuple[Behaviour | None, Inputs], int]

    @classmethod
    def none(cls) -> States:
        return cls({})

    def number(self, row: Row) -> int:
        """The state of a cell."""
        return self._numbers.setdefault((behaviour(row), inputs(row)), len(self._numbers) + 1)

    def changes(self) -> tuple[Change, ...]:
        found: list[Change] = []
        states = [(number, *state) for state, number in self._numbers.items()]
        for number, shown, made in states:
            if shown is not None:
                found.append((NOT_PLAYED, number, "new", ()))
                found.append((number, NOT_PLAYED, "gone", ()))
            for other, its, its_made in states:
                if kind := kind_of(shown, its):
                    found.append((number, other, kind, tuple(moved(made, its_made))))
        return tuple(found)
