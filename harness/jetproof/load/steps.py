"""Steps, from plain data to the model, read in the order in which they are played."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from jetproof.load.expectations import ExpectationReader
from jetproof.load.mistakes import choices
from jetproof.load.nodes import Keys
from jetproof.load.reader import Raw, Reader, seconds
from jetproof.load.scope import STREAM
from jetproof.model import case as model
from jetproof.model.case import Expectation, Given, Outgoing, Step
from jetproof.model.laws import LAWS
from jetproof.model.matcher import Matcher
from jetproof.model.template import Value

ABANDONED = "STREAM.BATCH_ABANDONED"
NODES = {"single": ("n1",), "cluster-3": ("n1", "n2", "n3")}
STATE = (
    "messages", "bytes", "first_seq", "last_seq", "num_subjects", "num_deleted", "consumer_count",
)  # fmt: skip

_VERBS = ("stepdown", "stop", "kill", "start", "restart", "pause", "resume")
_FOLLOWS = {"start": ("stop", "kill"), "resume": ("pause",)}
_OF_A_MESSAGE = ("subject", "headers", "payload", "json", "capture", "position")
_OF_AN_ADVISORY = ("within", "json", "schema", "not_before", "capture", "position")


class StepReader(ExpectationReader):
    """Reads the steps of one case.

    `given` is None if what is given has mistakes of its own: then nothing is held against it.
    `sound` tells whether a part follows the schema; steps that do not are left out.
    """

    def __init__(self, reader: Reader, given: Given | None, sound: Callable[[Keys], bool]) -> None:
        super().__init__(reader)
        self._given = given
        self._sound = sound
        self._kinds: Mapping[str, Callable[[Keys, Raw, str], Step]] = {
            "publish": self._publish,
            "request": self._request,
            "subscribe": self._subscribe,
            "receive": self._receive,
            "silence": self._silence,
            "stream": self._stream,
            "stored": self._stored,
            "advisory": self._advisory,
            "repeat": self._repeat,
            "loop": self._loop,
            "together": self._together,
            "action": self._action,
            "law": self._law,
        }

    def steps(self, keys: Keys, raw: object, prefix: str = "") -> tuple[Step, ...]:
        """Every step that can be read; `prefix` is the address of the step around them."""
        found: list[Step] = []
        for index, inner in enumerate(raw if isinstance(raw, list) else ()):
            here = (*keys, index)
            if self._sound(here) and isinstance(inner, Mapping):
                found.append(self._step(here, inner, f"{prefix}{index + 1}"))
        return tuple(found)

    def _step(self, keys: Keys, raw: Raw, address: str) -> Step:
        label, mark = _text(raw.get("label")), _text(raw.get("mark"))
        if label is not None:
            self.scope.label(label, self.line((*keys, "label")))
        if mark is not None:
            self.scope.marks(mark, self.line((*keys, "mark")))
        kind = next(name for name in self._kinds if name in raw)
        step = self._kinds[kind](keys, raw, address)
        self.take_captures()
        return replace(step, line=self.line(keys), address=address, label=label, mark=mark)

    # -- sending and receiving ------------------------------------------------------------------

    def _publish(self, keys: Keys, raw: Raw, address: str) -> Step:
        return model.Publish(message=self._outgoing((*keys, "publish"), _map(raw["publish"])))

    def _request(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "request"), _map(raw["request"])
        message = self._outgoing(here, body)
        within = seconds(body["within"]) if "within" in body else None
        until_there = seconds(body["until_there"]) if "until_there" in body else None
        if "replies" in raw:
            if within is not None:
                self.mistake((*here, "within"), "within belongs into replies here")
            for name in ("until_there", "or_silence"):
                if name in body:
                    self.mistake((*here, name), f"{name} needs one reply, not several")
            replies = self.replies((*keys, "replies"), _map(raw["replies"]))
            return model.Request(message=message, replies=replies)
        reply = self.reply((*keys, "reply"), _map(raw["reply"]))
        if isinstance(reply, model.Silence):
            for name in ("within", "until_there", "or_silence"):
                if name in body:
                    self.mistake((*here, name), f"silence and {name} exclude each other")
        return model.Request(
            message=message,
            reply=reply,
            within=within,
            until_there=until_there,
            or_silence=body.get("or_silence") is True,
        )

    def _outgoing(self, keys: Keys, raw: Raw) -> Outgoing:
        self.exclusive(keys, raw, ("payload", "json"), ("json", "size"))
        connection = self._connection(keys, raw)
        return Outgoing(
            subject=self.value((*keys, "subject"), raw["subject"]),
            headers=self._headers((*keys, "headers"), raw["headers"]) if "headers" in raw else None,
            payload=self.sent((*keys, "payload"), raw.get("payload", "")),
            json=self.value((*keys, "json"), raw["json"]) if "json" in raw else None,
            size=self.value((*keys, "size"), raw["size"]) if "size" in raw else None,
            reply=self.value((*keys, "reply"), raw["reply"]) if "reply" in raw else None,
            connection=connection,
            not_before=self.after((*keys, "not_before"), raw.get("not_before")),
            not_after=self.after((*keys, "not_after"), raw.get("not_after")),
        )

    def _headers(self, keys: Keys, raw: object) -> tuple[tuple[str, Value], ...]:
        headers: list[tuple[str, Value]] = []
        for name, value in _map(raw).items():
            here = (*keys, name)
            if isinstance(value, list):
                headers.extend((name, self.sent((*here, i), one)) for i, one in enumerate(value))
            else:
                headers.append((name, self.sent(here, value)))
        return tuple(headers)

    def _subscribe(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "subscribe"), _map(raw["subscribe"])
        to = str(body["to"])
        self.scope.subscribes(to, self.line((*here, "to")))
        return model.Subscribe(
            subject=self.value((*here, "subject"), body["subject"]),
            to=to,
            queue=self.value((*here, "queue"), body["queue"]) if "queue" in body else None,
            connection=self._connection(here, body),
        )

    def _receive(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "receive"), _map(raw["receive"])
        source = str(body["from"])
        self.scope.subscription(source, self.line((*here, "from")))
        within = seconds(body["within"]) if "within" in body else None
        if "messages" in raw:
            if within is not None:
                self.mistake((*here, "within"), "within belongs into messages here")
            messages = self.replies((*keys, "messages"), _map(raw["messages"]))
            return model.Receive(source=source, messages=messages)
        message = self.expectation((*keys, "message"), _map(raw["message"]))
        return model.Receive(source=source, message=message, within=within)

    def _silence(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "silence"), _map(raw["silence"])
        on = str(body["on"])
        self.scope.subscription(on, self.line((*here, "on")), or_replies=True)
        return model.Quiet(on=on, seconds=seconds(body["for"]))

    # -- looking --------------------------------------------------------------------------------

    def _stream(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "stream"), _map(raw["stream"])
        fields = {
            f"state.{name}": self.matcher((*here, name), body[name])
            for name in STATE
            if name in body
        }
        fields.update(self.matchers((*here, "json"), body.get("json"), paths=True))
        position = _map(body.get("position"))
        return model.StreamState(
            of=self._of(here, body),
            fields=fields,
            within=seconds(body["within"]) if "within" in body else None,
            capture=self.captured_paths((*here, "capture"), body.get("capture")),
            position={
                name: self.path((*here, "position", name), str(path))
                for name, path in position.items()
            },
            connection=self._connection(here, body),
        )

    def _stored(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "stored"), _map(raw["stored"])
        self.exclusive(here, body, ("absent",), _OF_A_MESSAGE)
        last = body.get("last_by_subject")
        return model.Stored(
            of=self._of(here, body),
            seq=self.value((*here, "seq"), body["seq"]) if "seq" in body else None,
            last_by_subject=None if last is None else self.value((*here, "last_by_subject"), last),
            message=self._part(here, body, _OF_A_MESSAGE),
            absent=body.get("absent") is True,
            connection=self._connection(here, body),
        )

    def _advisory(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "advisory"), _map(raw["advisory"])
        self.exclusive(here, body, ("none_for",), _OF_AN_ADVISORY)
        none_for = seconds(body["none_for"]) if "none_for" in body else None
        return model.Advisory(
            event=str(body.get("event", ABANDONED)),
            of=self._of(here, body),
            message=self._part(here, body, _OF_AN_ADVISORY) if none_for is None else None,
            none_for=none_for,
            within=seconds(body["within"]) if "within" in body else None,
        )

    def _part(self, keys: Keys, raw: Raw, names: tuple[str, ...]) -> Expectation:
        """The expectation whose keys stand among others in a step."""
        return self.expectation(keys, {name: raw[name] for name in names if name in raw})

    # -- playing several times ------------------------------------------------------------------

    def _repeat(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "repeat"), _map(raw["repeat"])
        variable = str(body["as"])
        times = self.value((*here, "times"), body["times"])
        start = self.value((*here, "from"), body.get("from", 1))
        self.scope.sets(variable, self.line((*here, "as")))
        inner = self.steps((*keys, "steps"), raw["steps"], f"{address}.")
        self.scope.forget(variable)
        at_once = body.get("at_once") is True
        return model.Repeat(
            variable=variable, times=times, start=start, steps=inner, at_once=at_once
        )

    def _together(self, keys: Keys, raw: Raw, address: str) -> Step:
        here = (*keys, "together")
        point = self.scope.branch_point()
        branches, ends = {}, []
        for name, steps in _map(raw["together"]).items():
            self.scope.branch(point)
            branches[name] = self.steps((*here, name), steps, f"{address}.{name}.")
            ends.append(self.scope.branch_point())
        self.scope.branch(point)
        self.scope.join(ends)
        return model.Together(branches=branches)

    def _loop(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "loop"), _map(raw["loop"])
        inner = self.steps((*keys, "steps"), raw["steps"], f"{address}.")
        until: dict[str, Matcher] = {}
        for name, matcher in _map(body["until"]).items():
            place = (*here, "until", name)
            self.scope.variable(name, self.line(place))
            until[name] = self.matcher(place, matcher)
        most = body["max"]
        assert isinstance(most, int)
        return model.Loop(most=most, until=until, steps=inner)

    # -- servers and laws -----------------------------------------------------------------------

    def _action(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "action"), _map(raw["action"])
        verb = next(name for name in _VERBS if name in body)
        place = (*here, verb)
        self._check_action(place, verb, body[verb])
        if "to" in body:
            if verb != "stepdown":
                self.mistake((*here, "to"), f"to belongs to stepdown, not to {verb}")
            elif self._given is not None:
                self._check_node((*here, "to"), body["to"])
        then = _text(body.get("then"))
        if then is not None and verb not in _FOLLOWS[then]:
            follows = " or ".join(_FOLLOWS[then])
            self.mistake((*here, "then"), f"then: {then} follows {follows}, not {verb}")
        reconnect = body.get("reconnect", [])
        names = tuple(reconnect) if isinstance(reconnect, list) else (str(reconnect),)
        for name in names:
            self.scope.connection(name, self.line((*here, "reconnect")))
        return model.Action(
            verb=verb,
            target=self.value(place, body[verb]),
            to=self.value((*here, "to"), body["to"]) if "to" in body else None,
            then=then,
            reconnect=names,
        )

    def _law(self, keys: Keys, raw: Raw, address: str) -> Step:
        [(name, given)] = _map(raw["law"]).items()
        here = (*keys, "law", name)
        law = LAWS.get(name)
        if law is None:
            self.mistake(here, f"unknown law {name!r}; {choices(name, sorted(LAWS))}")
            return model.Law(law=name, arguments={})
        arguments = _map(given)
        for missing in sorted(law.required - arguments.keys()):
            self.mistake(here, f"missing argument {missing!r} of law {name}")
        read: dict[str, object] = {}
        for argument, value in arguments.items():
            kind = law.arguments.get(argument)
            if kind is None:
                known = choices(argument, law.arguments)
                self.mistake(
                    (*here, argument), f"unknown argument {argument!r} of law {name}; {known}"
                )
            else:
                read[argument] = self._argument((*here, argument), argument, kind, value)
        return model.Law(law=name, arguments=read)

    def _argument(self, keys: Keys, name: str, kind: str, value: object) -> object:
        if kind == "matcher":
            return self.matcher(keys, value)
        if kind == "duration":
            try:
                return seconds(value)
            except ValueError:
                wanted = "a duration such as 300ms, 1.5s or 2m"
                self.mistake(keys, f"{name} must be {wanted}, not {value!r}")
                return 0.0
        form, words = (int, "a whole number") if kind == "int" else (str, "a text")
        if not isinstance(value, form) or isinstance(value, bool):
            self.mistake(keys, f"{name} must be {words}, not {value!r}")
        elif name == "on":
            self.scope.subscription(str(value), self.line(keys))
        elif name == "since":
            self.scope.mark(str(value), self.line(keys))
        elif name == "of":
            self.scope.labelled(str(value), self.line(keys))
        return value

    # -- what is given --------------------------------------------------------------------------

    def check_connections(self, keys: Keys) -> None:
        """Connections go to nodes that are there."""
        for name, connection in (self._given.connections if self._given else {}).items():
            if connection.node is not None:
                self._check_node((*keys, name, "node"), connection.node)

    def _check_action(self, keys: Keys, verb: str, node: object) -> None:
        if self._given is None:
            return
        if verb == "stepdown":
            if self._given.topology == "single":
                self.mistake(keys, "stepdown needs a cluster: give topology: cluster-3")
            return
        self._check_node(keys, node)
        if self._given.isolation != "server":
            self.mistake(keys, f"{verb} needs a server of its own: give isolation: server")

    def _check_node(self, keys: Keys, node: object) -> None:
        """A node by name must be there, and a leader or follower is one of the case's stream."""
        assert self._given is not None
        topology = self._given.topology
        if node == "follower" and topology == "single":
            self.mistake(keys, "a single server has no follower: give topology: cluster-3")
        elif node in ("leader", "follower"):
            self.scope.variable(STREAM, self.line(keys))
        elif isinstance(node, str) and not node.startswith("$") and node not in NODES[topology]:
            self.mistake(keys, f"no node {node} in {topology}; {choices(node, NODES[topology])}")

    # -- small parts ----------------------------------------------------------------------------

    def _of(self, keys: Keys, raw: Raw) -> Value:
        """The stream that a step is about: $stream unless it says another."""
        return self.value((*keys, "of") if "of" in raw else keys, raw.get("of", f"${STREAM}"))

    def _connection(self, keys: Keys, raw: Raw) -> str:
        name = str(raw.get("connection", "main"))
        self.scope.connection(name, self.line((*keys, "connection")))
        return name


def _map(raw: object) -> Raw:
    return raw if isinstance(raw, Mapping) else {}


def _text(raw: object) -> str | None:
    return raw if isinstance(raw, str) else None
