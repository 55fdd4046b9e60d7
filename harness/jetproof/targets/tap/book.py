"""What becomes of a frame: the rules, their counts, and what they remember.

One `RuleBook` serves all connections of a tap, so a rule counts and remembers across them. It does
no I/O: it is asked about one frame after another and answers with a `Decision`.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, cast

from jetproof.model.template import Env, Scalar, TemplateError, UnknownVariable, render_text
from jetproof.targets.tap.index import Index
from jetproof.targets.tap.requests import Noted, Requests
from jetproof.targets.tap.subscriptions import Subscriptions
from jetproof.wire.frames import Err, Frame, Msg, Pub
from jetproof.wire.rules.changing import CannotChange, changed, made, stripped
from jetproof.wire.rules.model import (
    Accept,
    Answer,
    Change,
    Cut,
    Delay,
    Drop,
    Duplicate,
    Inject,
    Order,
    Pause,
    Refuse,
    Reply,
    Resume,
    Rule,
    Sender,
    Strip,
)
from jetproof.wire.rules.selecting import FrameView, remembered, selects

_MAX_PROBLEMS: Final = 100


@dataclass(frozen=True, slots=True)
class Made:
    """A frame of the tap's own for the client of a connection; by a rule, or asked for."""

    connection: int
    frame: Msg | Err
    rule: str | None


@dataclass(slots=True)
class Decision:
    """What the rules make of one frame: `frame` is passed on `copies` times."""

    frame: Frame
    arrived: Frame
    copies: int = 1
    delay: float = 0.0
    reorder: bool = False
    cut: Literal["no", "before", "after"] = "no"
    orders: list[Order] = field(default_factory=list)
    """What concerns the tap as a whole."""
    request: Noted | None = None
    """The frame is a request, and these rules are about its answers."""
    aside: bool = False
    """The request must be one that can be ended later."""
    blind: bool = False
    """The request that the frame answers is over."""
    before: list[Made] = field(default_factory=list)
    after: list[Made] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    stripped: Frame | None = None
    """The frame as it counts, if rules stripped it: without what its sender shall not have said."""

    @property
    def acts(self) -> bool:
        """Whether a rule did something, so that the frame needs care of its own."""
        return bool(self.rules)


