"""Parts of several documents."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from jetproof.results.rows import Count, Milliseconds


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
