"""Documents of commands that play cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from jetproof.model.ledger import Kind, Severity
from jetproof.model.verdict import Verdict
from jetproof.results.controls import ControlResult
from jetproof.results.documents.common import RunLibrary, RunTarget
from jetproof.results.documents.values import Amount, Moment
from jetproof.results.rows import (
    CellFacts,
    CellName,
    CellRow,
    CheckRow,
    Count,
    FrameRow,
    Milliseconds,
    Name,
    Number,
    SchemaFacts,
)


class RunGroup(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    kind: Kind | None
    severity: Severity | None
    does: str
    upstream: str | None
    cells: Number
    servers: Annotated[list[str], Meta(description="The releases that show it, the oldest first.")]
    client: str | None


class RunSubject(msgspec.Struct, frozen=True, kw_only=True):
    subject: str
    verdict: Annotated[str, Meta(description="The verdict line of the first screen.")]
    conforms: bool


class RunNotScored(msgspec.Struct, frozen=True, kw_only=True):
    cells: Count
    verdicts: dict[str, Number]
    red: Annotated[
        list[str],
        Meta(
            description=(
                "Those that would fail a run that scores them, or leave it without a verdict."
            )
        ),
    ]


class RunDigest(msgspec.Struct, frozen=True, kw_only=True):
    conforms: Annotated[bool, Meta(description="Nothing failed, and no known deviation is a bug.")]
    new: Annotated[list[str], Meta(description="Cells that fail or are stale.")]
    unstable: list[str]
    errors: list[str]
    groups: list[RunGroup]
    positions: Count
    targets: list[RunSubject]
    not_scored: Annotated[
        RunNotScored,
        Meta(
            description=(
                "Cells that the run's edition does not score. Nothing else in the "
                "digest is about them."
            )
        ),
    ]


class VerdictCounts(msgspec.Struct, frozen=True, kw_only=True):
    pass_: Count = field(name="pass")
    fail: Count
    warn: Count
    position: Count
    known: Count
    stale: Count
    unstable: Count
    n_a: Count = field(name="n/a")
    error: Count


def verdict_counts(counts: Mapping[Verdict, int]) -> VerdictCounts:
    """How many have each verdict; every verdict is named."""
    return VerdictCounts(
        pass_=counts.get(Verdict.PASS, 0),
        fail=counts.get(Verdict.FAIL, 0),
        warn=counts.get(Verdict.WARN, 0),
        position=counts.get(Verdict.POSITION, 0),
        known=counts.get(Verdict.KNOWN, 0),
        stale=counts.get(Verdict.STALE, 0),
        unstable=counts.get(Verdict.UNSTABLE, 0),
        n_a=counts.get(Verdict.NOT_APPLICABLE, 0),
        error=counts.get(Verdict.ERROR, 0),
    )


class RunMismatch(msgspec.Struct, frozen=True, kw_only=True):
    step: str
    iteration: str
    kind: str
    path: str
    expected: str
    actual: Annotated[str, Meta(description="As JSON text.")]


class RunCell(CellFacts, frozen=True, kw_only=True):
    name: CellName
    mismatches: (
        Annotated[
            list[RunMismatch],
            Meta(description="What did not hold; for fail, stale, error and warn."),
        ]
        | UnsetType
    ) = UNSET


class RunSchema(SchemaFacts, frozen=True, kw_only=True):
    name: Annotated[
        Name,
        Meta(description="The full name, as a cell has one: schemas::schema @server any."),
    ]


class RunDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The verdicts of a run."""

    schema: Literal[1]
    run: Annotated[str | None, Meta(description="The run's id.")]
    started_at: Annotated[Moment | None, Meta(description="UTC, ISO 8601.")]
    targets: Annotated[list[RunTarget], Meta(description="What was tested.")]
    digest: Annotated[
        RunDigest,
        Meta(
            description=(
                "What matters: new and unstable cells, and the known causes, the worst first."
            )
        ),
    ]
    verdicts: Annotated[VerdictCounts, Meta(description="Cells and schemas by verdict.")]
    cells: Annotated[
        tuple[RunCell, ...], Meta(description="The last attempt of every cell, by name.")
    ]
    schemas: (
        Annotated[
            list[RunSchema],
            Meta(description="What all messages of one kind say about a target, by name."),
        ]
        | UnsetType
    ) = UNSET
    wall_ms: Milliseconds | None
    slowest_case_ms: Milliseconds
    time_factor: Amount | None
    suite_hash: str | None
    partial: Annotated[
        str, Meta(description="Why the run does not cover everything; empty if it does.")
    ]
    interrupted: bool
    notices: Annotated[list[str], Meta(description="What a person should know.")]
    results: Annotated[str | None, Meta(description="The run folder.")]
    exit_code: Annotated[
        int,
        Meta(
            description=(
                "0 conforms, 1 does not, 2 the results could not be written, 3 no "
                "verdict for some cell, 130 and 143 interrupted."
            ),
            extra_json_schema={"enum": [0, 1, 2, 3, 130, 143]},
        ),
    ]


