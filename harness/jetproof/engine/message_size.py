"""How many bytes a delivered message is charged with, where a limit counts bytes."""

from __future__ import annotations

from typing import Protocol

from jetproof.wire import Headers
from jetproof.wire.headers import to_bytes


class _Message(Protocol):
    @property
    def subject(self) -> str: ...
    @property
    def reply(self) -> str | None: ...
    @property
    def headers(self) -> Headers | None: ...
    @property
    def payload(self) -> bytes: ...


def charged_size(message: _Message, *, headers: bool = True) -> int:
    """The bytes of subject, reply subject and payload, and of the header block where that counts."""
    block = b"" if message.headers is None or not headers else message.headers.encode()
    around = to_bytes(message.subject) + to_bytes(message.reply or "")
    return len(around) + len(block) + len(message.payload)
