"""From what was asked for to targets whose version is known, before anything is planned."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from jetproof.errors import JetproofError
from jetproof.model.versions import Version, VersionError
from jetproof.plan import PlanTarget
from jetproof.targets.external import external_nodes
from jetproof.targets.go_tool import Notify
from jetproof.targets.go_versions import singles
from jetproof.targets.own_build import is_built, is_folder, named, own_build
from jetproof.targets.reference import SPEAKS
from jetproof.targets.releases import binary_releases
from jetproof.targets.spec import TargetSpec, parse_list, redacted

EXTERNAL = "an external server is tested as it is"


async def resolve(
    texts: Sequence[str], *, notify: Notify | None = None, ahead: bool = True
) -> list[PlanTarget]:
    """Every target that the strings name, once, in the order given.

    A checkout is built here, since only its binary knows its version. A version of the Go module is
    built here as well, unless `ahead` is False: a command that plays many releases builds each when
    its turn comes. `notify` hears of builds, in another thread, and of releases that a range leaves
    out.
    """
    found: dict[str, PlanTarget] = {}
    for spec in parse_list(list(texts)):
        for single in await asyncio.to_thread(singles, spec, notify=notify):
            if str(single) not in found or single.url is not None:
                target = await _known(single, notify, ahead)
                found.setdefault(target.name, target)
    return list(found.values())


async def resolve_one(text: str, *, hint: str, notify: Notify | None = None) -> PlanTarget:
    """The one target that a string names; if it names several, an error before any is built."""
    found = [
        single for spec in parse_list(text) for single in await asyncio.to_thread(singles, spec)
    ]
    if len(found) != 1:
        names = ", ".join(map(str, found[:4])) + (", …" if len(found) > 4 else "")
        raise JetproofError(
            f"{redacted(text)} names {len(found)} targets ({names}), and one is wanted",
            phase="plan",
            hint=hint,
        )
    return await _known(found[0], notify, ahead=True)


async def _known(spec: TargetSpec, notify: Notify | None, ahead: bool) -> PlanTarget:
    if spec.provider == "external":
        async with external_nodes(spec) as nodes:
            version = next(iter(nodes.values())).version
        return PlanTarget(str(spec.url), version, "external", fixed=EXTERNAL)
    if spec.path is not None:
        if spec.provider == "path" and not is_folder(spec):
            await binary_version(
                str(named(spec)), shown=spec.path
            )  # what does not run is not worth a hash
        built = await own_build(spec, notify=notify)
        version = await binary_version(str(built.binary), shown=spec.path)
        target = PlanTarget(
            str(spec), version, spec.provider, build=built.build, binary=built.binary
        )
        return _among(target)
    assert spec.version is not None
    speaks = SPEAKS if spec.provider == "reference" else None
    target = PlanTarget(str(spec), spec.version, spec.provider, speaks=speaks)
    if ahead and is_built(spec):
        built = await own_build(spec, notify=notify)
        target = replace(target, build=built.build, binary=built.binary)
    return _among(target)


def _among(target: PlanTarget) -> PlanTarget:
    """The target with its neighbours: the newest releases of later and of earlier lines.

    They have a binary to fetch: a neighbour is the same one with Go and without.
    """
    line = target.version.line
    known = binary_releases()
    newer = [version for version in known if version.line > line]
    older = [version for version in known if version.line < line]
    return replace(target, newer=newer[-1] if newer else None, older=older[-1] if older else None)


async def binary_version(path: str, *, shown: str = "") -> Version:
    """What a server binary says it is: `nats-server: v2.15.1`. Errors name it as `shown`."""
    name = shown or path
    hint = "path: wants an executable nats-server; `--version` must answer with its version"
    # One that is built with coverage says on stderr that it is not asked to write any.
    try:
        process = await asyncio.create_subprocess_exec(
            path,
            "--version",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        raise JetproofError(
            f"cannot run {name}: {_reason(error)}", phase="plan", hint=hint
        ) from error
    try:
        async with asyncio.timeout(10):
            output, complaint = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise JetproofError(
            f"{name} --version did not end within 10 s", phase="plan", hint=hint
        ) from None
    text = (output.strip() or complaint).decode("utf-8", "replace").strip()
    try:
        return Version.parse(text.split()[-1])
    except (VersionError, IndexError):
        raise JetproofError(
            f"{name} --version said {text[:200]!r}", phase="plan", hint=hint
        ) from None


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
