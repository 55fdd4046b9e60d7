"""What a rule is: a selector of frames, a count, and one action."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jetproof.model.matcher import Matcher
from jetproof.model.template import Value

Sender = Literal["client", "server"]


@dataclass(frozen=True, slots=True)
class Wildcard:
    """A subject pattern, `*` for one token and `>` for the rest; may hold remembered values."""

    pattern: Value


@dataclass(frozen=True, slots=True)
class Selector:
    """Which frames are meant; everything that is given must hold."""

    sender: Sender
    ops: frozenset[str] = frozenset()
    """Operations as they stand on the wire (`PUB` and `HPUB` are two); none means any."""
    subject: Wildcard | Matcher | None = None
    reply: Wildcard | Matcher | None = None
    headers: tuple[tuple[str, Matcher], ...] = ()
    status: Matcher | None = None
    description: Matcher | None = None
    json: tuple[tuple[str, Matcher], ...] = ()
    payload: Matcher | None = None
    answers: Selector | None = None
    """The frame is a reply to a publish that this selects."""
    remember: tuple[tuple[str, str], ...] = ()
    """Of the publish in `answers`: variables for this reply alone, from (name, source)."""


@dataclass(frozen=True, slots=True)
class Count:
    """Which of the selected frames: the nth, every nth, those after n; and how often at most."""

    nth: int | None = None
    every: int | None = None
    after: int | None = None
    times: int | None = None

    def takes(self, number: int, fired: int) -> bool:
        """Whether the `number`-th selected frame is taken, after `fired` were."""
        if self.times is not None and fired >= self.times:
            return False
        if self.nth is not None:
            return number == self.nth
        if self.every is not None:
            return number % self.every == 0
        return self.after is None or number > self.after

    def is_spent(self, number: int, fired: int) -> bool:
        """Whether no frame will be taken any more, after `number` were selected."""
        if self.times is not None and fired >= self.times:
            return True
        return self.nth is not None and number >= self.nth


@dataclass(frozen=True, slots=True)
class Remove:
    """Takes the field or header away."""


@dataclass(frozen=True, slots=True)
class Add:
    """Adds to a number, appends to a list; for a header: one more line."""

    value: Value


@dataclass(frozen=True, slots=True)
class Plus:
    """Adds to the number that a header holds."""

    value: Value


@dataclass(frozen=True, slots=True)
class Rename:
    """Gives the field or header another name."""

    name: str


@dataclass(frozen=True, slots=True)
class Put:
    """Sets the value, whatever it was."""

    value: Value


Edit = Put | Remove | Add | Plus | Rename


@dataclass(frozen=True, slots=True)
class Pass:
    """Nothing but counting and remembering."""


@dataclass(frozen=True, slots=True)
class Drop:
    """The frame is not passed on."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """The frame is passed on twice."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """New connections are refused, for a time or until they are accepted again.

    They are closed as soon as they are made, before INFO; `deaf`: nobody listens at all.
    """

    seconds: float | None = None
    deaf: bool = False


@dataclass(frozen=True, slots=True)
class Accept:
    """New connections are accepted again."""


@dataclass(frozen=True, slots=True)
class Pause:
    """All that the server says is held, for a time or until it is resumed."""

    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Resume:
    """What was held of the server is let go, and what it says from now on."""


Order = Refuse | Accept | Pause | Resume


@dataclass(frozen=True, slots=True)
class Cut:
    """Both ends of the connection are closed, before or after the frame is passed on."""

    after: bool = False
    refuse: Refuse | None = None
    """New connections are refused from then on."""


@dataclass(frozen=True, slots=True)
class Delay:
    """The frame is held for a time, and with it all that follow, unless they may overtake it."""

    seconds: float
    reorder: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """The frame is passed on with some parts different."""

    subject: Put | None = None
    reply: Put | Remove | None = None
    headers: tuple[tuple[str, Edit], ...] = ()
    no_headers: bool = False
    """The whole header block is taken away."""
    status: Put | Remove | None = None
    description: Put | None = None
    json: tuple[tuple[str, Edit], ...] = ()
    payload: Put | None = None


@dataclass(frozen=True, slots=True)
class Strip:
    """The frame goes on, and counts, as if its sender had left these parts out."""

    headers: tuple[str, ...] = ()
    json: tuple[str, ...] = ()
    reply_end: str | None = None
    """The end of the reply subject."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A message the tap makes up. Subject and headers may hold remembered values."""

    subject: Value = None
    """None: the reply subject of the publish, or the subject of the selected message."""
    to: Value = None
    """The subject whose subscription receives it, if that is not `subject`."""
    reply: Value = None
    headers: tuple[tuple[str, Value], ...] = ()
    status: Value = None
    description: Value = None
    payload: Value = None
    """Text, or a document to be written as JSON if `is_json`."""
    is_json: bool = False
    error: Value = None
    """The text of a `-ERR` to send instead of a message."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The tap replies in the server's place; the publish goes no further unless it `passes`."""

    replies: tuple[Reply, ...]
    passes: bool = False


@dataclass(frozen=True, slots=True)
class Inject:
    """A further message to the client, before or after the selected frame."""

    message: Reply
    before: bool = False
    blind: bool = False
    """With it the request is over: the server's further answers to it are kept from the client."""


Action = Pass | Drop | Duplicate | Cut | Delay | Change | Strip | Answer | Inject | Order


@dataclass(frozen=True, slots=True)
class Rule:
    """On a selected and counted frame, one action."""

    id: str
    on: Selector
    do: Action
    count: Count = Count()
    remember: tuple[tuple[str, str], ...] = ()
    """Variables for all later frames, from (name, source)."""
