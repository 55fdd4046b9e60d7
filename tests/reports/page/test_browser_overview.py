"""The first view of the page: the sentences, what is new or unstable, the known causes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jetproof_reports import page as pages

from . import samples, variants

FEW = samples.tables(57, 8)
Files = Callable[[str], Path]
Shown = Callable[..., Any]


def overview(tables: samples.Tables) -> dict[str, Any]:
    made: dict[str, Any] = pages.document(tables)["overview"]
    return made


def test_the_page_begins_with_it(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "")
    page.get_by_role("heading", name="What matters").wait_for()
    first = [line["verdict"] for line in overview(FEW)["lines"] if line["first"]]
    told = page.locator(".overview > .targets > li > span:last-child").all_text_contents()
    assert [text.removeprefix("Fails: ") for text in told] == first
    assert page.locator("nav [aria-current]").first.inner_text() == "Overview"
    page.get_by_text("4 more targets").click()
    assert page.locator(".targets > li:visible").count() == 8


@pytest.mark.parametrize("address", ["q=commit", "fold=specs", "verdicts=fail"])
def test_an_address_without_a_view_is_still_one_of_the_matrix(
    shown: Shown, files: Files, address: str
) -> None:
    page = shown().open(files("few"), address)
    page.locator("#grid").wait_for()


def test_the_matrix_is_one_click_away_and_keeps_its_address(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "")
    page.get_by_role("link", name="Every cell: cases by release").click()
    page.locator("#grid").wait_for()
    assert "view=matrix" in page.url
    page.go_back()
    page.get_by_role("heading", name="What matters").wait_for()


def test_a_filter_of_the_matrix_does_not_lead_back_to_it(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "view=matrix&releases=2.15.1")
    page.get_by_role("link", name="Overview").click()
    page.get_by_role("heading", name="What matters").wait_for()
    page.reload()
    page.get_by_role("heading", name="What matters").wait_for()


def test_known_causes_stand_with_severity_kind_cells_and_link(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "")
    (group,) = overview(FEW)["groups"]
    row = page.locator(".causes tbody tr")
    assert row.count() == 1
    texts = row.locator("td").all_inner_texts()
    assert texts[0].split() == ["loss", "bug"]
    assert texts[1].splitlines() == [group["does"], "a50-example"]
    assert texts[2:4] == [str(group["cells"]), group["since"]]
    link = row.get_by_role("link", name="issues/7")
    assert link.get_attribute("href") == samples.MARKS["upstream"]
    assert "noopener" in link.get_attribute("rel")
    row.get_by_role("link", name="a50-example").click()
    page.get_by_role("heading", name="Where releases differ from the text").wait_for()


def test_no_other_address_becomes_a_link(shown: Shown, tmp_path: Path) -> None:
    rows = [row | {"upstream": "javascript:window.owned=1"} for row in FEW["matrix"]]
    file = tmp_path / "page.html"
    file.write_text(pages.render(pages.document({"matrix": rows})), encoding="utf-8")
    page = shown().open(file, "")
    page.locator(".causes tbody tr").first.wait_for()
    hrefs = page.locator("a").evaluate_all("all => all.map((a) => a.getAttribute('href'))")
    assert hrefs
    assert all(href.startswith("#") for href in hrefs)


def test_unstable_cells_come_first_and_lead_to_every_play(shown: Shown, files: Files) -> None:
    page = shown().open(files("unstable"), "")
    tags = page.locator(".cells-list > li .tag").all_inner_texts()
    assert [re.sub(r"\W", "", tag) for tag in tags][:3].count("unstable") == 2
    assert "unstable" in tags[0]
    first = page.locator(".cells-list > li").first
    assert "never right" in first.inner_text()
    first.get_by_role("link").first.click()
    panel = page.get_by_role("dialog")
    panel.locator("h4.play").first.wait_for()
    assert panel.locator("h4.play").all_inner_texts() == [
        "Play 1 of 3, first: fail", "Play 2 of 3, alone: pass", "Play 3 of 3, alone: pass"
    ]  # fmt: skip
    # The end of each play is there, whatever its length.
    last = variants.FRAMES_OF_A_PLAY - 1
    for number in (1, 2, 3):
        assert panel.get_by_text(f"play{number}.{last}", exact=True).count() == 1
    assert panel.get_by_text("once is enough, and it counts as a failure").count() == 1
    assert panel.get_by_role("heading", name="Expected and actual").count() == 1


def test_the_matrix_counts_an_unstable_cell_only_if_it_is_never_right(
    shown: Shown, files: Files
) -> None:
    page = shown().open(files("unstable"), "view=matrix&verdicts=unstable")
    chip = page.get_by_role("group", name="Verdicts").get_by_role("button", name="unstable")
    assert chip.inner_text().split()[-2:] == ["unstable", "2"]
    made = variants.unstable()["matrix"]
    mine = [row for row in made if row["verdict"] == "unstable"]
    assert [row["never_right"] for row in mine] == [True, False]
    for row in mine:
        rows = [one for one in made if one["server"] == row["server"]]
        failing = sum(
            one["verdict"] in ("fail", "stale")
            or (one["verdict"] == "unstable" and one["never_right"])
            for one in rows
            if one["case"] in {each["case"] for each in mine}
        )
        head = page.locator(".column").filter(has_text=row["server"]).locator(".bad").inner_text()
        assert head == (f"{failing}✗" if failing else "")


def test_no_change_rests_on_an_unstable_cell_that_proves_nothing(
    shown: Shown, files: Files
) -> None:
    made = variants.unstable()["matrix"]
    proven, unsure = (row for row in made if row["verdict"] == "unstable")
    for row, kinds in ((proven, 1), (unsure, 0)):
        address = f"view=regressions&a={samples.FEW[-1]}&b={row['server']}&q={row['case']}"
        page = shown().open(files("unstable"), address)
        page.locator(".tile").first.wait_for()
        assert page.locator(".change").count() == kinds


@pytest.mark.parametrize("size", [(1280, 800), (400, 800)])
def test_nothing_sticks_out(shown: Shown, files: Files, size: tuple[int, int]) -> None:
    page = shown(size=size).open(files("unstable"), "")
    page.locator(".causes").wait_for()
    assert page.evaluate("by => document.querySelector('main').scrollWidth") <= size[0]


def test_without_anything_new_it_says_so(shown: Shown, tmp_path: Path) -> None:
    rows = [row | {"verdict": "pass", "deviation": None} for row in FEW["matrix"]]
    file = tmp_path / "page.html"
    file.write_text(pages.render(pages.document({"matrix": rows})), encoding="utf-8")
    page = shown().open(file, "")
    page.get_by_text("No cell is new, and none is unstable").wait_for()
    page.get_by_text("No known deviation was met.").wait_for()
    assert page.locator(".targets > li.conforms").count() == 8
