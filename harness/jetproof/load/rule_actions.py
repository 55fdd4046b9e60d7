"""The `do` of a rule: from plain data to an action."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jetproof.load.reader import Raw, Reader, as_map, duration_in, seconds
from jetproof.load.rule_schema import ACTIONS
from jetproof.load.yaml_source import Keys
from jetproof.model.template import Value
from jetproof.wire.rules.model import (
    Accept,
    Action,
    Add,
    Answer,
    Change,
    Cut,
    Delay,
    Drop,
    Duplicate,
    Edit,
    Inject,
    Pass,
    Pause,
    Plus,
    Put,
    Refuse,
    Remove,
    Rename,
    Reply,
    Resume,
    Strip,
)

_SIMPLE: Final[Mapping[str, Action]] = {
    "drop": Drop(),
    "cut": Cut(),
    "duplicate": Duplicate(),
    "pass": Pass(),
    "refuse": Refuse(),
    "accept": Accept(),
    "pause": Pause(),
    "resume": Resume(),
}


class ActionReader:
    """Reads actions that follow the schema."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def action(self, keys: Keys, raw: object) -> Action:
        if isinstance(raw, str):
            return _SIMPLE[raw]
        given = as_map(raw)
        kind = next(kind for kind in ACTIONS if kind in given)
        here, body = (*keys, kind), given[kind]
        match kind:
            case "delay":
                return _delay(body)
            case "cut":
                return self._cut(here, body)
            case "refuse":
                return _refuse(body)
            case "pause":
                return Pause(seconds(body))
            case "change":
                return self._change(here, as_map(body))
            case "strip":
                return self._strip(here, as_map(body))
            case "answer":
                return self._answer(here, body, passes=given.get("pass") is True)
            case _:
                return Inject(
                    self.message(here, as_map(body)),
                    before=given.get("place") == "before",
                    blind=given.get("blind") is True,
                )

    def message(self, keys: Keys, raw: Raw) -> Reply:
        """A message that the tap makes up."""
        if "error" in raw and len(raw) > 1:
            self._reader.mistake(keys, "a message with error has no other keys: remove them")
        self._reader.exclusive(keys, raw, ("json",), ("payload",))
        headers: list[tuple[str, Value]] = []
        for name, value in as_map(raw.get("headers")).items():
            here = (*keys, "headers", name)
            values = value if isinstance(value, list) else [value]
            headers.extend((name, self._reader.value(here, item)) for item in values)

        def value_of(key: str) -> Value:
            return self._reader.value((*keys, key), raw[key]) if key in raw else None

        return Reply(
            subject=value_of("subject"),
            to=value_of("to"),
            reply=value_of("reply"),
            headers=tuple(headers),
            status=value_of("status"),
            description=value_of("description"),
            payload=value_of("json" if "json" in raw else "payload"),
            is_json="json" in raw,
            error=value_of("error"),
        )

    def _cut(self, keys: Keys, raw: object) -> Cut:
        if isinstance(raw, str):
            return Cut(after=raw == "after")
        given = as_map(raw)
        deaf = given.get("deaf") is True
        refuse = None
        if "refuse" in given:
            limit = None if given["refuse"] is True else seconds(given["refuse"])
            refuse = Refuse(limit, deaf)
        elif deaf:
            self._reader.mistake((*keys, "deaf"), "deaf needs refuse: write refuse: 2s beside it")
        return Cut(after=given.get("place") == "after", refuse=refuse)

    def _change(self, keys: Keys, given: Raw) -> Change:
        def put(key: str) -> Put | None:
            return Put(self._reader.value((*keys, key), given[key])) if key in given else None

        def put_or_remove(key: str) -> Put | Remove | None:
            return Remove() if given.get(key) == {"remove": True} else put(key)

        return Change(
            subject=put("subject"),
            reply=put_or_remove("reply"),
            headers=self._edits(keys, given, "headers"),
            no_headers="headers" in given and given["headers"] is None,
            status=put_or_remove("status"),
            description=put("description"),
            json=self._edits(keys, given, "json"),
            payload=put("payload"),
        )

    def _edits(self, keys: Keys, given: Raw, key: str) -> tuple[tuple[str, Edit], ...]:
        found: list[tuple[str, Edit]] = []
        for name, raw in as_map(given.get(key)).items():
            here = (*keys, key, name)
            if key == "json":
                self._reader.path(here, name)
            found.append((name, self._edit(here, raw, header=key == "headers")))
        return tuple(found)

    def _edit(self, keys: Keys, raw: object, *, header: bool) -> Edit:
        if isinstance(raw, Mapping) and len(raw) == 1:
            ((operator, argument),) = raw.items()
            match operator:
                case "remove" if argument is True:
                    return Remove()
                case "rename" if isinstance(argument, str):
                    return Rename(argument)
                case "add":
                    return Add(self._reader.value(keys, argument))
                case "plus" if header:
                    return Plus(self._reader.value(keys, argument))
                case "value" if not header:
                    return Put(self._reader.value(keys, argument))
                case _:
                    pass
        return Put(self._reader.value(keys, raw))

    def _strip(self, keys: Keys, given: Raw) -> Strip:
        headers, paths = (
            tuple(map(str, listed)) if isinstance(listed := given.get(key), list) else ()
            for key in ("headers", "json")
        )
        for place, path in enumerate(paths):
            self._reader.path((*keys, "json", place), path)
        end = given.get("reply_end")
        return Strip(headers, paths, end if isinstance(end, str) else None)

    def _answer(self, keys: Keys, raw: object, *, passes: bool) -> Answer:
        if not isinstance(raw, list):
            return Answer((self.message(keys, as_map(raw)),), passes=passes)
        replies = (self.message((*keys, place), as_map(item)) for place, item in enumerate(raw))
        return Answer(tuple(replies), passes=passes)


def _delay(raw: object) -> Delay:
    if not isinstance(raw, Mapping):
        return Delay(seconds(raw))
    return Delay(seconds(raw["by"]), reorder=raw.get("reorder") is True)


def _refuse(raw: object) -> Refuse:
    if not isinstance(raw, Mapping):
        return Refuse(seconds(raw))
    return Refuse(duration_in(raw, "for"), raw.get("deaf") is True)
