"""YAML with lines, and nothing of YAML that surprises.

Scalars follow the YAML 1.2 core schema: `true` and `false`, `null`, decimal, `0x` and `0o` whole
numbers and floats are what they look like, and everything else is text (`on`, `yes`, `12:30`). What
could be read in two ways is a mistake: a leading zero, a duplicate key, a key that is no text.
Anchors, aliases, merge keys, tags and several documents in one file are mistakes too: a case reads
from top to bottom and says what it says.

Files are read from the parser's events, not from its node graph: only the events tell a tag that
was written from one that was guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from yaml import events

from jetproof.load.mistakes import Mistake
from jetproof.model.template import text_of

Keys = tuple[str | int, ...]

_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEEPEST = 40
_LONGEST_NUMBER = 1000
_UNREADABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_INTEGER = re.compile(r"[-+]?[0-9]+")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")
_BASED = {"0x": (16, re.compile(r"0x[0-9a-fA-F]+")), "0o": (8, re.compile(r"0o[0-7]+"))}
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_JSON = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_FIRST_OF_A_NUMBER = frozenset("0123456789+-.")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part of a file stands, and the parts of it."""

    line: int
    parts: Mapping[str | int, Place] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """A file's plain data and where each part of it stands.

    `respelled` holds what was written where that is not what the value looks like as text: `0x10`
    is the number 16, and as a header's value it would be sent as 16.
    """

    file: str
    data: object
    respelled: Mapping[Keys, str]
    root: Place

    def line_of(self, keys: Keys) -> int:
        """The line of a key or item, or of the nearest thing around it that exists."""
        place = self.root
        for key in keys:
            inner = place.parts.get(key)
            if inner is None:
                break
            place = inner
        return place.line


def read_yaml(path: Path, file: str, mistakes: list[Mistake]) -> Document | None:
    """The document in a file, or None if it is broken; `file` is the file's name for people."""
    try:
        content = path.read_bytes()
    except OSError as error:
        mistakes.append(Mistake(file, 1, f"cannot be read: {error.strerror}"))
        return None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        mistakes.append(Mistake(file, line, "not UTF-8"))
        return None
    return parse_yaml(text, file, mistakes)


def parse_yaml(text: str, file: str, mistakes: list[Mistake]) -> Document | None:
    """The document in a text; what can be mended is a mistake, what is broken ends the reading."""
    if found := _UNREADABLE.search(text):
        line = text.count("\n", 0, found.start()) + 1
        mistakes.append(
            Mistake(
                file,
                line,
                f"a control character (U+{ord(found.group()):04X}): "
                "write it as an escape in double quotes",
            )
        )
        return None
    try:
        return _Builder(text, file, mistakes).document()
    except yaml.MarkedYAMLError as error:
        mistakes.append(Mistake(file, *_broken(text, error)))
    except _Refused as refused:
        mistakes.append(Mistake(file, refused.line, refused.message))
    return None


