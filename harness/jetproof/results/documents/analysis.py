"""Documents of commands that read runs and texts."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from jetproof.model.clause import Actor, Level, Status
from jetproof.model.verdict import Verdict
from jetproof.results.controls import Outcome
from jetproof.results.coverage import State
from jetproof.results.rows import Count, Number


class CoverageClause(msgspec.Struct, frozen=True, kw_only=True):
    clause: str
    spec: str
    section: str
    level: Level
    actor: Actor
    status: Status
    state: Annotated[
        State,
        Meta(
            description=(
                "The best that any cell of it shows; reference: only the "
                "reference layer did. vacuous: its cells pass without the feature "
                "that they are about."
            )
        ),
    ]
    named_by: Annotated[list[str], Meta(description="Ids of all cases that name it.")]
    cases: Annotated[list[str], Meta(description="Ids of those that ran to a verdict.")]
    servers: Annotated[
        list[str],
        Meta(
            description=("Releases on which one did, oldest first; reference targets are left out.")
        ),
    ]
    verdicts: Annotated[
        dict[str, Number],
        Meta(description=("Cells by verdict, or vacuous, without those of reference targets.")),
    ]
    reference: Annotated[
        dict[str, Number], Meta(description="Cells of reference targets by verdict, or vacuous.")
    ]


class CoverageError(msgspec.Struct, frozen=True, kw_only=True):
    err_code: Count
    http: int | None
    name: str
    case: Annotated[str | None, Meta(description="The case that provokes it.")]
    why_not: Annotated[str | None, Meta(description="Why no case can.")]
    on_reference: Annotated[
        list[str],
        Meta(
            description=("Cases that provoke it where only the reference layer speaks a revision.")
        ),
    ]
    seen: Count
    servers: list[str]
    cases: list[str]
    reference: Annotated[Count, Meta(description="How often a reference target said it.")]


class CoverageSchema(msgspec.Struct, frozen=True, kw_only=True):
    schema: str
    seen: Count


class CoverageWithoutSchema(msgspec.Struct, frozen=True, kw_only=True):
    type: str
    seen: Number


class CoverageVacuous(msgspec.Struct, frozen=True, kw_only=True):
    cell: str
    target: str
    why: str


class CoverageDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Which clauses, error codes and messages the given runs cover; without a run, which clauses
    cases name."""

    schema: Literal[1]
    runs: Annotated[list[str], Meta(description="The run folders, as they were named.")]
    clauses: list[CoverageClause]
    errors: Annotated[
        list[CoverageError],
        Meta(description=("The codes from 10174 to 10202, and every other that was seen.")),
    ]
    schemas: list[CoverageSchema]
    without_schema: Annotated[
        list[CoverageWithoutSchema],
        Meta(description="Replies, advisories and metrics that no schema describes."),
    ]
    vacuous: Annotated[
        list[CoverageVacuous],
        Meta(
            description=(
                "Cells that show nothing about the optional feature that their case is about."
            )
        ),
    ]
    controls: Annotated[
        dict[Outcome, Number],
        Meta(
            description="Controls of these runs by outcome; an impossible one proves nothing.",
            extra_json_schema={"propertyNames": {"enum": [str(one) for one in Outcome]}},
        ),
    ]
    without_cases: Annotated[list[str], Meta(description="Clauses for servers that no case names.")]
    exit_code: Literal[0, 1]


class PositionsPoint(msgspec.Struct, frozen=True, kw_only=True):
    suite: str
    case: str
    topology: str
    position: str
    clauses: list[str]
    differs: bool
    odd: Annotated[
        str | None, Meta(description="The one that answers alone while at least two others agree.")
    ]
    told: Annotated[dict[str, str], Meta(description="By server, or by library.")]


class PositionsDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What servers or libraries do where a text is silent."""

    schema: Literal[1]
    points: list[PositionsPoint]


class DiffCounts(msgspec.Struct, frozen=True, kw_only=True):
    new_failure: Count = field(name="new-failure")
    fixed: Count
    changed_reason: Count = field(name="changed-reason")
    changed_position: Count = field(name="changed-position")
    changed_on_the_wire: Count = field(name="changed-on-the-wire")
    new: Count
    gone: Count


class DiffChange(msgspec.Struct, frozen=True, kw_only=True):
    case: str
    topology: str
    client: str | None
    side_a: str
    side_b: str
    kind: Annotated[
        Literal[
            "new-failure",
            "fixed",
            "changed-reason",
            "changed-position",
            "changed-on-the-wire",
            "new",
            "gone",
        ],
        Meta(
            description=(
                "new-failure: does not do what the text says, and did; fixed: the "
                "other way round; changed-on-the-wire: the same verdict, reason "
                "and position, and another transcript; new and gone: a verdict on "
                "one side only."
            )
        ),
    ]
    verdict_a: Annotated[Verdict | None, Meta(description="null if the side has no such cell.")]
    verdict_b: Annotated[Verdict | None, Meta(description="null if the side has no such cell.")]
    reason_a: str | None
    reason_b: str | None
    position_a: str | None
    position_b: str | None
    what_moved: Annotated[
        list[Literal["spec", "server", "client", "case", "harness"]],
        Meta(
            description=(
                "What differs between the sides by content; empty if nothing "
                "does, or if one side has no such cell."
            )
        ),
    ]
    server_a: str | None
    server_b: str | None
    provider_a: str | None
    provider_b: str | None
    run_id_a: str | None
    run_id_b: str | None
    fingerprint_a: Annotated[str | None, Meta(description="Hash of the normalised transcript.")]
    fingerprint_b: str | None


class DiffDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between two runs, releases or revisions of a specification."""

    schema: Literal[1]
    a: Annotated[str, Meta(description="The side as it was asked for.")]
    b: str
    counts: Annotated[DiffCounts, Meta(description="Changes by kind.")]
    changes: Annotated[list[DiffChange], Meta(description="The worst first.")]
    exit_code: Annotated[
        Literal[0, 1], Meta(description="1 if something fails on B that did not on A.")
    ]


class ReportDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Where the report is, and what it is made of."""

    schema: Literal[1]
    out: Annotated[str, Meta(description="The report's folder.")]
    page: Annotated[str, Meta(description="The page, one HTML file.")]
    summary: Annotated[str, Meta(description="Markdown for the page of a CI job.")]
    badge: Annotated[str, Meta(description="JSON for a badge.")]
    runs: Annotated[
        Annotated[list[str], Meta(min_length=1)],
        Meta(description="Ids of the runs that were read, the oldest first."),
    ]
    tables: Annotated[
        dict[str, Count],
        Meta(
            description=(
                "Rows of each table; each is a Parquet file in `tables` of the report's folder."
            )
        ),
    ]
    exit_code: Literal[0]


class ServerCodeFunction(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    line: Count
    statements: Count
    reached: Annotated[Count, Meta(description="How many of its statements some case reaches.")]
    cases: Annotated[
        Count, Meta(description="How many cases that had servers of their own reach it.")
    ]
    shared: Annotated[
        bool,
        Meta(
            description=(
                "A server that played several cases reaches it as well: which of them is not known."
            )
        ),
    ]
    only_case: Annotated[
        str | None, Meta(description="The one case that reaches it, if that is known.")
    ]
    reached_by: (
        Annotated[
            list[str],
            Meta(
                description=(
                    "With --functions: the cases that had servers of their own and reach it."
                )
            ),
        ]
        | UnsetType
    ) = UNSET


class ServerCodeFile(msgspec.Struct, frozen=True, kw_only=True):
    file: Annotated[str, Meta(description="Relative to the server's module.")]
    statements: Count
    reached: Count
    functions: list[ServerCodeFunction]


class ServerCodeServer(msgspec.Struct, frozen=True, kw_only=True):
    target: str
    build: str
    version: str
    statements: Count
    reached: Count
    processes: Annotated[Count, Meta(description="Server processes that were started.")]
    processes_without_data: Annotated[
        Count, Meta(description=("Killed by a case, or crashed: such a process writes nothing."))
    ]
    cases: Annotated[Count, Meta(description="Cases that were played on them.")]
    cases_alone: Annotated[
        Count,
        Meta(
            description=("Cases that always had servers of their own: what each reaches is known.")
        ),
    ]
    cases_without_data: Annotated[
        list[str],
        Meta(description=("They have a verdict, and the run was lost before their server ended.")),
    ]
    interrupted: bool
    files: (
        Annotated[list[ServerCodeFile], Meta(description="Left out with --diff.")] | UnsetType
    ) = UNSET


class ServerCodeRange(msgspec.Struct, frozen=True, kw_only=True):
    file: str
    line: Count
    end_line: Count
    function: str
    reached: bool
    function_reached_by: Annotated[
        list[str], Meta(description="Cases that had servers of their own and reach the function.")
    ]


class ServerCodeDiff(msgspec.Struct, frozen=True, kw_only=True):
    base: Annotated[str, Meta(description="What the checkout was compared with.")]
    commit: str
    lines_reached: Count
    lines_not_reached: Count
    ranges: Annotated[
        list[ServerCodeRange],
        Meta(description=("Changed lines with statements, in the order of files and lines.")),
    ]
    files_outside: Annotated[
        list[str], Meta(description="Changed Go files without a statement in this server.")
    ]


class ServerCodeDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Which statements of the server's own code runs reach."""

    schema: Literal[1]
    runs: list[str]
    servers: Annotated[list[ServerCodeServer], Meta(description="One entry per build.")]
    diff: (
        Annotated[
            ServerCodeDiff, Meta(description="With --diff: the changed lines of the checkout.")
        ]
        | UnsetType
    ) = UNSET
    exit_code: Literal[0]