class GateCell(RunCell, frozen=True, kw_only=True):
    counts: Annotated[
        bool,
        Meta(
            description=(
                "Whether the exit code counts it: false for revisions that a "
                "library does not claim, and for the reference client beside it."
            )
        ),
    ]


class GateLibrary(RunLibrary, frozen=True, kw_only=True):
    edition: Annotated[
        str | None,
        Meta(description=("The edition that the library is scored by; null if by every case.")),
    ]


class GateDocument(RunDocument, frozen=True, kw_only=True):
    """The verdicts on client libraries."""

    cells: Annotated[
        tuple[GateCell, ...], Meta(description="The last attempt of every cell, by name.")
    ]
    libraries: Annotated[list[GateLibrary], Meta(description="The libraries that were judged.")]


class MatrixRelease(msgspec.Struct, frozen=True, kw_only=True):
    target: Annotated[
        str, Meta(description="The target: 2.15.1, container:2.14.6, path:./nats-server.")
    ]
    cells: Annotated[Count, Meta(description="Cells that came, schemas left out.")]
    expected: Annotated[Count, Meta(description="Cells that were planned.")]
    verdicts: Annotated[VerdictCounts, Meta(description="Cells by verdict.")]
    wall_ms: Annotated[
        Milliseconds | None,
        Meta(
            description=(
                "From its first case to its last cell; null if nothing was played to the end."
            )
        ),
    ]
    problems: Annotated[
        list[str],
        Meta(
            description=("Why servers of it did not start or died, or that its budget was used up.")
        ),
    ]


class MatrixDocument(RunDocument, frozen=True, kw_only=True):
    """The verdicts of a matrix: those of a run, and how every release did."""

    provider: Annotated[
        Literal["container", "embedded"] | None,
        Meta(
            description=(
                "Where releases ran that did not say so themselves; null if all "
                "did, or if the run was resumed."
            )
        ),
    ]
    releases: Annotated[
        list[MatrixRelease], Meta(description="How every release did, in the order asked for.")
    ]


class ReplayDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One case, played once, with everything that was seen."""

    schema: Literal[1]
    cell: CellRow | None
    checks: list[CheckRow]
    frames: list[FrameRow]
    exit_code: Annotated[int, Meta(extra_json_schema={"enum": [0, 1, 3, 130, 143]})]


class BisectLeftOut(msgspec.Struct, frozen=True, kw_only=True):
    target: str
    reason: str


class BisectFirst(msgspec.Struct, frozen=True, kw_only=True):
    commit: str
    subject: str
    author_date: str


class BisectSkipped(msgspec.Struct, frozen=True, kw_only=True):
    commit: str
    reason: str


class BisectCommits(msgspec.Struct, frozen=True, kw_only=True):
    first: Annotated[
        BisectFirst | None,
        Meta(description=("The first commit with another verdict; null if none was found.")),
    ]
    doubtful: Annotated[
        list[str], Meta(description="Skipped commits that may be the first one instead.")
    ]
    skipped: Annotated[
        list[BisectSkipped], Meta(description="Commits that do not build, or gave no verdict.")
    ]


class BisectDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The first release, or commit of a checkout, in which a case has another verdict."""

    schema: Literal[1]
    case: Annotated[Annotated[str, Meta(pattern="^.+::.+$")], Meta(description="suite::case")]
    releases: Annotated[
        Annotated[list[str], Meta(min_length=1)],
        Meta(description=("Where it was looked for, oldest first. Of commits, the two ends.")),
    ]
    left_out: Annotated[
        list[BisectLeftOut], Meta(description="Releases to which the case does not apply, and why.")
    ]
    answered: Annotated[
        bool,
        Meta(
            description=(
                "False if some release gave no verdict, if skipped commits leave "
                "it open, or if the search was interrupted."
            )
        ),
    ]
    last_same: Annotated[
        CellRow | None,
        Meta(description="The last release before the change; null if none was found."),
    ]
    first_other: Annotated[
        CellRow | None,
        Meta(description=("The first release with another verdict; null if none was found.")),
    ]
    cells: Annotated[list[CellRow], Meta(description="Everything that was played, in that order.")]
    commits: Annotated[
        BisectCommits | None,
        Meta(
            description=("The search over commits of a checkout; null if releases were searched.")
        ),
    ]
    runs: Annotated[Count, Meta(description="How many releases were played.")]
    exit_code: int


