"""The hash of a case: the same for the same play however it is written, another for another play."""

from __future__ import annotations

from pathlib import Path

import pytest

from jetproof.load.library import load_library
from support.demo import CLAUSES

HEAD = """\
suite: demo/x
about: Words
given:
  stream: {subjects: ["$stream.>"], max_msgs: 5}
cases:
"""
CASE = """\
  - case: c
    about: What it is for
    clauses: [DEMO-001]
    steps:
      - request: {subject: $stream.a, headers: {A: a, B: b}, payload: one, within: 2s}
        reply: {json: {seq: {gte: 1, lte: 2}, stream: $stream}}
        label: stored
      - for_each: {as: v, values: [1, 2]}
        steps: [{publish: {subject: $stream.$v}}]
      - stream: {messages: 3, within: 1500ms}
"""


def hash_of(root: Path, text: str, clauses: str = CLAUSES) -> str:
    suite = root / "suites" / "demo"
    (suite / "clauses.yaml").write_text(clauses)
    path = suite / ("client/x.yaml" if "/client/" in text else "x.yaml")
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    library = load_library(root)
    [case] = (*library.cases, *library.client_cases)
    return case.hash


@pytest.mark.parametrize(
    "text",
    [
        "# A comment\n\n" + HEAD + "  # another\n" + CASE,
        HEAD.replace("about: Words", "about: Other words") + CASE,
        HEAD + CASE.replace("about: What it is for", "about: Something else"),
        HEAD + CASE.replace("case: c", "case: renamed"),
        HEAD.replace('{subjects: ["$stream.>"], max_msgs: 5}', "{max_msgs: 5, subjects: [$stream.>]}")
        + CASE,
        HEAD.replace('given:\n  stream: {subjects: ["$stream.>"], max_msgs: 5}\n', "")
        + CASE.replace(
            "    steps:\n      - request",
            '    given: {stream: {subjects: ["$stream.>"], max_msgs: 5}}\n    steps:\n      - request',
        ),
        HEAD + CASE.replace("{gte: 1, lte: 2}", "{lte: 2, gte: 1}"),
        HEAD + CASE.replace("1500ms", "1.5s"),
        HEAD + CASE.replace("    clauses:", "    budget: 30s\n    clauses:"),
        HEAD + CASE.replace("$stream.a", '"${stream}.a"'),
    ],
    ids=[
        "comments", "about-of-the-suite", "about", "name", "key-order", "given-of-the-case",
        "operator-order", "unit", "budget", "spelling-of-a-variable",
    ],
)  # fmt: skip
def test_how_a_case_is_written_does_not_change_its_hash(root: Path, text: str) -> None:
    assert hash_of(root, text) == hash_of(root, HEAD + CASE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("max_msgs: 5", "max_msgs: 6"),
        ("lte: 2", "lte: 3"),
        ("payload: one", "payload: two"),
        ("{A: a, B: b}", "{B: b, A: a}"),
        ("within: 2s", "within: 3s"),
        ("messages: 3", "messages: 4"),
        ("[1, 2]", "[2, 1]"),
        ("label: stored", "label: kept"),
        ("about: Words", "about: Words\nrevision: 2"),
        ("  stream: {", "  isolation: server\n  stream: {"),
        ("  stream: {", "  server: low-limits\n  stream: {"),
    ],
)
def test_another_play_has_another_hash(root: Path, old: str, new: str) -> None:
    assert old in HEAD + CASE
    assert hash_of(root, (HEAD + CASE).replace(old, new)) != hash_of(root, HEAD + CASE)


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("It answers.", "It answers in other words.", True),
        ("section: One", "section: Two", True),
        ("level: must", "level: should", False),
        ("level: must", "level: may", False),
        ("level: must", "level: must, status: silent", False),
        ("level: must", "level: must, applies_from: 2.12.0", False),
    ],
)
def test_of_clauses_what_decides_a_verdict_counts(
    root: Path, old: str, new: str, same: bool
) -> None:
    before = hash_of(root, HEAD + CASE)
    assert (hash_of(root, HEAD + CASE, CLAUSES.replace(old, new)) == before) is same


FOR_LIBRARIES = """\
suite: demo/client/x
about: Words
given:
  stream: {subjects: ["$stream.>"]}
  connections: {other: {}}
cases:
  - case: c
    clauses: [DEMO-002]
    tap:
      - {id: lost, on: {answers: {subject: $stream.a}}, do: drop}
    steps:
      - call: {op: publish, subject: $stream.a, data: m1}
        answer: any
      - wire: {op: PUB, subject: $stream.a}
        message: {headers: {Nats-Msg-Id: {exists: true}}}
"""


def test_hashes_are_the_same_in_every_version_of_jetproof(root: Path) -> None:
    """Editions hold them: who changes the model keeps these numbers, and gives new fields a default."""
    assert hash_of(root, FOR_LIBRARIES) == "aa1dc7d498b09c34"
    (root / "suites" / "demo" / "client" / "x.yaml").unlink()
    assert hash_of(root, HEAD + CASE) == "4c0824d4b460c09a"
