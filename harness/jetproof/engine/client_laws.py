"""Laws over the frames of a client library that consumes: what it has asked for, and never too much.

What is outstanding is counted at the tap, in the order in which frames passed it:

    a pull request      adds its batch and its max_bytes; without max_bytes it asks for any number of bytes
    a message           takes off one message, and its size
    a status            takes off what its pending headers say; one without them ends a pull request
    a new connection    starts from nought: nobody answers what was asked on the one before

A library can only have heard what has passed before. So what it believes to be outstanding when it
asks for more is never less than what is counted here, and a count above a limit is surely its fault.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from jetproof.engine.ack_subjects import sequence_of
from jetproof.engine.judge import Finding
from jetproof.engine.message_size import charged_size
from jetproof.engine.play import Play
from jetproof.model.matcher import Matcher
from jetproof.model.matching import at_path, describe, mismatch
from jetproof.wire.frames import Connect, Frame, Msg, Pub, Sub
from jetproof.wire.rules.selecting import subject_matches

_NEXT: Final = "$JS.API.CONSUMER.MSG.NEXT."
_HEARTBEAT: Final = 100
_TIMEOUT: Final = 408
_SECOND: Final = 1_000_000_000


@dataclass(slots=True)
class _Pull:
    """A pull request, and what of it is still to come."""

    reply: str
    left: int
    until: float


class Account:
    """What a library has outstanding in one unit: messages, or bytes.

    `highest` is the most there ever was, `unbounded` how many requests name no limit, `refills` what
    each pull request but the first of a connection brought the sum of all asked to, `released` how
    much had been taken off at each moment.
    """

    def __init__(self, unit: str, *, free_headers: bool = False) -> None:
        self._field = "batch" if unit == "messages" else "max_bytes"
        self._header = "Nats-Pending-Messages" if unit == "messages" else "Nats-Pending-Bytes"
        self._by_bytes = unit == "bytes"
        self._free_headers = free_headers
        self._pulls: list[_Pull] = []
        self._expired: list[tuple[str, int]] = []
        self._subjects: dict[str, str] = {}
        self._inboxes: set[str] = set()
        self._asked = 0
        self.requests = 0
        self.unbounded = 0
        self.highest = 0
        self.released: list[int] = [0]
        self.refills: list[tuple[int, tuple[int, ...]]] = []

    @property
    def outstanding(self) -> int:
        return sum(pull.left for pull in self._pulls)

    def see(self, frame: Frame, at: float) -> None:
        match frame:
            case Connect():
                self._pulls.clear()
                self._expired.clear()
                self._subjects.clear()
                self._asked, self.released = 0, [0]
            case Sub(subject, _, sid):
                self._subjects[sid] = subject
            case Pub(subject, str(reply)) if subject.startswith(_NEXT):
                self._pull(frame, reply, at)
            case Msg() if self._is_answer(frame):
                self._answer(frame)
            case _:
                pass

    def _pull(self, frame: Pub, reply: str, at: float) -> None:
        asked = _asked(frame.payload)
        amount = asked.get(self._field, 0)
        self._inboxes.add(reply)
        self.requests += 1
        self.unbounded += amount == 0
        # Whether or not the library was told, an expired request is over at the server.
        for pull in [pull for pull in self._pulls if pull.until <= at]:
            self._expired.append((pull.reply, pull.left))
            self._take_off(pull.left, pull)
        expires = asked.get("expires", 0) / _SECOND
        self._pulls.append(_Pull(reply, amount, at + expires if expires else float("inf")))
        if self._asked:
            self.refills.append((self._asked + amount, tuple(self.released)))
        self._asked += amount
        self.highest = max(self.highest, self.outstanding)

    def _is_answer(self, frame: Msg) -> bool:
        """A message of a stream has the stream's subject: only its subscription tells."""
        inbox = self._subjects.get(frame.sid, frame.subject)
        return any(subject_matches(inbox, reply) for reply in self._inboxes)

    def _answer(self, frame: Msg) -> None:
        if frame.status == _HEARTBEAT:
            return
        if frame.status is None:
            self._take_off(self._size(frame) if self._by_bytes else 1)
            return
        if self._was_expired(frame):
            return
        pull = self._ended(frame)
        told = None if frame.headers is None else frame.headers.get(self._header)
        left = _number(told)
        if left is not None:
            self._take_off(left, pull)
        elif pull is not None:
            self._take_off(pull.left, pull)

    def _was_expired(self, frame: Msg) -> bool:
        """Whether a status tells of a request that was taken off when its time was over."""
        told = None if frame.headers is None else frame.headers.get(self._header)
        late = next((one for one in self._expired if one == (frame.subject, _number(told))), None)
        if late is None or frame.status != _TIMEOUT:
            return False
        self._expired.remove(late)
        return True

    def _ended(self, frame: Msg) -> _Pull | None:
        """Which pull request a status is about: its own, if each has a subject, or the oldest."""
        told = None if frame.headers is None else frame.headers.get(self._header)
        own = [pull for pull in self._pulls if pull.reply == frame.subject] or self._pulls
        same = [pull for pull in own if told == str(pull.left)]
        return next(iter(same or own), None)

    def _take_off(self, amount: int, first: _Pull | None = None) -> None:
        before = self.outstanding
        order = sorted(self._pulls, key=lambda pull: pull is not first)
        for pull in order:
            off = min(amount, pull.left)
            pull.left -= off
            amount -= off
        self._pulls = [pull for pull in self._pulls if pull.left > 0]
        self.released.append(self.released[-1] + before - self.outstanding)

    def _size(self, frame: Msg) -> int:
        return charged_size(frame, headers=not self._free_headers)


