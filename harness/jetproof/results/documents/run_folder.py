"""What a run folder holds besides its journals: `run.json`, and rows of other commands."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from jetproof.results.documents.common import RunLibrary, RunTarget
from jetproof.results.documents.values import Amount, Moment
from jetproof.results.rows import Count, Milliseconds, Name, Number


class RunMachine(msgspec.Struct, frozen=True, kw_only=True):
    cores: Number
    platform: str
    time_factor: Annotated[Amount, Meta(description="How far upper bounds of time were stretched.")]


class RunResumed(msgspec.Struct, frozen=True, kw_only=True):
    at: Annotated[Moment, Meta(description="UTC, ISO 8601.")]
    command: list[str]


class FileVerdicts(msgspec.Struct, frozen=True, kw_only=True):
    pass_: Count | UnsetType = field(default=UNSET, name="pass")
    fail: Count | UnsetType = UNSET
    warn: Count | UnsetType = UNSET
    position: Count | UnsetType = UNSET
    known: Count | UnsetType = UNSET
    stale: Count | UnsetType = UNSET
    unstable: Count | UnsetType = UNSET
    n_a: Count | UnsetType = field(default=UNSET, name="n/a")
    error: Count | UnsetType = UNSET


class RunFile(msgspec.Struct, frozen=True, kw_only=True):
    """Who, what, versions, machine; whole or partial. finished_at is null while the run goes on,
    and in a run that was lost."""

    schema: Literal[1]
    run: Annotated[Name, Meta(description="The run's id.")]
    started_at: Annotated[Moment, Meta(description="UTC, ISO 8601.")]
    finished_at: Annotated[Moment | None, Meta(description="UTC, ISO 8601.")]
    command: Annotated[list[str], Meta(description="The command line.")]
    request: Annotated[
        dict[str, Any], Meta(description="What was asked for, as --resume needs it.")
    ]
    jetproof: Annotated[str, Meta(description="The version that made the run.")]
    harness_hash: (
        Annotated[
            str,
            Meta(
                description=(
                    "Hash of what plays and judges cases: code, fixtures, ledger. "
                    "Runs before it was kept lack it."
                )
            ),
        ]
        | UnsetType
    ) = UNSET
    python: str
    machine: RunMachine
    targets: Annotated[list[RunTarget], Meta(description="What was tested.")]
    suite_hash: Annotated[
        str, Meta(description="Hash of all suites: equal hashes are the same cases.")
    ]
    partial: Annotated[
        str, Meta(description="Why the run does not cover everything; empty if it does.")
    ]
    interrupted: Annotated[bool, Meta(description="Whether it was stopped before its end.")]
    resumed: Annotated[list[RunResumed], Meta(description="When it was gone on with.")]
    libraries: (
        Annotated[
            list[RunLibrary],
            Meta(
                description=(
                    "The client libraries that a run of the gate judged; other runs lack it."
                )
            ),
        ]
        | UnsetType
    ) = UNSET
    verdicts: Annotated[FileVerdicts, Meta(description="Cells by verdict.")]
    cells: Annotated[Count, Meta(description="Cells with a verdict, the last attempt of each.")]
    schemas: (
        Annotated[
            Count,
            Meta(
                description=(
                    "Results of schemas, the last of each. Runs before they were "
                    "counted apart lack it."
                )
            ),
        ]
        | UnsetType
    ) = UNSET
    not_scored: (
        Annotated[
            Count,
            Meta(
                description=(
                    "Cells that the run's edition does not score; `verdicts` leaves them out."
                )
            ),
        ]
        | UnsetType
    ) = UNSET
    wall_ms: Milliseconds | None
    slowest_case_ms: Milliseconds | None


class ServerCodeRow(msgspec.Struct, frozen=True, kw_only=True):
    """One server with coverage: what it recorded of its own code, and the cases that were played
    on it."""

    run: str
    target: str
    build: str
    topology: str
    configuration: str
    node: str
    cases: Annotated[
        Annotated[list[str], Meta(min_length=1)],
        Meta(description="Played on this server, perhaps at the same time."),
    ]
    lives: Annotated[
        Count,
        Meta(description=("How often it was started; a process that is killed leaves no file.")),
    ]
    program: Annotated[
        str | None,
        Meta(
            description=("The folder in server-code that its files are in; null if it left none.")
        ),
    ]
    counters: Annotated[
        list[str],
        Meta(description=("Names of the files there, one per process that ended in order.")),
    ]
