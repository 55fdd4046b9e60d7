"""The file: self-contained, closed to everything it does not hold itself, small."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from jetproof_reports import page
from jetproof_reports.page.render import SIZE_LIMIT
from jetproof_reports.page.trim import TRIMS, trimmed

from . import samples, variants


class Reader(HTMLParser):
    """Tags with their attributes, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, dict[str, str | None], str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem is not None:
            self.texts.append((*self.tags[-1], data))

    @property
    def policy(self) -> str:
        metas = [attrs for tag, attrs in self.tags if tag == "meta"]
        return next(str(m["content"]) for m in metas if "http-equiv" in m)


@pytest.fixture(scope="module")
def few() -> str:
    return page.render(page.document(samples.tables(57, 8)))


def blocks(text: str) -> dict[str, Any]:
    found = re.findall(r'<script type="application/gzip" id="data-([^"]+)">([^<]*)</script>', text)
    return {name: json.loads(gzip.decompress(base64.b64decode(data))) for name, data in found}


def test_the_data_comes_back_as_it_went_in() -> None:
    document = page.document(samples.tables(57, 8))
    found = blocks(page.render(document))
    assert found["head"] == document["head"]
    assert found["tables"] == document["tables"]
    evidence = [found[f"evidence-{place}"] for place in range(len(document["evidence"]))]
    assert evidence == document["evidence"]


def test_equal_documents_give_equal_files(few: str) -> None:
    assert page.render(page.document(samples.tables(57, 8))) == few


def test_the_policy_allows_the_page_s_own_script_and_style_and_nothing_else(few: str) -> None:
    reader = Reader(few)
    rules = dict(rule.strip().split(" ", 1) for rule in reader.policy.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["require-trusted-types-for"] == "'script'"
    for tag in ("script", "style"):
        (text,) = [
            text for name, attrs, text in reader.texts if name == tag and not attrs.get("type")
        ]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[f"{tag}-src"] == f"'sha256-{digest}'"


def test_nothing_is_fetched_and_no_markup_carries_code_or_style(few: str) -> None:
    tags = Reader(few).tags
    assert tags
    for tag, attributes in tags:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "form"}
        assert not {"src", "style", "srcset"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]


def test_the_script_never_parses_markup(few: str) -> None:
    (script,) = [t for name, attrs, t in Reader(few).texts if name == "script" and not attrs]
    sinks = (
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval(",
        "new Function", "fetch(", "XMLHttpRequest", "createContextualFragment",
    )  # fmt: skip
    assert [sink for sink in sinks if sink in script] == []
    assert "</script" not in script
    assert "<!--" not in script


def test_hostile_text_is_nowhere_in_the_file_but_in_packed_data() -> None:
    text = page.render(page.document(variants.hostile()))
    assert "owned" not in text
    assert "onerror" not in text
    packed = json.dumps(blocks(text))
    assert "window.owned = 1" in packed


def test_hostile_release_names_stay_out_of_the_title() -> None:
    tables = samples.tables(1, 8)
    rows = [row | {"server": variants.MARKUP} for row in tables["matrix"][:1]]
    reader = Reader(page.render(page.document({"matrix": rows})))
    assert [tag for tag, _ in reader.tags].count("img") == 0
    assert len([1 for tag, attrs in reader.tags if tag == "script" and not attrs]) == 1


def test_lone_surrogates_and_other_odd_text_survive() -> None:
    head = blocks(page.render(page.document(variants.hostile())))["head"]
    assert variants.HOSTILE in head["reasons"]


@pytest.mark.parametrize("name", ["many", "most"], ids=["600", "1500"])
def test_600_and_1500_cases_on_32_releases_stay_below_the_limit(
    files: Callable[[str], Path], name: str
) -> None:
    text = files(name).read_text(encoding="utf-8")
    assert len(text.encode()) < SIZE_LIMIT
    assert blocks(text)["head"]["left_out"] == []


def test_a_page_that_would_be_too_large_is_shortened_and_says_so() -> None:
    document = page.document(samples.tables(200, 8))
    whole = len(page.render(document))
    text = page.render(document, limit=whole - 1)
    assert len(text) < whole
    (told,) = blocks(text)["head"]["left_out"]
    assert told in [trim.told for trim in TRIMS]
    assert page.render(document, limit=whole) == page.render(document)


@pytest.mark.parametrize("trim", TRIMS, ids=lambda trim: f"payload-{trim.payload}")
def test_shortening_keeps_every_transcript_readable(trim: Any) -> None:
    document = page.document(samples.tables(57, 8))
    assert any(block["transcripts"] for block in document["evidence"])
    for block, less in zip(document["evidence"], trimmed(document, trim)["evidence"], strict=True):
        assert less["transcripts"].keys() == block["transcripts"].keys()
        assert less["checks"] == block["checks"]
        for numbers in less["transcripts"].values():
            lines = [less["lines"][number] for number in numbers]
            assert len(lines) <= trim.lines + 1
            assert all(len(line) == 11 for line in lines)
            assert all(len(line[9]) <= trim.payload + 1 for line in lines)


def test_shortening_says_how_many_frames_are_missing() -> None:
    document = page.document(variants.hostile())
    block = document["evidence"][0]
    mark, numbers = next(iter(block["transcripts"].items()))
    block["transcripts"][mark] = numbers * 50
    less = trimmed(document, TRIMS[-1])["evidence"][0]
    shown = [less["lines"][number] for number in less["transcripts"][mark]]
    gap = next(line for line in shown if line[3] == "gap")
    assert gap[10] == f"{len(numbers) * 50 - TRIMS[-1].lines} more frames"


def test_a_page_made_smaller_keeps_the_plays_of_unstable_cells() -> None:
    """They have no transcript: their frames are all that shows what happened."""
    document = page.document(variants.unstable())
    made = trimmed(document, TRIMS[-1])
    kept = {cell for block in made["evidence"] for cell in block["raw"]}
    unstable = {str(cell) for numbers in document["overview"]["news"][:2] for cell in numbers}
    assert kept == unstable
    lines = [block["lines"][line] for block in made["evidence"] for line in _raw_lines(block)]
    assert sum(line[3] == "play" for line in lines) == 6


def _raw_lines(block: dict[str, Any]) -> list[int]:
    return [line for frames in block["raw"].values() for line, _ in frames]
