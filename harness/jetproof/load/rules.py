"""Rules of the tap, from plain data as YAML gives it to the model. docs/tap.md explains them.

Their structure is checked by the schema (`rule_schema`); what is checked here is what they mean. Files
are read by a `RuleReader`; `parse_rules` is for rules that a program makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from jetproof.data import fixtures_dir
from jetproof.load.reader import AnyNames, DataSource, Raw, Reader, as_map
from jetproof.load.rule_actions import ActionReader
from jetproof.load.rule_schema import COUNTS, OPS
from jetproof.load.structure import FileSchema
from jetproof.load.yaml_source import Keys
from jetproof.model.matcher import Matcher
from jetproof.wire.rules.model import (
    Answer,
    Count,
    Inject,
    Reply,
    Rule,
    Selector,
    Sender,
    Wildcard,
)

_Remember = tuple[tuple[str, str], ...]

_FROM_SERVER: Final = frozenset({"MSG", "HMSG", "INFO", "+OK", "-ERR"})
_FROM_CLIENT: Final = frozenset({"PUB", "HPUB", "CONNECT", "SUB", "UNSUB"})
_ON_THE_WIRE: Final[Mapping[str, frozenset[str]]] = {
    **{op: frozenset({op}) for op in OPS},
    "MSG": frozenset({"MSG", "HMSG"}),
    "PUB": frozenset({"PUB", "HPUB"}),
    "OK": frozenset({"+OK"}),
    "ERR": frozenset({"-ERR"}),
}
_ABOUT_MESSAGES: Final = frozenset(
    {"subject", "reply", "headers", "status", "description", "json", "payload"}
)
_ANY_PUBLISH: Final[Mapping[str, Any]] = {"subject": {"not": {"match": r"^[$]JS[.]"}}}


class RuleError(ValueError):
    """Rules that cannot be read: every mistake as (path within the data, what is wrong)."""

    def __init__(self, mistakes: Iterable[tuple[Keys, str]]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__(
            "; ".join(f"{'.'.join(map(str, path))}: {text}" for path, text in self.mistakes)
        )


def parse_rule(raw: object) -> Rule:
    """One rule; RuleError with all that is wrong."""
    [rule] = parse_rules([raw])
    return rule


def parse_rules(raw: Sequence[object]) -> tuple[Rule, ...]:
    """Rules in order, each with an id of its own; RuleError with all that is wrong."""
    source = DataSource()
    rules: tuple[Rule, ...] = ()
    for place, item in enumerate(raw):
        _check_structure("rule", (place,), item, source)
    if not source.mistakes:
        reader = RuleReader(Reader(source, AnyNames()))
        rules = reader.rules((), raw)
        reader.check_ids((), rules)
    if source.mistakes:
        raise RuleError(source.mistakes)
    return rules


def parse_message(raw: object) -> Reply:
    """A message as `inject` takes it; RuleError with all that is wrong."""
    source = DataSource()
    _check_structure("rule-message", (), raw, source)
    message = Reply()
    if not source.mistakes:
        message = ActionReader(Reader(source, AnyNames())).message((), as_map(raw))
    if source.mistakes:
        raise RuleError(source.mistakes)
    return message


def _check_structure(part: str, keys: Keys, raw: object, source: DataSource) -> None:
    for flaw in _schema(part).flaws(raw):
        source.mistake((*keys, *flaw.keys), flaw.message)


@cache
def _schema(part: str) -> FileSchema:
    return FileSchema(fixtures_dir() / "schemas" / "case-file.json", part)


class RuleReader:
    """Reads rules that follow the schema."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._actions = ActionReader(reader)

    def rules(self, keys: Keys, raw: Sequence[object]) -> tuple[Rule, ...]:
        """Rules in order; one without an id is called by its place."""
        return tuple(
            self._rule((*keys, place), as_map(item), f"rule-{place + 1}")
            for place, item in enumerate(raw)
        )

    def check_ids(self, keys: Keys, rules: Iterable[Rule]) -> None:
        """Each of the rules has an id of its own."""
        seen: set[str] = set()
        for place, rule in enumerate(rules):
            if rule.id in seen:
                self._reader.mistake((*keys, place, "id"), f"there is another rule {rule.id!r}")
            seen.add(rule.id)

    def selector(self, keys: Keys, on: Raw) -> Selector:
        """Which frames are meant, counting aside."""
        answers: Selector | None = None
        remember: _Remember = ()
        if "answers" in on:
            answers, remember = self._answers((*keys, "answers"), on["answers"])
        sender, ops = self._origin(keys, on)
        return Selector(
            sender=sender,
            ops=ops,
            subject=self._pattern(keys, on, "subject"),
            reply=self._pattern(keys, on, "reply"),
            headers=self._matchers(keys, on, "headers"),
            status=self._matcher(keys, on, "status"),
            description=self._matcher(keys, on, "description"),
            json=self._matchers(keys, on, "json"),
            payload=self._matcher(keys, on, "payload"),
            answers=answers,
            remember=remember,
        )

    def _rule(self, keys: Keys, raw: Raw, default_id: str) -> Rule:
        on, here = as_map(raw["on"]), (*keys, "on")
        selector = self.selector(here, on)
        count = self._count(here, on)
        action = self._actions.action((*keys, "do"), raw["do"])
        remember = self._remember((*keys, "remember"), raw.get("remember"))
        if isinstance(action, Answer) and selector.sender == "server":
            words = "only a publish of the client can be answered: write op: PUB in on"
            self._reader.mistake((*keys, "do", "answer"), words)
        if isinstance(action, Inject) and action.blind and not _about_requests(selector):
            words = "blind needs a publish, or answers to one: write op: PUB or answers in on"
            self._reader.mistake((*keys, "do", "blind"), words)
        return Rule(str(raw.get("id", default_id)), selector, action, count, remember)

    def _answers(self, keys: Keys, raw: object) -> tuple[Selector, _Remember]:
        on = _ANY_PUBLISH if raw == "publish" else as_map(raw)
        remember = self._remember((*keys, "remember"), on.get("remember"))
        return self.selector(keys, {"op": "PUB", **on, "from": "client"}), remember

    def _origin(self, keys: Keys, on: Raw) -> tuple[Sender, frozenset[str]]:
        ops = _ON_THE_WIRE[str(on["op"])] if "op" in on else frozenset()
        sender: Sender = "server"
        said = on.get("from")
        if said == "client" or (said is None and "answers" not in on and ops & _FROM_CLIENT):
            sender = "client"
        elif said is None and "answers" not in on and not ops & _FROM_SERVER:
            self._reader.mistake(keys, "whose frames? Write from: client or from: server")
        if sender == "client" and "answers" in on:
            words = "only frames from the server answer: write from: server, or leave it out"
            self._reader.mistake((*keys, "answers"), words)
        if ops & (_FROM_CLIENT if sender == "server" else _FROM_SERVER):
            self._reader.mistake((*keys, "op"), f"a {sender} does not send {on['op']}")
        if "op" not in on and ("answers" in on or _ABOUT_MESSAGES & on.keys()):
            ops = _ON_THE_WIRE["PUB" if sender == "client" else "MSG"]
        return sender, ops

    def _pattern(self, keys: Keys, on: Raw, key: str) -> Wildcard | Matcher | None:
        if isinstance(on.get(key), str):
            return Wildcard(self._reader.value((*keys, key), on[key]))
        return self._matcher(keys, on, key)

    def _matcher(self, keys: Keys, on: Raw, key: str) -> Matcher | None:
        return self._reader.matcher((*keys, key), on[key]) if key in on else None

    def _matchers(self, keys: Keys, on: Raw, key: str) -> tuple[tuple[str, Matcher], ...]:
        found = self._reader.matchers((*keys, key), on.get(key), paths=key == "json")
        return tuple(found.items())

    def _count(self, keys: Keys, on: Raw) -> Count:
        numbers = {key: number for key in COUNTS if isinstance(number := on.get(key), int)}
        if len(numbers.keys() - {"times"}) > 1:
            self._reader.mistake(keys, "nth, every and after exclude each other: write one of them")
        return Count(**numbers)

    def _remember(self, keys: Keys, raw: object) -> _Remember:
        return tuple(self._reader.sources(keys, raw).items())


def _about_requests(selector: Selector) -> bool:
    return selector.answers is not None or (bool(selector.ops) and selector.ops <= {"PUB", "HPUB"})
