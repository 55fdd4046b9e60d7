"""Which requests of clients are under way, as far as rules about answers ask for them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from jetproof.model.template import Scalar
from jetproof.targets.tap.subscriptions import Subscriptions
from jetproof.wire.frames import Frame, Msg
from jetproof.wire.rules.selecting import subject_matches

_MAX_REQUESTS: Final = 100_000
_MAX_INBOXES: Final = 10_000
_MAX_LOOK_BACK: Final = 1_000


@dataclass(frozen=True, slots=True)
class Noted:
    """Requests with one reply subject: by rule id, what the rule remembers of the last one."""

    reply: str
    taken: dict[str, Mapping[str, Scalar]] = field(default_factory=dict)


class Requests:
    """By reply subject. Publishes that share one share their answers."""

    def __init__(self, subscriptions: Subscriptions) -> None:
        self._subscriptions = subscriptions
        self._noted: OrderedDict[str, Noted] = OrderedDict()
        self._at: dict[str, OrderedDict[str, Noted]] = {}  # by what the answers are subscribed with

    def note(self, connection: int, reply: str, rule: str, own: Mapping[str, Scalar]) -> None:
        """A rule is about the answers to a publish."""
        noted = self._noted.setdefault(reply, Noted(reply))
        noted.taken[rule] = own
        self._noted.move_to_end(reply)
        if len(self._noted) > _MAX_REQUESTS:
            self._noted.popitem(last=False)
        found = self._subscriptions.find(connection, reply)
        inbox = None if found is None else self._subscriptions.subject(*found)
        if inbox is not None:
            waiting = self._at.pop(inbox, None) or OrderedDict()
            self._at[inbox] = waiting
            if len(self._at) > _MAX_INBOXES:
                del self._at[next(iter(self._at))]
            waiting[reply] = noted
            waiting.move_to_end(reply)
            if len(waiting) > _MAX_LOOK_BACK:
                waiting.popitem(last=False)

    def forget(self, rules: Iterable[str]) -> None:
        """These rules are out of force."""
        rules = tuple(rules)
        for noted in self._noted.values():
            for rule in rules:
                noted.taken.pop(rule, None)

    def clear(self) -> None:
        self._noted.clear()
        self._at.clear()

    def answered(self, connection: int, frame: Frame) -> tuple[Noted, ...]:
        """The requests that this frame may be a reply to, the likeliest first."""
        if not self._noted or not isinstance(frame, Msg):
            return ()
        exact = self._noted.get(frame.subject)
        if exact is not None:
            return (exact,)
        # A message that a consumer hands out carries the stream's subject: only the subscription
        # tells whose request it answers.
        inbox = self._subscriptions.subject(connection, frame.sid)
        if inbox is None or subject_matches(inbox, frame.subject):
            return ()
        return tuple(reversed(self._at.get(inbox, {}).values()))
