"""What a message must be like: expectations and replies, from plain data to the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jetproof.load.reader import Raw, Reader, seconds
from jetproof.load.yaml_source import Keys
from jetproof.model.case import After, ErrorCode, Expectation, Replies, Silence

_WITH_A_PAYLOAD = ("error", "schema", "json", "payload")


@dataclass(slots=True)
class Captures:
    """Variables that a message sets, with lines; `sometimes` those that only alternatives set."""

    always: dict[str, int] = field(default_factory=dict)
    sometimes: dict[str, int] = field(default_factory=dict)

    def add(self, other: Captures) -> None:
        self.always.update(other.always)
        self.sometimes.update(other.sometimes)


class ExpectationReader(Reader):
    """Reads expectations; what they capture is collected in `captures` until it is taken."""

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader.document, reader.scope)
        self.captures = Captures()

    def take_captures(self) -> None:
        """From here on the variables captured so far are set."""
        for name, line in self.captures.always.items():
            self.scope.sets(name, line)
        for name, line in self.captures.sometimes.items():
            self.scope.may_set(name, line)
        self.captures = Captures()

    def expectation(self, keys: Keys, raw: Raw) -> Expectation:
        expectation, captures = self._read(keys, raw)
        self.captures.add(captures)
        return expectation

    def reply(self, keys: Keys, raw: Raw) -> Expectation | Silence:
        if "silence" in raw:
            return Silence(seconds(raw["silence"]))
        return self.expectation(keys, raw)

    def replies(self, keys: Keys, raw: Raw) -> Replies:
        if "until" not in raw and "count" not in raw and "within" not in raw:
            self.mistake(keys, f"nothing ends these {keys[-1]}: give until, count or within")
        parts: dict[str, Expectation] = {}
        for name in ("until", "each", "first", "last"):
            inner = raw.get(name)
            if isinstance(inner, Mapping):
                if name == "until":
                    parts[name] = self._ending((*keys, name), inner)
                else:
                    parts[name] = self.expectation((*keys, name), inner)
        count = self.matcher((*keys, "count"), raw["count"]) if "count" in raw else None
        within = seconds(raw["within"]) if "within" in raw else None
        position = raw.get("position")
        return Replies(
            **parts,
            count=count,
            within=within,
            position=position if isinstance(position, str) else None,
        )

    def captured_paths(self, keys: Keys, raw: object) -> dict[str, str]:
        """Captures of a step that has only paths to read from."""
        found: dict[str, str] = {}
        for name, path in (raw if isinstance(raw, Mapping) else {}).items():
            found[name] = self.path((*keys, name), str(path))
            self.captures.always[name] = self.line((*keys, name))
        return found

    def _ending(self, keys: Keys, raw: Raw) -> Expectation:
        for name in ("capture", "position", "mark"):
            if name in raw:
                self.mistake((*keys, name), f"until keeps nothing: put {name} into last")
        return self._read(keys, raw)[0]

    def _read(self, keys: Keys, raw: Raw) -> tuple[Expectation, Captures]:
        if raw.get("empty") is True:
            self.exclusive(keys, raw, ("empty",), _WITH_A_PAYLOAD)
        of_text = {
            name: self.matcher((*keys, name), raw[name], of_text=True)
            for name in ("description", "payload", "subject", "reply")
            if name in raw
        }
        one_of, captures = self._one_of((*keys, "one_of"), raw.get("one_of"))
        for name in self.sources((*keys, "capture"), raw.get("capture")):
            captures.always[name] = self.line((*keys, "capture", name))
        position = raw.get("position")
        empty, schema = raw.get("empty"), raw.get("schema")
        if isinstance(schema, str):
            self.scope.schema(schema, self.line((*keys, "schema")))
        outcome = raw.get("is")
        if outcome is not None and "answer" not in keys:
            self.mistake((*keys, "is"), "is belongs to the answer of a client library")
        expectation = Expectation(
            outcome=outcome if isinstance(outcome, str) else None,
            empty=empty if isinstance(empty, bool) else None,
            status=self.matcher((*keys, "status"), raw["status"]) if "status" in raw else None,
            error=self._error((*keys, "error"), raw["error"]) if "error" in raw else None,
            schema=schema if isinstance(schema, str) else None,
            json=self.matchers((*keys, "json"), raw.get("json"), paths=True),
            headers=self.matchers((*keys, "headers"), raw.get("headers"), paths=False),
            header_names=self.matcher((*keys, "header_names"), raw["header_names"])
            if "header_names" in raw
            else None,
            one_of=one_of,
            not_before=self.after((*keys, "not_before"), raw.get("not_before")),
            position=position if isinstance(position, str) else None,
            positions=self.sources((*keys, "position"), position),
            capture=self.sources((*keys, "capture"), raw.get("capture")),
            mark=self._mark((*keys, "mark"), raw.get("mark")),
            **of_text,
        )
        return expectation, captures

    def _mark(self, keys: Keys, raw: object) -> str | None:
        """The moment at which the message came, under a name that is known from here on."""
        if not isinstance(raw, str):
            return None
        if "one_of" in keys:
            self.mistake(keys, "an alternative of one_of cannot mark: put mark beside one_of")
        self.scope.marks(raw, self.line(keys))
        return raw

    def _one_of(self, keys: Keys, raw: object) -> tuple[tuple[Expectation, ...], Captures]:
        if not isinstance(raw, Sequence) or isinstance(raw, str):
            return (), Captures()
        read = [self._read((*keys, index), inner) for index, inner in enumerate(raw)]
        everywhere = set.intersection(*(set(captures.always) for _, captures in read))
        merged = Captures()
        for _, captures in read:
            merged.sometimes.update(captures.sometimes)
            for name, line in captures.always.items():
                (merged.always if name in everywhere else merged.sometimes).setdefault(name, line)
        return tuple(expectation for expectation, _ in read), merged

    def _error(self, keys: Keys, raw: object) -> ErrorCode:
        if raw == "any":
            return ErrorCode()
        codes = tuple(raw) if isinstance(raw, list) else (raw,)
        for index, code in enumerate(codes):
            place = (*keys, index) if isinstance(raw, list) else keys
            self.scope.error_code(code, self.line(place))
        return ErrorCode(codes)

    def after(self, keys: Keys, raw: object) -> After | None:
        if not isinstance(raw, Mapping):
            return None
        self.scope.mark(raw["after"], self.line((*keys, "after")))
        return After(raw["after"], seconds(raw["by"]))
