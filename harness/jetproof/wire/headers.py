"""Message headers exactly as they stand on the wire.

A header block is `NATS/1.0[ <status>[ <description>]]\\r\\n`, any number of `Name: Value\\r\\n`
lines, and an empty line. Order, repetition and case are kept; names compare by exact case, since
that is what is to be proved. Text is UTF-8, and bytes that are not survive as surrogate escapes.

One blank after the colon belongs to the line, not to the value: `Name:Value` and `Name: Value` both
read `Value`, `Name:  Value` reads ` Value`, so that every value survives a round trip.

A block that breaks these rules is still a `Headers`: it keeps its bytes, holds whatever lines could
be read, and says what is wrong in `problem`. `Headers.from_raw` makes one on purpose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

VERSION = b"NATS/1.0"
_BAD_NAME = re.compile(r"[:\r\n]")
_BAD_TEXT = re.compile(r"[\r\n]")
_MAX_STATUS_DIGITS = 9


def to_text(data: bytes) -> str:
    """Bytes off the wire as text that encodes back to the same bytes."""
    return data.decode("utf-8", "surrogateescape")


def to_bytes(text: str) -> bytes:
    """Text as the bytes it came from or stands for."""
    return text.encode("utf-8", "surrogateescape")


class Headers:
    """An immutable header block: items in order, and the status line if it has one.

    `Headers()` is the empty block (`NATS/1.0`, no lines), which is not the same as no headers at
    all (`None` in a frame). Equality is by status, description and items; a malformed block equals
    only one with the same bytes.
    """

    __slots__ = ("_raw", "description", "items_list", "problem", "status")

    items_list: tuple[tuple[str, str], ...]
    """Every (name, value) in wire order."""
    status: int | None
    """The number after the version, if there is one."""
    description: str
    """The text after the status, or the empty string."""
    problem: str | None
    """What is wrong with the block, or None if it is well formed."""
    _raw: bytes | None

    def __init__(
        self,
        items: Iterable[tuple[str, str]] = (),
        *,
        status: int | None = None,
        description: str = "",
    ) -> None:
        """A well-formed block; ValueError for what one cannot hold (see `from_raw`)."""
        kept = tuple((str(name), str(value)) for name, value in items)
        for name, value in kept:
            if not name or _BAD_NAME.search(name) or _BAD_TEXT.search(value):
                raise ValueError(
                    f"the header {name!r}: {value!r} cannot stand in a well-formed block; "
                    "use Headers.from_raw to send a malformed one"
                )
        if status is None and description:
            raise ValueError(f"the description {description!r} needs a status")
        if status is not None and not 0 <= status < 10**_MAX_STATUS_DIGITS:
            raise ValueError(f"the status {status} is out of range")
        if _BAD_TEXT.search(description) or description != description.strip(" "):
            raise ValueError(f"the description {description!r} does not fit into a status line")
        self._set(kept, status, description, None, None)

    def _set(
        self,
        items: tuple[tuple[str, str], ...],
        status: int | None,
        description: str,
        problem: str | None,
        raw: bytes | None,
    ) -> None:
        put = object.__setattr__
        put(self, "items_list", items)
        put(self, "status", status)
        put(self, "description", description)
        put(self, "problem", problem)
        put(self, "_raw", raw)

    if not TYPE_CHECKING:  # a checker would take any name for granted

        def __getattr__(self, name: str) -> object:
            # A block off the wire is read when somebody asks for it first: most pass unasked.
            if name == "_raw" or name not in Headers.__slots__:
                raise AttributeError(f"Headers have no {name}")
            self._set(*_read(self._raw), self._raw)
            return getattr(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Headers are immutable; cannot set {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Headers are immutable; cannot delete {name}")

    @classmethod
    def from_raw(cls, block: bytes) -> Headers:
        """The block with exactly these bytes, well formed or not; never fails.

        This is also how blocks off the wire are read. What cannot be read is not in `items_list`,
        but it is in `encode()`.
        """
        headers = cls.__new__(cls)
        object.__setattr__(headers, "_raw", bytes(block))
        return headers

    parse = from_raw

    def encode(self) -> bytes:
        """The block's bytes: those it was read from, or the canonical form `Name: Value`."""
        raw = self._raw
        if raw is None:
            parts = [VERSION]
            if self.status is not None:
                parts.append(b" %d" % self.status)
                if self.description:
                    parts.append(b" " + to_bytes(self.description))
            parts.append(b"\r\n")
            parts.extend(to_bytes(f"{name}: {value}\r\n") for name, value in self.items_list)
            parts.append(b"\r\n")
            raw = b"".join(parts)
            object.__setattr__(self, "_raw", raw)
        return raw

    def get(self, name: str) -> str | None:
        """The first value under exactly this name."""
        for key, value in self.items_list:
            if key == name:
                return value
        return None

    def get_all(self, name: str) -> tuple[str, ...]:
        """Every value under exactly this name, in order."""
        return tuple(value for key, value in self.items_list if key == name)

    def names(self) -> tuple[str, ...]:
        """The names, each once, in order of first appearance."""
        return tuple(dict.fromkeys(key for key, _ in self.items_list))

    def with_(self, name: str, value: str) -> Headers:
        """These headers with one more line at the end."""
        return self._rebuilt((*self.items_list, (name, value)))

    def without(self, name: str) -> Headers:
        """These headers without any line of exactly this name."""
        return self._rebuilt(item for item in self.items_list if item[0] != name)

    def replaced(self, name: str, value: str) -> Headers:
        """These headers with one line of this name, where its first stood (else at the end)."""
        items: list[tuple[str, str]] = []
        done = False
        for item in self.items_list:
            if item[0] != name:
                items.append(item)
            elif not done:
                items.append((name, value))
                done = True
        if not done:
            items.append((name, value))
        return self._rebuilt(items)

    def renamed(self, name: str, new: str) -> Headers:
        """These headers with every line of this name under another one."""
        return self._rebuilt((new if key == name else key, value) for key, value in self.items_list)

    def with_status(self, status: int | None, description: str = "") -> Headers:
        """These headers with another status line."""
        return Headers(self.items_list, status=status, description=description)

    def _rebuilt(self, items: Iterable[tuple[str, str]]) -> Headers:
        # A status line that could not be read has no other form than its bytes.
        status = self.status
        return Headers(
            items, status=status, description=self.description if status is not None else ""
        )

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.items_list)

    def __len__(self) -> int:
        return len(self.items_list)

    def __bool__(self) -> bool:
        return True  # an empty block is still a block

    def __contains__(self, name: object) -> bool:
        return any(key == name for key, _ in self.items_list)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Headers):
            return NotImplemented
        if self.problem is not None or other.problem is not None:
            return self.encode() == other.encode()
        return (
            self.items_list == other.items_list
            and self.status == other.status
            and self.description == other.description
        )

    def __hash__(self) -> int:
        if self.problem is not None:
            return hash(self.encode())
        return hash((self.items_list, self.status, self.description))

    def __repr__(self) -> str:
        if self.problem is not None:
            return f"Headers.from_raw({self.encode()!r})"
        more = ""
        if self.status is not None:
            more = f", status={self.status}"
            if self.description:
                more += f", description={self.description!r}"
        return f"Headers({list(self.items_list)!r}{more})"

    def __reduce__(self) -> tuple[object, ...]:
        return (Headers.from_raw, (self.encode(),))


