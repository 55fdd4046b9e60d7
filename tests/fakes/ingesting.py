"""A peer that takes fast ingest (ADR-50 revision 10), and is wrong about it in one way, or in none."""

from __future__ import annotations

import json
from collections.abc import Callable

from jetproof.wire import Headers, Pub

from .server import NO_RESPONDERS, Client, Polite

Answer = tuple[Headers | None, bytes]
Fault = Callable[[Answer], list[Answer]]


def changed(**fields: object) -> Fault:
    return lambda answer: [(None, json.dumps({**json.loads(answer[1]), **fields}).encode())]


FAULTS: dict[str, Fault] = {
    "never-answers": lambda _: [],
    "answers-twice": lambda answer: [answer, answer],
    "acknowledges-the-future": changed(seq=99),
    "raises-the-flow": changed(msgs=1000),
    "talks-garbage": lambda _: [(None, b"\x00\xff{not JSON")],
    "is-gone": lambda _: [(NO_RESPONDERS, b"")],
}


class Ingests(Polite):
    """Acknowledges as it was asked to, but at the second flow point there is the fault."""

    def __init__(self, fault: Fault = lambda answer: [answer]) -> None:
        super().__init__()
        self._fault = fault

    def requested(self, client: Client, frame: Pub) -> None:
        if frame.reply is None or not frame.reply.endswith(".$FI"):
            super().requested(client, frame)
            return
        batch, flow, _, sequence, operation, _ = frame.reply.split(".")[-6:]
        stored, seq = self.store(frame), int(sequence)
        if operation == "0":
            self._say(client, frame, {"type": "ack", "seq": 0, "msgs": int(flow)})
        elif operation == "2":
            self._say(client, frame, {**stored, "batch": batch, "count": seq})
        elif seq % int(flow) == 0:
            ack = json.dumps({"type": "ack", "seq": seq, "msgs": int(flow)}).encode()
            answers = self._fault((None, ack)) if seq == 2 * int(flow) else [(None, ack)]
            for headers, payload in answers:
                self.reply(client, frame, headers, payload)

    def _say(self, client: Client, frame: Pub, document: dict[str, object]) -> None:
        self.reply(client, frame, None, json.dumps(document).encode())
