"""Rules as data: what can be written, and what is wrong with what cannot."""

from __future__ import annotations

from typing import Any

import pytest

from jetproof.load.rules import RuleError, parse_rule, parse_rules
from jetproof.wire import Connect, Err, Frame, Headers, Info, Msg, Ping, Pub, Sub, Unsub
from jetproof.wire.rules import Rule
from jetproof.wire.rules.changing import CannotChange, changed, edited, stripped
from jetproof.wire.rules.model import (
    Answer,
    Change,
    Count,
    Cut,
    Delay,
    Drop,
    Duplicate,
    Inject,
    Pass,
    Put,
    Sender,
    Strip,
)
from jetproof.wire.rules.selecting import FrameView, remembered, selects, subject_matches


def rule(on: Any, do: Any = "drop", **more: Any) -> Rule:
    return parse_rule({"on": on, "do": do, **more})


@pytest.mark.parametrize(
    ("raw", "action"),
    [
        ("drop", Drop()),
        ("duplicate", Duplicate()),
        ("pass", Pass()),
        ("cut", Cut()),
        ({"cut": "before"}, Cut()),
        ({"cut": "after"}, Cut(after=True)),
        ({"delay": "200ms"}, Delay(0.2)),
        ({"delay": {"by": "1.5s", "reorder": True}}, Delay(1.5, reorder=True)),
        ({"change": {"subject": "x"}}, Change(subject=Put("x"))),
        ({"strip": {"headers": ["A"], "json": ["a.b"]}}, Strip(("A",), ("a.b",))),
        ({"strip": {"reply_end": ".$FI"}}, Strip(reply_end=".$FI")),
    ],
)
def test_actions(raw: Any, action: object) -> None:
    assert rule({"op": "MSG"}, raw).do == action


def test_answers_and_injections() -> None:
    answer = rule({"op": "PUB"}, {"answer": [{"status": 503}, {"json": {"a": 1}}], "pass": True}).do
    assert isinstance(answer, Answer)
    assert answer.passes
    assert [reply.is_json for reply in answer.replies] == [False, True]
    inject = rule({"op": "MSG"}, {"inject": {"error": "x"}, "place": "before"}).do
    assert isinstance(inject, Inject)
    assert inject.before
    assert inject.message.error == "x"


@pytest.mark.parametrize(
    ("count", "taken"),
    [
        (Count(), [1, 2, 3, 4, 5, 6]),
        (Count(nth=2), [2]),
        (Count(every=2), [2, 4, 6]),
        (Count(after=4), [5, 6]),
        (Count(times=2), [1, 2]),
        (Count(every=2, times=2), [2, 4]),
        (Count(after=1, times=1), [2]),
    ],
)
def test_counting(count: Count, taken: list[int]) -> None:
    fired = 0
    found = []
    for number in range(1, 7):
        if count.takes(number, fired):
            fired += 1
            found.append(number)
    assert found == taken