def _read(
    block: bytes,
) -> tuple[tuple[tuple[str, str], ...], int | None, str, str | None]:
    lines = bytes(block).split(b"\r\n")
    problems: list[str] = []
    if len(lines) < 3 or lines[-1] or lines[-2]:
        problems.append("the block does not end with an empty line")
    status, description, wrong = _read_first(lines[0])
    if wrong:
        problems.append(wrong)
    # What follows the last line break: "" twice in a well-formed block, kept out of the lines.
    end = len(lines)
    while end > 1 and end > len(lines) - 2 and not lines[end - 1]:
        end -= 1
    items: list[tuple[str, str]] = []
    for line in lines[1:end]:
        name, colon, value = line.partition(b":")
        if not colon or not name:
            problems.append(f"{ascii(line[:60])[1:]} is not a 'Name: Value' line")
            continue
        if b"\r" in line or b"\n" in line:
            problems.append("a line holds a lone CR or LF")
        items.append((to_text(name), to_text(value[1:] if value[:1] == b" " else value)))
    return tuple(items), status, description, problems[0] if problems else None


def _read_first(line: bytes) -> tuple[int | None, str, str | None]:
    if line == VERSION:
        return None, "", None
    if not line.startswith(VERSION):
        return None, "", "the block does not start with NATS/1.0"
    rest = line[len(VERSION) :]
    if b"\r" in rest or b"\n" in rest:
        return None, to_text(rest.strip(b" ")), "the status line holds a lone CR or LF"
    code, _, text = rest.strip(b" ").partition(b" ")
    if not rest.startswith(b" ") or not code.isdigit() or len(code) > _MAX_STATUS_DIGITS:
        if not rest.strip(b" "):
            return None, "", None
        return None, to_text(rest.strip(b" ")), "the status is not a number"
    return int(code), to_text(text.strip(b" ")), None
