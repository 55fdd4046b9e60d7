"""A peer that is wrong in the middle of a batch fails the case with the reason, and hangs nothing."""

from __future__ import annotations

import pytest

from jetproof.load.library import Library

from .conftest import Cases
from .ingesting import FAULTS, Fault, Ingests
from .playing import Played, bounded, play
from .server import serving

BATCH = """
  - case: ingests
    clauses: [DEMO-MUST-001]
    given: {stream: {subjects: ["$stream.>"]}}
    steps:
      - subscribe: {subject: fi.$id.>, to: channel}
      - publish: {subject: $stream.a, reply: fi.$id.$batch.2.fail.1.0.$FI}
      - repeat: {as: i, from: 2, times: 5}
        steps:
          - publish: {subject: $stream.a, reply: "fi.$id.$batch.2.fail.$i.1.$FI"}
      - label: acks
        receive: {from: channel}
        messages: {count: 4, each: {json: {type: ack}}, within: 300ms}
      - label: flow
        law: {flow: {on: channel, count: 4}}
      - label: commit
        publish: {subject: $stream.a, reply: fi.$id.$batch.2.fail.7.2.$FI}
      - label: end
        receive: {from: channel, within: 300ms}
        message: {json: {batch: $batch, count: 7}}
"""


def ingested(library: Library, cases: Cases, *fault: Fault) -> Played:
    async def scenario() -> Played:
        async with serving(Ingests(*fault)) as fake:
            return await play(library, cases(BATCH), fake.url)

    return bounded(scenario())


def test_a_peer_without_faults_passes(library: Library, cases: Cases) -> None:
    played = ingested(library, cases)
    assert played.verdicts == {"ingests": "pass"}, played.failed("ingests")
    assert played.schemas["batch-flow-ack"].verdict.value == "pass"


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (
            "never-answers",
            [
                ("acks", "messages.count", 3),
                ("flow", "law.flow.count", 3),
                ("flow", "law.flow.points", "6 after 2 with 2"),
            ],
        ),
        (
            "answers-twice",
            [
                ("flow", "law.flow.count", 5),
                ("flow", "law.flow.points", "4 after 4 with 2"),
                ("end", "message.json.batch", {"absent": True}),
                ("end", "message.json.count", {"absent": True}),
            ],
        ),
        (
            "acknowledges-the-future",
            [
                ("flow", "law.flow.points", "99 after 2 with 2"),
                ("flow", "law.flow.sent", "99 at 4"),
            ],
        ),
        (
            "raises-the-flow",
            [
                ("flow", "law.flow.points", "6 after 4 with 1000"),
                ("flow", "law.flow.asked", "1000 of 2"),
            ],
        ),
        (
            "talks-garbage",
            [
                ("acks", "messages.each.json", "payload of 11 bytes"),
                ("flow", "law.flow.count", 3),
                ("flow", "law.flow.points", "6 after 2 with 2"),
            ],
        ),
        (
            "is-gone",
            [
                ("acks", "messages.each.json", "status 503"),
                ("flow", "law.flow.count", 3),
                ("flow", "law.flow.points", "6 after 2 with 2"),
            ],
        ),
    ],
)
def test_a_fault_in_the_middle_is_told(
    library: Library, cases: Cases, fault: str, told: list[tuple[str, str, object]]
) -> None:
    played = ingested(library, cases, FAULTS[fault])
    assert played.verdicts == {"ingests": "fail"}, played.cells["ingests"].reason
    assert played.failed("ingests") == told


def test_every_fault_is_tried() -> None:
    [marks] = test_a_fault_in_the_middle_is_told.pytestmark  # type: ignore[attr-defined]
    assert {fault for fault, _ in marks.args[1]} == FAULTS.keys()
