"""Cases: what is set up, what is done, what must be seen. Frozen data, no behaviour.

A step kind is a type here with its `kind`, a record of `load.steps` and a player of `engine.player`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import ClassVar

from jetproof.model.matcher import Matcher
from jetproof.model.template import Value

Seconds = float
ChangeSteps = Callable[["tuple[Step, ...]"], "tuple[Step, ...]"]


@dataclass(frozen=True, slots=True)
class After:
    """A bound of time: `by` seconds after the moment called `mark`.

    That is the beginning of a step, or the arrival of a message."""

    mark: str
    by: Seconds


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """A JetStream error: `codes` empty means any."""

    codes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Expectation:
    """What one message must be like; every part that is given must hold.

    `outcome` is for the answer of a client library: ok or error."""

    outcome: str | None = None
    empty: bool | None = None
    status: Matcher | None = None
    description: Matcher | None = None
    error: ErrorCode | None = None
    schema: str | None = None
    json: Mapping[str, Matcher] = field(default_factory=dict)
    headers: Mapping[str, Matcher] = field(default_factory=dict)
    header_names: Matcher | None = None
    payload: Matcher | None = None
    subject: Matcher | None = None
    reply: Matcher | None = None
    one_of: tuple[Expectation, ...] = ()
    not_before: After | None = None
    position: str | None = None
    positions: Mapping[str, str] = field(default_factory=dict)
    capture: Mapping[str, str] = field(default_factory=dict)
    mark: str | None = None


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing may come for this long."""

    seconds: Seconds


@dataclass(frozen=True, slots=True)
class Replies:
    """Several answers to one request: they end with `until` or after `count`."""

    until: Expectation | None = None
    count: Matcher | None = None
    each: Expectation | None = None
    first: Expectation | None = None
    last: Expectation | None = None
    within: Seconds | None = None
    position: str | None = None
    """A position that records how many came."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One message to send, exactly."""

    subject: Value
    headers: tuple[tuple[str, Value], ...] | None = None
    payload: Value = ""
    raw: bytes | None = None
    json: Value | None = None
    size: Value | None = None
    reply: Value | None = None
    connection: str = "main"
    not_before: After | None = None
    not_after: After | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What every step has: where it stands, a label for people and ledgers, a mark in time.

    `kind` is the key that says in a file what the step is."""

    kind: ClassVar[str] = ""

    line: int = 0
    address: str = ""
    label: str | None = None
    mark: str | None = None

    @property
    def name(self) -> str:
        return self.label or self.address

    @property
    def inner(self) -> tuple[tuple[Step, ...], ...]:
        """The sequences of steps inside this one."""
        return ()

    def with_inner(self, change: ChangeSteps) -> Step:
        """The same step with every sequence of steps inside it changed."""
        return self

    @property
    def silence(self) -> Seconds:
        """How long the case waits here for nothing to come; a count that is a variable is one."""
        return 0.0

    @property
    def expectations(self) -> Iterator[Expectation]:
        """What messages must be like, each part of several included."""
        for field_ in fields(self):
            value = getattr(self, field_.name)
            if isinstance(value, Expectation):
                yield value
            elif isinstance(value, Replies):
                parts = (value.until, value.each, value.first, value.last)
                yield from (part for part in parts if part is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Publish(Step):
    kind: ClassVar[str] = "publish"

    message: Outgoing


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Step):
    kind: ClassVar[str] = "request"

    message: Outgoing
    reply: Expectation | Silence | None = None
    replies: Replies | None = None
    within: Seconds | None = None
    until_there: Seconds | None = None
    or_silence: bool = False

    @property
    def silence(self) -> Seconds:
        return self.reply.seconds if isinstance(self.reply, Silence) else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscribe(Step):
    kind: ClassVar[str] = "subscribe"

    subject: Value
    to: str
    queue: Value | None = None
    connection: str = "main"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsubscribe(Step):
    """Ends a subscription; what has come can still be received."""

    kind: ClassVar[str] = "unsubscribe"

    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Receive(Step):
    """The next message, or the next several, of a subscription."""

    kind: ClassVar[str] = "receive"

    source: str
    message: Expectation | None = None
    messages: Replies | None = None
    within: Seconds | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet(Step):
    """Stated silence: nothing on a subscription or on any reply subject for some time."""

    kind: ClassVar[str] = "silence"

    on: str
    seconds: Seconds

    @property
    def silence(self) -> Seconds:
        return self.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamState(Step):
    """What the stream's info says now, or within some time."""

    kind: ClassVar[str] = "stream"

    of: Value
    fields: Mapping[str, Matcher]
    within: Seconds | None = None
    capture: Mapping[str, str] = field(default_factory=dict)
    position: Mapping[str, str] = field(default_factory=dict)
    connection: str = "main"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerState(Step):
    """What a consumer's info says, now or within some time, or that there is no such consumer."""

    kind: ClassVar[str] = "consumer"

    of: Value
    consumer: Value
    fields: Mapping[str, Matcher]
    absent: bool = False
    within: Seconds | None = None
    capture: Mapping[str, str] = field(default_factory=dict)
    position: Mapping[str, str] = field(default_factory=dict)
    connection: str = "main"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored(Step):
    """What message get returns for a sequence, or for the last message of a subject."""

    kind: ClassVar[str] = "stored"

    of: Value
    seq: Value | None = None
    last_by_subject: Value | None = None
    message: Expectation = field(default_factory=Expectation)
    absent: bool = False
    connection: str = "main"


