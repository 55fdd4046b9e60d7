"""What becomes of a frame: the rules, their counts, and what they remember.

One `RuleBook` serves all connections of a tap, so a rule counts and remembers across them. It does
no I/O: it is asked about one frame after another and answers with a `Decision`.
"""

from __future__ import annotations

from collections import ChainMap, OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Literal, cast

from jetproof.model.template import Env, Scalar, TemplateError, UnknownVariable, render_text
from jetproof.targets.tap.index import Index
from jetproof.targets.tap.subscriptions import Subscriptions
from jetproof.wire.frames import Err, Frame, Msg, Pub
from jetproof.wire.rules.changing import CannotChange, changed, made
from jetproof.wire.rules.model import (
    Answer,
    Change,
    Cut,
    Delay,
    Drop,
    Duplicate,
    Inject,
    Reply,
    Rule,
    Sender,
)
from jetproof.wire.rules.selecting import FrameView, remembered, selects, subject_matches

_MAX_REQUESTS: Final = 100_000
_MAX_LOOK_BACK: Final = 1_000
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
    copies: int = 1
    delay: float = 0.0
    reorder: bool = False
    cut: Literal["no", "before", "after"] = "no"
    before: list[Made] = field(default_factory=list)
    after: list[Made] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)


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
        # By reply subject: the rules whose `answers` took the publish, and what they remember.
        self._requests: OrderedDict[str, dict[str, Mapping[str, Scalar]]] = OrderedDict()

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
        for identifier in list(self._rules) if ids is None else ids:
            self._rules.pop(identifier, None)
            for taken in self._requests.values():
                taken.pop(identifier, None)
        self._index = Index(self._rules.values())
        if not self._rules:
            self._env.clear()
            self._requests.clear()

    def may_touch(self, sender: Sender, op: str, subject: str, reply: str | None) -> bool:
        """Whether a rule has to see a message of which no more is known than this."""
        return any(entry.may_take(subject, reply) for entry in self._index.at(sender, op))

    def concerns(self, connection: int, sender: Sender, frame: Msg | Pub) -> bool:
        """Whether `decide` has to be asked about a message."""
        requests: Iterable[Mapping[str, object]] | None = None
        for entry in self._index.at(sender, frame.op):
            if not entry.may_take(frame.subject, frame.reply):
                continue
            if not entry.answers:
                return True
            if requests is None:
                requests = self._answered(connection, frame)
            if any(entry.rule.id in taken for taken in requests):
                return True
        return False

    def decide(self, connection: int, sender: Sender, frame: Frame) -> Decision | None:
        """What is to become of a frame: nothing but passing, if None.

        Rules apply in order, each to what the last one left.
        """
        if not self._rules:
            return None
        decision = Decision(frame)
        view = FrameView(sender, frame)
        requests = self._answered(connection, frame) if sender == "server" else ()
        for rule in self._rules.values():
            if sender == "client" and rule.on.answers is not None:
                self._note_request(rule, view)
                continue
            own = self._selected(rule, view, requests)
            if own is None:
                continue
            self.matched[rule.id] += 1
            if not rule.count.takes(self.matched[rule.id], self.fired[rule.id]):
                continue
            env = self._seen(own)
            try:
                done = self._do(rule, connection, decision, view, env)
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
        return decision if decision.rules else None

    def _seen(self, own: Mapping[str, Scalar]) -> Env:
        """All variables: a request's own before those remembered before those given."""
        maps = (own, self._env, self._given)
        return ChainMap(*cast("tuple[dict[str, Scalar], ...]", maps))  # which is only read

    def _selected(
        self, rule: Rule, view: FrameView, requests: Iterable[Mapping[str, Mapping[str, Scalar]]]
    ) -> Mapping[str, Scalar] | None:
        """The rule's own variables for this frame, or None if it is not selected."""
        own: Mapping[str, Scalar] = {}
        if rule.on.answers is not None:
            found = next((taken[rule.id] for taken in requests if rule.id in taken), None)
            if found is None:
                return None
            own = found
        return own if selects(rule.on, view, self._seen(own)) else None

    def _note_request(self, rule: Rule, view: FrameView) -> None:
        frame = view.frame
        if (
            rule.on.answers is not None
            and isinstance(frame, Pub)
            and frame.reply is not None
            and selects(rule.on.answers, view, self._seen({}))
        ):
            taken = self._requests.setdefault(frame.reply, {})
            taken[rule.id] = remembered(rule.on.remember, view)
            self._requests.move_to_end(frame.reply)
            if len(self._requests) > _MAX_REQUESTS:
                self._requests.popitem(last=False)

    def _answered(
        self, connection: int, frame: Frame
    ) -> tuple[Mapping[str, Mapping[str, Scalar]], ...]:
        """The noted requests that this frame may be a reply to, the likeliest first."""
        if not self._requests or not isinstance(frame, Msg):
            return ()
        exact = self._requests.get(frame.subject)
        if exact is not None:
            return (exact,)
        # A message that a consumer hands out carries the stream's subject: only the subscription
        # tells whose request it answers.
        inbox = self.subscriptions.subject(connection, frame.sid)
        if inbox is None or subject_matches(inbox, frame.subject):
            return ()
        if inbox in self._requests:
            return (self._requests[inbox],)
        return tuple(
            taken
            for reply, taken in islice(reversed(self._requests.items()), _MAX_LOOK_BACK)
            if subject_matches(inbox, reply)
        )

    def _do(
        self, rule: Rule, connection: int, decision: Decision, view: FrameView, env: Env
    ) -> bool:
        """Carries one action out on the decision; whether anything came of it."""
        match rule.do:
            case Drop():
                decision.copies = 0
            case Duplicate():
                decision.copies += 1
            case Cut(after):
                decision.cut = "after" if after else "before"
            case Delay(seconds, reorder):
                decision.delay += seconds
                decision.reorder = decision.reorder or reorder
            case Change():
                frame = changed(rule.do, decision.frame, env)
                if frame is decision.frame:
                    return False
                decision.frame = frame
            case Answer(replies, passes):
                if not isinstance(view.frame, Pub) or view.frame.reply is None:
                    return False
                answers = [self._made(rule, connection, view, item, env) for item in replies]
                reached = [item for item in answers if item is not None]
                if not reached:
                    return False
                decision.after.extend(reached)
                if not passes:
                    decision.copies = 0
            case Inject(message, before):
                item = self._made(rule, connection, view, message, env)
                if item is None:
                    return False
                (decision.before if before else decision.after).append(item)
            case _:
                pass
        return True

    def _made(
        self, rule: Rule, connection: int, view: FrameView, reply: Reply, env: Env
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
