"""A number for every release, so that tables can sort and compare releases without parsing them."""

from __future__ import annotations

import re

from jetproof.model.versions import Version, VersionError

UNKNOWN = 0
_FINAL = 99_999
_STAGES = {"dev": 10_000, "alpha": 20_000, "beta": 30_000, "preview": 40_000, "rc": 50_000}
_OTHER = 60_000


def release_key(text: str) -> int:
    """Sorts as releases follow each other: dev, preview and RC before the release they lead to.

    0 for what is no version: such a server sorts before all others.
    """
    try:
        version = Version.parse(text)
    except VersionError:
        return UNKNOWN
    number = (version.major * 10_000 + version.minor) * 10_000 + version.patch
    return number * 100_000 + (_stage(version.pre) if version.pre else _FINAL)


def _stage(pre: str) -> int:
    parts = re.findall(r"\d+|[a-z]+", pre.lower())
    word = next((part for part in parts if not part.isdigit()), "")
    count = next((int(part) for part in parts if part.isdigit()), 0)
    return _STAGES.get(word, _OTHER) + min(count, 9_999)
