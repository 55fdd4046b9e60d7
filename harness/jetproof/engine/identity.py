"""Names that are unique without coordination: of runs, and of what their cases make."""

from __future__ import annotations

import secrets
import string
from datetime import UTC, datetime

_ALPHABET = string.ascii_lowercase + string.digits


def fresh_run_id() -> str:
    """Sortable by time, unique without coordination."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"


def run_prefix(run_id: str) -> str:
    """The part of a token that all cases of a run share."""
    return "jp" + run_id[-6:].rjust(6, "0")


def fresh_token(run_id: str) -> str:
    """What makes a case's names its own; `jetproof.engine.session.TOKEN` finds it again."""
    number, digits = secrets.randbelow(len(_ALPHABET) ** 6), ""
    for _ in range(6):
        number, digit = divmod(number, len(_ALPHABET))
        digits += _ALPHABET[digit]
    return run_prefix(run_id) + digits


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