@pytest.mark.parametrize(
    ("raw", "mistakes"),
    [
        ([], ["rule must be a mapping, not a list"]),
        ({}, ["missing key 'on' in rule", "missing key 'do' in rule"]),
        (
            {"on": {"op": "MSG"}, "do": "drop", "if": 1},
            ["unknown key 'if' in rule; there are: id, on, do, remember"],
        ),
        ({"on": {"subject": "a"}, "do": "drop"}, ["from: client or from: server"]),
        ({"on": {"op": "PING"}, "do": "drop"}, ["from: client or from: server"]),
        ({"on": {"op": "SHOUT"}, "do": "drop"}, ["op cannot be 'SHOUT'; there are: MSG, PUB"]),
        ({"on": {"op": "hpub"}, "do": "drop"}, ["op cannot be 'hpub'; there are: MSG, PUB"]),
        (
            {"on": {"from": "me", "op": "MSG"}, "do": "drop"},
            ["from cannot be 'me'; there are: client"],
        ),
        ({"on": {"from": "client", "op": "MSG"}, "do": "drop"}, ["a client does not send MSG"]),
        ({"on": {"from": "server", "op": "SUB"}, "do": "drop"}, ["a server does not send SUB"]),
        ({"on": {"op": "MSG", "sbject": "a"}, "do": "drop"}, ["did you mean subject?"]),
        ({"on": {"op": "MSG", "nth": 0}, "do": "drop"}, ["nth must be at least 1, not 0"]),
        ({"on": {"op": "MSG", "times": True}, "do": "drop"}, ["a whole number"]),
        ({"on": {"op": "MSG", "nth": 1, "after": 1}, "do": "drop"}, ["exclude each other"]),
        ({"on": {"op": "MSG", "json": {"": 1}}, "do": "drop"}, ["the path is empty"]),
        ({"on": {"op": "MSG", "status": {"about": 1}}, "do": "drop"}, ["unknown matcher 'about'"]),
        ({"on": {"op": "MSG", "payload": {"match": "("}}, "do": "drop"}, ["regular expression"]),
        (
            {"on": {"op": "MSG", "json": {"a": {"type": "str"}}}, "do": "drop"},
            ["type cannot be 'str'; did you mean string"],
        ),
        ({"on": {"from": "client", "answers": "publish"}, "do": "drop"}, ["only frames from the"]),
        (
            {"on": {"answers": {"op": "SUB"}}, "do": "drop"},
            ["did you mean PUB? There are: PUB, HPUB"],
        ),
        ({"on": {"answers": {"nth": 1}}, "do": "drop"}, ["unknown key 'nth' in answers"]),
        ({"on": {"answers": "api"}, "do": "drop"}, ["must be publish, or a mapping"]),
        ({"on": {"op": "MSG"}, "do": "explode"}, ["do cannot be 'explode'; there are: drop, cut"]),
        (
            {"on": {"op": "MSG"}, "do": {"delay": "soon"}},
            ["a duration such as 300ms, 1.5s or 2m, not 'soon'"],
        ),
        ({"on": {"op": "MSG"}, "do": {"delay": {"by": "1s", "reorder": 1}}}, ["true or false"]),
        ({"on": {"op": "MSG"}, "do": {"cut": "now"}}, ["cut cannot be 'now'; there are: before"]),
        ({"on": {"op": "MSG"}, "do": {"change": {}}}, ["change is empty"]),
        ({"on": {"op": "MSG"}, "do": {"change": {"color": 1}}}, ["unknown key 'color' in change"]),
        (
            {"on": {"op": "MSG"}, "do": {"change": {"headers": {"A": {"a": 1}}}}},
            ["unknown key 'a' in edit of a header; there are: remove, add, plus, rename"],
        ),
        ({"on": {"op": "MSG"}, "do": {"change": {"json": {"a[": 1}}}}, ["is not a path"]),
        ({"on": {"op": "MSG"}, "do": {"change": {"subject": "${"}}}, ["no closing brace"]),
        ({"on": {"op": "PUB"}, "do": {"strip": {}}}, ["strip is empty"]),
        (
            {"on": {"op": "PUB"}, "do": {"strip": {"headers": "A"}}},
            ["headers must be a list of texts"],
        ),
        ({"on": {"op": "PUB"}, "do": {"strip": {"json": ["a["]}}}, ["is not a path"]),
        ({"on": {"op": "PUB"}, "do": {"strip": {"reply_end": ""}}}, ["reply_end is empty"]),
        ({"on": {"op": "PUB"}, "do": {"strip": {"status": 1}}}, ["unknown key 'status' in strip"]),
        ({"on": {"op": "MSG"}, "do": {"answer": {}}}, ["only a publish of the client"]),
        (
            {"on": {"op": "PUB"}, "do": {"answer": {"json": {}, "payload": ""}}},
            ["json and payload exclude"],
        ),
        (
            {"on": {"op": "MSG"}, "do": {"inject": {"error": "x", "to": "a"}}},
            ["no other keys: remove them"],
        ),
        ({"on": {"op": "MSG"}, "do": {"inject": {}, "place": "here"}}, ["place cannot be 'here'"]),
        ({"on": {"op": "MSG"}, "do": "pass", "remember": {"A": "subject"}}, ["lower-case"]),
        (
            {"on": {"op": "MSG"}, "do": "pass", "remember": {"a": "sid"}},
            ["a must be one of subject"],
        ),
        (
            {"on": {"op": "SHOUT", "nth": "x"}, "do": {"delay": 5}},
            ["op cannot be 'SHOUT'", "nth must be a whole number", "must be a duration"],
        ),
    ],
)
def test_every_mistake_is_told(raw: object, mistakes: list[str]) -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule(raw)
    told = [text for _, text in caught.value.mistakes]
    assert len(told) == len(mistakes)
    for text, expected in zip(told, mistakes, strict=True):
        assert expected in text


