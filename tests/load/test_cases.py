"""Good case files: what each way of writing something becomes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from jetproof.load.library import Library, load_cases
from jetproof.load.mistakes import LoadError
from jetproof.model import case as model
from jetproof.model.case import Case, Expectation, Step
from jetproof.model.matcher import parse_matcher
from jetproof.model.template import parse_text, parse_value

StepKind = TypeVar("StepKind", bound=Step)
Load = Callable[..., tuple[Case, ...]]
Play = Callable[[str], tuple[Any, ...]]


@pytest.fixture
def load(library: Library, tmp_path: Path) -> Load:
    """Loads the cases of a text; the head of a file goes without saying."""

    def load(cases: str, head: str = "given: {stream: {subjects: [a]}}") -> tuple[Case, ...]:
        path = tmp_path / "f.yaml"
        path.write_text(f"suite: demo/f\nabout: Good\n{head}\ncases:\n{cases}")
        return load_cases([path], library)

    return load


@pytest.fixture
def play(load: Load) -> Play:
    """The steps of one case, written as a YAML list."""

    def play(steps: str) -> tuple[Step, ...]:
        lines = "\n".join(f"      {line}" for line in steps.strip().splitlines())
        [case] = load(f"  - case: c\n    clauses: [DEMO-001]\n    steps:\n{lines}\n")
        return case.steps

    return play


def only(kind: type[StepKind], steps: tuple[Step, ...]) -> StepKind:
    [step] = steps
    assert isinstance(step, kind)
    return step


def test_a_case_knows_its_names_its_place_and_its_defaults(load: Load) -> None:
    [case] = load("  - case: c\n    clauses: [DEMO-001]\n    steps: [{publish: {subject: a}}]\n")
    assert (case.id, case.suite, case.name, case.spec) == ("demo/f::c", "demo/f", "c", "demo")
    assert (case.revision, case.budget, case.about, case.line) == (1, 15.0, "", 5)
    assert case.clauses == ("DEMO-001",)
    assert case.file.endswith("f.yaml")
    assert case.given == model.Given(streams=(("stream", parse_value({"subjects": ["a"]})),))


def test_a_file_may_speak_of_another_revision(load: Load) -> None:
    [case] = load(
        "  - {case: c, clauses: [DEMO-003], steps: [{publish: {subject: a}}]}\n", "revision: 2"
    )
    assert case.revision == 2


def test_what_a_case_is_given_overrides_the_file_key_by_key(load: Load) -> None:
    head = """\
given:
  server: low-limits
  isolation: account
  stream: {subjects: [a]}
  streams: {mirror: {mirror: {name: $stream}}}
"""
    body = """\
  - case: as-given
    clauses: [DEMO-001]
    steps: [{publish: {subject: a}}]
  - case: other
    clauses: [DEMO-001]
    given: {stream: null, server: default, streams: {source: {}, sink: {}}, topology: cluster-3}
    steps: [{publish: {subject: a}}]
"""
    given, other = (case.given for case in load(body, head))
    assert (given.configuration, given.isolation, given.topology) == (
        "low-limits",
        "account",
        "single",
    )
    assert [name for name, _ in given.streams] == ["stream", "mirror"]
    assert (other.configuration, other.isolation, other.topology) == (
        "default",
        "account",
        "cluster-3",
    )
    assert [name for name, _ in other.streams] == ["source", "sink"]


def test_connections_of_its_own(load: Load) -> None:
    given = """\
given:
  connections:
    main: {account: B}
    b: {node: n1, options: {echo: false}}
"""
    [case] = load("  - {case: c, clauses: [DEMO-001], steps: [{publish: {subject: a}}]}\n", given)
    assert case.given.connections == {
        "main": model.ConnectionGiven(account="B"),
        "b": model.ConnectionGiven(node="n1", options={"echo": False}),
    }


def test_headers_keep_their_order_their_case_and_every_value(play: Play) -> None:
    step = only(
        model.Publish,
        play("- publish: {subject: $stream.a, headers: {b: 1, A: [x, $batch], a: true, C: ''}}"),
    )
    assert step.message.subject == parse_text("$stream.a")
    assert step.message.headers == (
        ("b", 1),
        ("A", "x"),
        ("A", parse_text("$batch")),
        ("a", True),
        ("C", ""),
    )


def test_no_headers_differ_from_an_empty_block(play: Play) -> None:
    without, empty = play("- publish: {subject: a}\n- publish: {subject: a, headers: {}}")
    assert without.message.headers is None
    assert empty.message.headers == ()


def test_payloads_are_text_json_a_repeated_text_or_a_size(play: Play) -> None:
    steps = play(
        "- publish: {subject: a, payload: x}\n"
        "- publish: {subject: a, payload: {text: ab, times: 3}}\n"
        "- publish: {subject: a, json: {seq: 1, of: [$batch]}}\n"
        "- publish: {subject: a, size: 70000}"
    )
    text, filled, document, size = (step.message for step in steps)
    assert text.payload == "x"
    assert filled.payload == parse_value({"text": "ab", "times": 3})
    assert document.json == parse_value({"seq": 1, "of": ["$batch"]})
    assert size.size == 70000


def test_every_part_of_an_expectation(play: Play) -> None:
    steps = play("""
