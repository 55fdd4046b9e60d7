"""What matters about a run, in one structure: what is new, what is unstable, and the known causes.

Console, JUnit, CTRF, the pytest plugin, the matrix and the report all show this structure; none of
them counts by itself. A group is one ledger entry as a run met it: one cause, however many cells it explains.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from jetproof.model.identity import REFERENCE
from jetproof.model.ledger import Kind, Severity
from jetproof.model.verdict import Result, Verdict, exit_code
from jetproof.model.versions import Version, VersionError
from jetproof.model.wording import plural
from jetproof.results.documents.playing import RunDigest, RunGroup, RunNotScored, RunSubject

SEVERITIES = tuple(severity.value for severity in Severity)
KINDS = tuple(kind.value for kind in Kind)
HEADLINE_CHARACTERS = 160
RED_FIRST = (
    Verdict.ERROR, Verdict.FAIL, Verdict.STALE, Verdict.UNSTABLE, Verdict.WARN, Verdict.KNOWN,
    Verdict.POSITION, Verdict.PASS, Verdict.NOT_APPLICABLE,
)  # fmt: skip
"""Verdicts, those that matter most first."""


@dataclass(frozen=True, slots=True)
class Group:
    """One ledger entry and the cells that it explains. Runs of older versions know no kind."""

    id: str
    kind: str | None
    severity: str | None
    headline: str
    upstream: str | None
    cells: int
    servers: tuple[str, ...]
    """The releases that show it, the oldest first."""
    client: str | None = None
    """The client library that it is about, without its version."""

    @property
    def rank(self) -> tuple[int, int, int, str]:
        """Worst first: by severity, then by kind, then by the number of cells."""
        return (_place(SEVERITIES, self.severity), _place(KINDS, self.kind), -self.cells, self.id)

    def document(self) -> RunGroup:
        """The group for machines. A kind that this version does not know is left out."""
        return RunGroup(
            id=self.id,
            kind=Kind(self.kind) if self.kind in KINDS else None,
            severity=Severity(self.severity) if self.severity in SEVERITIES else None,
            does=self.headline,
            upstream=self.upstream,
            cells=self.cells,
            servers=list(self.servers),
            client=self.client,
        )


@dataclass(frozen=True, slots=True)
class Digest:
    """What matters about one target, or about all targets of a run."""

    subject: str
    new: tuple[Result, ...]
    """`fail` and `stale`: nothing in a ledger explains them."""
    unstable: tuple[Result, ...]
    errors: tuple[Result, ...]
    groups: tuple[Group, ...]
    counts: Mapping[Verdict, int]
    servers: tuple[str, ...]
    """Every release that was played, the oldest first."""
    reference: bool = False
    """Only the reference layer was played, which is nobody's conformance."""
    not_scored: tuple[Result, ...] = ()
    """What the run's edition does not score. Nothing else here is about these cells."""

    @property
    def code(self) -> int:
        return exit_code((*self.new, *self.unstable, *self.errors))

    @property
    def conforms(self) -> bool:
        """Nothing failed, and no known deviation is a bug."""
        played = sum(self.counts.values()) - self.counts[Verdict.NOT_APPLICABLE]
        bugs = any(group.kind in (Kind.BUG, None) for group in self.groups)
        return self.code == 0 and bool(played) and not bugs

    @property
    def verdict_line(self) -> str:
        """The run in one sentence, for a person who does not know its history."""
        known = ", ".join(self._known())
        return f"{self.subject}: " + "; ".join(filter(None, (", ".join(self._news()), known)))

    def _news(self) -> Iterator[str]:
        fails = sum(cell.verdict is Verdict.FAIL for cell in self.new)
        if self.errors:
            yield f"no verdict for {plural(len(self.errors), 'cell')}"
        if fails:
            yield plural(fails, "new failure")
        if stale := len(self.new) - fails:
            yield f"{plural(stale, 'cell')} not as the ledger says"
        if self.unstable:
            yield f"{len(self.unstable)} unstable"
        if not (self.new or self.unstable or self.errors):
            yield self._quiet()

    def _quiet(self) -> str:
        if not sum(self.counts.values()):
            return "nothing was scored" if self.not_scored else "nothing was played"
        if self.reference and self.conforms:
            return "the reference layer does as the text says"
        return "conforms" if self.conforms else "nothing new"

    def _known(self) -> Iterator[str]:
        kinds = Counter(group.kind for group in self.groups)
        if bugs := kinds[Kind.BUG.value]:
            grave = Counter(group.severity for group in self.groups if group.kind == Kind.BUG)
            worst = [f"{grave[name]} {name}" for name in ("loss", "crash") if grave[name]]
            yield plural(bugs, "known bug") + (f" ({', '.join(worst)})" if worst else "")
        if behind := kinds[Kind.TEXT_BEHIND.value]:
            yield f"{behind} where the text is behind"
        if missing := kinds[Kind.NOT_IMPLEMENTED.value]:
            yield f"{plural(missing, 'feature')} not implemented"
        if readings := kinds[Kind.READING.value]:
            yield f"{plural(readings, 'other reading')} of the text"
        if unclassified := kinds[None]:
            yield plural(unclassified, "known deviation")


