"""What a message must be like: expectations and replies, from plain data to the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jetproof.load.reader import Raw, Reader, seconds
from jetproof.load.scope import Scope
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


class Expectations:
    """Reads expectations; what they capture is collected in `captures` until it is taken."""

    def __init__(self, reader: Reader, scope: Scope) -> None:
        self._reader = reader
        self._scope = scope
        self.captures = Captures()

    def take_captures(self) -> None:
        """From here on the variables captured so far are set."""
        for name, line in self.captures.always.items():
            self._scope.sets(name, line)
        for name, line in self.captures.sometimes.items():
            self._scope.may_set(name, line)
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
            self._reader.mistake(
                keys, f"nothing ends these {keys[-1]}: give until, count or within"
            )
        parts: dict[str, Expectation] = {}
        for name in ("until", "each", "first", "last"):
            inner = raw.get(name)
            if isinstance(inner, Mapping):
                if name == "until":
                    parts[name] = self._ending((*keys, name), inner)
                else:
                    parts[name] = self.expectation((*keys, name), inner)
        count = self._reader.matcher((*keys, "count"), raw["count"]) if "count" in raw else None
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
            found[name] = self._reader.path((*keys, name), str(path))
            self.captures.always[name] = self._reader.line((*keys, name))
        return found

    def _ending(self, keys: Keys, raw: Raw) -> Expectation:
        for name in ("capture", "position", "mark"):
            if name in raw:
                self._reader.mistake((*keys, name), f"until cannot hold {name}: put it into last")
        return self._read(keys, raw)[0]

    def _read(self, keys: Keys, raw: Raw) -> tuple[Expectation, Captures]:
        if raw.get("empty") is True:
            self._reader.exclusive(keys, raw, ("empty",), _WITH_A_PAYLOAD)
        of_text = {
            name: self._reader.matcher((*keys, name), raw[name], of_text=True)
            for name in ("description", "payload", "subject", "reply")
            if name in raw
        }
        one_of, captures = self._one_of((*keys, "one_of"), raw.get("one_of"))
        for name in self._reader.sources((*keys, "capture"), raw.get("capture")):
            captures.always[name] = self._reader.line((*keys, "capture", name))
        position = raw.get("position")
        empty, schema = raw.get("empty"), raw.get("schema")
        if isinstance(schema, str):
            self._scope.schema(schema, self._reader.line((*keys, "schema")))
        outcome = raw.get("is")
        if outcome is not None and "answer" not in keys:
            self._reader.mistake((*keys, "is"), "is belongs to the answer of a client library")
        expectation = Expectation(
            outcome=outcome if isinstance(outcome, str) else None,
            empty=empty if isinstance(empty, bool) else None,
            status=self._reader.matcher((*keys, "status"), raw["status"])
            if "status" in raw
            else None,
            error=self._error((*keys, "error"), raw["error"]) if "error" in raw else None,
            schema=schema if isinstance(schema, str) else None,
            json=self._reader.matchers((*keys, "json"), raw.get("json"), paths=True),
            headers=self._reader.matchers((*keys, "headers"), raw.get("headers"), paths=False),
            header_names=self._reader.matcher((*keys, "header_names"), raw["header_names"])
            if "header_names" in raw
            else None,
            one_of=one_of,
            not_before=self.after((*keys, "not_before"), raw.get("not_before")),
            position=position if isinstance(position, str) else None,
            positions=self._reader.sources((*keys, "position"), position),
            capture=self._reader.sources((*keys, "capture"), raw.get("capture")),
            mark=self._mark((*keys, "mark"), raw.get("mark")),
            **of_text,
        )
        return expectation, captures

    def _mark(self, keys: Keys, raw: object) -> str | None:
        """The moment at which the message came, under a name that is known from here on."""
        if not isinstance(raw, str):
            return None
        if "one_of" in keys:
            self._reader.mistake(
                keys, "an alternative of one_of cannot mark: put mark beside one_of"
            )
        self._scope.marks(raw, self._reader.line(keys))
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
            self._scope.error_code(code, self._reader.line(place))
        return ErrorCode(codes)

    def after(self, keys: Keys, raw: object) -> After | None:
        if not isinstance(raw, Mapping):
            return None
        self._scope.mark(raw["after"], self._reader.line((*keys, "after")))
        return After(raw["after"], seconds(raw["by"]))