- mark: sent
  request: {subject: a, reply: $inbox.x, within: 1.5s}
  reply:
    status: {in: [100, 503]}
    description: EOB
    error: [10176, 10071]
    schema: error-reply
    json: {"error.code": 400, "items[0]": {exists: false}}
    headers: {Nats-Sequence: 7}
    payload: {match: "x$"}
    subject: $inbox.x
    one_of: [{empty: true}, {empty: false}]
    not_before: {after: sent, by: 300ms}
    position: {answer: json.error.code}
    capture: {last: header.Nats-Sequence}
""")
    step = only(model.Request, steps)
    assert step.within == 1.5
    assert step.message.reply == parse_text("$inbox.x")
    assert step.reply == Expectation(
        status=parse_matcher({"in": [100, 503]}),
        description=parse_matcher("EOB"),
        error=model.ErrorCode((10176, 10071)),
        schema="error-reply",
        json={"error.code": parse_matcher(400), "items[0]": parse_matcher({"exists": False})},
        headers={"Nats-Sequence": parse_matcher(7)},
        payload=parse_matcher({"match": "x$"}),
        subject=parse_matcher("$inbox.x"),
        one_of=(Expectation(empty=True), Expectation(empty=False)),
        not_before=model.After("sent", 0.3),
        positions={"answer": "json.error.code"},
        capture={"last": "header.Nats-Sequence"},
    )


def test_any_error_a_named_position_and_silence(play: Play) -> None:
    any_error, silent = play("""
- request: {subject: a}
  reply: {error: any, position: limit}
- request: {subject: a}
  reply: {silence: 300ms}
""")
    assert any_error.reply == Expectation(error=model.ErrorCode(), position="limit")
    assert silent.reply == model.Silence(0.3)


def test_several_replies(play: Play) -> None:
    step = only(
        model.Request,
        play("""
- request: {subject: a}
  replies:
    until: {status: 204}
    count: {gte: 2}
    each: {empty: false}
    first: {capture: {one: json.seq}}
    last: {capture: {last: header.Nats-Last-Sequence}}
    within: 2m
"""),
    )
    assert step.reply is None
    assert step.replies == model.Replies(
        until=Expectation(status=parse_matcher(204)),
        count=parse_matcher({"gte": 2}),
        each=Expectation(empty=False),
        first=Expectation(capture={"one": "json.seq"}),
        last=Expectation(capture={"last": "header.Nats-Last-Sequence"}),
        within=120.0,
    )


def test_subscriptions_and_stated_silence(play: Play) -> None:
    subscribe, receive, several, quiet, replies, errors = play("""
- subscribe: {subject: $stream.>, to: box, queue: q}
- receive: {from: box, within: 1s}
  message: {payload: x}
- receive: {from: box}
  messages: {count: 3}
- silence: {on: box, for: 300ms}
- silence: {on: replies, for: 300ms}
- receive: {from: errors}
  message: {payload: {contains: Violation}}
""")
    assert (subscribe.to, subscribe.queue, subscribe.connection) == ("box", "q", "main")
    assert (receive.source, receive.within, receive.message.payload) == (
        "box",
        1.0,
        parse_matcher("x"),
    )
    assert several.messages == model.Replies(count=parse_matcher(3))
    assert (quiet.on, quiet.seconds, replies.on, errors.source) == (
        "box",
        0.3,
        "replies",
        "errors",
    )


def test_what_stream_info_says(play: Play) -> None:
    step = only(
        model.StreamState,
        play("""
- stream:
    messages: 3
    last_seq: {gte: 3}
    json: {config.allow_atomic: true}
    within: 2s
    capture: {upto: state.last_seq}
    position: {storage: config.storage}
