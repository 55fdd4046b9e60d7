"""Where the releases of a matrix run: in containers, or as binaries on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from jetproof.errors import JetproofError
from jetproof.targets.go_tool import Notify
from jetproof.targets.go_versions import singles
from jetproof.targets.spec import Provider, parse_list


@dataclass(frozen=True, slots=True)
class Where:
    """Where releases run that did not say so themselves, and the line that says so."""

    provider: Literal["container", "embedded"] | None
    heading: str


async def find_provider(asked: str | None, servers: Sequence[str], *, resuming: bool) -> Where:
    """Containers where a Docker engine answers, unless a provider is asked for."""
    if resuming:
        return Where(None, "servers: as in the run that is resumed")
    if asked == "embedded":
        return Where("embedded", "servers: release binaries on this machine (--provider embedded)")
    open_to_choice = not servers or any(not spec.pinned for spec in parse_list(list(servers)))
    if asked is None and not open_to_choice:
        return Where(None, "servers: each where its target says")
    from jetproof.targets.docker_engine import engine_problem

    problem = await asyncio.to_thread(engine_problem)
    if problem is None:
        option = "--provider container" if asked else "--provider embedded takes release binaries"
        return Where("container", f"servers: in containers, a Docker engine answers ({option})")
    if asked == "container":
        raise JetproofError(
            f"--provider container was asked for: {problem.splitlines()[0]}",
            phase="start",
            hint="install and start Docker (`docker info` must answer), or leave out --provider",
        )
    why = problem.splitlines()[0]
    return Where("embedded", f"servers: release binaries on this machine, not containers: {why}")


def placed(
    servers: Sequence[str], provider: Provider | None, notify: Notify | None = None
) -> list[str]:
    """The targets asked for (all known releases if none), each with the provider it gets.

    A name that says its provider means the same thing when the run is resumed or replayed. `notify`
    hears of releases that cannot be built here and are left out.
    """
    names: list[str] = []
    for spec in parse_list(list(servers) or "*"):
        if spec.url is not None:
            names.append(spec.url)
            continue
        for single in singles(spec, notify=notify):
            if provider == "container" and not single.pinned:
                single = replace(single, provider=provider, pinned=True)
            names.append(str(single))
    return names
