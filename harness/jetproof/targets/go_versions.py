"""Which versions of nats-server there are as a Go module, and which of them a target names.

`go list` knows them. What it said last is kept in the cache, so that a version that is known needs
no network, and `jetproof releases` has something to show without one.
"""

from __future__ import annotations

import bisect
import contextlib
import json
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from jetproof.data import cache_root
from jetproof.errors import JetproofError
from jetproof.model.versions import Version, VersionError
from jetproof.targets.go_build import MODULE, kept_build, obtainable
from jetproof.targets.go_tool import GoError, Notify, ask, find_go
from jetproof.targets.releases import binary_releases, is_offline, known_releases
from jetproof.targets.spec import MODULE_PROVIDERS, TargetSpec, expand

_NEIGHBOURS = 4
_CANDIDATE = re.compile(r"rc|preview|beta|alpha", re.IGNORECASE)
_NAMES_CANDIDATE = re.compile(r"\d-[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Listing:
    """The versions of the Go module, oldest first.

    `at` is when Go listed them, None if it never did. `problem` is why this is not what Go says
    now; empty if it is."""

    versions: tuple[Version, ...] = ()
    at: datetime | None = None
    problem: str = ""


def kept_listing(*, cache_dir: Path | None = None) -> Listing:
    """What Go said last."""
    try:
        document = json.loads(_file(cache_dir).read_text(encoding="utf-8"))
        found = tuple(sorted(Version.parse(text) for text in document["versions"]))
        return Listing(found, datetime.fromisoformat(document["at"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Listing()


def fresh_listing(*, cache_dir: Path | None = None, offline: bool | None = None) -> Listing:
    """What Go says now, else what it said last with the reason. Blocks for as long as Go takes."""
    kept = kept_listing(cache_dir=cache_dir)
    if is_offline() if offline is None else offline:
        return replace(kept, problem="JETPROOF_OFFLINE is set")
    try:
        go = find_go()
    except GoError as error:
        return replace(kept, problem=error.message)
    code, said = ask(go.program, "list", "-m", "-versions", MODULE)
    words = said.split()
    if code != 0 or words[:1] != [MODULE]:
        lines = said.strip().splitlines()
        return replace(kept, problem=f"`go list` failed: {lines[-1] if lines else code}")
    found = tuple(sorted(_parsed(words[1:])))
    if not found:
        return replace(kept, problem="`go list` named no version")
    listing = Listing(found, datetime.now(UTC).replace(microsecond=0))
    with contextlib.suppress(OSError):  # a cache that cannot be written costs a question, no more
        _keep(_file(cache_dir), listing)
    return listing


def singles(
    spec: TargetSpec, *, cache_dir: Path | None = None, notify: Notify | None = None
) -> list[TargetSpec]:
    """The single targets that any target names, oldest first. May ask Go: call it from a thread.

    A range leaves out releases that cannot be built here, and `notify` hears of that. `latest` needs
    no build. A range of `go:` or `cover:` names releases. It names release candidates only if one of
    its bounds is one.
    """
    if spec.provider not in MODULE_PROVIDERS or spec.path is not None:
        return _released(spec, cache_dir, notify)
    if spec.version is not None:
        covered = spec.provider == "cover"
        return [replace(spec, version=_exact(spec.version, covered, cache_dir))]
    listing = fresh_listing(cache_dir=cache_dir)
    if not listing.versions:
        raise JetproofError(
            f"{spec}: it is not known which versions there are: {listing.problem}",
            phase="plan",
            hint=f"name one version, such as {spec.provider}:2.15.2, or give Go a network",
        )
    text = spec.pattern.text if spec.pattern is not None else ""
    named = [
        version
        for version in listing.versions
        if (not version.is_prerelease or _NAMES_CANDIDATE.search(text))
        and (spec.pattern is None or spec.pattern.contains(version))
    ]
    if not named:
        raise _unknown(str(spec.pattern or "latest"), listing)
    chosen = named if spec.pattern is not None else named[-1:]
    return [replace(spec, version=version, pattern=None) for version in chosen]


def candidates(
    after: Version, before: Version, *, cache_dir: Path | None = None
) -> tuple[Version, ...]:
    """The release candidates and previews between two versions, oldest first. May ask Go."""
    listing = fresh_listing(cache_dir=cache_dir)
    if not listing.versions:
        raise JetproofError(
            f"it is not known which release candidates there are: {listing.problem}",
            phase="plan",
            hint="they are versions of the Go module: install Go (https://go.dev/doc/install)",
        )
    return tuple(
        version
        for version in listing.versions
        if after < version < before and _CANDIDATE.match(version.pre)
    )


def _released(spec: TargetSpec, cache_dir: Path | None, notify: Notify | None) -> list[TargetSpec]:
    """Those of the table of releases."""
    if spec.pattern is None:
        return expand(spec, known_releases() if spec.version is not None else binary_releases())
    named = expand(spec, known_releases())
    kept, note = obtainable(
        [single.version for single in named if single.version is not None], cache_dir=cache_dir
    )
    if not kept:
        raise JetproofError(
            f"none of the releases {spec} can be had here: {note}",
            phase="plan",
            hint="`jetproof releases` lists the releases, and where each comes from",
        )
    if note and notify is not None:
        notify(note)
    return [single for single in named if single.version in kept]


def nearest(asked: Version, known: Sequence[Version]) -> list[Version]:
    """The known versions around one that is not known, oldest first."""
    at = bisect.bisect(known, asked)
    return list(known[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS])


def _exact(asked: Version, covered: bool, cache_dir: Path | None) -> Version:
    """The version as its tag is spelled; one that nobody can list is left for Go to find."""
    if (found := _spelled(asked, kept_listing(cache_dir=cache_dir))) is not None:
        return found
    if kept_build(asked, covered=covered, cache_dir=cache_dir) is not None:
        return asked
    listing = fresh_listing(cache_dir=cache_dir)
    if (found := _spelled(asked, listing)) is not None:
        return found
    if listing.problem or _can_be_had(asked):
        return asked
    raise _unknown(str(asked), listing, nearest(asked, listing.versions))


def _can_be_had(asked: Version) -> bool:
    """A module proxy may have a version that it does not list."""
    code, said = ask(find_go().program, "list", "-m", f"{MODULE}@v{asked}")
    return code == 0 and said.split() == [MODULE, f"v{asked}"]


def _spelled(asked: Version, listing: Listing) -> Version | None:
    """`2.15.0-rc3` is the tag `2.15.0-RC.3`."""
    return next((version for version in listing.versions if version == asked), None)


def _unknown(asked: str, listing: Listing, near: Sequence[Version] = ()) -> JetproofError:
    shown = ", ".join(map(str, near or listing.versions[-2 * _NEIGHBOURS :]))
    return JetproofError(
        f"the Go module of nats-server has no version {asked}",
        phase="plan",
        hint=f"the nearest are {shown}; `jetproof releases` lists all of them, and path: builds a "
        "checkout of any commit",
    )


def _parsed(words: Sequence[str]) -> list[Version]:
    found = []
    for word in words:
        with contextlib.suppress(VersionError):
            found.append(Version.parse(word))
    return found


def _keep(path: Path, listing: Listing) -> None:
    assert listing.at is not None
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {"at": listing.at.isoformat(), "versions": [str(each) for each in listing.versions]}
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=".versions-", delete=False
    ) as file:
        try:
            json.dump(document, file)
            file.close()
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def _file(cache_dir: Path | None) -> Path:
    return (cache_dir or cache_root()).absolute() / "servers" / "go-versions.json"
