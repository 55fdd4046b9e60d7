"""Versions of a server and ranges of them, ordered as releases really follow each other.

A version is `2.14.6`, or a build on the way to one: `2.15.0-dev`, `2.12.0-preview.2`,
`2.14.0-RC.3`. A pre-release sorts before its release (dev, then preview, then RC), whatever the
case of its letters and whatever build metadata follows a `+`.

A range is one of

    *                    every version
    2.12.*  2.12         every version of that line, pre-releases included
    2.14.6               exactly this one
    >=2.12.0 <2.14       all of the comparisons hold (`>=`, `<=`, `>`, `<`, `=`; commas are allowed)
    2.12.0 - 2.12.8      from the first to the last, both included

In a range a pre-release counts as the release it leads to, unless the bound itself names a
pre-release: a build of `2.16.0-dev` is where the behaviour of 2.16.0 is being written, so
`>=2.16.0` contains it and `<2.16.0` does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import total_ordering

_VERSION = re.compile(
    r"v?(?P<major>\d{1,6})\.(?P<minor>\d{1,6})\.(?P<patch>\d{1,6})"
    r"(?:-(?P<pre>[0-9A-Za-z]+(?:[.-][0-9A-Za-z]+)*))?(?:\+[0-9A-Za-z.-]+)?"
)
_LINE = re.compile(r"v?(\d{1,6})(?:\.(\d{1,6}))?(?:\.[*xX])?")
_COMPARISON = re.compile(r"(>=|<=|==|=|>|<)\s*(\S+)")
_SPAN = re.compile(r"(\S+)\s+-\s+(\S+)")

_PreKey = tuple[tuple[int, int, str], ...]


class VersionError(ValueError):
    """A text that is not a version or not a range; the message says what would be."""


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """One server version. Compares, hashes and prints; `pre` is empty for a release."""

    major: int
    minor: int
    patch: int
    pre: str = ""

    @classmethod
    def parse(cls, text: str) -> Version:
        found = _VERSION.fullmatch(text.strip())
        if found is None:
            raise VersionError(f"{text!r} is not a version such as 2.15.1 or 2.15.0-RC.1")
        return cls(
            int(found["major"]), int(found["minor"]), int(found["patch"]), found["pre"] or ""
        )

    @property
    def base(self) -> Version:
        """The release that a pre-release leads to; a release is its own base."""
        return Version(self.major, self.minor, self.patch) if self.pre else self

    @property
    def line(self) -> tuple[int, int]:
        """The line of releases that it belongs to: 2.14.6 is of 2.14."""
        return self.major, self.minor

    @property
    def is_prerelease(self) -> bool:
        return bool(self.pre)

    def _key(self) -> tuple[int, int, int, bool, _PreKey]:
        return (self.major, self.minor, self.patch, not self.pre, _pre_key(self.pre))

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Version) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self._key() < other._key() if isinstance(other, Version) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        release = f"{self.major}.{self.minor}.{self.patch}"
        return f"{release}-{self.pre}" if self.pre else release


def _pre_key(pre: str) -> _PreKey:
    """`RC.10` after `RC.2`, `rc2` like `RC.2`, and numbers before words."""
    parts = re.findall(r"\d+|[a-z]+", pre.lower())
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts)


_COMPARE: dict[str, Callable[[Version, Version], bool]] = {
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    "<": lambda a, b: a < b,
}


@dataclass(frozen=True, slots=True)
class _Bound:
    operator: str
    version: Version

    def holds(self, version: Version) -> bool:
        if self.operator == "=":
            return version == self.version
        subject = version if self.version.is_prerelease else version.base
        return _COMPARE[self.operator](subject, self.version)


@dataclass(frozen=True, slots=True)
class VersionRange:
    """A set of versions; `VersionRange.parse` reads the forms in this module's docstring."""

    text: str
    _bounds: tuple[_Bound, ...] = field(default=(), repr=False, compare=False)
    _line: tuple[int, ...] = field(default=(), repr=False, compare=False)

    @classmethod
    def parse(cls, text: str) -> VersionRange:
        wanted = " ".join(text.split())
        if wanted == "*":
            return cls(wanted)
        if span := _SPAN.fullmatch(wanted):
            first, last = (_bound_version(part) for part in span.groups())
            if first > last:
                raise VersionError(f"the range {wanted!r} ends before it begins")
            return cls(wanted, (_Bound(">=", first), _Bound("<=", last)))
        if _VERSION.fullmatch(wanted):
            return cls(wanted, (_Bound("=", Version.parse(wanted)),))
        if line := _LINE.fullmatch(wanted):
            return cls(wanted, _line=tuple(int(part) for part in line.groups() if part))
        rest = _COMPARISON.sub("", wanted.replace(",", " ")).strip()
        comparisons = _COMPARISON.findall(wanted.replace(",", " "))
        if rest or not comparisons:
            raise VersionError(
                f"{text!r} is not a version range such as `>=2.12.0 <2.14.0`, `2.12.*`, "
                "`2.12.0 - 2.12.8` or `*`"
            )
        return cls(
            wanted,
            tuple(
                _Bound("=" if operator == "==" else operator, _bound_version(version))
                for operator, version in comparisons
            ),
        )

    @property
    def exact(self) -> Version | None:
        """The one version that this range names, if it is a single plain version."""
        match self._bounds:
            case (_Bound("=", version),):
                return version
        return None

    def contains(self, version: Version | str) -> bool:
        asked = Version.parse(version) if isinstance(version, str) else version
        if self._line and (asked.major, asked.minor)[: len(self._line)] != self._line:
            return False
        return all(bound.holds(asked) for bound in self._bounds)

    def __contains__(self, version: object) -> bool:
        return isinstance(version, Version | str) and self.contains(version)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Releases:
    """The releases that a ledger entry is about: one range, or one per release line.

    Fixes are brought back to older lines, so a behaviour may end in 2.11.9 and 2.12.4 alike. In a
    mapping, `2.12` is that line, and `2.14+` is that line and every later one that is not listed
    itself. A line that is not listed is not covered.
    """

    text: str
    _whole: VersionRange | None = field(default=None, repr=False, compare=False)
    _lines: tuple[tuple[tuple[int, int], bool, VersionRange], ...] = field(
        default=(), repr=False, compare=False
    )

    @classmethod
    def parse(cls, raw: str | Mapping[str, str]) -> Releases:
        if isinstance(raw, str):
            whole = VersionRange.parse(raw)
            return cls(whole.text, whole)
        lines = []
        for name, wanted in raw.items():
            found = re.fullmatch(r"(\d{1,6})\.(\d{1,6})(\+?)", name)
            if found is None:
                raise VersionError(
                    f"{name!r} is not a release line such as '2.12', or '2.14+' for that line "
                    "and all later ones"
                )
            line = int(found[1]), int(found[2])
            lines.append((line, bool(found[3]), VersionRange.parse(wanted)))
        text = ", ".join(f"{name}: {wanted}" for name, wanted in raw.items())
        return cls(text, None, tuple(sorted(lines, key=lambda row: row[:2])))

    @property
    def bounded(self) -> bool:
        """Whether some later release is not covered."""
        return not self.contains(_FAR)

    def contains(self, version: Version | str) -> bool:
        asked = Version.parse(version) if isinstance(version, str) else version
        if self._whole is not None:
            return self._whole.contains(asked)
        own = [wanted for line, later, wanted in self._lines if line == asked.line]
        if own:
            return any(wanted.contains(asked) for wanted in own)
        earlier = [wanted for line, later, wanted in self._lines if later and line < asked.line]
        return bool(earlier) and earlier[-1].contains(asked)

    def __str__(self) -> str:
        return self.text


_FAR = Version(999_999, 0, 0)


def _bound_version(text: str) -> Version:
    """A bound may leave out the patch number: `<2.14` means `<2.14.0`."""
    if re.fullmatch(r"v?\d+\.\d+", text):
        text += ".0"
    return Version.parse(text)