def test_mistakes_have_a_path_and_ids_are_unique() -> None:
    good = {"id": "a", "on": {"op": "MSG"}, "do": "drop"}
    with pytest.raises(RuleError) as caught:
        parse_rules([good, {**good, "id": "b", "do": {"change": {"json": {"": 1}}}}, good])
    assert [path for path, _ in caught.value.mistakes] == [
        (1, "do", "change", "json", ""),
        (2, "id"),
    ]
    assert "1.do.change.json.: the path is empty" in str(caught.value)
    unnamed = {"on": {"op": "MSG"}, "do": "drop"}
    assert [item.id for item in parse_rules([unnamed, good, unnamed])] == ["rule-1", "a", "rule-3"]


@pytest.mark.parametrize(
    ("pattern", "subject", "matches"),
    [
        ("a.b", "a.b", True),
        ("a.*", "a.b", True),
        ("a.*", "a", False),
        ("a.*", "a.b.c", False),
        ("*.b", "a.b", True),
        ("a.>", "a.b.c", True),
        ("a.>", "a", False),
        (">", "a.b", True),
        ("$JS.API.>", "$JS.API.INFO", True),
        ("a.b", "a.c", False),
    ],
)
def test_subject_patterns(pattern: str, subject: str, matches: bool) -> None:
    assert subject_matches(pattern, subject) is matches


ACK = Msg("_INBOX.1", "1", None, None, b'{"stream":"S","seq":2,"deep":{"list":[1,{"a":true}]}}')
BLOCK = Headers([("A", "1"), ("A", "2"), ("Empty", "")], status=100, description="Idle Heartbeat")
BEAT = Msg("_INBOX.1", "1", "r.1", BLOCK, b"")
PUB = Pub("orders.new", "_INBOX.7", Headers([("Nats-Batch-Id", "b1")]), b"text")


@pytest.mark.parametrize(
    ("sender", "frame", "on", "selected"),
    [
        ("server", ACK, {"op": "MSG"}, True),
        ("server", BEAT, {"op": "MSG"}, True),
        ("server", BEAT, {"op": "HMSG"}, True),
        ("server", ACK, {"op": "HMSG"}, False),
        ("client", PUB, {"op": "PUB"}, True),
        ("client", PUB, {"op": "HPUB"}, True),
        ("client", PUB, {"op": "MSG"}, False),
        ("server", Err("x"), {"op": "ERR"}, True),
        ("server", Err("x"), {"from": "server"}, True),
        ("server", Err("x"), {"from": "server", "subject": ">"}, False),
        ("client", Ping(), {"op": "PING", "from": "client"}, True),
        ("server", Ping(), {"op": "PING", "from": "client"}, False),
        ("client", Sub("a", "q", "1"), {"op": "SUB", "subject": "a"}, True),
        ("client", Sub("a", "q", "1"), {"from": "client", "subject": "a"}, False),
        ("server", ACK, {"from": "server", "subject": "_INBOX.*"}, True),
        ("server", ACK, {"from": "server", "subject": "other"}, False),
        ("server", ACK, {"from": "server", "subject": {"match": "BOX"}}, True),
        ("server", ACK, {"op": "MSG", "reply": {"absent": True}}, True),
        ("server", BEAT, {"op": "MSG", "reply": "r.>"}, True),
        ("server", ACK, {"op": "MSG", "reply": "r.>"}, False),
        ("server", BEAT, {"op": "MSG", "status": 100}, True),
        ("server", BEAT, {"op": "MSG", "status": {"gte": 400}}, False),
        ("server", ACK, {"op": "MSG", "status": {"absent": True}}, True),
        ("server", BEAT, {"op": "MSG", "description": "Idle Heartbeat"}, True),
        ("server", BEAT, {"op": "MSG", "headers": {"A": 1}}, True),
        ("server", BEAT, {"op": "MSG", "headers": {"A": 2}}, False),
        ("server", BEAT, {"op": "MSG", "headers": {"A": {"values": ["1", "2"]}}}, True),
        ("server", BEAT, {"op": "MSG", "headers": {"a": {"exists": True}}}, False),
        ("server", BEAT, {"op": "MSG", "headers": {"Empty": ""}}, True),
        ("server", ACK, {"op": "MSG", "headers": {"A": {"absent": True}}}, True),
        ("server", ACK, {"op": "MSG", "json": {"seq": 2, "deep.list[1].a": True}}, True),
        ("server", ACK, {"op": "MSG", "json": {"seq": {"lt": 2}}}, False),
        ("server", ACK, {"op": "MSG", "json": {"batch": {"absent": True}}}, True),
        ("server", BEAT, {"op": "MSG", "json": {"batch": {"absent": True}}}, False),
        ("server", BEAT, {"op": "MSG", "payload": ""}, True),
        ("client", PUB, {"op": "PUB", "payload": {"length": 4}}, True),
        ("server", Info({"a": {"b": 1}}), {"op": "INFO", "json": {"a.b": 1}}, True),
        ("client", Connect({"name": "x"}), {"op": "CONNECT", "json": {"name": "y"}}, False),
        ("client", PUB, {"op": "PUB", "subject": "$var"}, False),
    ],
)
def test_selection(sender: Sender, frame: Frame, on: Any, selected: bool) -> None:
    assert selects(rule(on).on, FrameView(sender, frame), {}) is selected


