"""Laws about fast ingest: each holds for what it should, and says where it is broken."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field

from jetproof.engine import laws
from jetproof.engine.client_side import Passed
from jetproof.engine.ingest_laws import channels, numbered, paced, pings
from jetproof.engine.ingest_subjects import ingest_subject
from jetproof.model.case import Law
from jetproof.model.matcher import parse_matcher
from jetproof.wire.frames import Connect, Frame, Msg, Pub, Sub, Unsub
from jetproof.wire.headers import Headers

INBOX = "_INBOX.x.id"


@dataclass
class Client:
    frames: tuple[Frame, ...]

    def exchange(self) -> list[Passed]:
        """Each CONNECT begins the next connection."""
        connection, passed = 1, []
        for frame in self.frames:
            connection += isinstance(frame, Connect)
            passed.append(Passed(frame, 0.0, connection))
        return passed


@dataclass
class Case:
    client: Client | None
    env: dict[str, object] = field(default_factory=dict)


def sent(sequence: int, operation: int = 1, inbox: str = INBOX) -> Pub:
    return Pub("s.a", f"{inbox}.10.ok.{sequence}.{operation}.$FI")


def told(seq: int, msgs: int, kind: str = "ack", inbox: str = INBOX) -> Msg:
    document = {"type": kind, "seq": seq, "msgs": msgs}
    return Msg(f"{inbox}.10.ok.1.0.$FI", "1", payload=json.dumps(document).encode())


def law(name: object, *frames: Frame, **arguments: object) -> dict[str, object]:
    findings = name(Case(Client(frames)), arguments)  # type: ignore[operator]
    return {it.path: it.actual for it in findings if not it.ok}


def test_a_reply_subject_is_read() -> None:
    found = ingest_subject(f"{INBOX}.10.ok.7.1.$FI")
    assert found is not None
    assert (found.batch, found.flow, found.gap) == (INBOX, 10, "ok")
    assert (found.sequence, found.operation) == (7, 1)
    for other in ("_INBOX.x", f"{INBOX}.10.ok.x.1.$FI", f"{INBOX}.10.ok.7.1.$XX"):
        assert ingest_subject(other) is None


def test_paced() -> None:
    four = [sent(n) for n in (2, 3, 4)]
    assert law(paced, sent(1, 0), told(0, 2), *four, outstanding=2) == {}
    assert law(paced, sent(1, 0), told(0, 2), *four, sent(5), outstanding=2) == {
        "outstanding": "5 where 4 was allowed"
    }
    assert law(paced, sent(1, 0), told(0, 2), *four, told(2, 2), sent(5), outstanding=2) == {}
    # Before the first answer there is room for one message, and a gap makes no room.
    assert "outstanding" in law(paced, sent(1, 0), sent(2), outstanding=2)
    gap = told(9, 9, kind="gap")
    assert "outstanding" in law(paced, sent(1, 0), told(0, 1), gap, sent(3), outstanding=2)
    # Each batch counts by itself; what ends a batch need not wait.
    other = told(0, 50, inbox="_INBOX.y.id")
    assert "outstanding" in law(paced, sent(1, 0), other, sent(2), outstanding=2)
    assert law(paced, sent(1, 0), told(0, 1), sent(3, 2), outstanding=1) == {}


def test_how_many_were_paced() -> None:
    two = parse_matcher(2)
    frames = (sent(1, 0), told(0, 9), sent(2), sent(3), sent(4, 2))
    assert law(paced, *frames, outstanding=1, count=two) == {}
    assert law(paced, *frames[:3], outstanding=1, count=two) == {"count": 1}
    assert law(paced, Msg("x", "1", payload=b"?"), outstanding=1) == {}


def test_pings() -> None:
    assert law(pings, sent(1, 0), sent(2), sent(2, 4), sent(3), sent(3, 4)) == {}
    assert law(pings, sent(1, 0), sent(2), sent(1, 4)) == {"sequence": "1 where 2 was sent"}
    assert law(pings, sent(1, 0), sent(2), sent(3, 4)) == {"sequence": "3 where 2 was sent"}
    assert law(pings, sent(1, 0), count=parse_matcher({"gte": 1})) == {"count": 0}


def member(sequence: object, batch: str = "b") -> Pub:
    headers = Headers([("Nats-Batch-Id", batch), ("Nats-Batch-Sequence", str(sequence))])
    return Pub("s.a", headers=headers)


def test_numbered() -> None:
    assert law(numbered, member(1), member(1, "c"), member(2), member(2, "c")) == {}
    assert law(numbered, sent(1, 0), sent(2), sent(2, 4), sent(3, 2)) == {}
    assert law(numbered, member(0)) == {"sequence": "0 after none"}
    assert law(numbered, member(1), member(3)) == {"sequence": "3 after 1"}
    assert law(numbered, sent(1, 0), sent(1)) == {"sequence": "1 after 1"}
    others = (Pub("s"), Pub("s", headers=Headers([("A", "b")])), member("x"))
    assert law(numbered, *others, count=parse_matcher(0)) == {}


def test_channels() -> None:
    own, end = Sub(f"{INBOX}.>", None, "3"), Unsub("3")
    assert law(channels, own, sent(1, 0), sent(2), end, count=parse_matcher(1)) == {}
    for other in (f"{INBOX}x.>", "_INBOX.x.>", f"{INBOX}.*.*.1.0.$FI"):
        assert "subscription" in law(channels, Sub(other, None, "3"), sent(1, 0))
    assert "subscription" in law(channels, own, Sub("_INBOX.>", None, "4"), sent(1, 0))
    assert "subscription" in law(channels, own, sent(1, 0), end, sent(2))
    # What was subscribed to on a connection that is gone is subscribed to no more.
    assert "subscription" in law(channels, own, sent(1, 0), Connect({}), sent(2))
    assert law(channels, own, sent(1, 0), Connect({}), own, sent(2)) == {}


def test_another_connection_of_the_library_changes_nothing() -> None:
    own, first = Sub(f"{INBOX}.>", None, "1"), Passed(sent(1, 0), 0.0, 1)

    class Two(Client):
        def exchange(self) -> list[Passed]:
            other = [Passed(Connect({}), 0.0, 2), Passed(Sub("other", None, "1"), 0.0, 2)]
            return [Passed(own, 0.0, 1), first, *other, Passed(sent(2), 0.0, self.place)]

        place = 1

    case = Case(Two(()))
    assert all(finding.ok for finding in channels(case, {}))  # type: ignore[arg-type]
    Two.place = 2
    assert not all(finding.ok for finding in channels(case, {}))  # type: ignore[arg-type]


def test_without_a_client_there_is_nothing() -> None:
    assert paced(Case(None), {"outstanding": 1})[-1].ok  # type: ignore[arg-type]


def test_a_frame_may_pass_the_tap_after_the_call_that_sent_it_returned() -> None:
    class Late(Case):
        """The second message passes while the law is judged, if it waits."""

        factor = 1.0

        def check(self, step: object, path: str, ok: bool, *_: object) -> None:
            checked[path] = ok

    def judged(wanted: int) -> dict[str, bool]:
        async def scenario() -> None:
            client = Client((sent(1, 0), told(0, 2), sent(2)))
            case = Late(client)
            arrival = asyncio.get_running_loop().call_later(
                0.1, lambda: setattr(client, "frames", (*client.frames, sent(3)))
            )
            arguments = {"outstanding": 2, "count": parse_matcher(wanted)}
            step = Law(line=1, law="paced", arguments=arguments)
            await laws.law(case, step)  # type: ignore[arg-type]
            arrival.cancel()

        checked.clear()
        asyncio.run(scenario())
        return dict(checked)

    checked: dict[str, bool] = {}
    assert judged(2) == {"law.paced.count": True, "law.paced.outstanding": True}
    assert judged(3) == {"law.paced.count": False, "law.paced.outstanding": True}
