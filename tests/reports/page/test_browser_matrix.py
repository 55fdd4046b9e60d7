"""The first view in a real browser: paint, filters, keyboard, evidence, links."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest

from . import samples
from .conftest import wait_until_painted

FEW = samples.tables(57, 8)
NEWEST = "2.15.1"
Files = Callable[[str], Path]
Shown = Callable[..., Any]


def cell_of(verdict: str, server: str | None = None) -> samples.Row:
    """Some cell of the small sample with that verdict."""
    return next(
        row for row in FEW["cells"] if row["verdict"] == verdict and server in (None, row["server"])
    )


def address_of(cell: samples.Row) -> str:
    return f"cell={quote_plus(cell['cell'])}"


def state(page: Any) -> str:
    return str(page.evaluate("decodeURIComponent(location.hash.replaceAll('+', ' '))"))


def marked(page: Any) -> str:
    """What a screen reader is told: the label of the cell that the keyboard is at."""
    at = page.locator("#grid").get_attribute("aria-activedescendant")
    element = page.locator(f"#{at}")
    return str(element.get_attribute("aria-label") or element.inner_text())


def found(page: Any) -> str:
    return str(page.locator("#found").inner_text())


def test_the_matrix_is_painted_first(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"))
    wait_until_painted(page)
    assert found(page) == "57 of 57 cases on 8 releases"
    heads = page.locator(".column .release").all_inner_texts()
    assert heads == samples.FEW
    page.locator(".cell").first.wait_for()
    marks = page.evaluate("performance.getEntriesByType('paint').map((entry) => entry.name)")
    assert "first-contentful-paint" in marks


def test_a_cell_has_a_symbol_a_colour_and_a_name(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"))
    looks = page.evaluate(
        """[...document.querySelectorAll('.cell:not(.tally):not(.none)')].map((cell) => [
            cell.getAttribute('aria-label').split(': ')[1], cell.textContent,
            getComputedStyle(cell).backgroundColor])"""
    )
    by_name = {name: (symbol, colour) for name, symbol, colour in looks}
    assert len(by_name) >= 4
    assert len({symbol for symbol, _ in by_name.values()}) == len(by_name)
    assert len({colour for _, colour in by_name.values()}) == len(by_name)


def test_heads_stay_in_sight_while_the_matrix_scrolls(shown: Shown, files: Files) -> None:
    page = shown(size=(700, 500)).open(files("many"))
    page.locator("#grid").evaluate("(grid) => grid.scrollTo(500, 4000)")
    page.locator(".row.case").nth(12).wait_for()
    holder, head, name = (
        page.locator(place).first.bounding_box() for place in (".holder", ".heads", ".corner")
    )
    assert abs(head["y"] - holder["y"]) < 2
    assert abs(name["x"] - holder["x"]) < 2


def test_600_by_32_draws_only_what_is_in_sight(shown: Shown, files: Files) -> None:
    page = shown().open(files("many"))
    assert found(page) == "600 of 600 cases on 32 releases"
    assert page.locator(".row").count() < 80
    grid = page.locator("#grid")
    assert int(grid.get_attribute("aria-rowcount")) > 600
    grid.evaluate("(grid) => grid.scrollTo(0, grid.scrollHeight)")
    last = sorted(row["case"] for row in samples.tables(600, 32)["matrix"])[-1]
    page.get_by_text(last.partition("::")[2], exact=True).wait_for()
    assert page.locator(".row").count() < 80


def test_text_filters_and_is_kept_in_the_address(shown: Shown, files: Files) -> None:
    one = shown()
    page = one.open(files("few"))
    page.locator("input[name=q]").fill("atomic/commit advisory")
    rows = {
        row["case"]
        for row in FEW["matrix"]
        if "atomic/commit" in row["case"] and "advisory" in row["case"]
    }
    assert found(page).startswith(f"{len(rows)} of 57")
    assert page.locator("#live").inner_text() == found(page)
    assert "q=atomic/commit advisory" in state(page)
    again = shown().open(files("few"), page.url.partition("#")[2])
    assert found(again) == found(page)


def test_clause_and_revision_filter_and_are_kept_in_the_address(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"))
    page.locator("input[name=clause]").fill("a50-00")
    begins = {row["case"] for row in FEW["cells"] if any("A50-00" in c for c in row["clauses"])}
    assert found(page).startswith(f"{len(begins)} of 57")
    assert "clause=a50-00" in state(page)
    page.locator("input[name=clause]").fill("")
    page.locator("select[name=revision]").select_option("adr-37@1")
    mine = {row["case"] for row in FEW["cells"] if row["spec"] == "adr-37"}
    assert found(page).startswith(f"{len(mine)} of 57")
    again = shown().open(files("few"), page.url.partition("#")[2])
    assert found(again) == found(page)
    assert again.locator("select[name=revision]").input_value() == "adr-37@1"


@pytest.mark.parametrize(
    ("address", "keeps"),
    [
        ("clause=A50-002", lambda row: "A50-002" in row["clauses"]),
        ("verdicts=known", lambda row: row["verdict"] == "known"),
        ("verdicts=stale,error", lambda row: row["verdict"] in ("stale", "error")),
        ("revision=adr-31@2", lambda row: row["spec"] == "adr-31"),
        ("q=counts+from+the+opening", lambda row: "counts from the opening" in row["reason"]),
    ],
)
def test_an_address_filters(
    shown: Shown, files: Files, address: str, keeps: Callable[[samples.Row], bool]
) -> None:
    page = shown().open(files("few"), address)
    expected = {row["case"] for row in FEW["cells"] if keeps(row)}
    assert found(page).startswith(f"{len(expected)} of 57")
    assert expected


def test_releases_and_providers_choose_columns(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "releases=2.12.*,2.15.1")
    assert page.locator(".column .release").all_inner_texts() == [
        "2.12.0", "2.12.1", "2.12.2", "2.12.8", "2.15.1"
    ]  # fmt: skip
    page.locator("input[name=releases]").fill("2.14")
    assert page.locator(".column .release").all_inner_texts() == ["2.14.0", "2.14.6"]


def test_a_verdict_is_a_switch(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"))
    chip = page.get_by_role("button", name="stale")
    chip.click()
    assert chip.get_attribute("aria-pressed") == "true"
    assert "verdicts=stale" in state(page)
    page.get_by_role("button", name="Clear filters").click()
    assert found(page).startswith("57 of 57")
    assert "verdicts" not in state(page)


def test_only_what_changed_between_two_releases(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"))
    page.locator("select[name=a]").select_option("2.12.0")
    page.locator("select[name=b]").select_option("2.12.8")
    page.get_by_label("only what changed").check()
    a, b = (
        {row["case"]: row for row in FEW["matrix"] if row["server"] == server}
        for server in ("2.12.0", "2.12.8")
    )
    undecided = ("n/a", "error")
    told = ("verdict", "fingerprint")
    differ = [
        case
        for case in a
        if not (a[case]["verdict"] in undecided and b[case]["verdict"] in undecided)
        and [a[case][name] for name in told] != [b[case][name] for name in told]
    ]
    assert found(page).startswith(f"{len(differ)} of 57")
    assert {"changed=1", "a=2.12.0", "b=2.12.8"} <= set(state(page)[1:].split("&"))
    assert page.locator(".column.compared .release").all_inner_texts() == ["2.12.0", "2.12.8"]
    again = shown().open(files("few"), page.url.partition("#")[2])
    assert found(again) == found(page)
    assert again.get_by_label("only what changed").is_checked()


def test_filters_that_leave_nothing_say_so(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "q=no+such+case")
    assert page.get_by_text("No case is left by these filters.").is_visible()


def test_the_keyboard_moves_opens_and_closes(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"))
    grid = page.locator("#grid")
    grid.focus()
    # It begins on the newest release.
    assert marked(page).startswith("2.15.1: ")
    for key, expected in (
        ("ArrowLeft", "2.14.6: "),
        ("Home", ""),
        ("ArrowRight", "2.11.11: "),
        ("End", "2.15.1: "),
        ("ArrowLeft", "2.14.6: "),
    ):
        page.keyboard.press(key)
        assert marked(page).startswith(expected)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    panel = page.get_by_role("dialog")
    panel.wait_for()
    assert page.evaluate("document.activeElement.id") == "panel-title"
    assert "@2.14.6" in state(page)
    page.keyboard.press("Escape")
    assert panel.is_hidden()
    assert page.evaluate("document.activeElement.id") == "grid"
    assert "cell=" not in state(page)


def test_the_keyboard_reaches_the_last_row_of_a_large_matrix(shown: Shown, files: Files) -> None:
    page = shown().open(files("many"))
    page.locator("#grid").focus()
    page.keyboard.press("Control+End")
    page.keyboard.press("PageUp")
    page.keyboard.press("Control+End")
    page.keyboard.press("End")
    assert marked(page).startswith("2.15.1: ")
    at = page.locator("#grid").get_attribute("aria-activedescendant")
    box, holder = page.locator(f"#{at}").bounding_box(), page.locator(".holder").bounding_box()
    assert holder["y"] < box["y"] < holder["y"] + holder["height"]


def test_slash_goes_to_the_search_and_escape_back(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"))
    page.locator("#grid").focus()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.type("a/b")
    assert page.locator("input[name=q]").input_value() == "a/b"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "grid"


def test_a_group_folds(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"))
    page.get_by_text("adr-31/batch", exact=True).click()
    assert "closed=adr-31/batch" in state(page)
    group = page.locator(".row.suite .name").filter(has_text="adr-31/batch")
    assert group.get_attribute("aria-expanded") == "false"
    hidden = next(row for row in FEW["matrix"] if row["suite"] == "adr-31/batch")
    assert page.get_by_text(hidden["case"].partition("::")[2], exact=True).count() == 0


def test_a_click_opens_the_evidence(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "verdicts=known")
    page.locator(".cell.v-k:not(.tally)").first.click()
    panel = page.get_by_role("dialog")
    for title in ("Expected and actual", "Known deviation", "Transcript"):
        panel.get_by_role("heading", name=title).wait_for()
    assert panel.locator(".checks .expected").first.inner_text() == "'$batch'"
    assert panel.locator(".checks .actual").first.inner_text() == '"absent"'
    assert "When a message has the header" in panel.locator("blockquote").first.inner_text()


def test_a_link_opens_the_cell(shown: Shown, files: Files) -> None:
    cell = cell_of("error")
    page = shown().open(files("few"), address_of(cell))
    panel = page.get_by_role("dialog")
    panel.get_by_role("heading", name="Server log").wait_for()
    assert panel.locator("h2").inner_text() == cell["case"].partition("::")[2]
    assert cell["replay"] in panel.inner_text()
    assert cell["reason"] in panel.inner_text()
    assert "line 29 of the log" in panel.locator(".log").inner_text()
    assert marked(page) == f"{cell['server']}: error"


def test_the_cell_that_a_link_opens_stands_among_its_neighbours(shown: Shown, files: Files) -> None:
    cell = next(row for row in samples.tables(600, 32)["cells"] if row["server"] == "2.12.4")
    page = shown().open(files("many"), address_of(cell))
    page.get_by_role("dialog").wait_for()
    at = page.locator("#grid").get_attribute("aria-activedescendant")
    box, name = page.locator(f"#{at}").bounding_box(), page.locator(".corner").bounding_box()
    left, right = name["x"] + name["width"], page.get_by_role("dialog").bounding_box()["x"]
    assert left + 60 < box["x"] < right - 60


def test_a_link_to_a_cell_that_is_not_there_shows_the_matrix(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "cell=no/such::case+@2.15.1+single")
    assert page.get_by_role("dialog").is_hidden()
    assert "has no cell" in page.locator("#live").inner_text()


def test_the_transcript_is_a_sequence_between_connections_and_server(
    shown: Shown, files: Files
) -> None:
    case = next(row for row in FEW["cells"] if row["case"].endswith("-28") and row["fingerprint"])
    page = shown().open(files("few"), address_of(case))
    figure = page.get_by_role("group", name="Transcript")
    figure.wait_for()
    assert figure.locator(".lanes span").all_inner_texts() == ["main", "observer", "server"]
    told = samples.transcript_of(samples.make_cases(57, 8, random.Random(samples.SEED))[28], 0)
    asked = [line for line in told if line["step"] != "given" and line["dir"] != "!"]
    assert figure.locator(".step .frame").count() == len(asked)
    sent = figure.locator(".step .frame.sent").first
    assert sent.locator(".sr").inner_text() == "main to server"
    assert "Nats-Batch-Sequence: 1" in sent.inner_text()
    assert figure.get_by_text("stepdown: <node> led").is_visible()
    assert figure.locator("details.given").get_attribute("open") is None


def test_frames_of_a_failing_cell_can_be_seen_as_they_were(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), address_of(cell_of("fail")))
    page.get_by_label("as it was, with times").check()
    assert "jp0a1b2c3d4e5f" in page.locator(".sequence").inner_text()
    assert page.locator(".sequence .ms").count() > 0


def test_the_replay_command_is_copied(shown: Shown, files: Files) -> None:
    cell = cell_of("known")
    one = shown(permissions=["clipboard-read", "clipboard-write"])
    page = one.open(files("few"), address_of(cell))
    page.get_by_role("button", name="Copy the replay command").click()
    page.get_by_text("Copied", exact=True).wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == cell["replay"]


def test_back_closes_what_was_opened(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"))
    page.locator(".cell.v-p").first.click()
    panel = page.get_by_role("dialog")
    panel.wait_for()
    page.go_back()
    panel.wait_for(state="hidden")
    page.go_forward()
    panel.wait_for()


def test_the_panel_goes_to_other_releases(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), address_of(cell_of("known", NEWEST)))
    strip = page.get_by_role("group", name="This case on other releases")
    assert strip.get_by_role("button").count() == 8
    strip.get_by_role("button", name=re.compile("^2.14.0: ")).click()
    assert "@2.14.0" in state(page)
    assert marked(page).startswith("2.14.0: ")
