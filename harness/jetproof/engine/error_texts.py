"""Is the text of an error the one that is listed for it?"""

from __future__ import annotations

import re
from functools import cache

from jetproof.model.error_table import ErrorEntry

_PLACEHOLDER = re.compile(r"\{[a-z_]+\}")


def says(entry: ErrorEntry, text: str) -> bool:
    """Whether the text is that of the entry, with anything, even nothing, for its placeholders."""
    return _pattern(entry.description).fullmatch(text) is not None


@cache
def _pattern(description: str) -> re.Pattern[str]:
    """`wrong last sequence: {seq}` as a regular expression."""
    return re.compile(
        ".*".join(re.escape(part) for part in _PLACEHOLDER.split(description)), re.DOTALL
    )
