"""Mistakes in case files: all of them at once, each with its place, and nothing is started."""

from __future__ import annotations

from pathlib import Path

from support.waiting import wait_for

from .commands import ASKS, HEAD, Command, case, jetproof, write

BROKEN = 'suite: adr-50/broken\nabout: "no end\ncases: []\n'
WRONG = """\
suite: adr-50/wrong
about: One mistake of every kind
cases:
  - case: unknown-step
    clauses: [A50-ATOMIC-001]
    steps:
      - requst: {subject: a}
  - case: unknown-clause
    clauses: [A50-ATOMIC-999]
    steps:
      - publish: {subject: a}
  - case: twice
    clauses: [A50-ATOMIC-001]
    steps:
      - publish: {subject: a.$never}
  - case: twice
    clauses: [A50-ATOMIC-001]
    steps:
      - request: {subject: a}
        reply: {schema: nothing}
"""


def test_every_mistake_is_listed_at_once_and_nothing_is_started(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text(BROKEN)
    (tmp_path / "wrong.yaml").write_text(WRONG)
    ended = jetproof(tmp_path, "run", "wrong.yaml", "broken.yaml")
    assert ended.code == 2
    for place in (
        "broken.yaml:",
        "wrong.yaml:7: unknown step 'requst'",
        "wrong.yaml:9: unknown clause A50-ATOMIC-999",
        "wrong.yaml:15: $never is never set",
        "wrong.yaml:16: duplicate case adr-50/wrong::twice",
        "wrong.yaml:20: no schema 'nothing'",
    ):
        assert place in ended.err
    assert not (tmp_path / "jetproof-runs").exists()
    assert not ended.out


def test_the_document_has_every_mistake_too(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text(BROKEN)
    (tmp_path / "wrong.yaml").write_text(WRONG)
    ended = jetproof(tmp_path, "run", "--json", "wrong.yaml", "broken.yaml")
    assert ended.code == 2
    mistakes = ended.document["error"]["mistakes"]
    assert [(one["file"], one["line"]) for one in mistakes if "broken" not in one["file"]] == [
        ("wrong.yaml", line) for line in (7, 9, 15, 16, 20)
    ]
    assert [one["file"] for one in mistakes if "broken" in one["file"]] == ["broken.yaml"]


def test_no_server_is_ever_started_for_a_wrong_file(tmp_path: Path) -> None:
    """Seen from outside: a right file has a server in a moment, a wrong one never has."""
    steps = "      - subscribe: {subject: a, to: a}\n      - silence: {on: a, for: 3s}\n"
    write(tmp_path, case("right", steps))
    right = Command(tmp_path, "run", "faults.yaml")
    wait_for(right.servers, "no server was started")
    assert right.ended().code == 0
    (tmp_path / "faults.yaml").write_text(HEAD + case("wrong", ASKS) * 2)
    wrong = Command(tmp_path, "run", "faults.yaml")
    seen: set[int] = set()
    while wrong.process.poll() is None:
        seen.update(wrong.servers())
    assert wrong.ended().code == 2
    assert not seen
