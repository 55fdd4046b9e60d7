"""A red cell is played again before it is reported: what stands, what is unstable, and the bound."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace

from jetproof.engine.run import Stop
from jetproof.events import CaseFinished, CaseHeld, Event, Notice, TargetStarted
from jetproof.load.library import Library
from jetproof.model.ledger import Deviation, KnownMismatch
from jetproof.model.matcher import parse_matcher
from jetproof.model.versions import Releases
from jetproof.wire import Pub

from .conftest import Cases
from .playing import Played, bounded, play
from .server import Client, Polite, serving

ASKS = """
  - case: asks{n}
    clauses: [DEMO-MUST-001]
    steps:
      - request: {{subject: $JS.API.ASK.{n}.$id, within: 400ms}}
        reply: {{json: {{answer: right}}}}
"""


class Moody(Polite):
    """Answers `ASK`; `mood` says how, by the number of the request and those under way."""

    def __init__(self, mood: Callable[[int, int], str | None]) -> None:
        super().__init__()
        self.mood = mood
        self.asked = 0
        self.under_way = 0

    def requested(self, client: Client, frame: Pub) -> None:
        if not frame.subject.startswith("$JS.API.ASK."):
            super().requested(client, frame)
            return
        self.asked += 1
        self.under_way += 1
        asyncio.get_running_loop().call_later(0.05, self._answered, client, frame, self.asked)

    def _answered(self, client: Client, frame: Pub, number: int) -> None:
        says = self.mood(number, self.under_way)
        self.under_way -= 1
        if says is not None:
            self.reply(client, frame, None, json.dumps({"answer": says}).encode())


class Late(Moody):
    """Answers rightly, the first time too late."""

    def _answered(self, client: Client, frame: Pub, number: int) -> None:
        if number > 1:
            super()._answered(client, frame, number)
            return
        asyncio.get_running_loop().call_later(2.0, super()._answered, client, frame, number)


def judged(library: Library, cases: Cases, fake: Polite, count: int = 1, **how: object) -> Played:
    text = "".join(ASKS.format(n=number) for number in range(1, count + 1))

    async def scenario() -> Played:
        async with serving(fake):
            return await play(library, cases(text), fake.url, **how)

    return bounded(scenario())


def starts(of: Played) -> int:
    return sum(isinstance(event, TargetStarted) for event in of.events)


def test_what_is_always_wrong_stands_after_a_second_play(library: Library, cases: Cases) -> None:
    played = judged(library, cases, Moody(lambda *_: "wrong"))
    cell = played.cells["asks1"]
    assert (cell.verdict, cell.plays, played.exit_code) == ("fail", ("fail", "fail"), 1)
    assert cell.reason == "step 1, reply.json.answer: expected 'right', got wrong"
    assert starts(played) == 2
    assert [event.case for event in played.events if isinstance(event, CaseHeld)] == [cell.case]


def test_what_was_wrong_once_is_unstable_and_fails_the_run(library: Library, cases: Cases) -> None:
    played = judged(library, cases, Moody(lambda number, _: "wrong" if number == 1 else "right"))
    cell = played.cells["asks1"]
    assert (cell.verdict, cell.plays) == ("unstable", ("fail", "pass", "pass"))
    assert (cell.never_right, played.exit_code) == (True, 1)
    assert cell.reason.startswith("failed in 1 of 3 plays: ")
    frames = played.finished["asks1"].frames
    assert [frame.note for frame in frames if frame.op == "play"] == [
        "play 1 of 3, first: fail",
        "play 2 of 3, among its neighbours: pass",
        "play 3 of 3, alone: pass",
    ]
    answers = [frame.payload for frame in frames if b"answer" in frame.payload]
    assert [b"wrong" in payload for payload in answers] == [True, False, False]
    assert played.failed("asks1") == [("1", "reply.json.answer", "wrong")]


def test_an_answer_that_was_missed_once_does_not_fail_the_run(
    library: Library, cases: Cases
) -> None:
    fakes = [Moody(lambda number, _: None if number == 1 else "right"), Late(lambda *_: "right")]
    for fake in fakes:
        played = judged(library, cases, fake)
        cell = played.cells["asks1"]
        assert (cell.verdict, cell.never_right, played.exit_code) == ("unstable", False, 0)


def test_what_is_wrong_only_among_many_is_confirmed_among_them(
    library: Library, cases: Cases
) -> None:
    crowded = Moody(lambda number, under_way: "wrong" if under_way == 8 else "right")
    played = judged(library, cases, crowded, 8)
    assert sorted(played.verdicts.values()) == ["fail", *["pass"] * 7]
    [red] = [cell for cell in played.cells.values() if cell.verdict == "fail"]
    assert red.plays == ("fail", "fail")


def test_confirmation_has_a_bound_and_says_so(library: Library, cases: Cases) -> None:
    played = judged(library, cases, Moody(lambda *_: "wrong"), 30)
    assert set(played.verdicts.values()) == {"fail"}
    unconfirmed = [cell for cell in played.cells.values() if "not confirmed" in cell.reason]
    assert len(unconfirmed) == 10
    assert {cell.plays for cell in unconfirmed} == {("fail",)}
    assert all("only 20 failing cells of a target" in cell.reason for cell in unconfirmed)
    assert starts(played) == 2  # one play of the whole group confirms all twenty
    assert played.exit_code == 1


def test_without_confirmation_a_red_cell_is_reported_at_once(
    library: Library, cases: Cases
) -> None:
    for how in ({"confirm": 0}, {"fail_fast": True}):
        played = judged(library, cases, Moody(lambda *_: "wrong"), **how)
        assert (played.verdicts, starts(played)) == ({"asks1": "fail"}, 1)


def with_entry(library: Library, actual: str) -> Library:
    known = KnownMismatch("1", "reply.json.answer", parse_matcher(actual))
    everywhere = Releases.parse("*")
    entry = Deviation("D-1", "demo/cases::asks1", everywhere, "says", "does", (known,))
    return replace(library, deviations=(entry,))


def test_a_stale_cell_that_replays_as_known_is_known(library: Library, cases: Cases) -> None:
    moods = {"late": "other", "cured": "right"}
    for first in moods.values():
        fake = Moody(lambda number, _, first=first: first if number == 1 else "wrong")  # type: ignore[misc]
        played = judged(with_entry(library, "wrong"), cases, fake)
        cell = played.cells["asks1"]
        assert (cell.verdict, cell.deviation, cell.plays) == ("known", "D-1", ("stale", "known"))
        assert (cell.kind, cell.severity, played.exit_code) == ("bug", "protocol", 0)


def test_a_stale_cell_that_stays_stale_fails(library: Library, cases: Cases) -> None:
    played = judged(with_entry(library, "wrong"), cases, Moody(lambda *_: "right"))
    assert (played.verdicts, played.exit_code) == ({"asks1": "stale"}, 1)
    assert played.cells["asks1"].plays == ("stale", "stale")


def test_a_server_that_is_gone_when_it_is_asked_again_leaves_the_failure_unconfirmed(
    library: Library, cases: Cases
) -> None:
    class Once(Moody):
        def greet(self, client: Client) -> None:
            if not self.asked:
                super().greet(client)

    played = judged(library, cases, Once(lambda *_: "wrong"), time_factor=0.2)
    cell = played.cells["asks1"]
    assert cell.verdict == "fail"
    assert "(not confirmed: played again without a verdict: " in cell.reason


def test_an_interrupted_run_reports_its_suspects_unconfirmed(
    library: Library, cases: Cases
) -> None:
    stop = Stop()

    class Ending(Moody):
        def _answered(self, client: Client, frame: Pub, number: int) -> None:
            if number > 1:
                stop.now("interrupted")
            super()._answered(client, frame, number)

    played = judged(library, cases, Ending(lambda *_: "wrong"), stop=stop)
    cell = played.cells["asks1"]
    assert (cell.verdict, cell.plays) == ("fail", ("fail",))
    assert cell.reason.endswith("(not confirmed: interrupted)")


def test_a_neighbour_that_fails_only_in_a_confirmation_is_mentioned(
    library: Library, cases: Cases
) -> None:
    class Turns(Moody):
        """`asks1` is always wrong; `asks2` once, when it is asked for the second time."""

        def requested(self, client: Client, frame: Pub) -> None:
            if frame.subject.startswith("$JS.API.ASK."):
                self.asked += ".ASK.2." in frame.subject
                wrong = ".ASK.1." in frame.subject or self.asked == 2
                says = "wrong" if wrong else "right"
                self.reply(client, frame, None, json.dumps({"answer": says}).encode())
            else:
                super().requested(client, frame)

    played = judged(library, cases, Turns(lambda *_: "right"), 2)
    assert played.verdicts == {"asks1": "fail", "asks2": "pass"}
    said: list[Event] = [event for event in played.events if isinstance(event, Notice)]
    assert any("asks2" in str(event) and "not judged" in str(event) for event in said)


def test_each_target_has_a_bound_of_its_own(library: Library, cases: Cases) -> None:
    fakes = [Moody(lambda *_: "wrong"), Moody(lambda *_: "wrong")]
    text = "".join(ASKS.format(n=number) for number in range(1, 5))

    async def scenario() -> Played:
        async with serving(fakes[0]), serving(fakes[1]):
            urls = [fake.url for fake in fakes]
            return await play(library, cases(text), *urls, confirm=3)

    played = bounded(scenario())
    cells = [event.cell for event in played.events if isinstance(event, CaseFinished)]
    unconfirmed = [cell.target for cell in cells if "not confirmed" in cell.reason]
    assert sorted(unconfirmed) == sorted(fake.url for fake in fakes)
