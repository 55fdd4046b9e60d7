"""Steps, from plain data to the model, read in the order in which they are played."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from jetproof.load.client_steps import KINDS as CLIENT_KINDS
from jetproof.load.client_steps import ClientStepReader
from jetproof.load.reader import Raw, Reader, seconds
from jetproof.load.scope import ERRORS, STREAM
from jetproof.load.server_steps import as_map, as_text
from jetproof.load.yaml_source import Keys
from jetproof.model import case as model
from jetproof.model.case import Expectation, Given, Outgoing, Step
from jetproof.model.matcher import Matcher
from jetproof.model.template import Value

ABANDONED = "STREAM.BATCH_ABANDONED"
STATE = (
    "messages", "bytes", "first_seq", "last_seq", "num_subjects", "num_deleted", "consumer_count",
)  # fmt: skip

COUNTS = ("num_pending", "num_ack_pending", "num_redelivered", "num_waiting")

_OF_A_MESSAGE = (
    "subject", "headers", "header_names", "payload", "json", "one_of", "capture", "position",
)  # fmt: skip
_OF_AN_ADVISORY = (
    "within", "json", "schema", "one_of", "not_before", "mark", "capture", "position",
)  # fmt: skip


class StepReader(ClientStepReader):
    """Reads the steps of one case.

    `given` is None if what is given has mistakes of its own: then nothing is held against it.
    `sound` tells whether a part follows the schema; steps that do not are left out.
    """

    def __init__(
        self,
        reader: Reader,
        given: Given | None,
        sound: Callable[[Keys], bool],
        *,
        for_client: bool = False,
    ) -> None:
        super().__init__(reader, given, for_client=for_client)
        self._sound = sound
        self._kinds: Mapping[str, Callable[[Keys, Raw, str], Step]] = {
            "publish": self._publish,
            "request": self._request,
            "subscribe": self._subscribe,
            "unsubscribe": self._unsubscribe,
            "receive": self._receive,
            "silence": self._silence,
            "stream": self._stream,
            "consumer": self._consumer,
            "stored": self._stored,
            "advisory": self._advisory,
            "repeat": self._repeat,
            "for_each": self._for_each,
            "loop": self._loop,
            "together": self._together,
            "action": self._action,
            "law": self._law,
            "call": self._call,
            "answered": self._answered,
            "event": self._event,
            "wire": self._wire,
            "fired": self._fired,
            "tap": self._tap,
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
        label, mark = as_text(raw.get("label")), as_text(raw.get("mark"))
        if label is not None:
            self.scope.label(label, self.line((*keys, "label")))
        if mark is not None:
            self.scope.marks(mark, self.line((*keys, "mark")))
        kind = next(name for name in self._kinds if name in raw)
        if kind in CLIENT_KINDS and not self.for_client:
            self.mistake((*keys, kind), f"{kind} belongs to suites whose folder is called client")
        step = self._kinds[kind](keys, raw, address)
        self.take_captures()
        return replace(step, line=self.line(keys), address=address, label=label, mark=mark)

    # -- sending and receiving ------------------------------------------------------------------

    def _publish(self, keys: Keys, raw: Raw, address: str) -> Step:
        return model.Publish(message=self._outgoing((*keys, "publish"), as_map(raw["publish"])))

    def _request(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "request"), as_map(raw["request"])
        message = self._outgoing(here, body)
        within = seconds(body["within"]) if "within" in body else None
        until_there = seconds(body["until_there"]) if "until_there" in body else None
        if "replies" in raw:
            if within is not None:
                self.mistake((*here, "within"), "within belongs into replies here")
            for name in ("until_there", "or_silence"):
                if name in body:
                    self.mistake((*here, name), f"{name} needs one reply, not several")
            replies = self.replies((*keys, "replies"), as_map(raw["replies"]))
            return model.Request(message=message, replies=replies)
        reply = self.reply((*keys, "reply"), as_map(raw["reply"]))
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
        self.exclusive(keys, raw, ("hex", "payload", "json"), ("payload", "json", "size"))
        connection = self._connection(keys, raw)
        return Outgoing(
            subject=self.value((*keys, "subject"), raw["subject"]),
            headers=self._headers((*keys, "headers"), raw["headers"]) if "headers" in raw else None,
            payload=self.sent((*keys, "payload"), raw.get("payload", "")),
            raw=bytes.fromhex(str(raw["hex"])) if "hex" in raw else None,
            json=self.value((*keys, "json"), raw["json"]) if "json" in raw else None,
            size=self.value((*keys, "size"), raw["size"]) if "size" in raw else None,
            reply=self.value((*keys, "reply"), raw["reply"]) if "reply" in raw else None,
            connection=connection,
            not_before=self.after((*keys, "not_before"), raw.get("not_before")),
            not_after=self.after((*keys, "not_after"), raw.get("not_after")),
        )

    def _headers(self, keys: Keys, raw: object) -> tuple[tuple[str, Value], ...]:
        headers: list[tuple[str, Value]] = []
        for name, value in as_map(raw).items():
            here = (*keys, name)
            if isinstance(value, list):
                headers.extend((name, self.sent((*here, i), one)) for i, one in enumerate(value))
            else:
                headers.append((name, self.sent(here, value)))
        return tuple(headers)

    def _subscribe(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "subscribe"), as_map(raw["subscribe"])
        to = str(body["to"])
        self.scope.subscribes(to, self.line((*here, "to")))
        return model.Subscribe(
            subject=self.value((*here, "subject"), body["subject"]),
            to=to,
            queue=self.value((*here, "queue"), body["queue"]) if "queue" in body else None,
            connection=self._connection(here, body),
        )

    def _unsubscribe(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "unsubscribe"), as_map(raw["unsubscribe"])
        source = str(body["from"])
        self.scope.subscription(source, self.line((*here, "from")))
        if source == ERRORS:
            self.mistake((*here, "from"), "errors come without a subscription, and do not end")
        return model.Unsubscribe(source=source)

    def _receive(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "receive"), as_map(raw["receive"])
        source = str(body["from"])
        self.scope.subscription(source, self.line((*here, "from")))
        within = seconds(body["within"]) if "within" in body else None
        if "messages" in raw:
            if within is not None:
                self.mistake((*here, "within"), "within belongs into messages here")
            messages = self.replies((*keys, "messages"), as_map(raw["messages"]))
            return model.Receive(source=source, messages=messages)
        message = self.expectation((*keys, "message"), as_map(raw["message"]))
        return model.Receive(source=source, message=message, within=within)

    def _silence(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "silence"), as_map(raw["silence"])
        on = str(body["on"])
        self.scope.subscription(on, self.line((*here, "on")), or_replies=True)
        return model.Quiet(on=on, seconds=seconds(body["for"]))

    # -- looking --------------------------------------------------------------------------------

    def _stream(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "stream"), as_map(raw["stream"])
        fields = {
            f"state.{name}": self.matcher((*here, name), body[name])
            for name in STATE
            if name in body
        }
        fields.update(self.matchers((*here, "json"), body.get("json"), paths=True))
        return model.StreamState(of=self._of(here, body), fields=fields, **self._told(here, body))

    def _consumer(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "consumer"), as_map(raw["consumer"])
        self.exclusive(here, body, ("absent",), (*COUNTS, "json", "capture", "position"))
        fields = {name: self.matcher((*here, name), body[name]) for name in COUNTS if name in body}
        fields.update(self.matchers((*here, "json"), body.get("json"), paths=True))
        return model.ConsumerState(
            of=self._of(here, body),
            consumer=self.value((*here, "name"), body["name"]),
            fields=fields,
            absent=body.get("absent") is True,
            **self._told(here, body),
        )

    def _told(self, here: Keys, body: Raw) -> dict[str, Any]:
        """What a step that asks for information has besides what it must be."""
        return {
            "within": seconds(body["within"]) if "within" in body else None,
            "capture": self.captured_paths((*here, "capture"), body.get("capture")),
            "position": {
                name: self.path((*here, "position", name), str(path))
                for name, path in as_map(body.get("position")).items()
            },
            "connection": self._connection(here, body),
        }

    def _stored(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "stored"), as_map(raw["stored"])
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
        here, body = (*keys, "advisory"), as_map(raw["advisory"])
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
        here, body = (*keys, "repeat"), as_map(raw["repeat"])
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

    def _for_each(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "for_each"), as_map(raw["for_each"])
        named, listed = body["as"], body["values"]
        names = tuple(map(str, named)) if isinstance(named, list) else (str(named),)
        values: list[tuple[Value, ...]] = []
        for index, value in enumerate(listed if isinstance(listed, list) else ()):
            place = (*here, "values", index)
            parts = value if isinstance(named, list) and isinstance(value, list) else [value]
            if isinstance(value, list) != isinstance(named, list) or len(parts) != len(names):
                wanted = f"a list of {len(names)}" if isinstance(named, list) else "one value"
                self.mistake(place, f"each of values must be {wanted}, for {', '.join(names)}")
            values.append(tuple(self.value(place, part) for part in parts))
        for name in names:
            self.scope.sets(name, self.line((*here, "as")))
        inner = self.steps((*keys, "steps"), raw["steps"], f"{address}.")
        for name in names:
            self.scope.forget(name)
        at_once = body.get("at_once") is True
        return model.ForEach(variables=names, values=tuple(values), steps=inner, at_once=at_once)

    def _together(self, keys: Keys, raw: Raw, address: str) -> Step:
        here = (*keys, "together")
        point = self.scope.branch_point()
        branches, ends = {}, []
        for name, steps in as_map(raw["together"]).items():
            self.scope.branch(point)
            branches[name] = self.steps((*here, name), steps, f"{address}.{name}.")
            ends.append(self.scope.branch_point())
        self.scope.branch(point)
        self.scope.join(ends)
        return model.Together(branches=branches)

    def _loop(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "loop"), as_map(raw["loop"])
        inner = self.steps((*keys, "steps"), raw["steps"], f"{address}.")
        until: dict[str, Matcher] = {}
        for name, matcher in as_map(body["until"]).items():
            place = (*here, "until", name)
            self.scope.variable(name, self.line(place))
            until[name] = self.matcher(place, matcher)
        most = body["max"]
        assert isinstance(most, int)
        return model.Loop(most=most, until=until, steps=inner)

    # -- small parts ----------------------------------------------------------------------------

    def _of(self, keys: Keys, raw: Raw) -> Value:
        """The stream that a step is about: $stream unless it says another."""
        return self.value((*keys, "of") if "of" in raw else keys, raw.get("of", f"${STREAM}"))

    def _connection(self, keys: Keys, raw: Raw) -> str:
        name = str(raw.get("connection", "main"))
        self.scope.connection(name, self.line((*keys, "connection")))
        return name