def digest(cells: Iterable[Result], subject: str = "") -> Digest:
    """The digest of some cells; `subject` is what they are about, by default their targets."""
    every = list(cells)
    rows = [cell for cell in every if cell.scored]
    return Digest(
        subject=subject or ", ".join(dict.fromkeys(map(subject_of, every))) or "nothing",
        new=_with(rows, Verdict.FAIL, Verdict.STALE),
        unstable=_with(rows, Verdict.UNSTABLE),
        errors=_with(rows, Verdict.ERROR),
        groups=_groups(rows),
        counts=Counter(cell.verdict for cell in rows),
        servers=releases(cell.server for cell in rows),
        reference=bool(rows) and all(cell.provider == REFERENCE for cell in rows),
        not_scored=tuple(cell for cell in every if not cell.scored),
    )


def digests(cells: Iterable[Result]) -> tuple[Digest, ...]:
    """One digest per target: per server, or per client library and server.

    A server of which nothing but its messages was judged (a schema has no clauses), beside
    client libraries, say, is worth a line only if they are wrong.
    """
    by_subject: dict[str, list[Result]] = {}
    for cell in cells:
        by_subject.setdefault(subject_of(cell), []).append(cell)
    judged = [name for name, rows in by_subject.items() if any(cell.clauses for cell in rows)]
    found = [digest(rows, subject) for subject, rows in by_subject.items()]
    return tuple(one for one in found if not judged or one.subject in judged or one.code)


def digest_document(cells: Sequence[Result]) -> RunDigest:
    """The digest of a run for `--json` documents and report files: all targets, then each."""
    whole = digest(cells)
    return RunDigest(
        conforms=whole.conforms,
        new=[cell.name for cell in whole.new],
        unstable=[cell.name for cell in whole.unstable],
        errors=[cell.name for cell in whole.errors],
        groups=[group.document() for group in whole.groups],
        positions=whole.counts[Verdict.POSITION],
        targets=[
            RunSubject(subject=one.subject, verdict=one.verdict_line, conforms=one.conforms)
            for one in digests(cells)
        ],
        not_scored=_not_scored_document(whole.not_scored),
    )


def not_scored_line(cells: Sequence[Result]) -> str:
    """How many cells an edition does not score, and their verdicts; empty if it scores all of them."""
    if not cells:
        return ""
    editions = ", ".join(dict.fromkeys(cell.edition or "" for cell in cells))
    counts = Counter(cell.verdict for cell in cells)
    words = ", ".join(f"{counts[verdict]} {verdict}" for verdict in RED_FIRST if counts[verdict])
    return f"{plural(len(cells), 'cell')} not scored by edition {editions}: {words}"


def _not_scored_document(cells: Sequence[Result]) -> RunNotScored:
    """The same for machines; `red` names the cells that would fail a run, or leave it without a verdict."""
    counts = Counter(cell.verdict for cell in cells)
    return RunNotScored(
        cells=len(cells),
        verdicts={verdict.value: counts[verdict] for verdict in RED_FIRST if counts[verdict]},
        red=[cell.name for cell in would_be_red(cells)],
    )


def would_be_red(cells: Iterable[Result]) -> list[Result]:
    """The cells that would fail a run that scores them, or leave it without a verdict."""
    scored = ((cell, replace(cell, scored=True)) for cell in cells)
    return [cell for cell, one in scored if one.fails or one.undecided]


def subject_of(cell: Result) -> str:
    """What a cell is about, as its first screen calls it."""
    return (
        f"{cell.client} on {cell.target or cell.server}"
        if cell.client
        else cell.target or cell.server
    )


def headline(reason: str) -> str:
    """The first sentence of what a ledger says that a target does."""
    does = reason.partition(": ")[2] or reason
    first, dot, _ = " ".join(does.split()).partition(". ")
    return (first + dot.strip()).removesuffix(".")[:HEADLINE_CHARACTERS]


def span(shown: Sequence[str], played: Sequence[str]) -> str:
    """Where a group shows among the releases that were played: `since 2.12.0`, `2.12.0 to 2.12.1`."""
    if not shown or len(played) < 2:
        return ""
    first, last = shown[0], shown[-1]
    whole = [
        one for one in played if played.index(first) <= played.index(one) <= played.index(last)
    ]
    gaps = f", {len(shown)} of {len(whole)} releases" if len(shown) < len(whole) else ""
    if last == played[-1]:
        return ("all releases" if first == played[0] else f"since {first}") + gaps
    return (first if first == last else f"{first} to {last}") + gaps


def _groups(cells: Iterable[Result]) -> tuple[Group, ...]:
    members: dict[tuple[str | None, str], list[Result]] = {}
    for cell in cells:
        if cell.verdict is Verdict.KNOWN and cell.deviation is not None:
            members.setdefault((cell.library, cell.deviation), []).append(cell)
    groups = [
        Group(
            id=name,
            kind=rows[0].kind,
            severity=rows[0].severity,
            headline=headline(rows[0].reason),
            upstream=rows[0].upstream,
            cells=len(rows),
            servers=releases(cell.server for cell in rows),
            client=library,
        )
        for (library, name), rows in members.items()
    ]
    return tuple(sorted(groups, key=lambda group: group.rank))


def _with(cells: Iterable[Result], *verdicts: Verdict) -> tuple[Result, ...]:
    return tuple(cell for cell in cells if cell.verdict in verdicts)


def releases(versions: Iterable[str]) -> tuple[str, ...]:
    """Versions in the order in which releases follow each other, each once."""
    return tuple(sorted(set(versions), key=_release_key))


def _release_key(text: str) -> tuple[bool, Version, str]:
    try:
        return (False, Version.parse(text), text)
    except VersionError:
        return (True, Version(0, 0, 0), text)


def _place(order: Sequence[str], name: str | None) -> int:
    return order.index(name) if name in order else len(order)