class SoakLoad(msgspec.Struct, frozen=True, kw_only=True):
    cores: Number
    cpu_seconds: Annotated[Amount, Meta(description="CPU time that the workers used.")]
    mib_written: Annotated[Count, Meta(description="MiB that were written and synced.")]
    failures: Annotated[list[str], Meta(description="Workers that ended early.")]


class SoakRound(msgspec.Struct, frozen=True, kw_only=True):
    round: Number
    run: Annotated[str, Meta(description="The id of the round's run.")]
    folder: Annotated[str, Meta(description="The round's run folder, below `results`.")]
    seconds: Amount
    verdicts: VerdictCounts
    replayed: Annotated[
        Count, Meta(description=("Cases that a slow machine disturbed and that were played again."))
    ]
    flips: Annotated[Count, Meta(description="Cells that flipped up to this round.")]
    load: SoakLoad | None


class SoakFailed(msgspec.Struct, frozen=True, kw_only=True):
    step: str
    iteration: str
    path: str
    expected: str
    actual: str


class SoakDiffers(msgspec.Struct, frozen=True, kw_only=True):
    step: str
    usual: str | None
    here: str | None


class SoakOutcome(msgspec.Struct, frozen=True, kw_only=True):
    verdict: Verdict | None
    deviation: Annotated[str | None, Meta(description="The ledger's entry.")]
    position: dict[str, str]
    rounds: list[Number]
    reason: Annotated[
        str, Meta(description="Of the first of these rounds, as are checks and frames.")
    ]
    failed: list[SoakFailed]
    differs: Annotated[
        SoakDiffers | None,
        Meta(
            description=(
                "The first frame that is not as in the most frequent outcome, "
                "with placeholders for fresh names; null on the side that has "
                "none."
            )
        ),
    ]


class SoakFlip(msgspec.Struct, frozen=True, kw_only=True):
    cell: str
    suite: str
    target: str
    replay: str
    seen: Annotated[
        list[Verdict | None],
        Meta(description="The verdict in each round; null: the cell was missing."),
    ]
    outcomes: Annotated[list[SoakOutcome], Meta(description="The most frequent first.")]


class SoakDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Which cells were not the same in every round. The soak's folder holds the same document as
    soak.json."""

    schema: Literal[1]
    soak: Annotated[str, Meta(description="The soak's id.")]
    targets: list[str]
    partial: Annotated[
        str, Meta(description="Why not all cases were played; empty when they were.")
    ]
    results: Annotated[
        str, Meta(description="The soak's folder; the folder of each round is in it.")
    ]
    rounds_asked: Annotated[int, Meta(ge=2)]
    cells: Annotated[Count, Meta(description="Cells per round.")]
    compared: Annotated[
        Count, Meta(description="Cells that were compared, those of schemas included.")
    ]
    load: Annotated[
        SoakLoad | None,
        Meta(description=("What the load of all complete rounds did together; null without one.")),
    ]
    rounds: Annotated[list[SoakRound], Meta(description="The complete rounds.")]
    flips: Annotated[
        list[SoakFlip],
        Meta(
            description=(
                "Cells whose verdict, ledger entry or position was not the same in every round."
            )
        ),
    ]
    drifting: Annotated[
        list[str],
        Meta(
            description=(
                "Cells with the same outcome in every round that did not fail on the same checks."
            )
        ),
    ]
    interrupted: bool
    failures: Annotated[list[str], Meta(description="Results that could not be written.")]
    exit_code: Annotated[
        Literal[0, 1, 2, 3, 130, 143],
        Meta(
            description=(
                "1 if a cell flipped, 2 if results could not be written, 3 if "
                "some cell got no verdict."
            )
        ),
    ]


class CompareSide(msgspec.Struct, frozen=True, kw_only=True):
    target: Annotated[
        str,
        Meta(
            description=("As it was written, with the version and build that it turned out to be.")
        ),
    ]
    builds: Annotated[
        list[str],
        Meta(description=("Hash of the binary or commit, where two of one version can differ.")),
    ]
    started: Annotated[bool, Meta(description="Whether a server of this side ever started.")]


class CompareCounts(msgspec.Struct, frozen=True, kw_only=True):
    worse: Count
    undecided: Count
    better: Count
    changed: Count
    once: Count


class CompareCell(msgspec.Struct, frozen=True, kw_only=True):
    verdict: Verdict
    replay: Annotated[str, Meta(description="The command that plays the case on this side.")]


class CompareCheck(msgspec.Struct, frozen=True, kw_only=True):
    step: str
    iteration: str
    path: str
    expected: str
    actual: str | None


class ComparePosition(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    base: str
    head: str


class CompareDifference(msgspec.Struct, frozen=True, kw_only=True):
    case: str
    kind: Literal["worse", "undecided", "better", "changed", "once"]
    confirmed: Annotated[bool, Meta(description="Whether it was played again on both sides.")]
    base: CompareCell
    head: CompareCell
    what: Annotated[list[str], Meta(description="The difference in words.")]
    new: Annotated[
        list[CompareCheck], Meta(description="Checks that head breaks and base does not.")
    ]
    gone: Annotated[
        list[CompareCheck], Meta(description="Checks that base breaks and head does not.")
    ]
    positions: list[ComparePosition]
    known: Annotated[
        str,
        Meta(
            description=(
                "The entry of the ledger that explains the side that is wrong; empty if none does."
            )
        ),
    ]


class CompareExample(msgspec.Struct, frozen=True, kw_only=True):
    case: str
    step: str


class CompareWire(msgspec.Struct, frozen=True, kw_only=True):
    kind: Annotated[str, Meta(description="What kind of message.")]
    field: str
    base: str
    head: str
    confirmed: bool
    several_values: Annotated[bool, Meta(description="Whether other cases have other values.")]
    cases: list[str]
    example: CompareExample


class CompareAgreement(msgspec.Struct, frozen=True, kw_only=True):
    suite: str
    cells: Annotated[Count, Meta(description="Cells that apply to both sides.")]
    same_verdict: Annotated[
        Count, Meta(description="Cells on which both sides keep and break the same checks.")
    ]
    positions: Annotated[
        Count, Meta(description="Positions that a side states where the text is silent.")
    ]
    same_positions: Count


class CompareOneSided(msgspec.Struct, frozen=True, kw_only=True):
    side: Literal["base", "head"]
    reason: str
    cases: list[str]


class CompareDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between base and head. The comparison's folder holds the same document as
    compare.json."""

    schema: Literal[1]
    compare: Annotated[str, Meta(description="The comparison's id.")]
    base: CompareSide
    head: CompareSide
    cases: Annotated[Count, Meta(description="Cases that were selected.")]
    compared: Annotated[
        Count, Meta(description="Cells that apply to both sides, those of schemas included.")
    ]
    partial: Annotated[
        str, Meta(description="Why not all cases were played; empty when they were.")
    ]
    left_out: Annotated[list[str], Meta(description="What --quick left out, in words.")]
    complete: Annotated[
        bool,
        Meta(description=("False if the comparison was stopped: then nothing in it is final.")),
    ]
    interrupted: bool
    worse: Annotated[bool, Meta(description="Head breaks what base keeps, or does not start.")]
    counts: Annotated[CompareCounts, Meta(description="Differences by kind.")]
    differences: list[CompareDifference]
    wire: Annotated[
        list[CompareWire],
        Meta(description=("Fields that differ on the wire, those in the most cases first.")),
    ]
    unsteady_fields: Annotated[
        Count,
        Meta(description=("Fields that differed, and differ between plays of one side as well.")),
    ]
    agreement: Annotated[
        list[CompareAgreement], Meta(description="How far both sides agree, suite by suite.")
    ]
    one_sided: Annotated[
        list[CompareOneSided],
        Meta(description="Cases that apply to one side only; they are not compared."),
    ]
    results: Annotated[str, Meta(description="The comparison's folder.")]
    exit_code: int


