"""The client library of one case: its adapter, the tap before the server, and what both told."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from jetproof import clock
from jetproof.engine.documents import cut
from jetproof.engine.judge import Seen
from jetproof.engine.position_words import effect, which
from jetproof.engine.transcript import Transcript, header_items
from jetproof.model.client import EventStep
from jetproof.model.matching import at_path, mismatch
from jetproof.model.verdict import FrameRecord
from jetproof.targets.clients.process import Adapter, Answer, Event
from jetproof.targets.tap import Tap, TapEvent
from jetproof.wire.frames import Connect, Frame, Msg, Pub, Sub, Unsub
from jetproof.wire.rules.model import Selector
from jetproof.wire.rules.selecting import FrameView, selects

CLIENT = "client"
STRIPPED = "stripped"
"""The note of a frame that lost something at the tap begins with it."""
ADAPTER = "adapter"
_UNTOLD = ("PING", "PONG", "+OK", "INFO")
_TOLD_CHARACTERS = 2_000
TOLD = "told"
_TELLING = ("notice", "end")


class NotSupported(Exception):
    """The library has no call for what the case needs: the case does not apply to it."""


class Passed(NamedTuple):
    """A frame that passed the tap, when, and on which of the library's connections."""

    frame: Frame
    at: float
    connection: int = 1


@dataclass(frozen=True, slots=True)
class Made:
    """A call that was answered: what was asked for, when, and how it ended."""

    op: str
    parameters: Mapping[str, object]
    began: float
    answer: Answer


@dataclass(slots=True)
class _Frame:
    view: FrameView
    seen: Seen
    connection: int
    taken: bool = False


@dataclass(slots=True)
class _Event:
    """Taken once by its own name, and once as something told."""

    name: str
    of: str
    seen: Seen
    taken: set[str] = field(default_factory=set)

    def is_meant(self, step: EventStep, env: Mapping[str, Any]) -> bool:
        """`told` is every error that reached the application, be it with the end of a consume."""
        document = self.seen.document
        if self.of != step.of or not isinstance(document, dict):
            return False
        if step.event == TOLD:
            if self.name not in _TELLING or "error" not in document:
                return False
        elif self.name != step.event:
            return False
        if step.says and not re.search(step.says, self.seen.text):
            return False
        wanted = step.json.items()
        return all(mismatch(test, at_path(document, path), env) is None for path, test in wanted)


