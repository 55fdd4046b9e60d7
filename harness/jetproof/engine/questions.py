"""What the engine asks a server for its own sake while a case is played, and what came back.

Who leads a stream, whether a node can be reached, whether a server is alive: no step says so, and the
verdict of a case may rest on the answer. Every such question of a case passes through here and is
recorded beside its transcript, with its place in it. The number of questions follows the speed of the
machine, so they are not frames of the case.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from jetproof.engine.documents import read_json
from jetproof.engine.session import HARNESS, Session, TargetDied
from jetproof.engine.transcript import Transcript, header_items
from jetproof.errors import JetproofError
from jetproof.model.verdict import Question, QuestionEnd
from jetproof.wire import Connection, ConnectionLost, Headers, Msg, WireTimeout

ALIVE = "PING"
"""The subject of a question that is no message."""

Answer = TypeVar("Answer", bound=Msg | None)


class Questions:
    """The questions of one case, on the connections of its session."""

    def __init__(self, session: Session, transcript: Transcript, account: str | None) -> None:
        self._session = session
        self._transcript = transcript
        self._account = account

    async def api(
        self, subject: str, document: Mapping[str, object] | None = None
    ) -> dict[str, Any]:
        """A JetStream API call in the account of the case."""
        payload = b"" if document is None else json.dumps(document).encode()
        answer = await self._recorded(
            HARNESS,
            subject,
            lambda: self._session.ask(subject, payload, account=self._account),
            payload=payload,
        )
        found = read_json(answer.payload) if answer.payload else {"status": answer.status}
        if not isinstance(found, dict):
            raise JetproofError(f"{subject} was answered with no JSON object", phase="play")
        return found

    async def request(
        self, name: str, connection: Connection, subject: str, headers: Headers, timeout: float
    ) -> Msg:
        """A request on a connection of the case."""
        return await self._recorded(
            name,
            subject,
            lambda: connection.request(subject, headers=headers, timeout=timeout),
            headers=headers,
        )

    async def is_alive(self, name: str, connection: Connection) -> bool:
        """Whether the server still answers a PING on a connection."""
        try:
            await self._recorded(name, ALIVE, lambda: self._session.ping(connection))
        except (ConnectionLost, WireTimeout):
            return False
        return True

    async def answers(self) -> bool:
        """Whether the server answers the harness itself, whatever a case's connection says."""
        observer = self._session.observer(None)
        return observer is not None and await self.is_alive(HARNESS, observer)

    async def catch_up(self) -> None:
        """Waits until JetStream has worked off what it was asked before now.

        A server under load answers late. A question that is asked now and answered shows that an
        earlier one will not be; where nobody answers questions, there is nothing to wait for.
        """
        if self._session.can_catch_up:
            try:
                await self._recorded(HARNESS, "$JS.API.INFO", self._session.caught_up)
            except (WireTimeout, ConnectionLost):
                return

    async def must_hear(self) -> None:
        """No advisory came: that means something only if the observer could have heard it."""
        observer = self._session.observer(self._account)
        if observer is None or self._session.is_planned_loss(observer):
            return
        if not await self.is_alive(HARNESS, observer) and not self._session.is_planned_loss(
            observer
        ):
            why = observer.close_reason or "it answers no PING"
            self._session.die(f"the server does not answer any more: {why}")
            raise TargetDied(self._session.dead or why)

    async def _recorded(
        self,
        connection: str,
        subject: str,
        ask: Callable[[], Awaitable[Answer]],
        *,
        payload: bytes = b"",
        headers: Headers | None = None,
    ) -> Answer:
        transcript = self._transcript
        after, began, step = len(transcript.frames), transcript.ms(), transcript.step
        end = QuestionEnd.ABANDONED
        answer: Answer | None = None
        try:
            answer = await ask()
            end = QuestionEnd.ANSWERED
            return answer
        except WireTimeout:
            end = QuestionEnd.TIMEOUT
            raise
        except ConnectionLost:
            end = QuestionEnd.LOST
            raise
        finally:
            transcript.questions.append(
                Question(
                    after=after,
                    ms=began,
                    ended_ms=transcript.ms(),
                    connection=connection,
                    subject=subject,
                    headers=header_items(headers),
                    payload=payload,
                    end=end,
                    status=answer.status if answer is not None else None,
                    answer_headers=header_items(answer.headers) if answer is not None else None,
                    answer=answer.payload if answer is not None else b"",
                    step=step,
                )
            )
