"""The state of one case while it is played: variables, connections, mailboxes, checks.

The steps themselves are in `exchange`, `observations`, `actions` and `laws`; this is what they
share. Nothing here judges, and nothing outside the case is touched.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count

from jetproof import clock
from jetproof.engine.client_side import ClientSide
from jetproof.engine.documents import cut
from jetproof.engine.ingest_subjects import channel, is_fast
from jetproof.engine.judge import Judgement, Rules, Seen, merge
from jetproof.engine.mailbox import Mailbox
from jetproof.engine.marks import Marks
from jetproof.engine.names import FreshNames
from jetproof.engine.questions import Questions
from jetproof.engine.session import Session
from jetproof.engine.transcript import Transcript
from jetproof.errors import JetproofError
from jetproof.model.case import Case, Outgoing, Publish, Step
from jetproof.model.template import Scalar, TemplateError, render, render_text
from jetproof.model.verdict import Check, Fault
from jetproof.plan import own_account
from jetproof.wire import Connection, ConnectionLost, Headers, Msg, Pub
from jetproof.wire.codec import MAX_MESSAGE

GIVEN = "given"
MOST = 1_000_000
REPLY_WITHIN = 3.0
FAST_BATCH_ID = "Nats-Fast-Batch-Id"
BATCH_ID, BATCH_SEQUENCE, BATCH_COMMIT = (
    "Nats-Batch-Id",
    "Nats-Batch-Sequence",
    "Nats-Batch-Commit",
)
ADVISORY_WITHIN = 3.0
LATE = 0.1

SchemaWatch = Callable[[str, str, str | None, bytes], None]


class CannotGoOn(Exception):
    """The case has failed so that its further steps cannot be played."""


@dataclass(slots=True)
class Line:
    """One connection of the case: the driver's connection and its place in the case."""

    name: str
    connection: Connection
    private: bool
    account: str | None = None
    closed_by_server: bool = False
    complained: bool = False
    sids: list[int] = field(default_factory=list)
    subscribed: dict[str, list[int]] = field(default_factory=dict)
    let_go: list[Callable[[], None]] = field(default_factory=list)