@dataclass(frozen=True, slots=True, kw_only=True)
class Advisory(Step):
    """An advisory about the stream: one must come, or none may come."""

    kind: ClassVar[str] = "advisory"

    event: str
    of: Value
    message: Expectation | None = None
    none_for: Seconds | None = None
    within: Seconds | None = None

    @property
    def silence(self) -> Seconds:
        return self.none_for or 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat(Step):
    kind: ClassVar[str] = "repeat"

    variable: str
    times: Value
    start: Value
    steps: tuple[Step, ...]
    at_once: bool = False

    @property
    def inner(self) -> tuple[tuple[Step, ...], ...]:
        return (self.steps,)

    def with_inner(self, change: ChangeSteps) -> Step:
        return replace(self, steps=change(self.steps))

    @property
    def silence(self) -> Seconds:
        times = self.times if isinstance(self.times, int) and not self.at_once else 1
        return times * silence_of(self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForEach(Step):
    """The inner steps for every one of the values; several names take a value's parts."""

    kind: ClassVar[str] = "for_each"

    variables: tuple[str, ...]
    values: tuple[tuple[Value, ...], ...]
    steps: tuple[Step, ...]
    at_once: bool = False

    @property
    def inner(self) -> tuple[tuple[Step, ...], ...]:
        return (self.steps,)

    def with_inner(self, change: ChangeSteps) -> Step:
        return replace(self, steps=change(self.steps))

    @property
    def silence(self) -> Seconds:
        return (1 if self.at_once else len(self.values)) * silence_of(self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Together(Step):
    """Branches that are played at the same time."""

    kind: ClassVar[str] = "together"

    branches: Mapping[str, tuple[Step, ...]]

    @property
    def inner(self) -> tuple[tuple[Step, ...], ...]:
        return tuple(self.branches.values())

    def with_inner(self, change: ChangeSteps) -> Step:
        branches = {name: change(steps) for name, steps in self.branches.items()}
        return replace(self, branches=branches)

    @property
    def silence(self) -> Seconds:
        return max(map(silence_of, self.branches.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop(Step):
    kind: ClassVar[str] = "loop"

    most: int
    until: Mapping[str, Matcher]
    steps: tuple[Step, ...]

    @property
    def inner(self) -> tuple[tuple[Step, ...], ...]:
        return (self.steps,)

    def with_inner(self, change: ChangeSteps) -> Step:
        return replace(self, steps=change(self.steps))

    @property
    def silence(self) -> Seconds:
        return silence_of(self.steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Action(Step):
    """Something done to the servers: stepdown, stop, kill, start, restart, pause, resume, cut, mend.

    `release` is what a node is started with: see `Case.releases`."""

    kind: ClassVar[str] = "action"

    verb: str
    target: Value
    to: Value | None = None
    then: str | None = None
    reconnect: tuple[str, ...] = ()
    release: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Law(Step):
    """A named invariant over the frames recorded so far."""

    kind: ClassVar[str] = "law"

    law: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ConnectionGiven:
    """A connection of the case's own."""

    node: str | None = None
    account: str | None = None
    user: str | None = None
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClientGiven:
    """How the library is connected before the first step: through the tap, to a node."""

    connect: Mapping[str, Value] = field(default_factory=dict)
    connected: bool = True
    node: str | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """What a case needs before its first step."""

    configuration: str = "default"
    topology: str = "single"
    isolation: str = "shared"
    release: str | None = None
    streams: tuple[tuple[str, Value], ...] = ()
    connections: Mapping[str, ConnectionGiven] = field(default_factory=dict)
    client: ClientGiven = field(default_factory=ClientGiven)


@dataclass(frozen=True, slots=True)
class FeatureUse:
    """An optional feature that a case is about (`model.feature`).

    `differs`: on a release that knows the feature, the case fails without it. Where it does not,
    `reason` says why the case is about it all the same."""

    name: str
    differs: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One case: the unit that is judged."""

    id: str
    suite: str
    name: str
    spec: str
    revision: int
    about: str
    clauses: tuple[str, ...]
    given: Given
    steps: tuple[Step, ...]
    budget: Seconds
    file: str
    line: int
    hash: str
    features: tuple[FeatureUse, ...] = ()

    def all_steps(self) -> Iterator[Step]:
        yield from _walk(self.steps)

    @property
    def for_client(self) -> bool:
        """Whether it judges a client library: its suite stands in the folder `client`."""
        return is_client_suite(self.suite)

    @property
    def actions(self) -> frozenset[str]:
        verbs: set[str] = set()
        for step in self.all_steps():
            if isinstance(step, Action):
                verbs.add(step.verb)
                if step.then:
                    verbs.add(step.then)
        return frozenset(verbs)

    @property
    def releases(self) -> frozenset[str]:
        """The releases it needs: versions, `newer` or `older` than the target, or `target`."""
        named = {step.release for step in self.all_steps() if isinstance(step, Action)}
        return frozenset(name for name in {*named, self.given.release} if name is not None)


def is_client_suite(suite: str) -> bool:
    return suite.split("/")[1:2] == ["client"]


def silence_of(steps: Iterable[Step]) -> Seconds:
    """How long these steps, one after another, wait for nothing to come."""
    return sum(step.silence for step in steps)


def _walk(steps: tuple[Step, ...]) -> Iterator[Step]:
    for step in steps:
        yield step
        for inner in step.inner:
            yield from _walk(inner)