"""),
    )
    assert step.of == parse_text("$stream")
    assert step.fields == {
        "state.messages": parse_matcher(3),
        "state.last_seq": parse_matcher({"gte": 3}),
        "config.allow_atomic": parse_matcher(True),
    }
    assert (step.within, step.capture, step.position) == (
        2.0,
        {"upto": "state.last_seq"},
        {"storage": "config.storage"},
    )


def test_what_is_stored(play: Play) -> None:
    by_seq, last, gone = play("""
- stored: {seq: 1, payload: x, headers: {A: b}}
- stored: {last_by_subject: $stream.a, json: {a: 1}}
- stored: {seq: 2, absent: true}
""")
    assert by_seq.seq == 1
    assert by_seq.message == Expectation(
        payload=parse_matcher("x"), headers={"A": parse_matcher("b")}
    )
    assert last.last_by_subject == parse_text("$stream.a")
    assert last.message == Expectation(json={"a": parse_matcher(1)})
    assert (gone.absent, gone.message) == (True, Expectation())


def test_advisories_that_must_come_and_those_that_must_not(play: Play) -> None:
    abandoned, other, none = play("""
- advisory: {json: {reason: timeout}, within: 11s}
- advisory: {event: STREAM.CREATED}
- advisory: {none_for: 300ms}
""")
    assert abandoned.event == "STREAM.BATCH_ABANDONED"
    assert abandoned.message == Expectation(json={"reason": parse_matcher("timeout")})
    assert (abandoned.within, abandoned.none_for) == (11.0, None)
    assert (other.event, other.message) == ("STREAM.CREATED", Expectation())
    assert (none.message, none.none_for) == (None, 0.3)


def test_steps_within_steps_have_addresses_and_count(play: Play) -> None:
    first, repeat, loop = play("""
- {label: first, publish: {subject: a}}
- repeat: {as: i, times: 3, from: 5}
  steps:
    - publish: {subject: a.$i}
    - repeat: {as: j, times: $i}
      steps:
        - {mark: inner, publish: {subject: "a.$i.${j + 1}"}}
- loop: {max: 9, until: {pending: 0}}
  steps:
    - request: {subject: a}
      reply: {capture: {pending: header.Nats-Num-Pending}}
""")
    assert (first.name, repeat.name, loop.name) == ("first", "2", "3")
    assert (repeat.variable, repeat.times, repeat.start) == ("i", 3, 5)
    plain, inner = repeat.steps
    assert (plain.address, inner.address, inner.steps[0].address) == ("2.1", "2.2", "2.2.1")
    assert (inner.times, inner.start, inner.steps[0].mark) == (parse_text("$i"), 1, "inner")
    assert (loop.most, loop.until) == (9, {"pending": parse_matcher(0)})
    assert [step.kind for step in (first, repeat, loop)] == ["publish", "repeat", "loop"]


def test_a_capture_in_a_loop_counts_after_it(play: Play) -> None:
    steps = play("""
- loop: {max: 2, until: {last: {gt: $first}, first: 1}}
  steps:
    - request: {subject: a}
      reply: {capture: {first: json.first, last: json.last}}
    - publish: {subject: a.$last}
- publish: {subject: "a.${last - first}"}
""")
    assert len(steps) == 2


def test_a_capture_that_every_alternative_makes_counts(play: Play) -> None:
    steps = play("""
- request: {subject: a}
  reply: {one_of: [{capture: {x: json.seq}}, {status: 503, capture: {x: status}}]}
- publish: {subject: a.$x}
""")
    assert len(steps) == 2


def test_branches_are_played_together_and_have_addresses(play: Play) -> None:
    together, repeat, _ = play("""
- together:
    one:
      - request: {subject: a}
        reply: {capture: {x: json.seq}}
      - publish: {subject: a.$x}
    two:
      - repeat: {as: i, times: 2}
        steps:
          - publish: {subject: a}
- repeat: {as: i, times: 50, at_once: true}
  steps:
    - publish: {subject: a.$i}
- publish: {subject: a.$x}
""")
    assert together.kind == "together"
    assert list(together.branches) == ["one", "two"]
    assert [step.address for step in together.branches["one"]] == ["1.one.1", "1.one.2"]
    assert together.branches["two"][0].steps[0].address == "1.two.1.1"
    assert repeat.at_once


def test_silences_of_branches_do_not_add_up(load: Load) -> None:
    body = """\
  - case: c
    clauses: [DEMO-001]
    budget: 2s
    steps:
      - together:
          one: [{silence: {on: errors, for: 1500ms}}]
          two: [{silence: {on: replies, for: 1500ms}}]
