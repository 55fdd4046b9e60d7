"""The `do` of a rule: from plain data to an action. `reading` shows the whole form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from jetproof.model.template import Value
from jetproof.wire.rules.basics import Path, Reader
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

ABOUT_MESSAGES: Final = frozenset(
    {"subject", "reply", "headers", "status", "description", "json", "payload"}
)
_MESSAGE: Final = frozenset({*ABOUT_MESSAGES, "to", "error"})
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s)")
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
_KINDS: Final = ("delay", "cut", "refuse", "pause", "change", "strip", "answer", "inject")
_BESIDES: Final[Mapping[str, tuple[str, ...]]] = {
    "answer": ("pass",),
    "inject": ("place", "blind"),
}


class ActionReader(Reader):
    """Reads actions."""

    def action(self, raw: object, path: Path) -> Action | None:
        if isinstance(raw, str) and raw in _SIMPLE:
            return _SIMPLE[raw]
        kind = next((kind for kind in _KINDS if isinstance(raw, Mapping) and kind in raw), None)
        if kind is None:
            known = (*_SIMPLE, *(f"{{{kind}: ...}}" for kind in _KINDS if kind not in _SIMPLE))
            self.wrong(path, f"{raw!r} is no action; there are: {', '.join(known)}")
            return None
        given = self.mapping(raw, path, (kind, *_BESIDES.get(kind, ())))
        inner = (*path, kind)
        match kind:
            case "delay":
                return self.delay(given["delay"], inner)
            case "cut":
                return self.cut(given["cut"], inner)
            case "refuse":
                return self.refuse(given["refuse"], inner)
            case "pause":
                return Pause(self.duration(given["pause"], inner))
            case "change":
                return self.change(given["change"], inner)
            case "strip":
                return self.strip(given["strip"], inner)
            case "answer":
                return self.answer(given["answer"], self.flag(given, "pass", path), inner)
            case _:
                place = self.choice(
                    given.get("place", "after"), ("before", "after"), (*path, "place")
                )
                return Inject(
                    self.message(given["inject"], inner),
                    before=place == "before",
                    blind=self.flag(given, "blind", path),
                )

    def duration(self, raw: object, path: Path) -> float:
        found = _DURATION.fullmatch(str(raw))
        if found is None:
            self.wrong(path, f"{raw!r} is not a duration such as 200ms or 1.5s")
            return 0
        return float(found[1]) * (0.001 if found[2] == "ms" else 1)

    def delay(self, raw: object, path: Path) -> Delay:
        given = raw if isinstance(raw, Mapping) else {"by": raw}
        given = self.mapping(given, path, ("by", "reorder"))
        seconds = self.duration(given.get("by"), path)
        return Delay(seconds, reorder=self.flag(given, "reorder", path))

    def cut(self, raw: object, path: Path) -> Cut:
        if not isinstance(raw, Mapping):
            return Cut(after=self.choice(raw, ("before", "after"), path) == "after")
        given = self.mapping(raw, path, ("place", "refuse", "deaf"))
        place = self.choice(given.get("place", "before"), ("before", "after"), (*path, "place"))
        deaf = self.flag(given, "deaf", path)
        refuse = None
        if given.get("refuse") is True:
            refuse = Refuse(None, deaf)
        elif "refuse" in given:
            refuse = Refuse(self.duration(given["refuse"], (*path, "refuse")), deaf)
        elif deaf:
            self.wrong((*path, "deaf"), "only with refuse")
        return Cut(after=place == "after", refuse=refuse)

    def refuse(self, raw: object, path: Path) -> Refuse:
        if not isinstance(raw, Mapping):
            return Refuse(self.duration(raw, path))
        given = self.mapping(raw, path, ("for", "deaf"))
        seconds = self.duration(given["for"], (*path, "for")) if "for" in given else None
        return Refuse(seconds, self.flag(given, "deaf", path))

    def change(self, raw: object, path: Path) -> Change:
        given = self.mapping(raw, path, ABOUT_MESSAGES)
        if raw == {}:
            self.wrong(path, "nothing to change")

        def put(key: str) -> Put | None:
            return Put(self.value(given[key], (*path, key))) if key in given else None

        def put_or_remove(key: str) -> Put | Remove | None:
            return Remove() if given.get(key) == {"remove": True} else put(key)

        no_headers = "headers" in given and given["headers"] is None
        return Change(
            subject=put("subject"),
            reply=put_or_remove("reply"),
            headers=() if no_headers else self.edits(given, "headers", path),
            no_headers=no_headers,
            status=put_or_remove("status"),
            description=put("description"),
            json=self.edits(given, "json", path),
            payload=put("payload"),
        )

    def strip(self, raw: object, path: Path) -> Strip:
        given = self.mapping(raw, path, ("headers", "json", "reply_end"))
        if raw == {}:
            self.wrong(path, "nothing to strip: write headers, json or reply_end")
        paths = self.names(given.get("json", []), (*path, "json"))
        for place, one in enumerate(paths):
            self.path(one, (*path, "json", place))
        end = given.get("reply_end")
        if end is not None and (not isinstance(end, str) or not end):
            self.wrong((*path, "reply_end"), f"the end of a subject, such as .x, not {end!r}")
        headers = self.names(given.get("headers", []), (*path, "headers"))
        return Strip(headers, paths, end if isinstance(end, str) else None)

    def names(self, raw: object, path: Path) -> tuple[str, ...]:
        if not isinstance(raw, list) or not all(isinstance(one, str) and one for one in raw):
            self.wrong(path, f"a list of names is needed, not {raw!r}")
            return ()
        return tuple(raw)

    def edits(self, given: Mapping[str, Any], key: str, path: Path) -> tuple[tuple[str, Edit], ...]:
        found: list[tuple[str, Edit]] = []
        for name, raw in self.mapping(given.get(key, {}), (*path, key), None).items():
            here = (*path, key, str(name))
            if key == "json":
                self.path(str(name), here)
            found.append((str(name), self.edit(raw, here, header=key == "headers")))
        return tuple(found)

    def edit(self, raw: object, path: Path, *, header: bool) -> Edit:
        if isinstance(raw, Mapping) and len(raw) == 1:
            ((operator, argument),) = raw.items()
            match operator:
                case "remove" if argument is True:
                    return Remove()
                case "rename" if isinstance(argument, str):
                    return Rename(argument)
                case "add":
                    return Add(self.value(argument, path))
                case "plus" if header:
                    return Plus(self.value(argument, path))
                case "value" if not header:
                    return Put(self.value(argument, path))
                case _:
                    pass
        if header and isinstance(raw, Mapping):
            self.wrong(path, "a value, a list of them, or one of remove, add, plus, rename")
        return Put(self.value(raw, path))

    def answer(self, raw: object, passes: bool, path: Path) -> Answer:
        if isinstance(raw, list):
            replies = [self.message(item, (*path, place)) for place, item in enumerate(raw)]
        else:
            replies = [self.message(raw, path)]
        return Answer(tuple(replies), passes=passes)

    def message(self, raw: object, path: Path) -> Reply:
        given = self.mapping(raw, path, _MESSAGE)
        if "error" in given and len(given) > 1:
            self.wrong(path, "an error has nothing else")
        if "json" in given and "payload" in given:
            self.wrong(path, "either json or payload")
        headers: list[tuple[str, Value]] = []
        for name, value in self.mapping(given.get("headers", {}), (*path, "headers"), None).items():
            here = (*path, "headers", str(name))
            values = value if isinstance(value, list) else [value]
            headers.extend((str(name), self.value(item, here)) for item in values)

        def value_of(key: str) -> Value:
            return self.value(given[key], (*path, key)) if key in given else None

        return Reply(
            subject=value_of("subject"),
            to=value_of("to"),
            reply=value_of("reply"),
            headers=tuple(headers),
            status=value_of("status"),
            description=value_of("description"),
            payload=value_of("json" if "json" in given else "payload"),
            is_json="json" in given,
            error=value_of("error"),
        )
