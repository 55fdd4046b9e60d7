"""`jetproof spec-check`: clauses whose sentence is gone, and sentences without a clause."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jetproof.load import library as library_module
from jetproof.load.spec_text_check import TextCheck, check_text
from jetproof.model.clause import Spec
from support.commands import Command
from support.documents import Validate

from .specdemo import demo, fences, library_of, spec_of

TEXT = fences()["markdown text"][0]
LATER = fences()["markdown later"][0]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands see the specification of the page, and nothing else."""
    library = library_of(demo())
    monkeypatch.setattr(library_module, "load_library", lambda *_: library)


def ids(found: TextCheck) -> dict[str, list[str]]:
    return {
        "gone": [one.clause.id for one in found.gone],
        "moved": [one.clause.id for one in found.moved],
        "unread": [one.id for one in found.unread],
        "bare": [one.sentence for one in found.bare],
    }


NOTHING: dict[str, list[str]] = {"gone": [], "moved": [], "unread": [], "bare": []}


def test_the_text_that_a_catalogue_was_made_from_stands() -> None:
    found = check_text(demo(), 1, TEXT)
    assert ids(found) == NOTHING
    assert (found.held, found.standing, found.explained, found.idle) == (3, 3, 1, ())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("every message.", "every\n  message."),
        ("*must*", "_must_"),
        ("*must*", "**must**"),
        ("*must*", "must"),
        ("*must*", "[must](https://example.org/must_*not*)"),
        ("`PING`", "PING"),
        ("`PING`", "``PING``"),
        ("- A", "* A"),
        ("Messages can be", "> Messages can be"),
    ],
)
def test_white_space_and_markup_do_not_matter(old: str, new: str) -> None:
    assert old in TEXT
    assert ids(check_text(demo(), 1, TEXT.replace(old, new))) == NOTHING


@pytest.mark.parametrize(
    ("old", "new"),
    [("every message", "each message"), ("*must*", "*should*"), ("acknowledge", "Acknowledge")],
)
def test_another_word_does(old: str, new: str) -> None:
    found = check_text(demo(), 1, TEXT.replace(old, new))
    changed = next(line for line in TEXT.replace(old, new).splitlines() if "server" in line)
    sentence = changed.partition("day. ")[2]
    assert ids(found) == NOTHING | {"gone": ["DEMO-001", "DEMO-004"], "bare": [sentence]}
    assert {one.now for one in found.gone} == {sentence}


def test_a_clause_that_is_reworded_stands_in_both_texts() -> None:
    catalogue = fences()["yaml clauses"][0]
    place = '    hash: "c7a10e126a05c1a6"\n'
    first, rest = catalogue.split(place, 1)
    known = spec_of(f"{first}{place}{fences()['yaml reworded'][0]}{rest}")
    assert ids(check_text(known, 1, TEXT)) == NOTHING
    later = TEXT.replace("every message", "each message")
    assert "DEMO-001" in ids(check_text(known, 1, later))["gone"]
    assert "DEMO-001" not in ids(check_text(known, 2, later))["gone"]
    assert ids(check_text(known, 2, later))["bare"] == []
    [old] = [one for one in check_text(known, 2, TEXT).gone if one.clause.id == "DEMO-001"]
    assert old.clause.sentence_hash != known.clauses["DEMO-001"].sentence_hash


def test_a_sentence_that_is_elsewhere_is_not_gone() -> None:
    found = check_text(demo(), 1, TEXT.replace("## Sending", "## Background\n\nNone.\n\n## Sent"))
    assert ids(found) == NOTHING | {"moved": ["DEMO-001", "DEMO-002", "DEMO-004"]}
    assert found.moved[0].anchors == ("Sent: paragraph 1, sentence 2",)
    assert found.standing == 3


def test_nothing_stands_in_an_empty_text() -> None:
    found = check_text(demo(), 1, "")
    assert [one.now for one in found.gone] == [None] * 3
    assert [one.why for one in found.idle] == ["Background."]


def test_only_clauses_of_the_revision_count_and_one_without_a_hash_was_never_read() -> None:
    found = check_text(demo(), 2, LATER)
    assert ids(found) == {
        "gone": [],
        "moved": [],
        "unread": ["DEMO-003"],
        "bare": ["The server will never send a `PING` itself."],
    }


def test_an_anchor_speaks_for_a_clause_without_a_hash() -> None:
    spec = demo()
    unread = replace(spec.clauses["DEMO-003"], anchor="Sending: bullet 2, sentence 1")
    known: Spec = replace(spec, clauses={**spec.clauses, "DEMO-003": unread})
    assert check_text(known, 2, LATER).bare == ()


@pytest.mark.parametrize(
    ("sentence", "sounds"),
    [
        ("Servers MUST answer.", True),
        ("It won't be stored.", True),
        ("The number is required.", True),
        ("Only the leader answers.", True),
        ("The month of May comes after April.", True),
        ("The mustard is stored with goodwill in a can-can candle.", True),
        ("A mustard candle is willingly stored.", False),
        ("The leader answers.", False),
    ],
)
def test_words_make_a_sentence_sound_normative(sentence: str, sounds: bool) -> None:
    text = TEXT + f"- Nothing. {sentence}\n"
    assert ids(check_text(demo(), 1, text))["bare"] == ([sentence] if sounds else [])


def test_rows_are_read_and_code_and_headings_are_not() -> None:
    text = TEXT + "\n| a | b |\n|---|---|\n| x | It must hold. |\n\n```\nmust\n```\n\n### It must\n"
    assert [one.anchor for one in check_text(demo(), 1, text).bare] == [
        "Sending: row x, sentence 1"
    ]