class RuleBook:
    """The rules in force and all their state.

    `matched` and `fired` count by rule id: frames that were selected, and frames to which something
    was done. `problems` tells of rules that could not be carried out.
    """

    def __init__(self) -> None:
        self.matched: dict[str, int] = {}
        self.fired: dict[str, int] = {}
        self.problems: list[str] = []
        self.subscriptions = Subscriptions()
        self._rules: dict[str, Rule] = {}
        self._index = Index()
        self._given: Env = {}
        self._env: dict[str, Scalar] = {}
        self._requests = Requests(self.subscriptions)

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(self._rules.values())

    @property
    def active(self) -> bool:
        """Whether anything but passing can become of a frame."""
        return bool(self._rules)

    def add(self, rules: Iterable[Rule]) -> None:
        """Puts rules in force after those there are, with counts of nought."""
        rules = tuple(rules)
        for rule in rules:
            if rule.id in self._rules:
                raise ValueError(f"there is a rule {rule.id!r} already")
        for rule in rules:
            self._rules[rule.id] = rule
            self.matched[rule.id] = self.fired[rule.id] = 0
        self._index = Index(self._rules.values())

    def know(self, variables: Env) -> None:
        """Takes variables that a rule may name; what rules remember comes before them.

        The mapping is asked again for every frame, so it may change.
        """
        self._given = variables

    def remove(self, ids: Iterable[str] | None = None) -> None:
        """Takes rules out of force (all of them by default); their counts stay."""
        ids = tuple(self._rules) if ids is None else tuple(ids)
        for identifier in ids:
            self._rules.pop(identifier, None)
        self._requests.forget(ids)
        self._index = Index(self._rules.values())
        if not self._rules:
            self._env.clear()
            self._requests.clear()

    def may_touch(self, sender: Sender, op: str, subject: str, reply: str | None) -> bool:
        """Whether a rule has to see a message of which no more is known than this."""
        return any(entry.may_take(subject, reply) for entry in self._index.at(sender, op))

    def concerns(self, connection: int, sender: Sender, frame: Msg | Pub) -> bool:
        """Whether `decide` has to be asked about a message."""
        requests: tuple[Noted, ...] | None = None
        for entry in self._index.at(sender, frame.op):
            if not entry.may_take(frame.subject, frame.reply):
                continue
            if not entry.answers:
                return True
            if requests is None:
                requests = self._requests.answered(connection, frame)
            if any(entry.rule.id in noted.taken for noted in requests):
                return True
        return False

    def decide(
        self, connection: int, sender: Sender, frame: Frame, request: Noted | None = None
    ) -> Decision | None:
        """What is to become of a frame: nothing but passing, if None.

        Rules apply in order, each to what the last one left. `request` is the one that a server's
        frame answers, if that is known; else it is guessed from where the frame goes.
        """
        if not self._rules:
            return None
        decision = Decision(frame, frame)
        view = FrameView(sender, frame)
        requests: tuple[Noted, ...] = ()
        if sender == "server":
            requests = (request,) if request else self._requests.answered(connection, frame)
        for rule in self._rules.values():
            if sender == "client" and rule.on.answers is not None:
                self._note_request(rule, connection, view, decision)
                continue
            answered: Noted | None = None
            if rule.on.answers is not None:
                answered = next((noted for noted in requests if rule.id in noted.taken), None)
                if answered is None:
                    continue
            env = self._seen({} if answered is None else answered.taken[rule.id])
            if not selects(rule.on, view, env):
                continue
            self.matched[rule.id] += 1
            if not rule.count.takes(self.matched[rule.id], self.fired[rule.id]):
                continue
            try:
                done = self._do(rule, connection, decision, view, answered, env)
            except (CannotChange, TemplateError, UnknownVariable) as error:
                self._problem(f"rule {rule.id} on {decision.frame.op}: {error}")
                continue
            if not done:
                continue
            self.fired[rule.id] += 1
            decision.rules.append(rule.id)
            self._env.update(remembered(rule.remember, view))
            if decision.frame is not view.frame:
                view = FrameView(sender, decision.frame)
            if decision.copies == 0 or decision.cut == "before":
                break
        return decision if decision.rules or decision.aside else None

    def _may_blind(self, rule: Rule) -> bool:
        if not isinstance(rule.do, Inject) or not rule.do.blind:
            return False
        return not rule.count.is_spent(self.matched[rule.id], self.fired[rule.id])

    def _seen(self, own: Mapping[str, Scalar]) -> Env:
        """All variables: a request's own before those remembered before those given."""
        maps = (own, self._env, self._given)
        return ChainMap(*cast("tuple[dict[str, Scalar], ...]", maps))  # which is only read

    def _note_request(
        self, rule: Rule, connection: int, view: FrameView, decision: Decision
    ) -> None:
        """Remembers a request whose answers the rule is about."""
        frame = view.frame
        if (
            rule.on.answers is not None
            and isinstance(frame, Pub)
            and frame.reply is not None
            and selects(rule.on.answers, view, self._seen({}))
        ):
            own = remembered(rule.on.remember, view)
            self._requests.note(connection, frame.reply, rule.id, own)
            decision.request = decision.request or Noted(frame.reply)
            decision.request.taken[rule.id] = own
            decision.aside = decision.aside or self._may_blind(rule)

    def _do(
        self,
        rule: Rule,
        connection: int,
        decision: Decision,
        view: FrameView,
        answered: Noted | None,
        env: Env,
    ) -> bool:
        """Carries one action out on the decision; whether anything came of it."""
        match rule.do:
            case Drop():
                decision.copies = 0
            case Duplicate():
                decision.copies += 1
            case Cut(after, refuse):
                decision.cut = "after" if after else "before"
                decision.orders.extend(() if refuse is None else (refuse,))
            case Refuse() | Accept() | Pause() | Resume():
                decision.orders.append(rule.do)
            case Delay(seconds, reorder):
                decision.delay += seconds
                decision.reorder = decision.reorder or reorder
            case Change():
                frame = changed(rule.do, decision.frame, env)
                if frame is decision.frame:
                    return False
                decision.frame = frame
            case Strip():
                frame = stripped(rule.do, decision.frame)
                if frame is decision.frame:
                    return False
                decision.stripped = stripped(rule.do, decision.stripped or decision.arrived)
                decision.frame = frame
            case Answer(replies, passes):
                if not isinstance(view.frame, Pub) or view.frame.reply is None:
                    return False
                answers = [self._made(rule, connection, view, item, None, env) for item in replies]
                reached = [item for item in answers if item is not None]
                if not reached:
                    return False
                decision.after.extend(reached)
                if not passes:
                    decision.copies = 0
            case Inject(message, before, blind):
                item = self._made(rule, connection, view, message, answered, env)
                if item is None:
                    return False
                (decision.before if before else decision.after).append(item)
                if blind and isinstance(view.frame, Pub):
                    decision.copies = 0  # a request that the server never saw is not answered
                decision.blind = decision.blind or blind
            case _:
                pass
        return True

    def compose(self, message: Reply, connection: int) -> Made:
        """A message to whoever listens, the client of this connection first; ValueError if none."""
        env = self._seen({})
        if message.error is not None:
            return Made(connection, made(message, "", "", env), None)
        subject = message.to if message.subject is None else message.subject
        to = render_text(subject if message.to is None else message.to, env)
        found = self.subscriptions.find(connection, to)
        if found is None:
            raise ValueError(f"no subscription takes a message on {to or 'no subject'}")
        connection, sid = found
        return Made(connection, made(message, render_text(subject, env), sid, env), None)

    def _made(
        self,
        rule: Rule,
        connection: int,
        view: FrameView,
        reply: Reply,
        answered: Noted | None,
        env: Env,
    ) -> Made | None:
        if reply.error is not None:
            return Made(connection, made(reply, "", "", env), rule.id)
        frame = view.frame
        subject = sid = None
        if reply.subject is not None:
            subject = render_text(reply.subject, env)
        elif isinstance(frame, Pub):
            subject = frame.reply
        elif isinstance(frame, Msg):
            subject = frame.subject
            if reply.status is not None and answered is not None:
                subject = answered.reply  # a status goes to the inbox, also beside a message
        to = subject if reply.to is None else render_text(reply.to, env)
        if isinstance(frame, Msg) and reply.subject is None and reply.to is None:
            sid = frame.sid
        elif isinstance(frame, Pub) and frame.reply is not None and isinstance(rule.do, Answer):
            to = frame.reply if reply.to is None else to
        if sid is None and to is not None:
            found = self.subscriptions.find(connection, to)
            if found is not None:
                connection, sid = found
        if subject is None or sid is None:
            self._problem(f"rule {rule.id}: no subscription takes a message on {to}")
            return None
        return Made(connection, made(reply, subject, sid, env), rule.id)

    def _problem(self, text: str) -> None:
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(text)
