"""The other views in a real browser, and what a hostile server can do to any of them: nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest

from jetproof_reports import page as report

from . import samples, variants

FEW = samples.tables(57, 8)
VIEWS = ("overview", "matrix", "regressions", "coverage", "wire", "latency", "deviations", "positions",
         "first-change", "trends")  # fmt: skip
DECIDED = ("pass", "fail", "warn", "position", "known", "stale")
DIFFERS = ("fail", "stale", "known", "warn")
Files = Callable[[str], Path]
Shown = Callable[..., Any]


def cells_of(server: str) -> dict[str, samples.Row]:
    return {row["case"]: row for row in FEW["matrix"] if row["server"] == server}


def kind_of(a: samples.Row, b: samples.Row) -> str | None:
    """The rule of the table `regressions`, told once more."""
    had, has = a["verdict"] in DECIDED, b["verdict"] in DECIDED
    if not had or not has:
        return "new" if has else "gone" if had else None
    was, now = a["verdict"] in DIFFERS, b["verdict"] in DIFFERS
    if was != now:
        return "new-failure" if now else "fixed"
    if was and (a["verdict"], a["reason"]) != (b["verdict"], b["reason"]):
        return "changed-reason"
    if (a["verdict"], a["position"]) != (b["verdict"], b["position"]):
        return "changed-position"
    return "changed-on-the-wire" if a["fingerprint"] != b["fingerprint"] else None


def changes(a: str, b: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    before, after = cells_of(a), cells_of(b)
    for case in before:
        kind = kind_of(before[case], after[case])
        if kind:
            found.setdefault(kind, []).append(case)
    return found


@pytest.mark.parametrize(("a", "b"), [("2.11.11", "2.15.1"), ("2.12.0", "2.12.8")])
def test_changes_between_two_chosen_releases_follow_the_pipeline(
    shown: Shown, files: Files, a: str, b: str
) -> None:
    page = shown().open(files("few"), "view=regressions")
    page.locator("select[name=a]").select_option(a)
    page.locator("select[name=b]").select_option(b)
    expected = changes(a, b)
    assert expected
    counts = page.locator(".tile").evaluate_all(
        "(tiles) => tiles.map((tile) => Number(tile.querySelector('b').textContent))"
    )
    names = ("new-failure", "fixed", "changed-reason", "changed-position", "changed-on-the-wire",
             "new", "gone")  # fmt: skip
    assert counts == [len(expected.get(name, [])) for name in names]


def test_a_change_on_the_wire_shows_both_transcripts_with_differing_lines_marked(
    shown: Shown, files: Files
) -> None:
    (case, *_) = changes("2.11.11", "2.15.1")["changed-on-the-wire"]
    row = cells_of("2.15.1")[case]
    key = quote_plus(f"{case} {row['topology']}")
    page = shown().open(files("few"), f"view=regressions&a=2.11.11&b=2.15.1&case={key}")
    diff = page.locator("table.diff")
    diff.wait_for()
    assert diff.locator("thead th").all_inner_texts() == ["2.11.11", "2.15.1"]
    assert diff.locator("tr.differs").count() >= 1
    # Both sides, only the differing ones, and in words as well as in colour.
    added = diff.locator("tr.differs .added").first
    assert added.locator(".sign").inner_text() == "+"
    assert "only after" in added.inner_text()
    assert '"val"' in added.inner_text()
    assert added.locator("mark").count() >= 1
    same = diff.locator("tr:not(.differs) td").all_inner_texts()
    assert same
    assert same[::2] == same[1::2]


def test_an_opened_change_is_in_the_address(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "view=regressions&a=2.11.11&b=2.15.1")
    page.locator("details.change summary").first.click()
    page.locator("details.change[open] .both").first.wait_for()
    assert "case=" in page.url
    again = shown().open(files("few"), page.url.partition("#")[2])
    again.locator("details.change[open] .both").first.wait_for()


def test_a_release_s_head_compares_it_with_the_one_before(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"))
    page.locator(".column").filter(has_text="2.12.2").click()
    page.get_by_role("heading", name="What changed between two releases").wait_for()
    assert page.locator("select[name=a]").input_value() == "2.12.1"
    assert page.locator("select[name=b]").input_value() == "2.12.2"


def test_untested_sentences_come_first(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "view=coverage&spec=adr-50")
    page.locator(".clauses-list").wait_for()
    covered = page.locator(".clauses-list tbody tr").evaluate_all(
        "(rows) => rows.map((row) => !row.classList.contains('open-clause'))"
    )
    assert covered == sorted(covered)
    mine = [row for row in FEW["coverage"] if row["spec"] == "adr-50"]
    tested = sum(row["covered"] for row in mine)
    assert f"{tested} of {len(mine)}" in page.locator(".shares li").first.inner_text()


def test_a_sentence_leads_to_its_cases_and_back(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "view=coverage&q=A50-002")
    page.get_by_role("link", name="A50-002", exact=True).click()
    page.locator("#grid").wait_for()
    expected = {row["case"] for row in FEW["cells"] if "A50-002" in row["clauses"]}
    assert page.locator("#found").inner_text().startswith(f"{len(expected)} of 57")


@pytest.mark.parametrize(
    ("view", "told"),
    [
        ("wire", ["10170", "pub-ack", "Nats-Stream"]),
        ("latency", ["Flaky (6)", "Request to reply", "Start to judgement"]),
        ("deviations", ["a50-example", "A batch is abandoned after ten seconds", "It counts"]),
        ("positions", ["error 10176", "of which"]),
        ("first-change", ["2.12.1", "on the wire", "Compare"]),
        ("trends", ["All specifications", "adr-53", samples.RUN]),
    ],
)
def test_each_view_shows_its_table(shown: Shown, files: Files, view: str, told: list[str]) -> None:
    page = shown().open(files("few"), f"view={view}")
    page.locator(".view h2").wait_for()
    text = page.locator(".view").text_content()
    assert [part for part in told if part not in text] == []


@pytest.mark.parametrize("view", VIEWS[2:])
def test_text_filters_every_view(shown: Shown, files: Files, view: str) -> None:
    page = shown().open(files("few"), f"view={view}")
    before = page.locator(".content").inner_text()
    page.locator("input[name=q]").fill("no such thing anywhere")
    assert page.locator(".content").inner_text() != before
    assert "shown" in page.locator("#live").inner_text()


def test_filters_survive_a_visit_to_another_view(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"))
    page.get_by_role("button", name="known").click()
    page.get_by_role("link", name="Coverage").click()
    page.locator(".view h2").wait_for()
    page.get_by_role("link", name="Matrix").click()
    page.locator("#grid").wait_for()
    assert page.get_by_role("button", name="known").get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_named_marked_as_current_and_labels_its_controls(
    shown: Shown, files: Files, view: str
) -> None:
    page = shown().open(files("few"), f"view={view}")
    page.locator("h2, .grid").first.wait_for()
    assert page.locator("nav [aria-current=page]").count() == 1
    nameless = page.evaluate(
        """[...document.querySelectorAll('button, input, select, a, meter, [role=img]')]
            .filter((one) => one.checkVisibility() && !one.getAttribute('aria-label')
                && !one.textContent.trim() && !one.labels?.length && !one.closest('label'))
            .map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert nameless == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))


