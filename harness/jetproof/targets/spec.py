"""What to test, as one string, in the manner of a container tool.

    2.15.1                 the embedded release binary (`matrix` may choose containers for it)
    latest                 the newest release that has a binary
    2.12.*                 every known release of a line
    >=2.12.0 <2.14         every known release in a range
    embedded:2.14.6        the release binary, whatever the command would choose
    container:2.14.6       the release in a container
    reference:2.15.1       the release behind the reference layer
    go:2.15.2              a version of the Go module, built here; go:2.15.0-RC.1, go:2.12.*
    cover:2.15.1           the same, built to record which of its statements are reached
    cover:../nats-server   a checkout, built that way; a path has a slash in it
    path:./nats-server     any build, or a checkout of nats-server, which is built at its state
    path:../checkout@main  a commit of a checkout
    nats://[user:pass@]host[:port]   a server that somebody else runs

`parse` reads one string, `parse_list` several separated by commas, and `expand` turns a pattern
into the known releases that it names; `go_versions` knows those of `go:`. Nothing here starts
anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args
from urllib.parse import unquote, urlsplit

from jetproof.errors import JetproofError
from jetproof.model.versions import Version, VersionError, VersionRange

Provider = Literal["embedded", "container", "path", "external", "reference", "go", "cover"]
_HIDDEN = "***@"
_RELEASE_PROVIDERS = ("embedded", "container", "reference")
MODULE_PROVIDERS = ("go", "cover")
"""These build any version of the Go module."""
_FORMS = (
    "a target is a release (2.15.1, 2.12.*, '>=2.12.0 <2.14', latest), a release with a provider "
    "(embedded:2.14.6, container:2.14.6, reference:2.15.1, go:2.15.2, cover:2.15.1), "
    "path:./nats-server, path:../checkout, cover:../checkout, or nats://host:port"
)


@dataclass(frozen=True, slots=True)
class TargetSpec:
    """One requested target. At most one of `version`, `pattern`, `path` and `url` is set;
    none of them means the newest release that has a binary."""

    provider: Provider
    version: Version | None = None
    pattern: VersionRange | None = None
    path: str | None = None
    url: str | None = None
    pinned: bool = False
    """True if the user named the provider, so that a command must not choose another."""

    @classmethod
    def parse(cls, text: str) -> TargetSpec:
        return parse(text)

    def with_provider(self, provider: Provider) -> TargetSpec:
        """The same release from another provider, unless the user pinned one."""
        return self if self.pinned else replace(self, provider=provider)

    def __str__(self) -> str:
        if self.url is not None:
            return redacted(self.url)
        if self.path is not None:
            return f"{self.provider}:{self.path}"
        release = str(self.version or (self.pattern.text if self.pattern else "latest"))
        return f"{self.provider}:{release}" if self.pinned else release


@dataclass(frozen=True, slots=True)
class Address:
    """Where an external server listens, and who to be there."""

    host: str
    port: int
    user: str | None = None
    password: str | None = None


def parse(text: str) -> TargetSpec:
    """Read one target string; the error says which forms there are."""
    wanted = text.strip()
    if not wanted:
        raise _bad(text, "it is empty")
    if "://" in wanted:
        address(wanted)
        return TargetSpec("external", url=wanted, pinned=True)
    head, colon, rest = wanted.partition(":")
    if not colon:
        return _release("embedded", wanted, pinned=False)
    if head == "path":
        if not rest.strip():
            raise _bad(text, "the path is empty")
        return TargetSpec("path", path=rest.strip(), pinned=True)
    if head == "embedded":
        return _release("embedded", rest.strip(), pinned=True)
    if head == "container":
        return _release("container", rest.strip(), pinned=True)
    if head == "reference":
        return _release("reference", rest.strip(), pinned=True)
    if head == "go":
        return _release("go", rest.strip(), pinned=True)
    if head == "cover":
        return _covered(rest.strip())
    raise _bad(
        text, f"there is no provider {head!r}; the providers are {', '.join(get_args(Provider))}"
    )


def parse_list(texts: str | Iterable[str]) -> list[TargetSpec]:
    """Read `2.12.*,2.15.1,path:./nats-server`, or several such strings.

    `>=2.12.0,<2.14` stays one range: nobody means every release by it.
    """
    given = [texts] if isinstance(texts, str) else list(texts)
    parts: list[str] = []
    for text in given:
        for piece in filter(None, (piece.strip() for piece in text.split(","))):
            if piece.startswith("<") and parts and parts[-1].startswith(">"):
                parts[-1] += f" {piece}"
            else:
                parts.append(piece)
    if not parts:
        raise _bad(", ".join(given), "it names no target")
    return [parse(part) for part in parts]


def expand(spec: TargetSpec, known_releases: Sequence[Version]) -> list[TargetSpec]:
    """The single targets that a spec names, oldest first; a release must be a known one."""
    if spec.provider not in _RELEASE_PROVIDERS:
        return [spec]
    known = sorted(known_releases)
    if spec.version is not None:
        if spec.version not in known:
            raise unknown_release(str(spec.version), known)
        return [spec]
    if spec.pattern is None:
        named = known[-1:]
    else:
        named = [version for version in known if spec.pattern.contains(version)]
    if not named:
        raise unknown_release(str(spec.pattern or "latest"), known)
    return [replace(spec, version=version, pattern=None) for version in named]


def unknown_release(asked: str, known: Sequence[Version]) -> JetproofError:
    """The error for a release that nobody has, with the ones there are."""
    return JetproofError(
        f"no such release: {asked}",
        phase="plan",
        hint=f"known releases: {', '.join(str(version) for version in sorted(known)) or 'none'}; "
        "go:VERSION builds any other version (`jetproof releases` lists them), and "
        "path:./nats-server is a build of your own",
    )


def address(url: str) -> Address:
    """Take `nats://[user:pass@]host[:port]` apart."""
    try:
        parts = urlsplit(url)
        port = parts.port or 4222
    except ValueError as error:
        raise _bad(redacted(url), str(error)) from error
    if parts.scheme != "nats":
        raise _bad(redacted(url), f"the scheme {parts.scheme!r} is not supported, only nats://")
    if not parts.hostname:
        raise _bad(redacted(url), "the host is missing")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise _bad(redacted(url), "nothing may follow the port")
    return Address(
        parts.hostname,
        port,
        None if parts.username is None else unquote(parts.username),
        None if parts.password is None else unquote(parts.password),
    )


def redacted(url: str) -> str:
    """The URL without its password, for every place that is shown or written."""
    return re.sub(r"(://[^/@:]*):[^/]*@", rf"\1:{_HIDDEN}", url)


def is_redacted(url: str) -> bool:
    """Whether the URL lacks a password that it had."""
    return _HIDDEN in url


def _release(provider: Provider, text: str, *, pinned: bool) -> TargetSpec:
    if text == "latest":
        return TargetSpec(provider, pinned=pinned)
    try:
        wanted = VersionRange.parse(text)
    except VersionError as error:
        raise _bad(text, str(error)) from error
    if wanted.exact is not None:
        return TargetSpec(provider, version=wanted.exact, pinned=pinned)
    return TargetSpec(provider, pattern=wanted, pinned=pinned)


def _covered(text: str) -> TargetSpec:
    """A version of the Go module, or the path of a checkout."""
    if "/" in text or text in (".", ".."):
        return TargetSpec("cover", path=text, pinned=True)
    try:
        return _release("cover", text, pinned=True)
    except JetproofError as error:
        raise _bad(f"cover:{text}", f"it is no version; a checkout is cover:./{text}") from error


def _bad(text: str, why: str) -> JetproofError:
    return JetproofError(f"cannot read the target {text!r}: {why}", phase="plan", hint=_FORMS)
