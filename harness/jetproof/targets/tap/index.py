"""Which rules can concern a frame at all, by what its control line says: most frames concern none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jetproof.model.matcher import Matcher
from jetproof.model.matching import MISSING, mismatch
from jetproof.model.template import TemplateError, UnknownVariable
from jetproof.wire.rules.model import Rule, Selector, Sender, Wildcard
from jetproof.wire.rules.selecting import subject_matches

_OPS: Mapping[Sender, tuple[str, ...]] = {
    "client": ("CONNECT", "PUB", "HPUB", "SUB", "UNSUB", "PING", "PONG"),
    "server": ("INFO", "MSG", "HMSG", "+OK", "-ERR", "PING", "PONG"),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A rule at an operation that it may select, or whose frames it must know as requests."""

    rule: Rule
    requests: bool = False
    answers: bool = False
    """It selects replies to requests that it knows."""
    pattern: str | None = None
    """Only frames with such a subject; None if that is not known before."""

    def may_take(self, subject: str | None, reply: str | None) -> bool:
        """Whether the rest of the frame has to be looked at."""
        if self.requests and reply is None:
            return False
        if self.pattern is None or subject is None:
            return True
        return subject_matches(self.pattern, subject)


class Index:
    """The entries of rules, by sender and operation, in the order of the rules."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        entries: dict[tuple[Sender, str], list[Entry]] = {}
        for rule in rules:
            for op in _ops(rule.on):
                answers = rule.on.answers is not None
                entry = Entry(rule, answers=answers, pattern=_pattern(rule.on))
                entries.setdefault((rule.on.sender, op), []).append(entry)
            if rule.on.answers is not None:
                for op in _ops(rule.on.answers):
                    entry = Entry(rule, requests=True, pattern=_pattern(rule.on.answers))
                    entries.setdefault(("client", op), []).append(entry)
        self._entries = {key: tuple(found) for key, found in entries.items()}

    def at(self, sender: Sender, op: str) -> tuple[Entry, ...]:
        """The rules that may concern such a frame."""
        return self._entries.get((sender, op), ())


def _ops(selector: Selector) -> Iterable[str]:
    ops = selector.ops or _OPS[selector.sender]
    if _needs_headers(selector):
        return [op for op in ops if op in ("HMSG", "HPUB")]
    return ops


def _needs_headers(selector: Selector) -> bool:
    matchers = [matcher for _, matcher in selector.headers if not _about_all_values(matcher)]
    if selector.status is not None:
        matchers.append(selector.status)
    return any(not _takes_nothing(matcher) for matcher in matchers)


def _about_all_values(matcher: Matcher) -> bool:
    return any(test == "values" for test, _ in matcher.tests)


def _takes_nothing(matcher: Matcher) -> bool:
    """Whether the matcher may be content with something that is not there."""
    try:
        return mismatch(matcher, MISSING, {}) is None
    except (UnknownVariable, TemplateError):
        return True


def _pattern(selector: Selector) -> str | None:
    subject = selector.subject
    if isinstance(subject, Wildcard) and isinstance(subject.pattern, str):
        return subject.pattern
    return None