class ClientSide:
    """What one case knows of its library. Frames and events come in; steps look at them."""

    def __init__(self, adapter: Adapter, tap: Tap, transcript: Transcript) -> None:
        self.adapter = adapter
        self.tap = tap
        self.calls: dict[str, asyncio.Task[Answer]] = {}
        self.stalled = 0.0
        self._transcript = transcript
        self._frames: list[_Frame] = []
        self._events: list[_Event] = []
        self._returned: list[object] = []
        self._made: list[Made] = []
        self._subjects: dict[tuple[int, str], str] = {}
        self._news = asyncio.Event()

    # -- what comes in --------------------------------------------------------------------------

    def saw(self, event: TapEvent) -> None:
        """A frame at the tap. What the server said counts as it reached the library, and what the
        library said as it left it, but for what the tap stripped."""
        self._record(event)
        frames: tuple[Frame, ...] = (event.counted,)
        if event.sender == "server":
            frames = event.passed
        for frame in frames:
            view = FrameView(event.sender, frame)
            if isinstance(frame, Sub):
                self._subjects[event.connection, frame.sid] = frame.subject
            seen = _seen(frame, event.at)
            if isinstance(frame, Unsub):  # it names what it ends by a number
                seen = replace(seen, subject=self._subjects.get((event.connection, frame.sid), ""))
            self._frames.append(_Frame(view, seen, event.connection))
        self._news.set()

    def heard(self, event: Event) -> None:
        """Something that the library told by itself."""
        of, kind = event.of or "", event.body.get("kind")
        name = event.name if kind is None else f"{event.name}.{kind}"
        self._transcript.note(ADAPTER, "event", f"{name} {of} {_told(event.body)}")
        payload = json.dumps(event.body, default=str).encode()
        words = _event_words(name, event.body)
        seen = Seen("", None, payload, at=event.at, words=words, effect=_event_effect(event))
        self._events.append(_Event(name, of, seen))
        self._news.set()

    def check_adapter(self) -> None:
        """Silence proves nothing once the adapter has failed."""
        if self.adapter.fault is not None:
            raise self.adapter.fault

    def check_calls(self) -> None:
        """What a call was to bring about does not come if the library has no such call."""
        for call in self.calls.values():
            if call.done() and not call.cancelled():
                problem = call.exception()
                if isinstance(problem, NotSupported):
                    raise problem

    # -- what is asked for ----------------------------------------------------------------------

    async def call(self, op: str, parameters: Mapping[str, object], timeout: float) -> Answer:
        """Calls the library and waits for what it returns."""
        self._transcript.note(ADAPTER, "call", _told({"op": op, **parameters}))
        began = clock.now()
        answer = await self.adapter.call(op, parameters, timeout)
        self._made.append(Made(op, parameters, began, answer))
        told = {answer.kind: answer.body}
        self._transcript.note(ADAPTER, "answer", f"{op}: {_told(told)}")
        if answer.kind == "ok" and isinstance(answer.body, Mapping):
            self._returned.extend(_messages(answer.body))
        if answer.kind == "unsupported":
            raise NotSupported(f"{op}: {cut(str(answer.body))}")
        return answer

    def take(self, selector: Selector, env: Mapping[str, Any]) -> Seen | None:
        """The first frame that is meant and that no step has taken."""
        for frame in self._frames:
            if not frame.taken and selects(selector, frame.view, env):
                frame.taken = True
                return frame.seen
        return None

    def take_event(self, step: EventStep, env: Mapping[str, Any]) -> Seen | None:
        """The first event that is meant and that no step has taken."""
        for event in self._events:
            if step.event not in event.taken and event.is_meant(step, env):
                event.taken.add(step.event)
                return event.seen
        return None

    async def next_frame(
        self, selector: Selector, env: Mapping[str, Any], timeout: float
    ) -> Seen | None:
        return await self._next(lambda: self.take(selector, env), timeout)

    async def next_event(
        self, step: EventStep, env: Mapping[str, Any], timeout: float
    ) -> Seen | None:
        return await self._next(lambda: self.take_event(step, env), timeout)

    async def _next(self, take: Callable[[], Seen | None], timeout: float) -> Seen | None:
        deadline = clock.now() + timeout
        while True:
            self._news.clear()
            if (seen := take()) is not None:
                return seen
            left = deadline - clock.now()
            if left <= 0:
                return None
            try:
                async with asyncio.timeout(left):
                    await self._news.wait()
            except TimeoutError:
                pass

    def exchange(self) -> list[Passed]:
        """Everything that passed the tap, in its order, for laws."""
        return [Passed(it.view.frame, it.seen.at, it.connection) for it in self._frames]

    def told(self, name: str, of: str) -> list[Seen]:
        """Every event of one kind about one thing, taken by a step or not."""
        return [event.seen for event in self._events if (event.name, event.of) == (name, of)]

    def returned(self) -> list[object]:
        """Every message that a call returned, such as a fetch or a next."""
        return self._returned

    def handed(self) -> list[object]:
        """Every message that the application got, from a call or by an event."""
        told = (event.seen.document for event in self._events if event.name == "message")
        return [*self._returned, *told]

    def made(self) -> list[Made]:
        """Every call that was answered, in the order of the answers."""
        return self._made

    async def stop(self) -> None:
        """Ends what is still under way."""
        for task in self.calls.values():
            task.cancel()
        await asyncio.gather(*self.calls.values(), return_exceptions=True)

    # -- the transcript -------------------------------------------------------------------------

    def _record(self, event: TapEvent) -> None:
        frame = event.frame
        if frame.op in _UNTOLD and not event.rules:
            return
        note = ""
        if event.rules:
            done = "made" if event.made else "dropped" if not event.passed else "changed"
            if event.stripped is not None:
                done = STRIPPED if event.passed else f"{STRIPPED} and dropped"
            note = f"{done} by {', '.join(event.rules)}"
        message = frame if isinstance(frame, (Msg, Pub)) else None
        self._transcript.frames.append(
            FrameRecord(
                ms=self._transcript.ms(event.at),
                direction=">" if event.sender == "client" else "<",
                connection=CLIENT,
                op=frame.op,
                subject=getattr(frame, "subject", ""),
                reply=(message.reply or "") if message else "",
                status=message.status if message else None,
                description=message.description if message else "",
                headers=header_items(message.headers) if message else None,
                payload=_payload(frame),
                note=note,
                step=self._transcript.step,
            )
        )


def answer_seen(answer: Answer) -> Seen:
    """An answer as it is judged."""
    body = {} if answer.body is None else answer.body
    payload = json.dumps(body, default=str).encode()
    if answer.kind != "ok":
        words = f"error {error_words(body)}"
        return Seen("", None, payload, at=answer.at, outcome=answer.kind, words=words)
    words, told = _ok_words(body), effect(body)
    return Seen("", None, payload, at=answer.at, outcome="ok", words=words, effect=told)


def _messages(body: Mapping[str, object]) -> Iterator[object]:
    several = body.get("messages")
    yield from several if isinstance(several, list) else ()
    if body.get("message") is not None:
        yield body["message"]


def _ok_words(body: object) -> str:
    """A call that returned; what it gave may have ended with an error all the same."""
    error = body.get("error") if isinstance(body, Mapping) else None
    return "ok" if error is None else f"ok, then error {error_words(error)}"


def error_words(body: object) -> str:
    """An error in a word or two: its name and its code, and not its text, which may hold ids."""
    if not isinstance(body, Mapping):
        return "of an odd form"
    code = body.get("err_code", body.get("status", body.get("code")))
    return str(body.get("type", "without a type")) + ("" if code is None else f" {code}")


def _event_words(event: str, body: Mapping[str, object]) -> str:
    error = body.get("error")
    return event if error is None else f"{event}: {error_words(error)}"


def _event_effect(event: Event) -> str:
    """Which message it was; of several errors, which errors."""
    if event.name == "message":
        return which(event.body)
    error = event.body.get("error")
    return "" if error is None else error_words(error)


def _seen(frame: Frame, at: float) -> Seen:
    if isinstance(frame, (Msg, Pub)):
        return Seen(frame.subject, frame.headers, frame.payload, frame.reply or "", at)
    subject = frame.subject if isinstance(frame, Sub) else ""
    return Seen(subject, None, _payload(frame), at=at, words=frame.op)


def _payload(frame: Frame) -> bytes:
    if isinstance(frame, (Msg, Pub)):
        return frame.payload
    if isinstance(frame, Connect):
        return json.dumps(frame.data).encode()
    return b""


def _told(document: object) -> str:
    text = json.dumps(document, ensure_ascii=False, default=str)
    return text if len(text) <= _TOLD_CHARACTERS else f"{text[:_TOLD_CHARACTERS]}…"
