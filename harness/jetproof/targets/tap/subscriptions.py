"""Who listens to what: the subscriptions of all clients of a tap, as they asked for them."""

from __future__ import annotations

from collections.abc import Iterable

from jetproof.wire.frames import Frame, Msg, Sub, Unsub
from jetproof.wire.headers import to_text
from jetproof.wire.rules.selecting import subject_matches


class Subscription:
    """What a client asked for with SUB, and how much of it came."""

    __slots__ = ("limit", "received", "sid", "subject")

    def __init__(self, subject: str, sid: str) -> None:
        self.subject = subject
        self.sid = sid
        self.received = 0
        self.limit: int | None = None


class Subscriptions:
    """By connection and sid, from the SUB, UNSUB and MSG frames that go by."""

    def __init__(self) -> None:
        self._entries: dict[int, dict[str, Subscription]] = {}

    def note(self, connection: int, frame: Frame) -> None:
        """Learns from a frame of either side."""
        kind = type(frame)
        if kind is Msg:
            self.delivered(connection, frame.sid)  # type: ignore[union-attr]
        elif isinstance(frame, Sub):
            self._entries.setdefault(connection, {})[frame.sid] = Subscription(
                frame.subject, frame.sid
            )
        elif isinstance(frame, Unsub):
            entry = self._entries.get(connection, {}).get(frame.sid)
            if entry is not None:
                entry.limit = frame.max or 0
                self._expire(connection, frame.sid, entry)

    def delivered(self, connection: int, sid: str, count: int = 1) -> None:
        """Counts messages of a subscription."""
        entries = self._entries.get(connection)
        entry = None if entries is None else entries.get(sid)
        if entry is not None:
            entry.received += count
            if entry.limit is not None:
                self._expire(connection, sid, entry)

    def delivered_all(self, connection: int, counts: Iterable[tuple[bytes, int]]) -> None:
        """Counts messages of many subscriptions; sids as they stand on the wire."""
        for sid, count in counts:
            self.delivered(connection, to_text(sid), count)

    def _expire(self, connection: int, sid: str, entry: Subscription) -> None:
        if entry.limit is not None and entry.received >= entry.limit:
            del self._entries[connection][sid]

    def forget(self, connection: int) -> None:
        """The connection is gone."""
        self._entries.pop(connection, None)

    def subject(self, connection: int, sid: str) -> str | None:
        """What a client subscribed to under this sid."""
        entry = self._entries.get(connection, {}).get(sid)
        return None if entry is None else entry.subject

    def find(self, connection: int, subject: str) -> tuple[int, str] | None:
        """(connection, sid) that takes a message on this subject, own connection first."""
        for number in (connection, *(other for other in self._entries if other != connection)):
            found = self.find_own(number, subject)
            if found is not None:
                return number, found.sid
        return None

    def find_own(self, connection: int, subject: str) -> Subscription | None:
        """The subscription of one connection that takes a message on this subject."""
        for entry in self._entries.get(connection, {}).values():
            if subject_matches(entry.subject, subject):
                return entry
        return None