class SpecCheckCounts(msgspec.Struct, frozen=True, kw_only=True):
    clauses: Count
    standing: Count
    moved: Count
    gone: Count
    unread: Count
    without_clause: Count
    explained: Count


class SpecCheckGone(msgspec.Struct, frozen=True, kw_only=True):
    clause: str
    level: Level
    actor: Actor
    status: Status
    text: Annotated[str, Meta(description="The clause in our own words.")]
    anchor: Annotated[
        str | None, Meta(description="Where the catalogue says that the sentence stands.")
    ]
    hash: Annotated[str | None, Meta(description="Its fingerprint; null if it was never read.")]
    now: Annotated[
        str | None, Meta(description="What stands at the anchor instead; null if nothing does.")
    ]


class SpecCheckMoved(msgspec.Struct, frozen=True, kw_only=True):
    clause: str
    level: Level
    actor: Actor
    status: Status
    text: Annotated[str, Meta(description="The clause in our own words.")]
    anchor: Annotated[
        str | None, Meta(description="Where the catalogue says that the sentence stands.")
    ]
    hash: Annotated[str | None, Meta(description="Its fingerprint; null if it was never read.")]
    now_at: Annotated[list[str], Meta(min_length=1)]


class SpecCheckUnread(msgspec.Struct, frozen=True, kw_only=True):
    clause: str
    level: Level
    actor: Actor
    status: Status
    text: Annotated[str, Meta(description="The clause in our own words.")]
    anchor: Annotated[
        str | None, Meta(description="Where the catalogue says that the sentence stands.")
    ]
    hash: Annotated[str | None, Meta(description="Its fingerprint; null if it was never read.")]


class SpecCheckWithoutClause(msgspec.Struct, frozen=True, kw_only=True):
    anchor: str
    sentence: str
    hash: str


class SpecCheckIdle(msgspec.Struct, frozen=True, kw_only=True):
    anchor: str
    hash: str
    why: str


class SpecCheckDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A text against the clauses of one revision of its specification."""

    schema: Literal[1]
    file: Annotated[str, Meta(description="The text, as it was named.")]
    spec: str
    revision: Count
    title: Annotated[str, Meta(description="The title of the specification.")]
    other_title: Annotated[
        str | None,
        Meta(description=("The title of the text, if no text of the specification has it.")),
    ]
    another_document: Annotated[
        bool, Meta(description=("The text has another title, and most clauses do not stand in it."))
    ]
    counts: Annotated[
        SpecCheckCounts,
        Meta(
            description=(
                "Of the clauses that hold in the revision, how many have their "
                "sentence in the text; of its sentences that sound normative, how "
                "many have no clause, and how many the catalogue explains."
            )
        ),
    ]
    gone: Annotated[
        list[SpecCheckGone], Meta(description="Clauses whose sentence is not in the text.")
    ]
    moved: Annotated[
        list[SpecCheckMoved], Meta(description="Clauses whose sentence stands elsewhere.")
    ]
    unread: Annotated[list[SpecCheckUnread], Meta(description="Clauses without a fingerprint.")]
    without_clause: Annotated[
        list[SpecCheckWithoutClause],
        Meta(description="Sentences that sound normative and have no clause."),
    ]
    idle: Annotated[
        list[SpecCheckIdle],
        Meta(description="Entries of no_clause whose sentence is not in the text."),
    ]
    exit_code: Literal[0, 1]


class SpecDiffRevision(msgspec.Struct, frozen=True, kw_only=True):
    revision: Count
    date: str | None
    server: str | None
    api_level: int | None
    note: str


class SpecDiffCounts(msgspec.Struct, frozen=True, kw_only=True):
    added: Count
    removed: Count
    changed: Count
    kept: Count


class SpecDiffRelease(msgspec.Struct, frozen=True, kw_only=True):
    server: str
    provider: str
    verdicts: Annotated[dict[str, Number], Meta(description="How many cells have which verdict.")]


class SpecDiffClause(msgspec.Struct, frozen=True, kw_only=True):
    clause: str
    section: str
    level: Level
    actor: Actor
    status: Status
    text: Annotated[str, Meta(description="The clause in our own words.")]
    revision_from: int | None
    revision_to: int | None
    applies_from: str | None
    replaces: str | None
    cases: Annotated[list[str], Meta(description="Ids of all cases that name it.")]
    releases: Annotated[
        list[SpecDiffRelease],
        Meta(description=("What the releases of the given runs do of it, the oldest first.")),
    ]


class SpecDiffChanged(msgspec.Struct, frozen=True, kw_only=True):
    before: SpecDiffClause
    after: SpecDiffClause


class SpecDiffStance(msgspec.Struct, frozen=True, kw_only=True):
    servers: Annotated[list[str], Meta(min_length=1)]
    position: dict[str, str]


class SpecDiffPosition(msgspec.Struct, frozen=True, kw_only=True):
    clause: str
    level: Level
    status: Status
    text: str
    case: str
    topology: str
    provider: str
    revision: Annotated[Count, Meta(description="The revision that the cells were judged by.")]
    changed: Annotated[bool, Meta(description="Whether releases differ.")]
    stances: Annotated[
        Annotated[list[SpecDiffStance], Meta(min_length=1)],
        Meta(description="Neighbouring releases with one position, the oldest first."),
    ]


class SpecDiffDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What changed between two revisions of a specification, and what the releases of the given
    runs do of it."""

    schema: Literal[1]
    spec: str
    title: str
    a: Annotated[Count, Meta(description="The revision that is compared.")]
    b: Annotated[Count, Meta(description="The revision it is compared with.")]
    runs: Annotated[list[str], Meta(description="The run folders, as they were named.")]
    revisions: Annotated[
        list[SpecDiffRevision],
        Meta(description="All revisions; what the text does not give is null."),
    ]
    releases: Annotated[
        list[str],
        Meta(description=("All releases of the runs that played a case of the specification.")),
    ]
    counts: SpecDiffCounts
    added: list[SpecDiffClause]
    removed: list[SpecDiffClause]
    changed: list[SpecDiffChanged]
    positions: Annotated[
        list[SpecDiffPosition],
        Meta(description=("On silent, contested and optional clauses of either revision.")),
    ]
    exit_code: Literal[0]
