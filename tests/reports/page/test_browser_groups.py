"""Many specifications in one matrix: jump, fold, and the reference layer apart, in a real browser."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest

from jetproof_reports import page as report

from . import samples, variants
from .conftest import wait_until_painted
from .test_browser_matrix import found, marked, state

FEW = samples.tables(57, 8)
SPECS = sorted({row["spec"] for row in FEW["matrix"]})
SUITES = sorted({row["suite"] for row in FEW["matrix"]})
Files = Callable[[str], Path]
Shown = Callable[..., Any]


def top_line(page: Any) -> str:
    """The name of the first line under the row of releases."""
    return str(
        page.evaluate(
            """(() => {
                const under = document.querySelector('.heads').getBoundingClientRect().bottom;
                return [...document.querySelectorAll('.rows .row')].find((row) =>
                    row.getBoundingClientRect().bottom > under + 4).querySelector('.text').textContent;
            })()"""
        )
    )


def cases_shown(page: Any) -> int:
    return int(page.locator(".row.case").count())


def test_1500_by_32_is_painted_and_draws_only_what_is_in_sight(shown: Shown, files: Files) -> None:
    page = shown().open(files("most"))
    wait_until_painted(page)
    assert found(page) == "1,500 of 1,500 cases on 32 releases"
    assert page.locator(".row").count() < 80
    page.get_by_role("button", name="model: ").click()
    assert top_line(page) == "model"
    assert page.locator(".row").count() < 80
    page.locator("input[name=q]").fill("survives twice")
    assert cases_shown(page) > 0


@pytest.mark.parametrize("spec", ["adr-37", "model"])
def test_a_button_jumps_to_a_specification(shown: Shown, files: Files, spec: str) -> None:
    page = shown(size=(1280, 500)).open(files("few"))
    bar = page.get_by_role("group", name="Jump to a specification")
    assert [text.split(":")[0] for text in labels(bar)] == SPECS
    bar.get_by_role("button", name=f"{spec}: ").click()
    page.locator(f".specs [data-spec='{spec}'][aria-current]").wait_for()
    assert top_line(page) == spec
    # The keyboard goes on from there.
    assert page.evaluate("document.activeElement.id") == "grid"
    page.keyboard.press("Home")
    assert marked(page).startswith("▾")
    assert spec in marked(page)


def labels(group: Any) -> list[str]:
    return [str(button.get_attribute("aria-label")) for button in group.get_by_role("button").all()]


def test_the_button_says_how_many_cases_there_are_and_what_fails(
    shown: Shown, files: Files
) -> None:
    page = shown().open(files("few"))
    told = dict(
        label.split(": ", 1) for label in labels(page.get_by_role("group", name="Jump to a spec"))
    )
    assert SPECS
    for spec in SPECS:
        mine = [row for row in FEW["matrix"] if row["spec"] == spec]
        fails = sum(row["verdict"] in ("fail", "stale") for row in mine)
        errors = sum(row["verdict"] == "error" for row in mine)
        expected = [f"{len({row['case'] for row in mine})} cases"]
        expected += [f"{fails} cells fail"] if fails else []
        expected += [f"{errors} without a verdict"] if errors else []
        assert told[spec] == ", ".join(expected)


def test_a_report_of_one_specification_has_nothing_to_jump_to(shown: Shown, files: Files) -> None:
    page = shown().open(files("hostile"))
    assert page.locator(".specs button").count() == 0


def test_everything_folds_to_sections_and_to_specifications(shown: Shown, files: Files) -> None:
    page = shown(size=(1280, 1600)).open(files("few"))
    fold = page.get_by_label("Show")
    assert cases_shown(page) > 0
    fold.select_option("suites")
    assert "fold=suites" in state(page)
    assert page.locator(".row.suite .text").all_inner_texts() == SUITES
    assert cases_shown(page) == 0
    fold.select_option("specs")
    assert page.locator(".row.spec .text").all_inner_texts() == SPECS
    assert page.locator(".row").count() == len(SPECS) + 1
    again = shown(size=(1280, 1600)).open(files("few"), page.url.partition("#")[2])
    assert again.locator(".row.spec .text").all_inner_texts() == SPECS
    fold.select_option("")
    assert cases_shown(page) > 0


def test_a_folded_group_shows_its_worst_verdict_by_release(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "fold=specs")
    worst = ("fail", "stale", "error", "warn", "known", "position", "pass", "n/a")
    assert SPECS
    for place, spec in enumerate(SPECS):
        told = page.locator(".row.spec").nth(place).locator(".cell").all_inner_texts()
        for server, text in zip(samples.FEW, told, strict=True):
            mine = [
                r["verdict"] for r in FEW["matrix"] if (r["spec"], r["server"]) == (spec, server)
            ]
            alarms = sum(verdict in worst[:3] for verdict in mine)
            symbol = {"warn": "▲", "known": "≈", "position": "◆", "pass": "✓", "n/a": "–"}  # noqa: RUF001
            expected = str(alarms) if alarms else symbol[min(mine, key=worst.index)]
            assert text.rstrip("\ufe0e") == expected


def test_one_folded_group_opens_and_stays_open_in_the_address(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "fold=suites")
    page.locator(".row.suite").filter(has_text="adr-37/fetch").locator(".name").click()
    mine = {row["case"] for row in FEW["matrix"] if row["suite"] == "adr-37/fetch"}
    assert cases_shown(page) == len(mine)
    again = shown().open(files("few"), page.url.partition("#")[2])
    assert cases_shown(again) == len(mine)
    page.locator(".row.suite").filter(has_text="adr-37/fetch").locator(".name").click()
    assert cases_shown(page) == 0


def test_the_keyboard_folds_and_opens(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "fold=specs")
    page.locator("#grid").focus()
    group = page.locator(".row.spec .name").first
    assert group.get_attribute("aria-expanded") == "false"
    page.keyboard.press("Enter")
    assert group.get_attribute("aria-expanded") == "true"
    page.keyboard.press(" ")
    assert group.get_attribute("aria-expanded") == "false"


def test_a_filter_opens_what_is_folded(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "fold=specs")
    assert cases_shown(page) == 0
    page.locator("input[name=q]").fill("adr-53/read-after-write")
    assert cases_shown(page) == len(
        {row["case"] for row in FEW["matrix"] if row["suite"] == "adr-53/read-after-write"}
    )
    assert page.get_by_label("Show").input_value() == ""


def test_a_link_opens_the_groups_of_its_cell(shown: Shown, files: Files) -> None:
    cell = next(row for row in FEW["cells"] if row["suite"] == "adr-37/pull")
    page = shown().open(files("few"), f"fold=specs&cell={quote_plus(cell['cell'])}")
    page.get_by_role("dialog").wait_for()
    assert marked(page) == f"{cell['server']}: {cell['verdict']}"


def test_lines_of_releases_are_told_apart(shown: Shown, files: Files) -> None:
    page = shown().open(files("many"))
    begins = page.locator(".column.starts .release").all_inner_texts()
    assert begins == ["2.11.0", "2.12.0", "2.14.0", "2.15.0"]


# -- the reference layer ------------------------------------------------------------------------
def test_the_reference_layer_stands_apart_and_is_counted_apart(shown: Shown, files: Files) -> None:
    several = variants.several()
    real = [row for row in several["matrix"] if row["provider"] != "reference"]
    page = shown().open(files("several"))
    assert found(page).endswith("cases on 8 releases and 1 reference")
    last = page.locator(".column").last
    assert "reference starts" in " ".join(sorted(last.get_attribute("class").split()))
    assert "counts as no release's conformance" in last.get_attribute("aria-label")
    assert page.locator(".column.reference").count() == 1
    passed = Counter(row["verdict"] for row in real)["pass"]
    chip = page.get_by_role("button", name=f"pass {passed}")
    assert chip.get_attribute("title") == "and 57 by the reference layer"


def test_what_the_reference_layer_did_says_so(shown: Shown, files: Files) -> None:
    page = shown().open(files("several"))
    page.locator(".cell.reference.v-p").first.click()
    panel = page.get_by_role("dialog")
    panel.get_by_text("It counts as no release's conformance.").wait_for()
    assert "reference" in panel.locator(".facts").inner_text()
    assert "@2.15.1" in state(page)
    assert "reference" in state(page)


def test_changes_are_between_releases_unless_the_reference_is_asked_for(
    shown: Shown, files: Files
) -> None:
    page = shown().open(files("several"), "view=regressions")
    assert page.locator("select[name=a]").input_value() == "2.14.6"
    assert page.locator("select[name=b]").input_value() == "2.15.1"
    page.locator("select[name=a]").select_option("2.15.1")
    page.locator("select[name=b]").select_option("2.15.1 reference")
    assert page.locator(".tile.fixed b").inner_text() != "0"


def test_other_views_mark_what_is_of_the_reference_layer(shown: Shown, tmp_path: Path) -> None:
    made = samples.tables(57, 8)
    made["flakiness"] = [row | {"provider": "reference"} for row in made["flakiness"][:1]]
    made["positions"] = [row | {"provider": "reference"} for row in made["positions"][:1]]
    file = tmp_path / "marked.html"
    file.write_text(report.render(report.document(made)), "utf-8")
    page = shown().open(file, "view=latency")
    assert "reference" in page.locator("section").first.locator("tbody tr").inner_text()
    page = shown().open(file, "view=positions")
    assert page.locator("tbody .mark").all_inner_texts()[-1] == "reference"


def test_the_provider_chooses_the_column(shown: Shown, files: Files) -> None:
    page = shown().open(files("several"), "provider=reference")
    assert found(page) == "57 of 68 cases on 0 releases and 1 reference"
    assert page.locator(".column .release").all_inner_texts() == ["2.15.1"]