"""
    assert len(load(body)) == 1


def test_actions(load: Load) -> None:
    body = """\
  - case: c
    clauses: [DEMO-001]
    given: {topology: cluster-3, isolation: server, connections: {b: {node: follower}}}
    steps:
      - action: {stepdown: $stream}
      - action: {kill: n1, then: start, reconnect: main}
      - action: {pause: leader, then: resume, reconnect: [main, b]}
"""
    [case] = load(body)
    stepdown, kill, pause = case.steps
    assert (stepdown.verb, stepdown.target) == ("stepdown", parse_text("$stream"))
    assert (kill.verb, kill.target, kill.then, kill.reconnect) == ("kill", "n1", "start", ("main",))
    assert (pause.target, pause.reconnect) == ("leader", ("main", "b"))
    assert case.actions == {"stepdown", "kill", "start", "pause", "resume"}


def test_laws_with_their_arguments_read(play: Play) -> None:
    steps = """\
- {mark: asked, publish: {subject: a}}
- law: {spaced: {status: 100, since: asked, by: 200ms, count: {gte: 3}}}
"""
    law = only(model.Law, play(steps)[1:])
    assert law.law == "spaced"
    assert law.arguments == {
        "status": 100,
        "since": "asked",
        "by": 0.2,
        "count": parse_matcher({"gte": 3}),
    }


def test_clauses_of_another_specification_may_be_named(root: Path, tmp_path: Path) -> None:
    from jetproof.load.library import load_library

    other = root / "suites" / "other"
    other.mkdir()
    (other / "clauses.yaml").write_text(
        "spec: other\ntitle: O\nrevision: 1\nrevisions: [{revision: 1}]\nclauses:\n"
        "  - {id: O-001, section: A, level: may, actor: server, clause: B.}\n"
    )
    (root / "suites" / "demo" / "x.yaml").write_text(
        "suite: demo/x\nabout: A\ncases:\n"
        "  - {case: c, clauses: [DEMO-001, O-001], steps: [{publish: {subject: a}}]}\n"
    )
    library = load_library(root)
    [case] = library.cases
    assert [clause.spec for clause in library.clauses_of(case)] == ["demo", "other"]


ONE = (
    "  - {case: c, clauses: [DEMO-001], "
    "steps: [{label: l, publish: {subject: a, headers: {A: 1, B: 2}}}]}\n"
)


@pytest.mark.parametrize(
    ("changed", "head", "same"),
    [
        (ONE, None, True),
        (ONE.replace("case: c,", "case: c, about: Words,"), None, True),
        (ONE.replace("case: c,", "case: other,"), None, True),
        ("\n\n" + ONE.replace(", ", ",   "), None, True),
        (ONE.replace("DEMO-001", "DEMO-004"), None, False),
        (ONE.replace("label: l", "label: m"), None, False),
        (ONE.replace("A: 1, B: 2", "B: 2, A: 1"), None, False),
        (ONE.replace("A: 1", "A: '1'"), None, False),
        (ONE, "given: {stream: {subjects: [b]}}", False),
        (ONE, "revision: 2\ngiven: {stream: {subjects: [a]}}", False),
    ],
)
def test_the_hash_is_of_what_is_played(
    load: Load, changed: str, head: str | None, same: bool
) -> None:
    [before] = load(ONE)
    [after] = load(changed) if head is None else load(changed, head)
    assert len(before.hash) == 16
    assert (before.hash == after.hash) is same


def test_mistakes_name_the_path_as_it_was_given(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "f.yaml").write_text("suite: demo/f\nabout: A\ncases: []\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LoadError, match=r"^sub/f\.yaml:3: cases is empty$"):
        load_cases([Path("sub/f.yaml")], library)


def test_a_file_that_is_given_twice_over_names_both_places(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.yaml", "b.yaml"):
        Path(name).write_text(f"suite: demo/f\nabout: A\ncases:\n{ONE}")
    with pytest.raises(LoadError) as caught:
        load_cases([Path("a.yaml"), Path("b.yaml")], library)
    assert str(caught.value) == "b.yaml:4: duplicate case demo/f::c: it is at a.yaml:4 already"
