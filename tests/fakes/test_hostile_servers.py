"""Answers made to hurt: whatever a server sends, the case gets its verdict and the run goes on."""

from __future__ import annotations

import json

import pytest

from jetproof.engine.documents import DEEPEST
from jetproof.events import CaseFinished
from jetproof.load.library import Library
from jetproof.results.rows import cell_row, check_row, encode, frame_row
from jetproof.wire import Headers, Pub

from .conftest import Cases
from .playing import Played, bounded, play
from .server import HOSTILE_HEADERS, HOSTILE_PAYLOADS, Wrong, serving

ASKS = """
  - case: asks
    clauses: [DEMO-MUST-001]
    steps:
      - request: {subject: anything}
        reply:
          schema: pub-ack
          json: {seq: 7}
          headers: {X: {gte: 8}}
          payload: {match: "^never$"}
          position: {said: json.seq, whole: payload, header: header.X, description: description}
      - request: {subject: anything}
        reply: {error: 10071, position: kind}
      - request: {subject: anything}
        replies: {count: 1, each: {json: {seq: {not: {exists: true}}}}, last: {position: last}}
  - case: other
    clauses: [DEMO-MUST-001]
    steps:
      - request: {subject: $JS.API.INFO}
        reply: {json: {memory: 0}}
"""


def plain(frame: Pub) -> bool:
    return not frame.subject.startswith("$JS")


def judged(library: Library, cases: Cases, text: str, fake: Wrong) -> Played:
    async def scenario() -> Played:
        async with serving(fake):
            return await play(library, cases(text), fake.url)

    return bounded(scenario())


def rows(played: Played) -> list[bytes]:
    """Everything about the cells as it stands in result files."""
    lines = []
    for event in played.events:
        if isinstance(event, CaseFinished):
            cell = event.cell
            lines.append(encode(cell_row("run", cell)))
            lines += [encode(check_row("run", cell, n, row)) for n, row in enumerate(event.checks)]
            lines += [encode(frame_row("run", cell, n, row)) for n, row in enumerate(event.frames)]
    return lines


def is_bearable(played: Played) -> None:
    """What was told of the hostile case fits on a page, and into result files."""
    cell = played.cells["asks"]
    assert len(cell.reason) < 5_000
    assert all(len(text) < 1_000 for text in cell.position.values())
    for line in rows(played):
        assert line.count(b"\n") == 1
        assert len(line) < 512 * 1024
        json.loads(line)


@pytest.mark.parametrize("name", HOSTILE_PAYLOADS)
def test_a_hostile_payload_fails_its_case_and_nothing_else(
    library: Library, cases: Cases, name: str
) -> None:
    payload = HOSTILE_PAYLOADS[name]
    played = judged(library, cases, ASKS, Wrong(payload, about=plain))
    assert played.verdicts == {"asks": "fail", "other": "pass"}
    failed = {path for _, path, _ in played.failed("asks")}
    assert {"reply.payload", "reply.error"} <= failed
    assert failed & {"reply.json", "reply.json.seq"}
    heard = [frame for frame in played.finished["asks"].frames if frame.direction == "<"]
    assert [frame.payload for frame in heard] == [payload] * 3
    is_bearable(played)


@pytest.mark.parametrize("name", HOSTILE_HEADERS)
def test_hostile_headers_fail_their_case_and_nothing_else(
    library: Library, cases: Cases, name: str
) -> None:
    block = Headers.from_raw(HOSTILE_HEADERS[name])
    played = judged(library, cases, ASKS, Wrong(b"{}", block, about=plain))
    assert played.verdicts == {"asks": "fail", "other": "pass"}
    is_bearable(played)


@pytest.mark.parametrize("name", ["half a surrogate pair", "depth in an object", "no JSON numbers"])
def test_a_hostile_answer_of_the_api_is_a_failure_too(
    library: Library, cases: Cases, name: str
) -> None:
    text = """
  - case: asks
    clauses: [DEMO-MUST-001]
    steps:
      - stream: {of: any, messages: 1}
      - stored: {of: any, seq: 1}
      - stored: {of: any, seq: 1, absent: true}
"""
    played = judged(library, cases, text, Wrong(HOSTILE_PAYLOADS[name]))
    assert [path for _, path, _ in played.failed("asks")] == ["stream", "stored", "stored"]


def test_what_message_get_returns_may_be_hostile_as_well(library: Library, cases: Cases) -> None:
    text = """
  - case: asks
    clauses: [DEMO-MUST-001]
    steps:
      - stored: {of: any, seq: 1, payload: a}
"""
    message = {"subject": 7, "hdrs": "!!!", "data": "AAA", "seq": 1}
    played = judged(library, cases, text, Wrong(json.dumps({"message": message}).encode()))
    assert played.failed("asks") == [("1", "stored", "json")]
    message = {"subject": ["x"], "hdrs": "AAECAw==", "data": "G1syShs="}
    played = judged(library, cases, text, Wrong(json.dumps({"message": message}).encode()))
    assert played.failed("asks") == [("1", "stored.payload", "\x1b[2J\x1b")]


TEXT, HUGE, LARGE = "a b\nc", "9" * 30, "99999999999999999"


@pytest.mark.parametrize(
    ("use", "useless"),
    [
        ("publish: {subject: a, headers: {Next: '${it + 1}'}}", {TEXT}),
        ("publish: {subject: a.$it}", {TEXT}),
        ("publish: {subject: a, headers: {It: $it}}", {TEXT}),
        ("publish: {subject: a, size: $it}", {TEXT, HUGE, LARGE}),
        ("stored: {of: any, seq: $it}", {TEXT, HUGE}),
        (
            "repeat: {as: i, times: $it}\n        steps: [{publish: {subject: a}}]",
            {TEXT, HUGE, LARGE},
        ),
        ("request: {subject: $JS.API.INFO}\n        replies: {count: $it}", {TEXT, HUGE, LARGE}),
    ],
)
@pytest.mark.parametrize("said", [TEXT, HUGE, LARGE])
def test_a_captured_value_that_cannot_be_used_is_the_servers_failure(
    library: Library, cases: Cases, use: str, said: str, useless: set[str]
) -> None:
    text = f"""
  - case: asks
    clauses: [DEMO-MUST-001]
    steps:
      - request: {{subject: anything}}
        reply: {{capture: {{it: json.seq}}}}
      - label: use
        {use}
"""
    payload = json.dumps({"seq": said}).encode()
    played = judged(library, cases, text, Wrong(payload, about=plain))
    told = ("use", "variables") in [(step, path) for step, path, _ in played.failed("asks")]
    assert told is (said in useless)
    assert played.verdicts["asks"] in ("pass", "fail")


def test_json_may_be_deep_but_not_without_end(library: Library, cases: Cases) -> None:
    text = """
  - case: asks
    clauses: [DEMO-MUST-001]
    steps:
      - request: {subject: anything}
        reply: {json: {seq: {type: array}}}
"""
    for depth, verdict in ((DEEPEST - 1, "pass"), (DEEPEST, "fail"), (DEEPEST + 1, "fail")):
        payload = b'{"seq":' + b"[" * depth + b"]" * depth + b"}"
        played = judged(library, cases, text, Wrong(payload, about=plain))
        assert played.verdicts == {"asks": verdict}, depth