def test_a_clause_about_a_whole_paragraph_speaks_for_its_sentences() -> None:
    from jetproof.load.sentences import sentence_hash

    spec = demo()
    text = TEXT + "\nIt must hold. It will hold.\n"
    whole = replace(spec.clauses["DEMO-001"], sentence_hash=sentence_hash(text.splitlines()[-1]))
    known = replace(spec, clauses={**spec.clauses, "DEMO-001": whole})
    assert ids(check_text(known, 1, text))["bare"] == []


OTHER = """\
# Feature flags

## Design

Flags are a map. The server will log which flags it uses.
"""


@pytest.mark.parametrize(
    ("heading", "other"),
    [
        ("# Demonstration", None),
        ("# demonstration ", None),
        ("# _Demonstration_ #", None),
        ("# Shown as an example", None),
        ("## No title at all", None),
        ("# Feature flags", "Feature flags"),
        ("```sh\n# Feature flags\n```\n\n# Demonstration", None),
    ],
)
def test_a_text_has_the_title_of_its_specification(heading: str, other: str | None) -> None:
    spec = replace(demo(), titles=("Shown as an Example",))
    found = check_text(spec, 1, TEXT.replace("# Demonstration", heading, 1))
    assert found.other_title == other
    # Its clauses stand: it is the same document under another name.
    assert not found.another_document


def test_another_title_and_no_clause_is_another_document() -> None:
    assert check_text(demo(), 1, OTHER).another_document
    nameless = OTHER.replace("# Feature flags\n", "")
    assert not check_text(demo(), 1, nameless).another_document


class TestCommand:
    def test_another_document_is_named_first_and_its_clauses_are_not_listed(
        self, jetproof: Command, conforms: Validate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        library = library_of(replace(demo(), note="The text was withdrawn."))
        monkeypatch.setattr(library_module, "load_library", lambda *_: library)
        (tmp_path / "text.md").write_text(OTHER)
        done = jetproof("spec-check", "text.md", "--spec", "demo@1")
        assert done.code == 1
        assert done.out.splitlines() == [
            "text.md is another document: 'Feature flags', not 'Demonstration'",
            "  The text was withdrawn.",
            "demo@1 in text.md: 3 clauses, 0 stand, 3 gone",
            "-v lists the clauses and sentences all the same",
        ]
        assert "DEMO-001" in jetproof("spec-check", "text.md", "--spec", "demo@1", "-v").out
        document: dict[str, Any] = jetproof(
            "spec-check", "text.md", "--spec", "demo@1", "--json"
        ).document
        conforms("cli/spec-check", document)
        assert (document["title"], document["other_title"]) == ("Demonstration", "Feature flags")
        assert document["another_document"]

    def test_a_text_that_was_renamed_is_read_to_its_end(
        self, jetproof: Command, tmp_path: Path
    ) -> None:
        (tmp_path / "text.md").write_text(LATER.replace("# Demonstration", "# Show", 1))
        done = jetproof("spec-check", "text.md", "--spec", "demo@1")
        assert done.out.startswith("text.md has another title: 'Show', not 'Demonstration'\n")
        assert "DEMO-002" in done.out

    def test_the_exit_code_says_whether_a_sentence_is_gone(
        self, jetproof: Command, conforms: Validate, tmp_path: Path
    ) -> None:
        for text, code, gone in ((TEXT, 0, []), (LATER, 1, ["DEMO-002"])):
            (tmp_path / "text.md").write_text(text)
            done = jetproof("spec-check", "text.md", "--spec", "demo@1", "--json")
            document: dict[str, Any] = done.document
            conforms("cli/spec-check", document)
            assert (done.code, document["exit_code"]) == (code, code)
            assert [row["clause"] for row in document["gone"]] == gone

    def test_strict_minds_sentences_without_a_clause(
        self, jetproof: Command, tmp_path: Path
    ) -> None:
        (tmp_path / "text.md").write_text(TEXT + "- It must hold.\n")
        assert jetproof("spec-check", "text.md", "--spec", "demo").code == 0
        assert jetproof("spec-check", "text.md", "--spec", "demo", "--strict").code == 1

    def test_verbose_tells_what_moved_and_what_is_idle(
        self, jetproof: Command, tmp_path: Path
    ) -> None:
        (tmp_path / "text.md").write_text(TEXT.replace("Sending", "Sent").replace("bad", "fine"))
        short = jetproof("spec-check", "text.md", "--spec", "demo")
        assert "3 elsewhere" in short.out
        assert "now Sent: bullet 1" not in short.out
        long = jetproof("spec-check", "text.md", "--spec", "demo", "-v")
        assert "now Sent: bullet 1" in long.out
        assert "excused from a clause that are not in the text (1)" in long.out

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (("text.md", "--spec", "other"), "no specification other"),
            (("text.md", "--spec", "demo@9"), "demo has no revision 9"),
            (("none.md", "--spec", "demo"), "cannot read none.md"),
            (("bytes.md", "--spec", "demo"), "cannot read bytes.md"),
            (("text.md", "--spec", "demo@x"), "is not like adr-50"),
        ],
    )
    def test_what_cannot_be_asked_is_refused(
        self, jetproof: Command, tmp_path: Path, arguments: tuple[str, ...], told: str
    ) -> None:
        (tmp_path / "text.md").write_text(TEXT)
        (tmp_path / "bytes.md").write_bytes(b"\xff\xfe")
        done = jetproof("spec-check", *arguments)
        assert done.code == 2
        assert told in done.err

    def test_a_text_cannot_act_on_a_terminal(self, jetproof: Command, tmp_path: Path) -> None:
        (tmp_path / "text.md").write_text(TEXT + "- It must \x1b[2J hold.\n")
        done = jetproof("spec-check", "text.md", "--spec", "demo")
        assert "\x1b" not in done.out
        assert "It must" in done.out
