"""A promise of client libraries: a call returns or fails, and does not end the application."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from jetproof.engine.client_side import Made
from jetproof.engine.judge import Finding

PANIC: Final = "panic"
"""How an adapter names what would end a program that does not expect it."""


def returned(made: Sequence[Made]) -> Iterator[Finding]:
    """No call ends in a way that an application cannot handle as an error."""
    for call in made:
        body = call.answer.body
        if call.answer.kind == "error" and isinstance(body, Mapping) and body.get("type") == PANIC:
            yield Finding(f"returned.{call.op}", False, "a result or an error", PANIC)
