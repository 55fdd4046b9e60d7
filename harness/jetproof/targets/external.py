"""Servers that somebody else runs, and what a target can and cannot be given.

An external server is used as it is: one node, the default configuration, no actions, no accounts
of our own. `unavailable` says so before anything is started, and knows the limits of the other
providers as well, so that a planner asks one question for all of them.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from jetproof.errors import JetproofError
from jetproof.model.topology import TOPOLOGIES
from jetproof.model.versions import Version, VersionError
from jetproof.plan import LINK_IN_CONTAINERS
from jetproof.targets.config import load_configuration
from jetproof.targets.node import Node, Release, StartError
from jetproof.targets.ready import read_info
from jetproof.targets.reference.spoken import FIRST_RELEASE
from jetproof.targets.spec import Address, TargetSpec, address, redacted
from jetproof.wire.errors import ConnectionLost

_CONNECT_SECONDS = 5.0

ACTIONS = frozenset(
    {"stop", "kill", "start", "restart", "pause", "resume", "stepdown", "cut", "mend"}
)
"""Everything that can be done to the servers of a target."""


def unavailable(
    spec: TargetSpec,
    configuration: str = "default",
    topology: str = "single",
    isolation: str = "shared",
    actions: Iterable[str] = (),
    *,
    version: Version | None = None,
) -> str | None:
    """Why a target cannot be given all of this, or None if it can. Starts nothing.

    `version` is the target's, where the spec does not name it (path, external).
    """
    if topology not in TOPOLOGIES:
        return f"there is no topology {topology!r}, only {', '.join(TOPOLOGIES)}"
    if unknown := sorted(set(actions) - ACTIONS):
        return f"there is no action {unknown[0]!r}, only {', '.join(sorted(ACTIONS))}"
    release = version or spec.version
    chosen = load_configuration(configuration)
    if release is not None and (why := chosen.refused_by(release)):
        return why
    if spec.provider == "reference" and release is not None and release.base < FIRST_RELEASE:
        return f"the reference layer stands before {FIRST_RELEASE} and later, not {release}"
    if "stepdown" in actions and not TOPOLOGIES[topology].clustered:
        return "a single server has no leader to step down"
    if {"cut", "mend"} & set(actions):
        if not TOPOLOGIES[topology].linked:
            return f"{topology} has no link to cut"
        if spec.provider == "container":
            return LINK_IN_CONTAINERS
    if spec.provider != "external":
        return None
    name = "an external server"
    if configuration != "default":
        return f"{name} cannot be given the configuration {configuration}"
    if topology != "single":
        return f"{name} cannot be given the topology {topology}"
    if isolation == "account":
        return f"{name} cannot be given an account of the case's own"
    if isolation != "shared":
        return f"{name} cannot be had alone"
    for action in sorted(actions):
        return f"{name} is not ours to {action}"
    return None


class ExternalNode(Node):
    """The node of an external server: it can be asked, and nothing else."""

    def __init__(self, url: str, where: Address) -> None:
        super().__init__("n1", where.host, where.port)
        self._shown = redacted(url)
        self._where = where

    def credentials(self, account: str | None = None) -> dict[str, str]:
        if account is not None:
            raise JetproofError(
                f"{self._shown} cannot be used with the account {account!r}",
                phase="play",
                hint="an external server has the account of its URL only",
            )
        given = {"user": self._where.user, "pass": self._where.password}
        return {key: value for key, value in given.items() if value is not None}

    async def _spawn(self, release: Release) -> None:
        return None

    async def _listening(self) -> None:
        try:
            self.info = await read_info(
                self.host, self.port, self.credentials(), timeout=_CONNECT_SECONDS
            )
            Version.parse(str(self.info.get("version", "")))
        except (ConnectionLost, VersionError) as error:
            raise StartError(
                f"{self._shown} does not answer as a NATS server: {error}",
                hint="start it, check host, port, user and password, and that it needs no TLS",
            ) from error
        if not self.info.get("jetstream"):
            raise StartError(
                f"{self._shown} runs without JetStream", hint="start it with JetStream (-js)"
            )

    def _send_kill(self) -> None:
        """It is not ours to end: letting go of it is all."""
        self._gone.set()

    def _send_stop(self) -> None:
        raise self._not_ours("stop")

    async def _send_pause(self) -> None:
        raise self._not_ours("pause")

    async def _send_resume(self) -> None:
        raise self._not_ours("resume")

    def describe(self) -> dict[str, Any]:
        return super().describe() | {"url": self._shown}

    def _not_ours(self, action: str) -> JetproofError:
        return self._wrong(action, "an external server is not ours")


@contextlib.asynccontextmanager
async def external_nodes(spec: TargetSpec) -> AsyncIterator[Mapping[str, Node]]:
    """The external server as the single node of a target."""
    if spec.url is None:
        raise ValueError(f"{spec} has no URL")
    node = ExternalNode(spec.url, address(spec.url))
    await node.launch()
    try:
        yield {node.name: node}
    finally:
        await node.close()
