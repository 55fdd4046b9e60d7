"""What takes part in an exchange: it changes frames, keeps them, and speaks for the client."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from jetproof.targets.tap import Tap, TapEvent
from jetproof.wire import Connection, Msg, Pub
from jetproof.wire.frames import Frame
from jetproof.wire.rules.model import Sender


class Keeper:
    """Keeps publishes to `kept`, doubles those to `other`, and shouts what a server says."""

    def __init__(self) -> None:
        self.kept: list[tuple[int, Pub]] = []
        self.left: list[int] = []

    def passes(self, connection: int, sender: Sender, frame: Frame) -> Frame | None:
        if isinstance(frame, Pub) and frame.subject == "kept":
            self.kept.append((connection, frame))
            return None
        if isinstance(frame, Pub) and frame.subject == "other":
            return replace(frame, payload=frame.payload * 2)
        if isinstance(frame, Msg) and sender == "server":
            return replace(frame, payload=frame.payload.upper())
        return frame

    def gone(self, connection: int) -> None:
        self.left.append(connection)


def test_frames_are_changed_kept_and_sent_later(port: int) -> None:
    async def main() -> None:
        keeper = Keeper()
        events: list[TapEvent] = []
        async with Tap("127.0.0.1", port, inline=keeper, on_frame=events.append) as tap:
            async with await Connection.open(tap.host, tap.port) as client:
                heard: list[tuple[str, bytes]] = []
                client.subscribe(">", lambda msg, _: heard.append((msg.subject, msg.payload)))
                client.publish("kept", b"a")
                client.publish("other", b"b")
                client.publish("plain", b"c")
                await client.flush()
                assert heard == [("other", b"BB"), ("plain", b"C")]
                ((connection, frame),) = keeper.kept
                tap.forward(connection, frame)
                await client.flush()
                assert heard[2:] == [("kept", b"A")]
            while not keeper.left:
                await asyncio.sleep(0.01)
            assert keeper.left == [connection]
            tap.forward(connection, frame)  # nobody is there any more
        published = [event for event in events if getattr(event.frame, "subject", "") == "kept"]
        assert [(event.passed, event.made) for event in published if event.sender == "client"] == [
            ((), False),
            ((frame,), True),
        ]

    asyncio.run(main())


def test_rules_see_what_it_left(port: int) -> None:
    async def main() -> None:
        rules = [{"on": {"from": "client", "payload": "bb"}, "do": "duplicate"}]
        async with (
            Tap("127.0.0.1", port, rules, inline=Keeper()) as tap,
            await Connection.open(tap.host, tap.port) as client,
        ):
            heard: list[bytes] = []
            client.subscribe("other", lambda msg, _: heard.append(msg.payload))
            client.publish("other", b"b")
            await client.flush()
            assert heard == [b"BB", b"BB"]
            assert tap.fired == {"rule-1": 1}

    asyncio.run(main())
