"""How a person names cases: what commands take as a PATTERN."""

from __future__ import annotations

from typing import Final

ABOUT_PATTERNS: Final = (
    "a case id, the beginning of a suite's name, a glob such as 'adr-50/atomic/*::gap*', or "
    "the path of a case file, perhaps with a case: ./mine.yaml::gap"
)
