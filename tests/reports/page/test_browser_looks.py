"""How the page looks and where: light and dark, a phone, paper, a report that is not whole."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jetproof_reports import page as report

from . import samples
from .test_browser_matrix import address_of, cell_of, found, state

FEW = samples.tables(57, 8)
NEWEST = "2.15.1"
Files = Callable[[str], Path]
Shown = Callable[..., Any]


def test_dark_and_light_follow_the_system_and_the_switch(shown: Shown, files: Files) -> None:
    background = "getComputedStyle(document.documentElement).backgroundColor"
    light = shown(color_scheme="light").open(files("few"))
    dark = shown(color_scheme="dark").open(files("few"))
    white, black = light.evaluate(background), dark.evaluate(background)
    assert white != black
    switch = light.get_by_role("button", name="Theme: auto")
    switch.click()
    assert light.evaluate(background) == white
    light.get_by_role("button", name="Theme: light").click()
    assert light.evaluate(background) == black
    light.reload()
    light.get_by_role("button", name="Theme: dark").wait_for()
    assert light.evaluate(background) == black


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_verdict_can_be_read_on_its_colour(shown: Shown, files: Files, scheme: str) -> None:
    page = shown(color_scheme=scheme).open(files("many"))
    contrasts = page.evaluate(
        """[...document.querySelectorAll('.chip')].map((chip) => {
            const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
            const light = (text) => rgb(text).slice(0, 3)
                .map((value) => value / 255)
                .map((value) => value <= .03928 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4)
                .reduce((sum, value, at) => sum + value * [.2126, .7152, .0722][at], 0);
            const style = getComputedStyle(chip);
            const clear = rgb(style.backgroundColor)[3] === 0;
            const back = clear ? getComputedStyle(document.documentElement).backgroundColor
                : style.backgroundColor;
            const [low, high] = [light(style.color), light(back)].sort((x, y) => x - y);
            return [chip.textContent, (high + .05) / (low + .05)];
        })"""
    )
    assert len(contrasts) == 8
    assert [entry for entry in contrasts if entry[1] < 4.5] == []


@pytest.mark.parametrize(
    "address",
    ["", address_of(cell_of("known")), "view=regressions&a=2.12.0&b=2.15.1", "view=coverage",
     "view=wire", "view=latency", "view=deviations", "view=positions", "view=first-change",
     "view=trends", "view=regressions&by=revisions"],
    ids=lambda text: text.split("&")[0][:16] or "matrix",
)  # fmt: skip
def test_a_phone_never_scrolls_the_page_sideways(shown: Shown, files: Files, address: str) -> None:
    page = shown(size=(375, 700), has_touch=True, is_mobile=True).open(files("few"), address)
    page.locator("h2, .grid").first.wait_for()
    sizes = page.evaluate(
        "[document.documentElement, document.body, document.querySelector('main')]"
        ".map((element) => element.scrollWidth)"
    )
    assert max(sizes) <= 375


def test_a_phone_begins_at_the_newest_release(shown: Shown, files: Files) -> None:
    page = shown(size=(375, 700), has_touch=True, is_mobile=True).open(files("many"))
    newest = page.locator(".column").last
    box = newest.bounding_box()
    assert box["x"] + box["width"] <= 375 + 1
    assert newest.locator(".release").inner_text() == NEWEST


def test_filters_are_folded_on_a_phone(shown: Shown, files: Files) -> None:
    page = shown(size=(375, 700)).open(files("few"))
    assert page.locator("input[name=q]").is_hidden()
    page.get_by_text("Filters", exact=True).click()
    page.locator("input[name=q]").fill("batch")
    assert "q=batch" in state(page)


def test_print_has_every_row(shown: Shown, files: Files) -> None:
    page = shown(size=(1280, 400)).open(files("few"))
    rows = page.locator(".row.case")
    assert rows.count() < 40
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert rows.count() == 57
    page.emulate_media(media="print")
    assert page.locator("nav").is_hidden()
    assert page.locator(".spec-bar").is_hidden()
    assert rows.last.is_visible()
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert rows.count() < 40


def test_an_empty_report_and_one_without_other_tables_still_open(
    shown: Shown, files: Files
) -> None:
    assert found(shown().open(files("empty"))) == "0 of 0 cases on 0 releases"
    page = shown().open(files("bare"), "view=coverage")
    page.get_by_text("This report was made without the table coverage.").wait_for()


def test_a_file_that_was_cut_says_so(shown: Shown, files: Files, tmp_path: Path) -> None:
    whole = files("few").read_text(encoding="utf-8")
    broken = re.sub(r'(id="data-head">.{400})[^<]*', r"\1", whole)
    cut = tmp_path / "cut.html"
    cut.write_text(broken, encoding="utf-8")
    page = shown().open(cut)
    page.get_by_text("This report cannot be read").wait_for()


def test_a_run_that_is_not_whole_is_marked(shown: Shown, tmp_path: Path) -> None:
    runs = [FEW["runs"][0] | {"partial": "--spec adr-50", "interrupted": True}]
    file = tmp_path / "partial.html"
    file.write_text(report.render(report.document({**FEW, "runs": runs})), encoding="utf-8")
    page = shown().open(file)
    assert "no result to publish" in page.get_by_role("note").inner_text()
