"""From plain data, as YAML gives it, to rules; all mistakes of a rule are told at once.

A rule in full:

    id: text                        (else rule-1, rule-2, ... by place)
    on:
      from: client | server         (else by `op`; `answers` means server)
      op: MSG | PUB | HMSG | HPUB | INFO | CONNECT | SUB | UNSUB | PING | PONG | OK | ERR
                                    MSG includes HMSG, PUB includes HPUB; with a condition on a
                                    message and no op: MSG of a server, PUB of a client
      subject, reply:               a pattern (orders.*, $JS.API.>), or a matcher
      headers: {Name: matcher}      of the first value; {values: [...]} of all
      status, description, payload: matcher
      json: {path: matcher}         of a payload that is JSON, of INFO, of CONNECT
      answers: publish | {on ...}   the frame replies to a client's publish (`publish`: any but to
                                    the API under $JS); `remember` in it holds for that reply.
                                    Publishes that share a reply subject share their replies
      nth: 2 | every: 2 | after: 2  which of the selected frames; `times: 1` how often at most
    remember: {name: source}        source: subject, reply, status, payload, header.Name, json.path;
                                    later rules and frames may say $name
    do: drop | cut | duplicate | pass
      | {cut: before | after} | {cut: {place: after, refuse: 2s | true, deaf: true}}
      | refuse | {refuse: 2s} | {refuse: {for: 2s, deaf: true}} | accept
            new connections are closed at once; deaf: nobody listens; without a time until accepted
      | pause | {pause: 2s} | resume                   all that the server says is held
      | {delay: 200ms} | {delay: {by: 200ms, reorder: true}}
      | {change: {subject, reply, headers, status, description, json, payload}}
            reply, status: value or {remove: true}; headers: null takes the block away
            json: {path: value | {remove: true} | {add: 1} | {rename: key} | {value: anything}}
            headers: {Name: value | [values] | {remove: true} | {add: line} | {plus: 1}
                        | {rename: Name}}
      | {strip: {headers: [Name], json: [path], reply_end: text}}
            as if the sender had left these parts out: what is recorded lacks them, too
      | {answer: message | [messages], pass: true}     to a publish with a reply subject
      | {inject: message, place: before | after}       to the client (after, unless said)
      | {inject: message, blind: true}                 and the request that was answered is over:
            nothing more that the server says to it reaches the client
    message: {subject, to, reply, headers: {Name: value | [values]}, status, description,
              json: document | payload: text}, or {error: text} for a -ERR
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from jetproof.model.matcher import Matcher
from jetproof.wire.rules.basics import Path, RuleError
from jetproof.wire.rules.model import Answer, Count, Inject, Reply, Rule, Selector, Sender, Wildcard
from jetproof.wire.rules.reading_do import ABOUT_MESSAGES, ActionReader

_Remember = tuple[tuple[str, str], ...]

_FROM_SERVER: Final = frozenset({"MSG", "HMSG", "INFO", "+OK", "-ERR"})
_FROM_CLIENT: Final = frozenset({"PUB", "HPUB", "CONNECT", "SUB", "UNSUB"})
_EITHER: Final = frozenset({"PING", "PONG"})
_SPELLINGS: Final[Mapping[str, frozenset[str]]] = {
    "MSG": frozenset({"MSG", "HMSG"}),
    "PUB": frozenset({"PUB", "HPUB"}),
    "OK": frozenset({"+OK"}),
    "ERR": frozenset({"-ERR"}),
    **{op: frozenset({op}) for op in ("HMSG", "INFO", *_EITHER, *(_FROM_CLIENT - {"PUB"}))},
}
_ON: Final = frozenset({"from", "op", "answers", *ABOUT_MESSAGES})
_COUNTS: Final = ("nth", "every", "after", "times")
_ANY_PUBLISH: Final[Mapping[str, Any]] = {"subject": {"not": {"match": r"^[$]JS[.]"}}}
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_SOURCES: Final = "subject, reply, status, payload, header.Name, json.path"
_SOURCE = re.compile(r"subject|reply|status|payload|header\..+|json\..+")


def parse_rule(raw: object, *, default_id: str = "rule-1") -> Rule:
    """One rule; RuleError with all that is wrong."""
    reader = _RuleReader()
    rule = reader.rule(raw, (), default_id)
    if reader.mistakes or rule is None:
        raise RuleError(reader.mistakes)
    return rule


def parse_rules(raw: Sequence[object]) -> tuple[Rule, ...]:
    """Rules in order, each with an id of its own; RuleError with all that is wrong."""
    reader = _RuleReader()
    rules = [reader.rule(item, (place,), f"rule-{place + 1}") for place, item in enumerate(raw)]
    seen: set[str] = set()
    for place, rule in enumerate(rules):
        if rule is not None and rule.id in seen:
            reader.mistakes.append(((place, "id"), f"there is another rule {rule.id!r}"))
        seen.update({rule.id} if rule is not None else ())
    if reader.mistakes:
        raise RuleError(reader.mistakes)
    return tuple(rule for rule in rules if rule is not None)


def parse_message(raw: object) -> Reply:
    """A message as `inject` takes it; RuleError with all that is wrong."""
    reader = _RuleReader()
    message = reader.message(raw, ())
    if reader.mistakes:
        raise RuleError(reader.mistakes)
    return message


def _about_requests(selector: Selector) -> bool:
    return selector.answers is not None or (bool(selector.ops) and selector.ops <= {"PUB", "HPUB"})


class _RuleReader(ActionReader):
    """Reads whole rules."""

    def rule(self, raw: object, path: Path, default_id: str) -> Rule | None:
        given = self.mapping(raw, path, ("id", "on", "do", "remember"))
        before = len(self.mistakes)
        for key in ("on", "do"):
            if key not in given and isinstance(raw, Mapping):
                self.wrong(path, f"a rule needs {key!r}")
        if "on" not in given or "do" not in given:
            return None
        on = self.mapping(given["on"], (*path, "on"), (*_ON, *_COUNTS))
        selector = self.selector(
            {key: value for key, value in on.items() if key not in _COUNTS}, (*path, "on")
        )
        count = self.count(on, (*path, "on"))
        action = self.action(given["do"], (*path, "do"))
        remember = self.remember(given.get("remember", {}), (*path, "remember"))
        if isinstance(action, Answer) and selector.sender == "server":
            self.wrong((*path, "do", "answer"), "only a client's publish can be answered")
        if isinstance(action, Inject) and action.blind and not _about_requests(selector):
            self.wrong((*path, "do", "blind"), "only with a publish, or with answers to one")
        if len(self.mistakes) > before or action is None:
            return None
        return Rule(str(given.get("id", default_id)), selector, action, count, remember)

    def selector(self, on: Mapping[str, Any], path: Path) -> Selector:
        answers: Selector | None = None
        remember: _Remember = ()
        if "answers" in on:
            answers, remember = self.answers(on["answers"], (*path, "answers"))
        sender, ops = self.origin(on, path)
        return Selector(
            sender=sender,
            ops=ops,
            subject=self.pattern(on, "subject", path),
            reply=self.pattern(on, "reply", path),
            headers=self.matchers(on, "headers", path),
            status=self.matcher(on["status"], (*path, "status")) if "status" in on else None,
            description=self.matcher(on["description"], (*path, "description"))
            if "description" in on
            else None,
            json=self.matchers(on, "json", path, paths=True),
            payload=self.matcher(on["payload"], (*path, "payload")) if "payload" in on else None,
            answers=answers,
            remember=remember,
        )

    def answers(self, raw: object, path: Path) -> tuple[Selector, _Remember]:
        if raw == "publish":
            raw = _ANY_PUBLISH
        on = self.mapping(raw, path, (*(_ON - {"answers", "from"}), "remember"))
        remember = self.remember(on.get("remember", {}), (*path, "remember"))
        selector = self.selector({"op": "PUB", **on, "from": "client"}, path)
        if not selector.ops <= {"PUB", "HPUB"}:
            self.wrong((*path, "op"), "only PUB and HPUB are answered")
        return selector, remember

    def origin(self, on: Mapping[str, Any], path: Path) -> tuple[Sender, frozenset[str]]:
        ops: frozenset[str] = frozenset()
        if "op" in on:
            ops = _SPELLINGS.get(str(on["op"]).upper().lstrip("+-"), frozenset())
            if not ops:
                self.wrong((*path, "op"), f"unknown; there are: {', '.join(sorted(_SPELLINGS))}")
        sender: Sender
        said = on.get("from")
        if said is not None and said not in ("client", "server"):
            self.wrong((*path, "from"), f"client or server, not {said!r}")
            said = "server"
        if said in ("client", "server"):
            sender = "client" if said == "client" else "server"
        elif "answers" in on or ops & _FROM_SERVER:
            sender = "server"
        elif ops & _FROM_CLIENT:
            sender = "client"
        else:
            if "op" not in on or ops:
                self.wrong(path, "whose frames? Say from: client or from: server")
            sender = "server"
        if sender == "client" and "answers" in on:
            self.wrong((*path, "answers"), "only frames from the server answer")
        if ops & (_FROM_CLIENT if sender == "server" else _FROM_SERVER):
            self.wrong((*path, "op"), f"a {sender} does not send {on['op']}")
        if "op" not in on and ("answers" in on or ABOUT_MESSAGES & on.keys()):
            ops = _SPELLINGS["PUB" if sender == "client" else "MSG"]
        return sender, ops

    def pattern(self, on: Mapping[str, Any], key: str, path: Path) -> Wildcard | Matcher | None:
        if key not in on:
            return None
        if isinstance(on[key], str):
            return Wildcard(self.value(on[key], (*path, key)))
        return self.matcher(on[key], (*path, key))

    def matchers(
        self, on: Mapping[str, Any], key: str, path: Path, *, paths: bool = False
    ) -> tuple[tuple[str, Matcher], ...]:
        found = []
        for name, raw in self.mapping(on.get(key, {}), (*path, key), None).items():
            if paths:
                self.path(str(name), (*path, key, str(name)))
            found.append((str(name), self.matcher(raw, (*path, key, str(name)))))
        return tuple(found)

    def count(self, on: Mapping[str, Any], path: Path) -> Count:
        numbers: dict[str, int] = {}
        for key in _COUNTS:
            if key in on:
                number = on[key]
                least = 0 if key == "after" else 1
                if isinstance(number, bool) or not isinstance(number, int) or number < least:
                    self.wrong((*path, key), f"a whole number from {least} on, not {number!r}")
                else:
                    numbers[key] = number
        if len(numbers.keys() - {"times"}) > 1:
            self.wrong(path, "only one of nth, every and after")
        return Count(**numbers)

    def remember(self, raw: object, path: Path) -> _Remember:
        found = []
        for name, source in self.mapping(raw, path, None).items():
            if not _NAME.fullmatch(str(name)):
                self.wrong((*path, str(name)), "a name is lower-case letters, digits and _")
            elif not _SOURCE.fullmatch(str(source)):
                self.wrong((*path, str(name)), f"{source!r} is none of {_SOURCES}")
            else:
                if str(source).startswith("json."):
                    self.path(str(source)[5:], (*path, str(name)))
                found.append((str(name), str(source)))
        return tuple(found)