class _Refused(Exception):
    """A file that cannot be read on."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


class _Builder:
    def __init__(self, text: str, file: str, mistakes: list[Mistake]) -> None:
        self._events: Iterator[events.Event] = yaml.parse(text, Loader=_LOADER)
        self._file = file
        self._mistakes = mistakes
        self._respelled: dict[Keys, str] = {}
        self._whole = True

    def document(self) -> Document | None:
        """The document, or None if an alias or a merge key leaves a hole in it."""
        next(self._events)
        start = next(self._events)
        if isinstance(start, events.StreamEndEvent):
            raise _Refused(1, "the file is empty")
        data, root = self._node(next(self._events), ())
        next(self._events)
        after = next(self._events)
        if not isinstance(after, events.StreamEndEvent):
            self._mistake(after, "a second document: a file holds one")
        return Document(self._file, data, self._respelled, root) if self._whole else None

    def _mistake(self, event: events.Event, message: str) -> None:
        self._mistakes.append(Mistake(self._file, _line(event), message))

    def _node(self, event: events.Event, keys: Keys) -> tuple[object, Place]:
        if isinstance(event, events.AliasEvent):
            self._mistake(event, f"an alias (*{event.anchor}): write the value out")
            self._whole = False
            return None, Place(_line(event))
        assert isinstance(event, events.NodeEvent)
        if event.anchor is not None:
            self._mistake(event, f"an anchor (&{event.anchor}): there are none in these files")
        if len(keys) > _DEEPEST:
            raise _Refused(_line(event), f"nested more than {_DEEPEST} levels deep")
        if isinstance(event, events.ScalarEvent):
            if event.tag is not None and event.tag != "!":
                self._mistake(
                    event, f"a tag ({_short_tag(event.tag)}): there are none in these files"
                )
                return event.value, Place(_line(event))
            return self._scalar(event, keys), Place(_line(event))
        assert isinstance(event, events.CollectionStartEvent)
        if event.tag is not None and event.tag != "!":
            self._mistake(event, f"a tag ({_short_tag(event.tag)}): there are none in these files")
        if isinstance(event, events.SequenceStartEvent):
            return self._sequence(event, keys)
        return self._mapping(event, keys)

    def _sequence(self, start: events.Event, keys: Keys) -> tuple[object, Place]:
        items: list[object] = []
        places: dict[str | int, Place] = {}
        while not isinstance(event := next(self._events), events.SequenceEndEvent):
            index = len(items)
            item, places[index] = self._node(event, (*keys, index))
            items.append(item)
        return items, Place(_line(start), places)

    def _mapping(self, start: events.Event, keys: Keys) -> tuple[object, Place]:
        entries: dict[str, object] = {}
        places: dict[str | int, Place] = {}
        while not isinstance(event := next(self._events), events.MappingEndEvent):
            key = self._key(event, keys)
            known = key is not None and key in entries
            value, place = self._node(next(self._events), (*keys, key if key is not None else "?"))
            if key is None:
                continue
            if known:
                first = places[key].line
                self._mistake(event, f"duplicate key {key!r}: it is in line {first} already")
                continue
            entries[key] = value
            places[key] = Place(_line(event), place.parts)
        return entries, Place(_line(start), places)

    def _key(self, event: events.Event, keys: Keys) -> str | None:
        if not isinstance(event, events.ScalarEvent):
            self._node(event, keys)
            self._mistake(event, "keys must be texts")
            return None
        if event.implicit[0] and event.value == "<<":
            self._mistake(event, "a merge key (<<): write the keys out")
            self._whole = False
            return None
        key = event.value
        if event.anchor is not None or event.tag is not None:
            self._node(event, keys)
        elif event.implicit[0] and not _is_text(key):
            what = key if key else "the empty key"
            self._mistake(event, f"keys must be texts: put {what} in quotes")
        return key

    def _scalar(self, event: events.ScalarEvent, keys: Keys) -> object:
        text = event.value
        if not event.implicit[0]:
            return text
        if text in _NULL:
            return None
        value: object = _BOOLEANS.get(text, text)
        if value is text and text[0] in _FIRST_OF_A_NUMBER:
            value = self._number(event, text)
        if value is not text and text_of(value) != text and not _LEADING_ZERO.fullmatch(text):
            self._respelled[keys] = text
        return value

    def _number(self, event: events.ScalarEvent, text: str) -> object:
        if _INTEGER.fullmatch(text):
            if _LEADING_ZERO.fullmatch(text):
                self._mistake(
                    event,
                    f"{text} has a leading zero: write the number without it, or put it in quotes",
                )
            return int(text) if len(text) < _LONGEST_NUMBER else text
        base, form = _BASED.get(text[:2], (0, _INTEGER))
        if base and form.fullmatch(text):
            return int(text[2:], base)
        if _FLOAT.fullmatch(text):
            value = float(text)
            if value in (float("inf"), float("-inf")):
                self._mistake(event, f"{text} is too large for a number: put it in quotes")
            return value
        if _NOT_JSON.fullmatch(text):
            self._mistake(event, f"{text} is not valid in JSON: put it in quotes")
        return text


def _is_text(written: str) -> bool:
    return written not in _NULL and written not in _BOOLEANS and not _FLOAT.fullmatch(written)


def _line(event: events.Event) -> int:
    mark = event.start_mark
    return 1 if mark is None else mark.line + 1


def _short_tag(tag: str) -> str:
    return tag.replace("tag:yaml.org,2002:", "!!")


def _broken(text: str, error: yaml.MarkedYAMLError) -> tuple[int, str]:
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return 1, f"not YAML: {error.problem}"
    lines = text.splitlines()
    line = max(1, min(mark.line + 1, len(lines)))
    if mark.line < len(lines) and "\t" in lines[mark.line][: mark.column + 1]:
        return line, "not YAML: indent with spaces, not with tabs"
    context = ""
    outer = error.context_mark
    if outer is not None and outer.line + 1 < line:
        context = f" ({error.context} that begins in line {outer.line + 1})"
    return line, f"not YAML: {error.problem}{context}"
