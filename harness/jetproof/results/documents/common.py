"""Parts of several documents."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from jetproof.model.verdict import Verdict
from jetproof.results.rows import Count, Milliseconds, Name


class RunServer(msgspec.Struct, frozen=True, kw_only=True):
    topology: str
    configuration: str
    cases: Annotated[
        Count | None, Meta(description="Cases played on it; null if it did not start.")
    ]
    start_ms: Annotated[Milliseconds | None, Meta(description="From its start until it was ready.")]
    failed: Annotated[str | None, Meta(description="Why it could not start, or died.")]


class RunTarget(msgspec.Struct, frozen=True, kw_only=True):
    target: Annotated[
        str,
        Meta(
            description=(
                "The target as it was asked for: 2.15.1, container:2.14.6, path:./nats-server."
            )
        ),
    ]
    provider: Annotated[
        str | None,
        Meta(
            description=(
                "embedded, container, go, path, external or reference; null if nothing was started."
            )
        ),
    ]
    version: Annotated[str | None, Meta(description="The release as the server itself gives it.")]
    build: (
        Annotated[
            str | None,
            Meta(
                description=(
                    "Where two builds of one version can differ: the hash of the "
                    "binary behind path: or go:, or the commit of a checkout; else "
                    "null."
                )
            ),
        ]
        | UnsetType
    ) = UNSET
    servers: Annotated[list[RunServer], Meta(description="What was started for it.")]


class RunLibrary(msgspec.Struct, frozen=True, kw_only=True):
    name: Annotated[
        str,
        Meta(
            description=(
                "As --client names it, with the version that was found; the cells' client."
            )
        ),
    ]
    library: str
    version: str
    language: str
    runtime: str
    parts: dict[str, str]
    claims: Annotated[
        dict[str, int],
        Meta(description=("The revision of each specification that the exit code judges.")),
    ]
    capabilities: list[str]
    ledger: Annotated[str | None, Meta(description="The file of known failures.")]
    missing: Annotated[str | None, Meta(description="Why it cannot be built here.")]
    broken: Annotated[str | None, Meta(description="Why its adapter is none.")]
    edition: (
        Annotated[
            str | None, Meta(description="The edition that it is scored by; null if by every case.")
        ]
        | UnsetType
    ) = UNSET


class ControlRow(msgspec.Struct, frozen=True, kw_only=True):
    """One cell, played without an optional feature that its case is about. jetproof controls
    writes it."""

    run: Annotated[Name, Meta(description="The run whose cell it is about.")]
    cell: Annotated[Name, Meta(description="The cell's full name: case @server topology.")]
    case: str
    spec_revision: Count
    target: Annotated[str, Meta(description="The target as it was asked for.")]
    case_hash: Annotated[
        str,
        Meta(
            description=("Of the case as it was played; a control of another one does not count.")
        ),
    ]
    feature: Annotated[str, Meta(description="A feature of fixtures/features.yaml.")]
    declared: Annotated[
        bool, Meta(description=("Whether the case declares the feature; false: it only sends it."))
    ]
    differs: Annotated[bool, Meta(description="Whether the case must not pass without it.")]
    outcome: Annotated[
        Literal["needed", "vacuous", "same", "contradicted", "impossible", "no-verdict"],
        Meta(
            description=(
                "needed: it does not pass without the feature. vacuous: it does, "
                "and must not. same: it does, as declared. contradicted: it does "
                "not, and declares that it does. impossible: no control can be "
                "made."
            )
        ),
    ]
    control: Annotated[
        Verdict | None, Meta(description="The verdict of the control; null if it was not played.")
    ]
    messages: Annotated[Count, Meta(description="How many messages of the case lost the feature.")]
    reason: Annotated[str, Meta(description="What the control failed at, or why there is none.")]
