"""From what was asked for to targets whose version is known, before anything is planned."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import replace

from jetproof.errors import JetproofError
from jetproof.model.versions import Version, VersionError
from jetproof.plan import PlanTarget
from jetproof.targets.external import external_nodes
from jetproof.targets.reference import SPEAKS
from jetproof.targets.releases import known_releases
from jetproof.targets.spec import TargetSpec, expand, parse_list

EXTERNAL = "an external server is tested as it is"


async def resolve(texts: Sequence[str]) -> list[PlanTarget]:
    """Every target that the strings name, once, in the order given."""
    found: dict[str, PlanTarget] = {}
    for spec in parse_list(list(texts)):
        for single in expand(spec, known_releases()):
            target = await _known(single)
            found.setdefault(target.name, target)
    return list(found.values())


async def _known(spec: TargetSpec) -> PlanTarget:
    if spec.provider == "external":
        async with external_nodes(spec) as nodes:
            version = next(iter(nodes.values())).version
        return PlanTarget(str(spec.url), version, "external", fixed=EXTERNAL)
    if spec.path is not None:
        version = await binary_version(spec.path)
        build = await asyncio.to_thread(_digest, spec.path)
        return _among(PlanTarget(str(spec), version, "path", build=build))
    assert spec.version is not None
    if spec.provider == "reference":
        return _among(PlanTarget(str(spec), spec.version, spec.provider, speaks=SPEAKS))
    return _among(PlanTarget(str(spec), spec.version, spec.provider))


def _among(target: PlanTarget) -> PlanTarget:
    """The target with its neighbours: the newest known releases of later and of earlier lines."""
    line = target.version.line
    known = sorted(known_releases())
    newer = [version for version in known if version.line > line]
    older = [version for version in known if version.line < line]
    return replace(target, newer=newer[-1] if newer else None, older=older[-1] if older else None)


def _digest(path: str) -> str:
    """Builds of one's own often have one version: their content tells them apart."""
    with open(shutil.which(path) or path, "rb") as binary:
        return hashlib.file_digest(binary, "sha256").hexdigest()[:16]


async def binary_version(path: str) -> Version:
    """What a server binary says it is: `nats-server: v2.15.1`."""
    hint = "path: wants an executable nats-server; `--version` must answer with its version"
    try:
        process = await asyncio.create_subprocess_exec(
            path,
            "--version",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
    except OSError as error:
        raise JetproofError(f"cannot run {path}: {error}", phase="plan", hint=hint) from error
    try:
        async with asyncio.timeout(10):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise JetproofError(
            f"{path} --version did not end within 10 s", phase="plan", hint=hint
        ) from None
    text = output.decode("utf-8", "replace").strip()
    try:
        return Version.parse(text.split()[-1])
    except (VersionError, IndexError):
        raise JetproofError(
            f"{path} --version said {text[:200]!r}", phase="plan", hint=hint
        ) from None
