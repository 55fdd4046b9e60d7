"""What the steps of a case know of its client library: calls made so far, and rules at its tap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jetproof.load.mistakes import choices
from jetproof.load.reader import Reader, as_map, as_text
from jetproof.load.rules import RuleReader
from jetproof.load.scope import Scope
from jetproof.load.yaml_source import Keys
from jetproof.wire.rules import Rule
from jetproof.wire.rules.model import Selector


class Calls:
    """The names of calls and rules of one case. `for_client`: its suite is about client libraries."""

    def __init__(self, reader: Reader, scope: Scope, *, for_client: bool) -> None:
        self._reader = reader
        self._scope = scope
        self.for_client = for_client
        self.complete = True
        """Whether all steps so far could be read: one that could not may have made any name."""
        self._later: dict[str, int] = {}
        self._rules: dict[str, int] = {}

    def check_kind(self, keys: Keys, kind: str) -> None:
        """What only cases for client libraries have."""
        if not self.for_client:
            self._reader.mistake(keys, f"{kind} belongs to suites whose folder is called client")

    def add(self, keys: Keys, name: str) -> None:
        """A call whose answer a later step looks at."""
        if first := self._later.get(name):
            self._reader.mistake(keys, f"the call {name!r} is in line {first} already")
        self._later[name] = self._reader.line(keys)

    def check(self, keys: Keys, name: str) -> None:
        if self.complete and name not in self._later:
            self._reader.mistake(keys, f"no call {name!r} before; {choices(name, self._later)}")

    def check_rule(self, keys: Keys, name: str, when: str = "") -> None:
        if self.complete and name not in self._rules:
            self._reader.mistake(keys, f"no rule {name!r}{when}; {choices(name, self._rules)}")

    def rules(self, keys: Keys, raw: object) -> tuple[Rule, ...]:
        """Rules of the case, each with an id that `fired` can name."""
        listed = raw if isinstance(raw, list) else []
        for index, rule in enumerate(listed):
            name = as_text(as_map(rule).get("id"))
            if name is None:
                self._reader.mistake((*keys, index), "a rule of a case needs an id: write id: name")
            elif first := self._rules.get(name):
                self._reader.mistake(
                    (*keys, index, "id"), f"the rule {name!r} is in line {first} already"
                )
            else:
                self._rules[name] = self._reader.line((*keys, index))
        remembered = frozenset(name for rule in listed for name in _remembered(rule))
        reader = RuleReader(self._reader.naming(_RuleNames(self._scope, remembered)))
        return reader.rules(keys, listed)

    def selector(self, keys: Keys, on: Mapping[str, Any]) -> Selector:
        """Which frames a step looks at."""
        return RuleReader(self._reader).selector(keys, on)


class _RuleNames:
    """The variables of the case, and those that its rules remember."""

    def __init__(self, scope: Scope, remembered: frozenset[str]) -> None:
        self._scope = scope
        self._remembered = remembered

    def knows(self, variable: str) -> bool:
        return variable in self._remembered or self._scope.knows(variable)

    def variable(self, name: str, line: int) -> None:
        if name not in self._remembered:
            self._scope.variable(name, line)


def _remembered(raw: object) -> Iterable[str]:
    """Every name below a key `remember` of a rule."""
    if isinstance(raw, Mapping):
        for key, value in raw.items():
            if key == "remember":
                yield from as_map(value)
            else:
                yield from _remembered(value)
    elif isinstance(raw, list):
        for value in raw:
            yield from _remembered(value)