class Play:
    """Everything one case owns while it runs."""

    def __init__(
        self,
        case: Case,
        session: Session,
        rules: Rules,
        token: str,
        *,
        schema_watch: SchemaWatch,
        promises: frozenset[str] = frozenset(),
        full_laws: bool = False,
    ) -> None:
        self.case = case
        self.session = session
        self.rules = rules
        self.token = token
        self.promises = promises
        """The clauses that are held against the server when the case has ended."""
        self.full_laws = full_laws
        self.transcript = Transcript()
        self.checks: list[Check] = []
        self.positions: dict[str, str] = {}
        self.captured: set[str] = set()
        self.marks: dict[str, float] = Marks()
        self.iteration: list[str] = []
        self.account = (
            own_account(case, rules.revision) if case.given.isolation == "account" else None
        )
        self.questions = Questions(session, self.transcript, self.account)
        names = FreshNames(token, case.name, (name for name, _ in case.given.streams))
        self.env: dict[str, Scalar] = dict(names.values)
        self.generic = names.generic
        self.lines: dict[str, Line] = {}
        self.replies: dict[str, Mailbox] = {}
        self.boxes: dict[str, Mailbox] = {"errors": Mailbox()}
        self.requests: dict[str, tuple[str, str]] = {}
        self.own_questions: set[str] = set()
        self.asked_on: set[str] = set()
        self.listening: dict[str, str] = {}
        self.step: Step | str = GIVEN
        self.advisories: list[Seen] = []
        self.advised = asyncio.Event()
        self.broken: str | None = None
        self.connection_lost = False
        self.client: ClientSide | None = None
        self._schema_watch = schema_watch
        self.outcomes: list[tuple[str, str]] = []
        self.api_subjects: list[str] = []
        self.moving = False
        """Whether something may change the state at any later moment: a pull, an ack, fast ingest."""
        self.settled = True
        """Whether every message that was published so far has surely been taken or refused."""
        self._replies_made = count(1)
        self._task: asyncio.Task[None] | None = None
        self._whole = self  # the case itself, whichever branch of it this is

    def branch(self, name: str, variables: Mapping[str, Scalar]) -> Play:
        """The same case with variables and a place of its own, for steps played side by side."""
        branch = copy.copy(self)
        branch.env = {**self.env, **variables}
        branch.iteration = [*self.iteration, name]
        return branch

    @property
    def is_branch(self) -> bool:
        """Whether other steps of the case are played at the same time."""
        return self._whole is not self

    @property
    def where(self) -> str:
        """The step that is being played, and which time."""
        name = self.step if isinstance(self.step, str) else self.step.name
        return name + (f" [{self.iterations}]" if self.iteration else "")

    @property
    def iterations(self) -> str:
        return ",".join(self.iteration)

    @property
    def factor(self) -> float:
        return self.session.factor

    def text(self, value: object) -> str:
        return render_text(value, self.env)  # type: ignore[arg-type]

    def whole(self, value: object, *, most: int = MOST) -> int:
        """A value that must be a whole number, and not one that a wrong server made enormous."""
        text = self.text(value)
        if not re.fullmatch(r"-?[0-9]{1,18}", text) or int(text) > most:
            raise TemplateError(f"{cut(text, 60)!r} is no whole number up to {most}")
        return int(text)

    # -- being stopped from outside -------------------------------------------------------------

    def abort(self, reason: str) -> None:
        """Ends the case from outside: the target died, or its connection was lost."""
        whole = self._whole
        if whole.broken is None:
            whole.broken = reason
            if whole._task is not None:
                whole._task.cancel()

    @contextlib.contextmanager
    def running_as(self, task: asyncio.Task[None]) -> Iterator[None]:
        self._task = task
        forget = self.session.on_death(self.abort)
        try:
            yield
        finally:
            forget()
            self._task = None

    # -- connections ----------------------------------------------------------------------------

    def line(self, name: str) -> Line:
        if name not in self.lines:
            raise JetproofError(f"the case has no connection {name}", phase="play")
        return self.lines[name]

    def attach(
        self, name: str, connection: Connection, *, private: bool, account: str | None
    ) -> Line:
        """Makes a connection the case's own: its inbox, its errors, its end."""
        line = Line(name, connection, private, account)
        self.lines[name] = line
        line.sids.append(
            connection.subscribe(
                f"_INBOX.{self.token}.>", lambda msg, at: self._replied(line, msg, at)
            )
        )
        line.let_go += [
            self.session.on_loss(connection, lambda reason: self._closed(line, reason)),
            self.session.on_complaint(connection, lambda text: self._error(line, text)),
        ]
        return line

    async def detach(self, name: str) -> None:
        line = self.lines.pop(name)
        for let_go in line.let_go:
            let_go()
        if line.private:
            await self.session.close(line.connection)
        elif not line.connection.closed:
            for sid in line.sids:
                line.connection.unsubscribe(sid)

    def _closed(self, line: Line, reason: str) -> None:
        if self.lines.get(line.name) is not line:
            return
        self.transcript.note(line.name, "closed", reason)
        if self.session.is_planned_loss(line.connection):
            return
        self._whole.connection_lost = line.closed_by_server = True
        if not line.private:
            self.abort(f"the shared connection was lost: {reason}")

    def _error(self, line: Line, text: str) -> None:
        if not line.private:
            # It may be about any of the cases that share the connection: evidence, and no more.
            self.transcript.note(line.name, "-ERR", f"{text} (on a connection shared by cases)")
            return
        line.complained = True
        self.transcript.note(line.name, "-ERR", text)
        payload = text.encode("utf-8", "surrogateescape")
        self.boxes["errors"].put(Seen("-ERR", None, payload, at=clock.now()))

    # -- messages out ---------------------------------------------------------------------------

    def send(self, message: Outgoing, *, reply: str | None) -> Pub:
        """Sends exactly what the case says and records it."""
        line = self.line(message.connection)
        subject, headers = self.text(message.subject), None
        try:
            payload = self._payload(message)
            if message.headers is not None:
                headers = Headers([(name, self.text(value)) for name, value in message.headers])
            frame = line.connection.publish(subject, payload, reply=reply, headers=headers)
        except ValueError as error:
            # A captured value with a blank or a line break in it, where none can stand.
            raise TemplateError(str(error)) from None
        self.transcript.step = self.step if isinstance(self.step, str) else self.step.name
        self.transcript.sent(line.name, frame)
        if reply is not None:
            self.requests[channel(reply)] = frame.subject, line.name
            fast = headers is not None and FAST_BATCH_ID in headers
            self._whole.moving |= fast or is_fast(reply)
        if isinstance(self.step, Publish):
            self._whole.moving |= subject.startswith("$")
            # A member of a batch changes nothing before the commit.
            staged = headers is not None and BATCH_ID in headers and BATCH_COMMIT not in headers
            self._whole.settled &= staged
        if ".API." in frame.subject:
            self.api_subjects.append(frame.subject)
        return frame

    def call(self, subject: str, document: object, *, connection: str = "main") -> str:
        """A plain API request of the case itself; gives the reply subject it went with."""
        reply = self.fresh_reply()
        payload = b"" if document is None else json.dumps(document).encode()
        line = self.line(connection)
        self.transcript.sent(
            line.name, line.connection.publish(subject, payload, reply=reply, headers=None)
        )
        self.requests[reply] = subject, line.name
        self.own_questions.add(reply)
        return reply

    async def asked(
        self, subject: str, document: object, *, connection: str = "main"
    ) -> Seen | None:
        """The answer to an API request, or None."""
        reply = self.call(subject, document, connection=connection)
        return await self.awaited(self.reply_box(reply), REPLY_WITHIN, connection)

    async def awaited(self, box: Mailbox, seconds: float, connection: str) -> Seen | None:
        """The next message, or None when surely none comes; a slow server is waited for."""
        seen = await box.next(seconds * self.factor)
        if seen is None:
            await self.must_be_alive(connection)
            await self.questions.catch_up()
            seen = await box.next(LATE * self.factor)
        return seen

    def fresh_reply(self) -> str:
        return f"_INBOX.{self.token}.r{next(self._replies_made)}"

    def _payload(self, message: Outgoing) -> bytes:
        if message.raw is not None:
            return message.raw
        if message.json is not None:
            return json.dumps(render(message.json, self.env)).encode()
        if message.size is not None:
            return b"x" * self.whole(message.size, most=MAX_MESSAGE)
        return self.text(message.payload).encode("utf-8", "surrogateescape")

    # -- messages in ----------------------------------------------------------------------------

    def reply_box(self, subject: str) -> Mailbox:
        return self.replies.setdefault(subject, Mailbox())

    def subscribe(self, name: str, subject: str, queue: str | None, connection: str) -> None:
        box = self.boxes.setdefault(name, Mailbox())
        line = self.line(connection)
        self.listening[name] = connection

        def arrived(message: Msg, at: float) -> None:
            box.put(_seen(message, at))
            self._record(line, message, at)

        sid = line.connection.subscribe(subject, arrived, queue=queue)
        line.sids.append(sid)
        line.subscribed.setdefault(name, []).append(sid)
        self.transcript.note(line.name, "SUB", subject)

    def unsubscribe(self, name: str) -> list[Line]:
        """Ends what was subscribed under a name; gives the connections that had it."""
        ended = [line for line in self.lines.values() if name in line.subscribed]
        for line in ended:
            for sid in line.subscribed.pop(name):
                line.sids.remove(sid)
                line.connection.unsubscribe(sid)
                self.transcript.note(line.name, "UNSUB", name)
        return ended

    def advise(self, message: Msg, at: float) -> None:
        """An advisory about this case, from the session's observer."""
        self.advisories.append(_seen(message, at))
        self.advised.set()
        self.transcript.received("observer", message, at)
        self._watch(message, None)

    def _replied(self, line: Line, message: Msg, at: float) -> None:
        """A message to the case's inbox, which every connection of the case listens to.

        The one that asked counts; what answers no request counts once an account.
        """
        asked_by = self.requests.get(channel(message.subject), (None, None))[1] or next(
            (name for name, other in self.lines.items() if other.account == line.account), None
        )
        if asked_by == line.name:
            self.reply_box(message.subject).put(_seen(message, at))
            self._record(line, message, at)

    def _record(self, line: Line, message: Msg, at: float) -> None:
        self.transcript.received(line.name, message, at)
        asked = self.requests.get(channel(message.subject), (None, None))[0]
        if asked is not None and asked.startswith("$JS.API."):
            self.session.api_answers = True
        self._watch(message, asked)

    def _watch(self, message: Msg, asked: str | None) -> None:
        """Every message is held against its schema; what another release says is no matter."""
        if not self.session.foreign:
            self._schema_watch(self.case.id, message.subject, asked, message.payload)

    async def must_be_alive(self, connection: str) -> None:
        """Silence where an answer was due: is it the server's answer, or is the server gone?

        A connection of the case's own that the server has closed is an answer too, as long as the
        server is there for others.
        """
        line = self.lines.get(connection)
        if line is None or self.session.is_planned_loss(line.connection):
            return
        here, elsewhere = await asyncio.gather(
            self.questions.is_alive(line.name, line.connection), self.questions.answers()
        )
        # Another branch of the case may have ended the server meanwhile.
        if here or self.session.is_planned_loss(line.connection):
            return
        closed = line.connection.close_reason
        if not elsewhere:
            why = closed or "it answers no PING"
            self.session.die(f"the server does not answer any more: {why}")
            raise CannotGoOn
        if closed is None:
            self.abort(f"the server answers no PING on the connection {line.name}")
            raise CannotGoOn

    async def must_be_heard(self, connection: str) -> None:
        """Silence that was stated: it counts only while somebody listens and the server lives.

        A connection that the server closed with an -ERR has said why, and the case can look at it.
        """
        await self.must_be_alive(connection)
        line = self.lines.get(connection)
        if line is not None and line.closed_by_server and not line.complained:
            raise ConnectionLost(line.connection.close_reason or "closed")

    # -- results --------------------------------------------------------------------------------

    def found(self, step: Step, judgement: Judgement) -> None:
        """Takes over what judging a message gave."""
        for finding in judgement.findings:
            self.check(
                step, finding.path, finding.ok, finding.expected, finding.actual, finding.fault
            )
        self.env.update(judgement.captures)
        self.marks.update(judgement.marks)
        self.captured.update(judgement.captures)
        merge(
            self.positions,
            {name: self.generic(value) for name, value in judgement.positions.items()},
        )

    def check(
        self,
        step: Step | str,
        path: str,
        ok: bool,
        expected: str,
        actual: object = None,
        fault: Fault = Fault.NEVER_RIGHT,
        clause: str | None = None,
    ) -> None:
        self.checks.append(
            Check(
                step=step if isinstance(step, str) else step.name,
                kind=step if isinstance(step, str) else step.kind,
                path=path,
                ok=ok,
                expected=self.generic(expected),
                actual=None if ok else self.generic(actual),
                iteration=self.iterations,
                ms=self.transcript.ms(),
                fault=fault,
                clause=clause,
            )
        )

    @property
    def failed(self) -> bool:
        return any(not check.ok for check in self.checks)


def _seen(message: Msg, at: float) -> Seen:
    return Seen(message.subject, message.headers, message.payload, message.reply or "", at)
