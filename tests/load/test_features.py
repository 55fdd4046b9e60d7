"""The table of optional features, and how the declarations of a file and its cases come together."""

from __future__ import annotations

from pathlib import Path

import pytest

from jetproof.load.library import Library, load_cases, load_library
from jetproof.load.mistakes import LoadError
from jetproof.model.case import FeatureUse
from jetproof.model.versions import Version

from .conftest import FEATURES

SUITE = """\
suite: demo/features
about: Reads and writes
feature: [min_last_seq, expected-last-sequence]
given:
  stream: {subjects: ["$stream.>"]}
cases:
  - case: both
    clauses: [DEMO-001]
    feature: {name: min_last_seq, differs: false, reason: it is reached}
    steps:
      - request: {subject: $stream.a, headers: {Nats-Expected-Last-Sequence: 0}}
        reply: {json: {seq: 1}}
      - request: {subject: $JS.API.DIRECT.GET.$stream, json: {seq: 1, min_last_seq: 1}}
        reply: {payload: ""}
  - case: neither
    clauses: [DEMO-001]
    steps:
      - request: {subject: $stream.a}
        reply: {json: {seq: 1}}
"""


def put(root: Path, text: str) -> Path:
    (root / "fixtures" / "features.yaml").write_text(text)
    return root


def written(tmp_path: Path, text: str = SUITE) -> Path:
    path = tmp_path / "features.yaml"
    path.write_text(text)
    return path


def test_a_feature_says_which_releases_know_it(library: Library) -> None:
    feature = library.features["min_last_seq"]
    assert feature.known_to(Version.parse("2.11.9"), reference=False)
    assert not feature.known_to(Version.parse("2.15.1"), reference=False)
    assert not feature.known_to(Version.parse("2.15.1"), reference=True)
    assert library.features["expected-last-sequence"].known_to(
        Version.parse("2.15.1"), reference=False
    )


def test_a_feature_may_be_known_to_no_release(root: Path) -> None:
    table = FEATURES.replace('servers: "<2.12.0"', "servers: none\n    reference: true")
    feature = load_library(put(root, table)).features["min_last_seq"]
    for version in ("2.10.25", "2.12.0-preview.1", "2.15.1"):
        assert not feature.known_to(Version.parse(version), reference=False)
        assert feature.known_to(Version.parse(version), reference=True)


def test_without_a_table_there_are_no_features(root: Path) -> None:
    (root / "fixtures" / "features.yaml").unlink()
    assert load_library(root).features == {}


def test_a_default_of_the_file_holds_for_cases_that_send_the_feature(
    library: Library, tmp_path: Path
) -> None:
    both, neither = load_cases([written(tmp_path)], library)
    assert both.features == (
        FeatureUse("min_last_seq", False, "it is reached"),
        FeatureUse("expected-last-sequence"),
    )
    assert neither.features == ()


TABLED = """\
suite: demo/features
about: Writes, one per row
feature: expected-last-sequence
given:
  stream: {subjects: ["$stream.>"]}
cases:
  - case: expecting-$seq
    clauses: [DEMO-001]
    feature: {name: expected-last-sequence, differs: false, reason: all rows}
    table:
      - {seq: 0, headers: {Nats-Expected-Last-Sequence: 0}}
      - {seq: 7, headers: {Nats-Expected-Last-Sequence: 7}, feature: expected-last-sequence}
      - seq: 8
        headers: {Nats-Expected-Last-Sequence: 8}
        feature: [{name: expected-last-sequence, differs: false, reason: row $seq}]
    steps:
      - request: {subject: $stream.a, headers: $headers}
        reply: {position: answer}
"""


def test_a_row_of_a_table_declares_for_itself(library: Library, tmp_path: Path) -> None:
    cases = load_cases([written(tmp_path, TABLED)], library)
    assert [case.features for case in cases] == [
        (FeatureUse("expected-last-sequence", False, "all rows"),),
        (FeatureUse("expected-last-sequence"),),
        (FeatureUse("expected-last-sequence", False, "row 8"),),
    ]


def test_a_mistake_in_the_declaration_of_a_row_has_its_line(
    library: Library, tmp_path: Path
) -> None:
    wrong = TABLED.replace("feature: expected-last-sequence}", "feature: min_last_seq}")
    with pytest.raises(LoadError) as caught:
        load_cases([written(tmp_path, wrong)], library)
    assert [(mistake.line, mistake.message) for mistake in caught.value.mistakes] == [
        (12, "no step of expecting-7 sends min_last_seq: take it out, or send it")
    ]


def test_a_declaration_does_not_make_a_case_another_one(library: Library, tmp_path: Path) -> None:
    with_it = load_cases([written(tmp_path)], library)
    bare = "\n".join(line for line in SUITE.splitlines() if "feature: " not in line)
    without = load_cases([written(tmp_path, bare)], library)
    assert [case.hash for case in with_it] == [case.hash for case in without]
    assert [case.features for case in without] == [(), ()]


FOR_LIBRARIES = """\
suite: demo/client/features
about: Reads
feature: min_last_seq
given:
  stream: {subjects: ["$stream.>"]}
cases:
  - case: asks
    clauses: [DEMO-002]
    steps:
      - call: {op: direct.get, stream: $stream, seq: 1, min_last_seq: 1}
  - case: does-not-ask
    clauses: [DEMO-002]
    feature: expected-last-sequence
    steps:
      - call: {op: direct.get, stream: $stream, seq: 1}
"""


def test_a_case_for_clients_declares_what_its_calls_ask_for_and_more(
    library: Library, tmp_path: Path
) -> None:
    """What a library sends by itself, no file shows."""
    asks, other = load_cases([written(tmp_path, FOR_LIBRARIES)], library)
    assert asks.features == (FeatureUse("min_last_seq"),)
    assert other.features == (FeatureUse("expected-last-sequence"),)


def test_a_default_that_no_call_of_a_file_asks_for_is_a_mistake(
    library: Library, tmp_path: Path
) -> None:
    text = FOR_LIBRARIES.replace(", min_last_seq: 1", "")
    with pytest.raises(LoadError) as caught:
        load_cases([written(tmp_path, text)], library)
    assert [(mistake.line, mistake.message) for mistake in caught.value.mistakes] == [
        (3, "no call of the file asks for min_last_seq: declare it in cases that need it")
    ]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        (
            "    headers: [Nats-Expected-Last-Sequence]\n",
            "",
            2,
            "nothing carries expected-last-sequence: write headers, fields or reply_ends",
        ),
        ("name: min_last_seq", "name: expected-last-sequence", 5, "duplicate feature"),
        ('servers: "<2.12.0"', "servers: soon", 11, "is not a version range"),
        ("name: min_last_seq", "name: Min Last", 5, "a name, such as min_last_seq"),
        ("    about: A read waits\n", "", 5, "about"),
        ("json: [min_last_seq]", "fields: [min_last_seq]", 8, "json"),
        ("ops: [direct.get]", "ops: [direct.gat]", 10, "no operation 'direct.gat'; did you mean"),
        (
            "parameters: [min_last_seq]",
            "parameters: [min_seq]",
            10,
            "none of direct.get has a parameter 'min_seq'",
        ),
    ],
)
def test_each_mistake_of_the_table_has_its_place(
    root: Path, old: str, new: str, line: int, message: str
) -> None:
    assert old in FEATURES
    with pytest.raises(LoadError) as error:
        load_library(put(root, FEATURES.replace(old, new)))
    found = [mistake for mistake in error.value.mistakes if message in mistake.message]
    assert found, error.value
    assert (found[0].file, found[0].line) == ("fixtures/features.yaml", line)