class MutateCaughtBy(msgspec.Struct, frozen=True, kw_only=True):
    case: str
    verdict: Verdict
    reason: str


class MutateMutant(msgspec.Struct, frozen=True, kw_only=True):
    mutant: str
    about: str
    breaks: Annotated[list[str], Meta(description="Clauses.")]
    outcome: Annotated[
        Literal["caught", "survived", "idle", "untested", "error"],
        Meta(
            description=(
                "caught by a case; survived although its rules fired; idle: its "
                "rules never fired; untested: no case that can be played names "
                "its clauses; error: no case came to a verdict."
            )
        ),
    ]
    fired: Annotated[dict[str, Count], Meta(description="By rule: how often it did something.")]
    caught_by: list[MutateCaughtBy]
    played: list[MutateCaughtBy]


class MutateNeverFailed(msgspec.Struct, frozen=True, kw_only=True):
    case: str
    mutants: Annotated[
        list[str], Meta(description="Those that tried; none: no mutant breaks its clauses.")
    ]


class MutateDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Which ways to be wrong the cases catch."""

    schema: Literal[1]
    target: str
    mutants: list[MutateMutant]
    never_failed: Annotated[
        list[MutateNeverFailed], Meta(description="Cases that nothing made fail.")
    ]
    exit_code: Annotated[
        Literal[0, 1, 3, 130, 143],
        Meta(description="1 if a mutant got away, 3 if there was no verdict."),
    ]


class ControlsUndeclared(msgspec.Struct, frozen=True, kw_only=True):
    case: str
    file: str
    line: Number
    feature: str


class ControlsDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Which cases need the optional feature that they are about."""

    schema: Literal[1]
    run: Annotated[str | None, Meta(description="The run's id; null if nothing was played.")]
    results: Annotated[
        str | None, Meta(description="The run's folder, which has the controls now.")
    ]
    controls: list[ControlResult]
    undeclared: Annotated[
        list[ControlsUndeclared],
        Meta(description="Cases that send a feature and do not declare it."),
    ]
    exit_code: Annotated[
        int,
        Meta(
            description=(
                "1 if a case is vacuous or its declaration wrong, 3 if some control got no verdict."
            ),
            extra_json_schema={"enum": [0, 1, 3, 130, 143]},
        ),
    ]


class MergeShard(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    shard: Annotated[
        tuple[Number, Number],
        Meta(description=("[2, 5] is the second of five parts; [1, 1] a run that was not split.")),
    ]


class MergeDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What the shards of a run make together."""

    schema: Literal[1]
    run: Annotated[
        Name, Meta(description=("The id of the joined run; the same shards always give the same."))
    ]
    results: Annotated[str, Meta(description="The folder of the joined run.")]
    shards: Annotated[
        Annotated[list[MergeShard], Meta(min_length=1)],
        Meta(
            description=("What was joined; a folder that was itself joined is named by its parts.")
        ),
    ]
    missing: Annotated[list[tuple[Number, Number]], Meta(description="Parts that are not there.")]
    cells: Annotated[Count, Meta(description="Cells of the joined run, the last attempt of each.")]
    played_again: Annotated[Count, Meta(description="Cells with more than one attempt.")]
    verdicts: Annotated[VerdictCounts, Meta(description="Cells by verdict.")]
    partial: Annotated[
        str, Meta(description="Why the run does not cover everything; empty if it does.")
    ]
    interrupted: bool
    exit_code: Annotated[int, Meta(description="That of the joined run: 0, 1 or 3.")]
