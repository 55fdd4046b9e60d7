"""Between any two releases or revisions, the page shows the differences of the query layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jetproof.results.changes import KINDS, between_releases, between_revisions, between_sides
from jetproof_reports import page as report

from . import samples, variants

Shown = Callable[..., Any]
Told = dict[tuple[str, str], Counter[str]]


@pytest.fixture(scope="module")
def rows() -> list[samples.Row]:
    """Cells of which some releases have none: a schema is judged only where a reply was seen."""
    made = [row for row in variants.several()["cells"] if row["provider"] == "embedded"]
    return [row for row in made if not (row["case"].endswith("-30") and row["server"] == "2.12.2")]


@pytest.fixture(scope="module")
def table(rows: list[samples.Row]) -> Told:
    """How often each kind is in the table `regressions`, by the two releases."""
    told: Told = {}
    for row in between_releases(rows):
        told.setdefault((row["side_a"], row["side_b"]), Counter())[row["kind"]] += 1
    return told


@pytest.fixture(scope="module")
def file(rows: list[samples.Row], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("agreement") / "report.html"
    path.write_text(report.render(report.document({"matrix": rows, "cells": rows})), "utf-8")
    return path


def test_releases_that_follow_each_other(table: Told, shown: Shown, file: Path) -> None:
    page = shown().open(file, "view=regressions")
    page.locator(".tile").first.wait_for()
    assert samples.FEW[1:]
    for a, b in zip(samples.FEW, samples.FEW[1:], strict=False):
        page.locator("select[name=a]").select_option(a)
        page.locator("select[name=b]").select_option(b)
        counts = [int(text) for text in page.locator(".tile b").all_inner_texts()]
        assert dict(zip(KINDS, counts, strict=True)) == {
            kind: table.get((a, b), Counter())[kind] for kind in KINDS
        }


def test_a_case_that_a_release_was_not_asked_is_gone_and_then_new(table: Told) -> None:
    assert table["2.12.1", "2.12.2"]["gone"] >= 1
    assert table["2.11.11", "2.12.0"]["new"] >= 1
    every = sum(table.values(), Counter[str]())
    assert every.keys() == set(KINDS)


def test_releases_that_do_not_follow_each_other(
    rows: list[samples.Row], shown: Shown, file: Path
) -> None:
    a, b = samples.FEW[-1], samples.FEW[0]
    of = {name: [row for row in rows if row["server"] == name] for name in (a, b)}
    matched = ("spec_revision", "client", "provider")
    found = Counter(row["kind"] for row in between_sides(of[a], of[b], a, b, matched))
    page = shown().open(file, f"view=regressions&a={a}&b={b}")
    page.locator(".tile").first.wait_for()
    counts = [int(text) for text in page.locator(".tile b").all_inner_texts()]
    assert dict(zip(KINDS, counts, strict=True)) == {kind: found[kind] for kind in KINDS}
    assert found["fixed"]
    assert found["gone"]


def test_revisions_that_follow_each_other(
    rows: list[samples.Row], shown: Shown, file: Path
) -> None:
    told: dict[str, Counter[str]] = {}
    for row in between_revisions(rows):
        assert (row["side_a"], row["side_b"]) == ("adr-50@7", "adr-50@10")
        told.setdefault(row["server_b"], Counter())[row["kind"]] += 1
    page = shown().open(file, "view=regressions&by=revisions&ra=7&rb=10")
    page.locator(".tile").first.wait_for()
    # A case about one of the revisions only is no row of the table.
    for server in samples.FEW:
        page.locator("select[name=on]").select_option(server)
        for kind in KINDS[:5]:
            tile = page.locator(f".tile.{kind} b")
            assert told[server][kind] == (int(tile.inner_text()) if tile.count() else 0)
    assert sum(told.values(), Counter[str]())["new-failure"] > 0