def test_the_focus_goes_from_the_head_through_the_filters_to_the_matrix(
    shown: Shown, files: Files
) -> None:
    page = shown().open(files("few"))
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate(
                "(({ id, name, textContent }) => id || name || textContent)(document.activeElement)"
            )
        )
        if seen[-1] == "grid":
            break
    named = ("skip", "theme", "Matrix", "q", "clause", "changed", "fold", "grid")
    places = [seen.index(name) for name in named]
    assert places == sorted(places)


def test_the_matrix_is_a_grid_to_a_screen_reader(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"))
    grid = page.get_by_role("grid", name="Verdicts by case and release")
    assert int(grid.get_attribute("aria-colcount")) == 9
    heads = grid.get_by_role("columnheader")
    assert heads.count() == 9
    failing = sum(row["verdict"] in ("fail", "stale") for row in cells_of("2.15.1").values())
    assert f"2.15.1: {failing} cases fail" in heads.last.get_attribute("aria-label")
    rows = grid.get_by_role("row").evaluate_all(
        "(rows) => rows.map((row) => Number(row.getAttribute('aria-rowindex')))"
    )
    assert rows == sorted(set(rows))
    assert int(grid.get_attribute("aria-rowcount")) >= rows[-1]
    case = grid.get_by_role("row").filter(has=page.locator(".cell:not(.tally)")).first
    assert case.get_by_role("rowheader").count() == 1
    cells = case.get_by_role("gridcell")
    told = [cell.get_attribute("aria-label").split(": ")[0] for cell in cells.all()]
    assert told == samples.FEW
    for landmark in ("banner", "main", "search"):
        assert page.get_by_role(landmark).count() == 1
    assert page.locator("html").get_attribute("lang") == "en"


# -- hostile bytes ------------------------------------------------------------------------------
def untouched(page: Any) -> None:
    """Nothing ran, nothing became an element, nothing hides the page."""
    assert page.evaluate("window.owned") is None
    assert page.evaluate("document.querySelectorAll('img, iframe, object').length") == 0
    assert page.evaluate("document.querySelectorAll('style').length") == 1
    assert page.evaluate("document.querySelectorAll('main script').length") == 0
    schemes = page.evaluate("[...document.querySelectorAll('a')].map((link) => link.protocol)")
    assert set(schemes) == {"file:"}
    assert page.locator("h1").is_visible()


def unfold(place: Any) -> None:
    """Open everything that is folded, and what that brings."""
    folded = place.locator("details:not([open]) > summary:visible")
    for _ in range(40):
        if folded.count() == 0:
            return
        folded.first.click()


@pytest.mark.parametrize("view", VIEWS)
def test_hostile_bytes_stay_text_in_every_view(shown: Shown, files: Files, view: str) -> None:
    page = shown().open(files("hostile"), f"view={view}")
    page.locator("h2, .grid").first.wait_for()
    unfold(page.locator("main"))
    untouched(page)
    # The attack is there to be read, so the view did show it; four views show nothing of a server's.
    read = variants.SCRIPT in page.locator("main").text_content()
    assert read or view in ("matrix", "coverage", "latency", "trends")


def test_hostile_bytes_stay_text_in_the_evidence(shown: Shown, files: Files) -> None:
    cell = variants.hostile()["cells"][0]
    page = shown().open(files("hostile"), f"cell={quote_plus(cell['cell'])}")
    panel = page.get_by_role("dialog")
    panel.get_by_role("heading", name="Server log").wait_for()
    unfold(panel)
    panel.get_by_label("as it was, with times").check()
    untouched(page)
    for place in (".reason", ".expected", ".actual", ".pairs dd", ".subject", ".headers", ".log"):
        assert variants.SCRIPT in panel.locator(place).first.text_content()


def test_hostile_bytes_stay_text_side_by_side(shown: Shown, files: Files) -> None:
    page = shown().open(files("hostile"), "view=regressions&a=2.14.6&b=2.15.1")
    page.locator("details.change summary").first.click()
    page.locator("details.change .both").first.wait_for()
    untouched(page)
    assert variants.SCRIPT in page.locator(".both").first.text_content()


def test_what_cannot_be_seen_is_shown_by_its_number(shown: Shown, files: Files) -> None:
    cell = variants.hostile()["cells"][0]
    page = shown().open(files("hostile"), f"cell={quote_plus(cell['cell'])}")
    reason = page.locator(".panel .reason")
    reason.wait_for()
    told = reason.text_content()
    numbers = ("1b", "202e", "200b", "2066", "2028", "dcff")
    for escape in ("\\0", "\\r", "\\n", *(f"\\u{{{number}}}" for number in numbers)):
        assert escape in told
    assert "\u202e" not in told
    assert "\n" not in told


def test_a_hostile_address_is_text_too(shown: Shown, files: Files) -> None:
    attack = quote_plus(variants.MARKUP)
    page = shown().open(files("few"), f"q={attack}&clause={attack}&cell={attack}&view={attack}")
    assert page.locator("#found").inner_text().startswith("0 of 57")
    untouched(page)


def test_names_that_markup_hides_in_are_text(shown: Shown, tmp_path: Path) -> None:
    """Names come from files that somebody else may have written."""
    made = samples.tables(2, 8)
    for table in ("cells", "matrix"):
        for row in made[table]:
            row |= {"client": variants.MARKUP, "topology": variants.MARKUP, "spec": variants.MARKUP}
            row |= {"provider": variants.MARKUP}
    for row in made["coverage"]:
        row |= {"text": variants.MARKUP, "section": variants.MARKUP}
    file = tmp_path / "names.html"
    file.write_text(report.render(report.document(made)), encoding="utf-8")
    page = shown().open(file, "view=libraries")
    page.locator(".cell:not(.tally):not(.none)").first.click()
    page.get_by_role("dialog").wait_for()
    untouched(page)


def test_the_policy_holds_in_the_browser(browser: Any, files: Files) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(files("few").as_uri() + "#view=matrix")
    page.locator("#grid").wait_for()
    refused = page.evaluate(
        """(() => {
            const script = document.createElement('script');
            try { script.text = 'window.owned = 1'; document.body.append(script); } catch {}
            const attack = '<img src=x onerror="window.owned=2">';
            try { document.body.insertAdjacentHTML('beforeend', attack); }
            catch (error) { return [error.name, window.owned]; }
            return ['allowed', window.owned];
        })()"""
    )
    assert refused == ["TypeError", None]
    context.close()