def test_remembered_values_are_used_in_selection() -> None:
    selector = rule({"op": "PUB", "headers": {"Nats-Batch-Id": "$batch"}, "subject": "$first.*"}).on
    view = FrameView("client", PUB)
    assert selects(selector, view, {"batch": "b1", "first": "orders"})
    assert not selects(selector, view, {"batch": "b2", "first": "orders"})


def test_what_can_be_remembered() -> None:
    sources = (
        ("a", "subject"),
        ("b", "reply"),
        ("c", "header.Nats-Batch-Id"),
        ("d", "payload"),
        ("e", "json.seq"),
        ("f", "status"),
    )
    assert remembered(sources, FrameView("client", PUB)) == {
        "a": "orders.new",
        "b": "_INBOX.7",
        "c": "b1",
        "d": "text",
    }
    assert remembered(sources, FrameView("server", ACK))["e"] == 2
    assert remembered(sources, FrameView("server", BEAT))["f"] == 100
    assert remembered((("x", "json.deep"),), FrameView("server", ACK)) == {}


SENT = Pub("s.a", "r.1.$FI", Headers([("A", "1"), ("B", "2"), ("A", "3")]), b'{"a":{"b":1},"c":2}')


@pytest.mark.parametrize(
    ("strip", "left"),
    [
        (Strip(("A",)), Pub("s.a", SENT.reply, Headers([("B", "2")]), SENT.payload)),
        (Strip(("A", "B")), Pub("s.a", SENT.reply, None, SENT.payload)),
        (Strip(json=("a.b",)), Pub("s.a", SENT.reply, SENT.headers, b'{"a":{},"c":2}')),
        (Strip(json=("a", "c")), Pub("s.a", SENT.reply, SENT.headers, b"{}")),
        (Strip(reply_end=".$FI"), Pub("s.a", "r.1", SENT.headers, SENT.payload)),
    ],
)
def test_a_stripped_frame_lacks_what_was_named(strip: Strip, left: Pub) -> None:
    assert stripped(strip, SENT) == left


@pytest.mark.parametrize(
    "frame",
    [
        Pub("s.a", None, None, b""),
        Pub("s.a", ".$FI", Headers([("a", "1")]), b"[1]"),
        Pub("s.a", "r.$FI.x", Headers(), b'{"c": 2}'),
        Sub("A", None, "1"),
        Ping(),
    ],
)
def test_a_frame_that_has_nothing_to_strip_is_the_same(frame: Frame) -> None:
    assert stripped(Strip(("A",), ("a.b",), ".$FI"), frame) is frame


def test_a_status_line_keeps_a_block_without_headers() -> None:
    status = Msg("a", "1", None, Headers([("A", "1")], status=404, description="No"), b"")
    left = stripped(Strip(("A",)), status)
    assert isinstance(left, Msg)
    assert (left.status, left.description) == (404, "No")


def change(frame: Frame, what: Any, **env: Any) -> Frame:
    action = rule({"from": "server"}, {"change": what}).do
    assert isinstance(action, Change)
    return changed(action, frame, env)


