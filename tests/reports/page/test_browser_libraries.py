"""Client libraries in a real browser: their matrix, their positions, their ledgers, the evidence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest

from jetproof_reports import page as report
from jetproof_reports.page.render import SIZE_LIMIT

from . import libraries as sample
from . import variants
from .conftest import wait_until_painted
from .test_browser_views import unfold, untouched

Files = Callable[[str], Path]
Shown = Callable[..., Any]
TABS = ("", "positions", "known")


def opened(shown: Shown, files: Files, address: str = "view=libraries", **options: Any) -> Any:
    page = shown(**options).open(files("libraries"), address)
    page.locator(".grid, .view h2").first.wait_for()
    return page


def cell(page: Any, case: str, client: str, server: str) -> Any:
    """The cell of a case in the grid."""
    row = page.locator(".row.case").filter(has=page.get_by_title(case, exact=True))
    return row.get_by_role("gridcell", name=f"{client} on {server}:")


def evidence(shown: Shown, files: Files, case: str, client: str, server: str = "2.15.1") -> Any:
    name = quote_plus(sample.name_of(case, client, server))
    page = opened(shown, files, f"view=libraries&cell={name}")
    panel = page.get_by_role("dialog")
    panel.locator(".rest:not([aria-busy])").wait_for()
    return panel


def test_a_column_is_a_library_and_servers_are_groups(shown: Shown, files: Files) -> None:
    page = opened(shown, files)
    heads = page.get_by_role("columnheader").evaluate_all(
        "(all) => all.slice(1).map((one) => one.getAttribute('aria-label').split(': ')[0])"
    )
    assert heads == [
        f"{client} on {server}" for server in sample.SERVERS for client in sample.CLIENTS
    ]
    assert page.locator(".servers .on").all_inner_texts() == [
        f"nats-server {server}" for server in sample.SERVERS
    ]
    assert page.locator(".row.case").count() == 5
    text = "5 of 5 cases, 4 libraries and the reference client on 2 servers"
    assert page.locator("#found").inner_text() == text


def test_cells_have_the_verdicts_of_their_library(shown: Shown, files: Files) -> None:
    page = opened(shown, files)
    rows = [row for row in sample.libraries()["cells"] if row["client"]]
    assert rows
    for row in rows:
        place = cell(page, row["case"], row["client"], row["server"])
        told = place.get_attribute("aria-label").split(": ")[1].split(",")[0]
        assert told == row["verdict"]


def test_500_cases_are_painted_and_only_those_in_sight_are_drawn(
    shown: Shown, files: Files
) -> None:
    page = shown().open(files("many libraries"), "view=libraries")
    wait_until_painted(page)
    assert page.locator("#found").inner_text().startswith("500 of 500 cases")
    assert 10 < page.locator(".row.case").count() < 80
    assert files("many libraries").stat().st_size < SIZE_LIMIT


def test_what_a_library_does_not_claim_is_marked(shown: Shown, files: Files) -> None:
    page = opened(shown, files)
    place = cell(page, sample.CLAIMED, sample.JS, "2.15.1")
    assert "by revision 0; the library claims 1" in place.get_attribute("aria-label")
    assert page.locator(".cell.unclaimed").count() == len(sample.SERVERS)


def test_the_matrix_of_releases_has_no_libraries_in_it(shown: Shown, files: Files) -> None:
    page = opened(shown, files, "view=matrix")
    assert page.locator("#found").inner_text() == "57 of 57 cases on 8 releases"
    assert (
        page.locator("#about").inner_text().startswith("57 cases · 8 releases · 5 cases for 4 libr")
    )


def test_a_report_without_libraries_has_no_view_of_them(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "view=libraries")
    page.locator(".grid").wait_for()
    assert page.locator("nav").get_by_text("Libraries").count() == 0
    assert page.locator("#found").inner_text() == "57 of 57 cases on 8 releases"


def test_an_address_without_a_view_is_one_of_libraries_for_the_gate_alone(
    shown: Shown, tmp_path: Path
) -> None:
    made = sample.libraries()
    for table in ("cells", "matrix"):
        made[table] = [row for row in made[table] if row["client"]]
    file = tmp_path / "gate.html"
    file.write_text(report.render(report.document(made)), encoding="utf-8")
    page = shown().open(file, "fold=suites")
    page.locator(".grid").wait_for()
    assert page.locator("nav [aria-current=page]").inner_text() == "Libraries"


def test_filters_leave_rows_and_columns(shown: Shown, files: Files) -> None:
    page = opened(shown, files)
    page.locator("select[name=client]").select_option("go:nats.go")
    assert page.locator(".column").count() == len(sample.SERVERS)
    page.locator("input[name=releases]").fill("2.15.1")
    assert page.locator(".column").count() == 1
    page.locator(".chip").filter(has_text="known").click()
    assert page.locator(".row.case").count() == 1
    page.get_by_role("button", name="Clear filters").click()
    assert page.locator(".row.case").count() == 5
    assert page.locator(".column").count() == len(sample.SERVERS) * len(sample.CLIENTS)


def test_positions_are_a_table_by_library(shown: Shown, files: Files) -> None:
    page = opened(shown, files, "view=libraries&by=positions")
    page.locator(".library-positions").wait_for()
    heads = page.locator(".library-positions thead th").all_inner_texts()
    assert heads == ["Question", *sample.CLIENTS]
    first, second = page.locator(".library-positions tbody tr").all()
    assert "after-the-end" in first.inner_text()
    assert "What a library does after the end." in first.inner_text()
    answers = [one.inner_text().strip() for one in first.locator("td").all()]
    told = [one.removesuffix("alone").strip() for one in answers]
    assert told == ["ok", "ok", "error Lost", "\N{EN DASH}", "ok"]
    assert answers[2].endswith("alone")
    assert first.locator(".odd").all_inner_texts()[0].startswith("error Lost")
    assert first.locator(".odd").count() == 1
    assert second.locator(".odd").count() == 0


def test_an_answer_leads_to_the_cell_that_gave_it(shown: Shown, files: Files) -> None:
    page = opened(shown, files, "view=libraries&by=positions")
    page.locator(".answer.odd a").click()
    panel = page.get_by_role("dialog")
    panel.get_by_role("heading", name="open-question").wait_for()
    assert sample.PY in panel.locator(".facts").inner_text()


def test_known_failures_stand_with_their_library(shown: Shown, files: Files) -> None:
    page = opened(shown, files, "view=libraries&by=known")
    card = page.locator(f"[data-client='{sample.GO}']")
    for told in ("a37-known", "It tries again.", "It gives up.", "Claims adr-37 revision 3"):
        assert told in card.inner_text()
    lost = page.locator(f"[data-client='{sample.PY}']")
    assert "Not in its ledger" in lost.inner_text()
    assert sample.REASON in lost.inner_text()
    rust = page.locator(f"[data-client='{sample.RUST}']")
    assert "8 cells do not apply, for 1 reason" in rust.inner_text()
    rust.locator("summary").click()
    assert "async-nats has no consume" in rust.inner_text()


def test_nobody_answers_for_a_text_that_it_does_not_claim(shown: Shown, files: Files) -> None:
    page = opened(shown, files)
    chip = page.locator(".chip").filter(has_text="fail")
    assert chip.locator("b").inner_text() == str(len(sample.SERVERS))  # those of nats-py
    assert "a text that the library does not claim" in str(chip.get_attribute("title"))
    page = opened(shown, files, "view=libraries&by=known")
    card = page.locator(f"[data-client='{sample.JS}']")
    assert "\N{BALLOT X}" not in card.locator("h3").inner_text()
    assert "Not in its ledger" not in card.inner_text()
    card.locator(".beyond summary").click()
    assert "rev 0, not claimed" in card.inner_text()


def test_the_servers_own_ledger_has_no_entries_of_libraries(shown: Shown, files: Files) -> None:
    page = opened(shown, files, "view=deviations")
    assert page.locator(".card").count() == 1
    page.get_by_role("link", name="1 known failure of a library").click()
    page.locator(".card.library").first.wait_for()


def test_the_evidence_of_a_failure(shown: Shown, files: Files) -> None:
    panel = evidence(shown, files, sample.LOST, sample.PY)
    text = panel.inner_text()
    assert sample.REASON in panel.locator(".reason").inner_text()
    assert panel.locator(".expected").inner_text() == "gt 0"
    assert "adr-37 revision 3, which the library claims; the text in force is 0" in text
    witness = panel.locator("section").filter(has_text="What the reference client saw")
    assert "pass" in witness.inner_text()
    witness.locator("summary").click()
    assert witness.locator(".lanes span").all_inner_texts() == LANES
    witness.get_by_role("link", name="reference@0.1.0 on the same server").click()
    panel.get_by_text("reference@0.1.0 · nats-server 2.15.1").wait_for()


LANES = ["application", "library", "server", "harness"]


def test_the_sequence_has_three_lanes_and_shows_what_the_tap_did(
    shown: Shown, files: Files
) -> None:
    panel = evidence(shown, files, sample.LOST, sample.PY)
    figure = panel.locator(".rest > section > div > .sequence")
    assert figure.locator(".lanes span").all_inner_texts() == LANES
    calls = figure.locator(".frame.call")
    assert calls.all_inner_texts()[0].startswith("application to library")
    assert calls.count() == 3
    for kind, told in (("dropped", "lost"), ("made", "lost"), ("changed", "other")):
        frame = figure.locator(f".frame.tapped.{kind}")
        assert frame.locator(".tap").inner_text() == f"{kind} by {told}"
    lanes = [one.bounding_box() for one in figure.locator(".lanes span").all()]
    middle = [box["x"] + box["width"] / 2 for box in lanes]
    arrow = figure.locator(".frame.changed .arrow").bounding_box()
    assert abs(arrow["x"] - middle[1]) < 4
    assert abs(arrow["x"] + arrow["width"] - middle[2]) < 4
    cut = figure.locator(".frame.dropped .arrow").bounding_box()
    assert cut["width"] < arrow["width"] * 0.6


def test_other_libraries_are_one_press_away(shown: Shown, files: Files) -> None:
    panel = evidence(shown, files, sample.LOST, sample.PY)
    strip = panel.get_by_role("group", name="This case by other libraries")
    assert strip.get_by_role("button").count() == len(sample.CLIENTS)
    strip.get_by_role("button", name=f"{sample.GO}: pass").click()
    panel.get_by_text(f"{sample.GO} · nats-server 2.15.1").wait_for()


def test_the_name_that_the_harness_gives_a_cell_opens_it(shown: Shown, files: Files) -> None:
    name = f"{sample.name_of(sample.LOST, sample.PY, '2.15.1')} adr-37@3"
    page = shown().open(files("libraries"), f"cell={quote_plus(name)}")
    page.get_by_role("dialog").get_by_role("heading", name="lost").wait_for()
    assert page.locator("nav [aria-current=page]").inner_text() == "Libraries"


def test_a_claim_that_was_not_asked_for_is_told(shown: Shown, files: Files) -> None:
    panel = evidence(shown, files, sample.CLAIMED, sample.JS)
    told = "adr-37 revision 0, the text in force; the library claims 1"
    assert told in panel.locator(".facts").inner_text()


def test_sentences_of_clients_lead_to_the_libraries(shown: Shown, files: Files) -> None:
    page = opened(shown, files, "view=coverage&q=A37-C1")
    assert "by 3 libraries" in page.locator(".content").inner_text()
    page.get_by_role("link", name="A37-C1", exact=True).click()
    page.locator(".servers").wait_for()
    assert page.locator(".row.case").count() == 5


def test_releases_are_compared_with_the_libraries_that_both_have(
    shown: Shown, files: Files
) -> None:
    page = opened(shown, files, "view=regressions&a=2.14.0&b=2.14.6&q=client")
    page.locator(".tile").first.wait_for()
    assert [int(text) for text in page.locator(".tile b").all_inner_texts()] == [0] * 7


@pytest.mark.parametrize("tab", TABS)
def test_hostile_words_of_a_library_stay_text(shown: Shown, files: Files, tab: str) -> None:
    page = shown().open(files("hostile libraries"), f"view=libraries&by={tab}")
    page.locator(".grid, .view h2").first.wait_for()
    unfold(page.locator("main"))
    untouched(page)
    assert tab == "" or variants.SCRIPT in page.locator("main").text_content()


def test_hostile_words_of_an_adapter_stay_text_in_the_evidence(shown: Shown, files: Files) -> None:
    name = quote_plus(sample.name_of(sample.HOSTILE, sample.PY, "2.15.1"))
    page = shown().open(files("hostile libraries"), f"view=libraries&cell={name}")
    panel = page.get_by_role("dialog")
    panel.locator(".rest:not([aria-busy])").wait_for()
    unfold(panel)
    untouched(page)
    panel.get_by_label("as it was, with times").check()
    untouched(page)
    for place in (".call .said", ".tap", ".subject", ".reason", ".actual", ".pairs dd"):
        assert variants.SCRIPT in panel.locator(place).first.text_content()


@pytest.mark.parametrize("tab", TABS)
def test_a_phone_never_scrolls_the_page_sideways(shown: Shown, files: Files, tab: str) -> None:
    address = f"view=libraries&by={tab}"
    page = opened(shown, files, address, size=(375, 700), has_touch=True, is_mobile=True)
    sizes = page.evaluate(
        "[document.documentElement, document.body, document.querySelector('main')]"
        ".map((element) => element.scrollWidth)"
    )
    assert max(sizes) <= 375
