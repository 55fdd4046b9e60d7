"""Steps about a client library, from plain data to the model: calls, events, frames, faults."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from jetproof.load.mistakes import choices
from jetproof.load.reader import Raw, Reader, seconds
from jetproof.load.server_steps import ServerStepReader, as_map, as_text
from jetproof.load.yaml_source import Keys
from jetproof.model import client as model
from jetproof.model import template
from jetproof.model.case import ClientGiven, Expectation, Given, Step
from jetproof.model.template import TemplateError, Value, parse_value
from jetproof.wire.rules import Rule, RuleError, parse_rules

KINDS: Final = ("call", "answered", "event", "wire", "fired", "tap")
_OUTCOMES: Final = ("ok", "error")
_OF_A_CALL: Final = ("op", "within", "later", "demanded")
_OF_A_LOOK: Final = ("within", "none_for")


class ClientStepReader(ServerStepReader):
    """Reads what cases for client libraries have besides. Names of calls and rules are the case's."""

    def __init__(self, reader: Reader, given: Given | None, *, for_client: bool) -> None:
        super().__init__(reader, given)
        self.for_client = for_client
        self._later: dict[str, int] = {}
        self._rules: dict[str, int] = {}

    # -- what is given --------------------------------------------------------------------------

    def client_given(self, keys: Keys, raw: object) -> ClientGiven:
        body = as_map(raw)
        if raw is not None and not self.for_client:
            self.mistake(keys, "client belongs to suites whose folder is called client")
        connect = body.get("connect")
        given: dict[str, Value] = {}
        for name, value in as_map(connect).items():
            place = (*keys, "connect", name)
            if name not in model.OPERATIONS["connect"]:
                known = choices(name, model.OPERATIONS["connect"])
                self.mistake(place, f"unknown parameter {name!r} of connect; {known}")
            given[name] = self.value(place, value)
        node = as_text(body.get("node"))
        if node is not None and self._given is not None:
            self._check_node((*keys, "node"), node)
        return ClientGiven(given, connected=connect is not False, node=node)

    # -- calls ----------------------------------------------------------------------------------

    def _call(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "call"), as_map(raw["call"])
        op = str(body["op"])
        known = model.OPERATIONS.get(op)
        parameters: dict[str, Value] = {}
        if known is None:
            told = choices(op, sorted(model.OPERATIONS))
            self.mistake((*here, "op"), f"unknown operation {op!r}; {told}")
        for name, value in body.items():
            if name in _OF_A_CALL:
                continue
            if known is not None and name not in known:
                told = choices(name, known)
                self.mistake((*here, name), f"unknown parameter {name!r} of {op}; {told}")
            parameters[name] = self._parameter((*here, name), name, value)
        later = as_text(body.get("later"))
        within = seconds(body["within"]) if "within" in body else None
        if later is not None:
            if first := self._later.get(later):
                self.mistake((*here, "later"), f"the call {later!r} is in line {first} already")
            self._later[later] = self.line((*here, "later"))
            for name, at in (("answer", keys), ("within", here)):
                if name in (raw if at is keys else body):
                    self.mistake((*at, name), f"{name} belongs to the step answered here")
            if "demanded" in body:
                self.mistake((*here, "demanded"), "demanded and later exclude each other")
            return model.Call(op=op, parameters=parameters, later=later)
        answer = self.answer((*keys, "answer"), raw.get("answer", "ok"))
        return model.Call(
            op=op,
            parameters=parameters,
            answer=answer,
            within=within,
            demanded="demanded" in body,
        )

    def _parameter(self, keys: Keys, name: str, raw: object) -> Value:
        """A value to pass on; payloads may also be given as bytes, which need not be text."""
        if name == "data" and isinstance(raw, Mapping) and set(raw) == {"hex"}:
            try:
                return bytes.fromhex(str(raw["hex"])).decode("utf-8", "surrogateescape")
            except ValueError:
                self.mistake(
                    (*keys, "hex"), f"hex must be bytes such as '00ff', not {raw['hex']!r}"
                )
        return self.value(keys, raw)

    def _answered(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "answered"), as_map(raw["answered"])
        call = str(body["call"])
        if call not in self._later:
            self.mistake((*here, "call"), f"no call {call!r} before; {choices(call, self._later)}")
        return model.Answered(
            call=call,
            answer=self.answer((*keys, "answer"), raw.get("answer", "ok")),
            within=seconds(body["within"]) if "within" in body else None,
        )

    def answer(self, keys: Keys, raw: object) -> Expectation:
        """`ok`, `error`, `any`, or all that can be said of a message, about what was answered."""
        if isinstance(raw, str):
            return Expectation(outcome=raw if raw in _OUTCOMES else None)
        return self.expectation(keys, as_map(raw))

    # -- looking --------------------------------------------------------------------------------

    def _event(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "event"), as_map(raw["event"])
        return model.Told(
            event=str(body["kind"]),
            of=str(body.get("of", "")),
            says=self._expression((*here, "says"), body.get("says")),
            json=self.matchers((*here, "json"), body.get("json"), paths=True),
            **self._look(keys, here, raw, body),
        )

    def _expression(self, keys: Keys, raw: object) -> str:
        try:
            re.compile(text := as_text(raw) or "")
        except re.error as error:
            self.mistake(keys, f"not a regular expression: {error}")
            return ""
        return text

    def _wire(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "wire"), as_map(raw["wire"])
        on = {name: value for name, value in body.items() if name not in _OF_A_LOOK}
        rules = self._parsed(here, [{"on": on, "do": "pass"}], inner=("on",), taken=())
        look = self._look(keys, here, raw, body)
        return model.Wire(selector=rules[0].on if rules else None, **look)

    def _look(self, keys: Keys, here: Keys, raw: Raw, body: Raw) -> dict[str, Any]:
        """One message, several, or none for some time."""
        within = seconds(body["within"]) if "within" in body else None
        told = [name for name in ("message", "messages") if name in raw]
        if "none_for" in body:
            for name in told:
                self.mistake((*keys, name), f"none_for and {name} exclude each other")
            if within is not None:
                self.mistake((*here, "within"), "none_for and within exclude each other")
            return {"none_for": seconds(body["none_for"])}
        if len(told) == 2:
            self.mistake((*keys, "messages"), "message and messages exclude each other")
        if "messages" in raw:
            if within is not None:
                self.mistake((*here, "within"), "within belongs into messages here")
            return {"messages": self.replies((*keys, "messages"), as_map(raw["messages"]))}
        wanted = Expectation()
        if "message" in raw:
            wanted = self.expectation((*keys, "message"), as_map(raw["message"]))
        return {"message": wanted, "within": within}

    # -- the tap --------------------------------------------------------------------------------

    def _fired(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "fired"), as_map(raw["fired"])
        rule, times = str(body["rule"]), body.get("times", 1)
        if rule not in self._rules:
            self.mistake((*here, "rule"), f"no rule {rule!r} before; {choices(rule, self._rules)}")
        return model.Fired(
            rule=rule,
            times=times if isinstance(times, int) else 1,
            within=seconds(body["within"]) if "within" in body else None,
        )

    def _tap(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "tap"), raw["tap"]
        if isinstance(body, str):
            return model.TapStep(verb=body)
        [(verb, given)] = as_map(body).items()
        if verb == "rules":
            return model.TapStep(verb=verb, rules=self.tap_rules((*here, verb), given))
        ids = tuple(map(str, given)) if isinstance(given, list) else (str(given),)
        for name in ids:
            if name not in self._rules:
                self.mistake((*here, verb), f"no rule {name!r}; {choices(name, self._rules)}")
        return model.TapStep(verb=verb, ids=ids)

    def first_rules(self, keys: Keys, raw: object) -> tuple[Step, ...]:
        """The rules of the case as a whole, as a step before the first."""
        if raw is None:
            return ()
        if not self.for_client:
            self.mistake(keys, "tap belongs to suites whose folder is called client")
        rules = self.tap_rules(keys, raw)
        return (model.TapStep(verb="rules", rules=rules, line=self.line(keys), address="tap"),)

    def tap_rules(self, keys: Keys, raw: object) -> tuple[Rule, ...]:
        """Rules of the case, each with an id that `fired` can name."""
        listed = raw if isinstance(raw, list) else []
        for index, rule in enumerate(listed):
            name = as_text(as_map(rule).get("id"))
            if name is None:
                self.mistake((*keys, index), "a rule of a case needs an id")
            elif first := self._rules.get(name):
                self.mistake((*keys, index, "id"), f"the rule {name!r} is in line {first} already")
            else:
                self._rules[name] = self.line((*keys, index))
        remembered = {name for rule in listed for name in _remembered(rule)}
        return self._parsed(keys, listed, inner=(), taken=remembered)

    def _parsed(
        self, keys: Keys, raw: list[Any], *, inner: Keys, taken: Iterable[str]
    ) -> tuple[Rule, ...]:
        """Rules as data, with every mistake at its line; `inner` leads into a rule made up here."""
        try:
            rules = parse_rules(raw)
        except RuleError as error:
            for path, text in error.mistakes:
                rest = path[1:]
                if inner and rest[: len(inner)] == inner:
                    rest = rest[len(inner) :]
                self.mistake((*keys, *(rest if inner else path)), text)
            return ()
        known = set(taken)
        try:
            names = dict.fromkeys(template.names(parse_value(raw)))
        except TemplateError:
            return rules
        for name in names:
            if name not in known:
                self.scope.variable(name, self.line(keys))
        return rules


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