@pytest.mark.parametrize(
    ("edits", "result"),
    [
        ({"seq": 9}, {"stream": "S", "seq": 9, "deep": {"list": [1, {"a": True}]}}),
        ({"stream": {"remove": True}}, {"seq": 2, "deep": {"list": [1, {"a": True}]}}),
        ({"seq": {"add": 1}}, {"stream": "S", "seq": 3, "deep": {"list": [1, {"a": True}]}}),
        ({"seq": {"rename": "sq"}}, {"stream": "S", "sq": 2, "deep": {"list": [1, {"a": True}]}}),
        (
            {"deep.list": {"add": 5}},
            {"stream": "S", "seq": 2, "deep": {"list": [1, {"a": True}, 5]}},
        ),
        (
            {"deep.list[0]": {"remove": True}},
            {"stream": "S", "seq": 2, "deep": {"list": [{"a": True}]}},
        ),
        ({"deep": {"value": {"add": 1}}}, {"stream": "S", "seq": 2, "deep": {"add": 1}}),
        ({"deep": {"x": 1, "y": 2}}, {"stream": "S", "seq": 2, "deep": {"x": 1, "y": 2}}),
        ({"deep": None, "seq": "$n"}, {"stream": "S", "seq": 7, "deep": None}),
        (
            {"deep": 0, "new.way.in": [1]},
            {"stream": "S", "seq": 2, "deep": 0, "new": {"way": {"in": [1]}}},
        ),
    ],
)
def test_json_changes(edits: Any, result: Any) -> None:
    after = change(ACK, {"json": edits}, n=7)
    assert isinstance(after, Msg)
    view = FrameView("server", after)
    assert view.document == result
    assert list(view.document) == list(result)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    "edits",
    [
        {"none": {"remove": True}},
        {"none": {"add": 1}},
        {"none.deeper": {"rename": "x"}},
        {"stream": "S"},
        {"stream.x": 1},
        {"deep.list[9]": 1},
    ],
)
def test_a_change_that_changes_nothing_gives_the_same_frame(edits: Any) -> None:
    assert change(ACK, {"json": edits}) is ACK
    assert change(BEAT, {"json": {"a": 1}}) is BEAT
    assert change(Unsub("1"), {"json": edits}) == Unsub("1")


def test_types_that_python_takes_for_equal_are_different_on_the_wire() -> None:
    one = Msg("a", "1", None, None, b'{"a":1}')
    assert change(one, {"json": {"a": True}}) == Msg("a", "1", None, None, b'{"a":true}')


@pytest.mark.parametrize(
    ("edits", "lines"),
    [
        ({"A": 5}, [("A", "5"), ("Empty", "")]),
        ({"A": ["x", "y", "z"]}, [("A", "x"), ("A", "y"), ("A", "z"), ("Empty", "")]),
        ({"A": {"remove": True}}, [("Empty", "")]),
        ({"A": {"add": "3"}}, [("A", "1"), ("A", "2"), ("Empty", ""), ("A", "3")]),
        ({"A": {"plus": 10}}, [("A", "11"), ("A", "12"), ("Empty", "")]),
        ({"A": {"rename": "a"}}, [("a", "1"), ("a", "2"), ("Empty", "")]),
        ({"New": True}, [("A", "1"), ("A", "2"), ("Empty", ""), ("New", "true")]),
    ],
)
def test_header_changes(edits: Any, lines: list[tuple[str, str]]) -> None:
    after = change(BEAT, {"headers": edits})
    assert isinstance(after, Msg)
    assert after.headers == Headers(lines, status=100, description="Idle Heartbeat")


def test_other_changes() -> None:
    assert change(BEAT, {"headers": None}) == Msg("_INBOX.1", "1", "r.1", None, b"")
    gone = change(BEAT, {"status": {"remove": True}})
    assert isinstance(gone, Msg)
    assert (gone.status, gone.description) == (None, "")
    other = change(BEAT, {"status": 409, "description": "Consumer Deleted"})
    assert isinstance(other, Msg)
    assert (other.status, other.description) == (409, "Consumer Deleted")
    fresh = change(ACK, {"status": 503})
    assert isinstance(fresh, Msg)
    assert fresh.headers == Headers(status=503)
    moved = change(BEAT, {"subject": "x.$n", "reply": {"remove": True}, "payload": "p"}, n=1)
    assert moved == Msg("x.1", "1", None, BLOCK, b"p")
    assert change(Sub("a", None, "1"), {"subject": "b"}) == Sub("b", None, "1")
    assert change(Info({"a": 1}), {"json": {"a": 2}}) == Info({"a": 2})
    assert change(Ping(), {"subject": "b"}) == Ping()


@pytest.mark.parametrize(
    "what",
    [
        {"json": {"stream": {"add": 1}}},
        {"subject": "two words"},
        {"status": "high"},
        {"description": "without a status"},
        {"headers": {"A": "two\nlines"}},
    ],
)
def test_what_cannot_be_changed_says_so(what: Any) -> None:
    with pytest.raises(CannotChange):
        change(ACK, what)


def test_what_a_header_cannot_be_counted_up_to() -> None:
    with pytest.raises(CannotChange):
        change(BEAT, {"headers": {"Empty": {"plus": 1}}})


def test_the_document_itself_is_not_touched() -> None:
    document = {"a": {"b": 1}}
    assert edited(document, (("a.b", Put(2)),), {}) == {"a": {"b": 2}}
    assert document == {"a": {"b": 1}}