def outstanding(play: Play, arguments: Mapping[str, object]) -> list[Finding]:
    """Never more than the limit; and now as much as is said."""
    unit, limit = _limit(arguments)
    account = _account(play, unit, arguments)
    words = f"at most {limit} {unit} outstanding"
    findings = [
        _some(account),
        *_bounded(account, unit),
        Finding("most", account.highest <= limit, words, account.highest),
    ]
    now = arguments.get("now")
    if isinstance(now, Matcher):
        missed = mismatch(now, account.outstanding, play.env)
        words = f"{describe(now, play.env)} {unit} outstanding"
        findings.append(Finding("now", missed is None, words, account.outstanding))
    return findings


def refilled(play: Play, arguments: Mapping[str, object]) -> list[Finding]:
    """Each further pull request asks for what was taken off, so that the buffer is full again.

    The library may not have come to the last messages when it asked: what it had taken off by then
    is one of the sums that there were before.
    """
    unit, limit = _limit(arguments)
    account = _account(play, unit, arguments)
    wrong = [
        f"{total} asked for in all, with {', '.join(map(str, released))} taken off one after another"
        for total, released in account.refills
        if total - limit not in released
    ]
    words = f"{limit} {unit} outstanding after each request"
    return [
        _some(account, more_than=1),
        *_bounded(account, unit),
        Finding("full", not wrong, words, wrong[0] if wrong else None),
    ]


def handed_over(play: Play, arguments: Mapping[str, object]) -> list[Finding]:
    """What reached the library is what the application got, in this order; it may get more later."""
    assert play.client is not None
    until = arguments.get("until")
    end = float("inf") if until is None else play.marks[str(until)]
    came = [
        sequence
        for frame, at, _ in play.client.exchange()
        if isinstance(frame, Msg) and at < end
        if (sequence := sequence_of(frame.reply or "")) is not None
    ]
    told = play.client.told("message", str(arguments["consume"]))
    got = [at_path(seen.document, "seq") for seen in told]
    words = f"messages {_short(came)}"
    return [
        Finding("came", bool(came), "at least one message", len(came)),
        Finding("got", got[: len(came)] == came, words, _short(got)),
    ]


def delivered(play: Play, arguments: Mapping[str, object]) -> list[Finding]:
    """Exactly these messages so far, whatever came of them at the tap."""
    assert play.client is not None
    told = play.client.told("message", str(arguments["consume"]))
    got = ", ".join(str(at_path(seen.document, "seq")) for seen in told) or "none"
    wanted = str(arguments["sequences"])
    return [Finding("sequences", got == wanted, wanted, got)]


def _short(sequences: Sequence[object]) -> str:
    told = ", ".join(map(str, sequences[:20]))
    return f"{told}, … ({len(sequences)})" if len(sequences) > 20 else told or "none"


def _some(account: Account, more_than: int = 0) -> Finding:
    words = f"more than {more_than} pull requests"
    return Finding("requests", account.requests > more_than, words, account.requests)


def _bounded(account: Account, unit: str) -> list[Finding]:
    """A limit in bytes holds only if each pull request names one."""
    if unit != "bytes" or not account.unbounded:
        return []
    words = "max_bytes in every pull request"
    return [Finding("bounded", False, words, f"{account.unbounded} without")]


def _account(play: Play, unit: str, arguments: Mapping[str, object]) -> Account:
    account = Account(unit, free_headers=arguments.get("headers") == "free")
    for frame, at, _ in () if play.client is None else play.client.exchange():
        account.see(frame, at)
    return account


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def _limit(arguments: Mapping[str, object]) -> tuple[str, int]:
    unit = "bytes" if "bytes" in arguments else "messages"
    limit = arguments.get(unit, 0)
    assert isinstance(limit, int)
    return unit, limit


def _asked(payload: bytes) -> dict[str, int]:
    """The body of a pull request: JSON, or a number, or nothing, which asks for one message."""
    try:
        body: Any = json.loads(payload or b"1")
    except ValueError:
        return {}
    if isinstance(body, int):
        return {"batch": body}
    told = body.items() if isinstance(body, dict) else ()
    asked = {name: value for name, value in told if isinstance(value, int)}
    return {"batch": 1, **{name: value for name, value in asked.items() if value}}
