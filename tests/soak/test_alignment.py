"""Which frames of two rounds correspond, and which differ only in what a run makes up."""

from __future__ import annotations

from jetproof.campaigns.alignment import aligned, first_difference, plain
from jetproof.model.verdict import FrameRecord

ONE, TWO = "jpaaaaaa111111", "jpbbbbbb222222"


def frame(direction: str, subject: str, payload: str = "", **more: object) -> FrameRecord:
    known = {"ms": 1.0, "connection": "main", "op": "MSG", "step": "1", **more}
    return FrameRecord(
        direction=direction,
        subject=subject,
        payload=payload.encode(),
        **known,  # type: ignore[arg-type]
    )


def asked(token: str, number: int, question: str, answer: str, step: str) -> list[FrameRecord]:
    inbox = f"_INBOX.{token}.r{number}"
    return [
        frame(">", question, reply=inbox, step=step),
        frame("<", inbox, answer, step=step),
    ]


def test_what_a_run_makes_up_is_no_difference() -> None:
    def exchange(token: str, time: str, ident: str) -> list[FrameRecord]:
        answer = f'{{"stream":"stream_{token}","created":"{time}","id":"{ident}"}}'
        return asked(token, 1, f"stream_{token}.a", answer, "1")

    pairs = aligned(
        exchange(ONE, "2026-01-02T03:04:05.1Z", "WOif91ZH6PcsiRPmkIKotM"),
        exchange(TWO, "2026-01-02T03:04:06.222Z", "XOif91ZH6PcsiRPmkIKo00"),
    )
    assert [pair.same for pair in pairs] == [True, True]
    assert first_difference(pairs) is None


def test_what_a_server_says_is_one() -> None:
    assert plain('{"seq":3,"created":"0001-01-01T00:00:00Z"}') == (
        '{"seq":3,"created":"0001-01-01T00:00:00Z"}'
    )
    usual = asked(ONE, 1, "a", '{"seq":1}', "1") + asked(ONE, 2, "b", '{"seq":2}', "2")
    other = asked(TWO, 1, "a", '{"seq":1}', "1") + asked(TWO, 2, "b", '{"seq":9}', "2")
    pairs = aligned(usual, other)
    assert first_difference(pairs) == 3
    assert pairs[3].step == "2"


def test_a_frame_that_is_missing_stands_beside_nothing() -> None:
    usual = asked(ONE, 1, "a", "x", "1") + asked(ONE, 2, "b", "y", "1")
    pairs = aligned(usual, [usual[0], *usual[2:]])
    assert [(pair.a is None, pair.b is None, pair.same) for pair in pairs] == [
        (False, False, True),
        (False, True, False),
        (False, False, True),
        (False, False, True),
    ]


def test_a_late_answer_stands_in_the_step_of_its_question() -> None:
    question, answer = asked(ONE, 1, "a", "x", "1")
    late = frame("<", answer.subject, "x", step="2")
    pairs = aligned([question, answer], [question, late])
    assert [(pair.step, pair.same) for pair in pairs] == [("1", True), ("1", True)]


def test_how_often_was_asked_until_the_answer_came_is_no_difference() -> None:
    info = "$JS.API.STREAM.INFO.stream"
    once = asked(ONE, 1, info, "ready", "1")
    thrice = [
        frame
        for number, answer in enumerate(("not yet", "not yet", "ready"))
        for frame in asked(TWO, number, info, answer, "1")
    ]
    pairs = list(aligned(once, thrice))
    assert pairs
    assert all(pair.same for pair in pairs)


def test_advisories_come_in_any_order() -> None:
    first = frame("<", "$JS.EVENT.ADVISORY.A", connection="observer", step="1")
    second = frame("<", "$JS.EVENT.ADVISORY.B", connection="observer", step="1")
    late = frame("<", "$JS.EVENT.ADVISORY.A", connection="observer", step="2")
    pairs = list(aligned([first, second], [second, late]))
    assert pairs
    assert all(pair.same for pair in pairs)


def test_very_many_frames_are_compared_by_their_place() -> None:
    many = [frame(">", f"a.{number}") for number in range(600)]
    pairs = aligned(many, [*many[:599], frame(">", "other")])
    assert len(pairs) == 600
    assert first_difference(pairs) == 599
