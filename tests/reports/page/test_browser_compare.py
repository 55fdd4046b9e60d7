"""Two revisions of a text, two runs, and trends over runs, in a real browser."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from jetproof_reports import page as report

from . import samples, variants
from .test_browser_matrix import state
from .test_browser_views import kind_of

SEVERAL = variants.several()
FEW = samples.tables(57, 8)
REVISIONS = "view=regressions&by=revisions&spec=adr-50"
Files = Callable[[str], Path]
Shown = Callable[..., Any]


def tiles(page: Any) -> dict[str, int]:
    """The numbers at the head of the view, by what they count."""
    page.locator(".tile").first.wait_for()
    pairs = page.locator(".tile").evaluate_all(
        "(tiles) => tiles.map((tile) => [tile.innerText.split('\\n')[1],"
        " Number(tile.querySelector('b').textContent)])"
    )
    return dict(pairs)


# -- two revisions --------------------------------------------------------------------------------
def test_two_revisions_are_compared_beside_two_releases(shown: Shown, files: Files) -> None:
    page = shown().open(files("several"), "view=regressions")
    tabs = page.get_by_role("navigation", name="What is compared")
    assert tabs.get_by_role("link").all_inner_texts() == [
        "Two releases", "Two revisions of the text"
    ]  # fmt: skip
    tabs.get_by_role("link", name="Two revisions").click()
    page.get_by_role("heading", name="What changed between two revisions of the text").wait_for()
    page.locator("select[name=spec]").select_option("adr-50")
    assert page.locator("select[name=ra]").input_value() == "7"
    assert page.locator("select[name=rb]").input_value() == "10"
    assert "by=revisions" in state(page)
    assert "spec=adr-50" in state(page)


@pytest.mark.parametrize("server", ["2.15.1", "2.12.0"])
def test_cases_of_two_revisions_follow_the_rule_of_the_pipeline(
    shown: Shown, files: Files, server: str
) -> None:
    rows = [
        row
        for row in SEVERAL["matrix"]
        if (row["spec"], row["server"], row["provider"]) == ("adr-50", server, "embedded")
    ]
    seven = {row["case"]: row for row in rows if row["spec_revision"] == 7}
    ten = {row["case"]: row for row in rows if row["spec_revision"] == 10}
    none = {"verdict": "n/a", "reason": "", "position": {}, "fingerprint": None}
    kinds = Counter(kind_of(seven.get(c, none), ten.get(c, none)) for c in seven | ten)
    del kinds[None]
    page = shown().open(files("several"), f"{REVISIONS}&ra=7&rb=10&on={server}")
    told = tiles(page)
    names = {"new-failure": "New failures", "fixed": "Fixed", "changed-reason": "Another reason",
             "changed-position": "Another position", "changed-on-the-wire": "Changed on the wire",
             "new": "Cases about revision 10 only", "gone": "Cases about revision 7 only"}  # fmt: skip
    assert {kind: told.get(name, 0) for kind, name in names.items() if told.get(name)} == kinds
    assert kinds["new-failure"] > 0


def test_sentences_that_came_and_went_are_shown_with_what_the_release_does(
    shown: Shown, files: Files
) -> None:
    page = shown().open(files("several"), REVISIONS)
    told = tiles(page)
    assert told["Sentences new in 10"] == 5
    assert told["Sentences gone from 7"] == 3
    assert told["Sentences in both"] == 172
    came = page.locator("#came")
    assert came.locator("tbody tr").count() == 5
    first = came.locator("tbody tr").first
    assert first.locator("th a").inner_text() == "A50-000"
    assert "sentence 360" in first.inner_text()
    verdicts = Counter(
        row["verdict"]
        for row in SEVERAL["cells"]
        if "A50-000" in row["clauses"]
        and (row["spec_revision"], row["server"], row["provider"]) == (10, "2.15.1", "embedded")
    )
    shown_counts = first.locator(".counts .tag").evaluate_all(
        "(tags) => tags.map((tag) => tag.getAttribute('aria-label'))"
    )
    assert sorted(shown_counts) == sorted(f"{n} {name}" for name, n in verdicts.items())


def test_a_case_of_both_revisions_shows_both_verdicts(shown: Shown, files: Files) -> None:
    page = shown().open(files("several"), REVISIONS)
    page.locator("#kind-new-failure .change summary").first.click()
    both = page.locator("#kind-new-failure .both").first
    both.wait_for()
    assert both.locator(".told h4 a").all_inner_texts() == ["revision 7", "revision 10"]
    assert "case=" in state(page)
    again = shown().open(files("several"), page.url.partition("#")[2])
    again.locator("details.change[open] .both").first.wait_for()


def test_revisions_swap_and_equal_ones_are_not_compared(shown: Shown, files: Files) -> None:
    page = shown().open(files("several"), f"{REVISIONS}&ra=7&rb=10")
    before = tiles(page)
    page.get_by_role("button", name="Swap").click()
    after = tiles(page)
    assert {"ra=10", "rb=7"} <= set(state(page)[1:].split("&"))
    assert after["Sentences new in 7"] == before["Sentences gone from 7"]
    assert after["Fixed"] == before["New failures"]
    page.locator("select[name=rb]").select_option("10")
    page.get_by_text("Choose two different revisions.").wait_for()


def test_text_filters_sentences_and_cases(shown: Shown, files: Files) -> None:
    page = shown().open(files("several"), REVISIONS)
    page.locator("input[name=q]").fill("A50-000")
    assert tiles(page)["Sentences new in 10"] == 1
    assert page.locator("#went").count() == 0


def test_a_text_of_one_revision_has_nothing_to_compare(shown: Shown, files: Files) -> None:
    page = shown().open(files("bare"), "view=regressions&by=revisions")
    page.get_by_role("heading", name="What changed between two releases").wait_for()


@pytest.fixture(scope="module")
def revised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample with a history of adr-50, in which one sentence replaces another."""
    made = variants.several()
    mine = [row for row in made["coverage"] if row["spec"] == "adr-50"]
    mine[0]["replaces"] = mine[5]["clause"]
    history = [
        {"spec": "adr-50", "revision": number, "date": f"2026-01-{number:02}", "server": "2.14.0",
         "api_level": 4 if number == 10 else None, "note": f"What revision {number} brought"}
        for number in range(1, 11)
    ]  # fmt: skip
    drafted = [{"spec": "adr-31", "revision": 0, "date": None, "server": None, "api_level": None,
                "note": "The draft"}]  # fmt: skip
    file = tmp_path_factory.mktemp("revised") / "revised.html"
    tables = {**made, "revisions": [*history, *drafted]}
    file.write_text(report.render(report.document(tables)), "utf-8")
    return file


def test_the_revisions_in_between_are_shown_with_date_server_and_api_level(
    shown: Shown, revised: Path
) -> None:
    page = shown().open(revised, f"{REVISIONS}&ra=7&rb=10")
    rows = page.locator("#history tbody tr")
    rows.first.wait_for()
    assert [text.split("\t") for text in rows.all_inner_texts()] == [
        ["8", "2026-01-08", "2.14.0", "", "What revision 8 brought"],
        ["9", "2026-01-09", "2.14.0", "", "What revision 9 brought"],
        ["10", "2026-01-10", "2.14.0", "4", "What revision 10 brought"],
    ]
    assert page.locator("select[name=ra] option").count() == 10


def test_a_sentence_that_replaces_another_is_changed_and_neither_new_nor_gone(
    shown: Shown, revised: Path
) -> None:
    for sides, order in (
        ("ra=7&rb=10", ("A50-005", "A50-000")),
        ("ra=10&rb=7", ("A50-000", "A50-005")),
    ):
        page = shown().open(revised, f"{REVISIONS}&{sides}")
        told = tiles(page)
        assert told["Sentences changed"] == 1
        new, gone = (4, 2) if sides.startswith("ra=7") else (2, 4)
        assert told[f"Sentences new in {sides.rpartition('=')[2]}"] == new
        assert told[f"Sentences gone from {sides.split('&')[0][3:]}"] == gone
        links = page.locator("#changed tbody td > a").all_inner_texts()
        assert tuple(links) == order


def test_a_sentence_tells_what_every_release_does_of_it(shown: Shown, files: Files) -> None:
    """Neighbours with the same verdicts are told together, each provider by itself."""

    def place(row: Mapping[str, Any]) -> tuple[int, Any]:
        return {"embedded": 0, "reference": 2}.get(row["provider"], 1), row["release_key"]

    columns = dict.fromkeys(
        (row["server"], row["provider"]) for row in sorted(SEVERAL["matrix"], key=place)
    )
    expected: list[tuple[str, str, str, set[str]]] = []
    for server, provider in columns:
        # A cell that was judged by the earlier revision says nothing of a sentence of the later.
        verdicts = {
            row["verdict"]
            for row in SEVERAL["cells"]
            if "A50-000" in row["clauses"]
            and (row["spec_revision"], row["server"], row["provider"]) == (10, server, provider)
            and (provider, row["verdict"]) != ("reference", "n/a")
        }
        name = server if provider == "embedded" else f"{server} {provider}"
        if expected and expected[-1][2:] == (provider, verdicts):
            expected[-1] = (expected[-1][0], name, provider, verdicts)
        else:
            expected.append((name, name, provider, verdicts))
    page = shown().open(files("several"), f"{REVISIONS}&ra=7&rb=10")
    first = page.locator("#came tbody tr").first
    first.wait_for()
    told = first.locator(".by-release li").evaluate_all(
        "(lines) => lines.map((line) => [line.firstChild.textContent.trim(),"
        " [...line.querySelectorAll('.tag span:last-child')].map((tag) => tag.textContent).sort()])"
    )
    assert told == [
        [start if start == end else f"{start} to {end}", sorted(verdicts)]
        for start, end, _, verdicts in expected
        if verdicts
    ]


def test_positions_on_open_sentences_of_the_two_revisions_are_shown(
    shown: Shown, files: Files
) -> None:
    page = shown().open(files("several"), f"{REVISIONS}&ra=7&rb=10")
    page.locator(".tile").first.wait_for()
    status = {row["clause"]: row for row in SEVERAL["coverage"] if row["spec"] == "adr-50"}
    opened = {
        name
        for name, row in status.items()
        if row["status"] != "normative" or row["level"] == "may"
    }

    def holds(name: str, revision: int) -> bool:
        last = status[name]["revision_to"]
        return status[name]["revision_from"] <= revision and (last is None or revision <= last)

    def apart(row: Mapping[str, Any]) -> bool:
        return bool(row["provider"] == "reference")

    expected = {
        (row["case"], row["spec_revision"], row["topology"], apart(row), row["name"])
        for row in SEVERAL["positions"]
        if row["spec"] == "adr-50"
        and any(name in opened and holds(name, row["spec_revision"]) for name in row["clauses"])
    }
    assert expected
    assert tiles(page)["Positions"] == len(expected)
    assert page.locator("#taken tbody tr").count() == min(100, len(expected))


def test_a_draft_before_the_first_number_is_a_revision(shown: Shown, revised: Path) -> None:
    page = shown().open(revised, "view=regressions&by=revisions&spec=adr-31")
    page.locator("select[name=ra] option").first.wait_for(state="attached")
    assert page.locator("select[name=ra] option").first.inner_text() == "0"


# -- two runs -------------------------------------------------------------------------------------
def test_the_newest_two_runs_are_compared(shown: Shown, tmp_path: Path) -> None:
    shared = {
        "case": "adr-31/batch::a", "topology": "single", "client": None, "server_a": "2.15.1",
        "server_b": "2.15.1", "provider_b": "embedded", "run_id_a": "old", "run_id_b": "new",
        "side_a": "old", "side_b": "new",
    }  # fmt: skip
    rows = [
        shared | {"kind": "fixed", "verdict_a": "fail", "verdict_b": "pass", "reason_a": "why"},
        shared | {"kind": "changed-position", "verdict_a": "position", "verdict_b": "position"}
        | {"position_a": "reply: empty", "position_b": "reply: silence"},
        shared | {"kind": "new-failure", "verdict_a": "pass", "verdict_b": "fail"},
    ]  # fmt: skip
    file = tmp_path / "runs.html"
    file.write_text(report.render(report.document({**FEW, "regressions": rows})), "utf-8")
    page = shown().open(file, "view=regressions&by=runs")
    page.get_by_role("heading", name="What changed between the newest two runs").wait_for()
    told = page.locator("tbody tr td:nth-child(3)").all_inner_texts()
    assert told == ["New failures", "Fixed", "Another position"]
    assert "reply: silence" in page.locator("tbody tr").last.inner_text()
    page.get_by_role("link", name="Trends").click()
    page.get_by_role("link", name="3 cells differ between the newest run").click()
    page.get_by_role("heading", name="What changed between the newest two runs").wait_for()


def test_runs_that_do_not_differ_say_so(shown: Shown, tmp_path: Path) -> None:
    runs = [FEW["runs"][0] | {"run_id": name} for name in ("older", "newer")]
    file = tmp_path / "same.html"
    file.write_text(
        report.render(report.document({**FEW, "runs": runs, "regressions": []})), "utf-8"
    )
    page = shown().open(file, "view=regressions")
    page.get_by_role("link", name="The newest two runs (0)").click()
    page.get_by_text("Nothing to show.").wait_for()


# -- trends ---------------------------------------------------------------------------------------
def counts(run: str, **only: str) -> Counter[str]:
    told: Counter[str] = Counter()
    for row in FEW["trends"]:
        if row["run_id"] == run and all(row[name] == value for name, value in only.items()):
            told[row["verdict"]] += row["cells"]
    return told


def table_of(page: Any, section: Any) -> list[dict[str, int]]:
    """The rows of a section's table: numbers by verdict, newest run first."""
    heads = [text.split()[-1] for text in section.locator("thead th").all_inner_texts()][1:]
    rows = section.locator("tbody tr").evaluate_all(
        """(rows) => rows.map((row) => [...row.querySelectorAll('td')].map((cell) =>
            Number(cell.lastChild.textContent.replaceAll(',', ''))))"""
    )
    return [dict(zip(heads, row, strict=True)) for row in rows]


def test_trends_count_the_cells_of_each_run_by_verdict(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "view=trends")
    section = page.locator(".trend-of").first
    section.locator("table").wait_for()
    runs = [samples.RUN, *(run for run, *_ in reversed(samples.OLDER))]
    assert [text.split("\n")[1] for text in section.locator("tbody th").all_inner_texts()] == runs
    for run, told in zip(runs, table_of(page, section), strict=True):
        expected = counts(run)
        assert told.pop("Cells") == sum(expected.values())
        assert {name: count for name, count in told.items() if count} == expected


def test_a_trend_says_how_a_number_moved_since_the_run_before(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "view=trends")
    row = page.locator(".trend-of tbody tr").first
    row.wait_for()
    before, now = (counts(run) for run in (samples.OLDER[-1][0], samples.RUN))
    moved = sum(now.values()) - sum(before.values())
    assert row.locator("td").first.locator(".moved-by").inner_text() == f"+{moved}"
    last = page.locator(".trend-of").first.locator("tbody tr").last
    assert last.locator(".moved-by").count() == 0


def test_trends_of_one_specification_and_some_releases(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "view=trends")
    assert page.locator(".trend-of > summary b").all_inner_texts() == [
        "All specifications", *sorted({row["spec"] for row in FEW["trends"]})
    ]  # fmt: skip
    page.locator("select[name=spec]").select_option("adr-50")
    page.locator("input[name=releases]").fill("2.14.0")
    assert {"spec=adr-50", "releases=2.14.0"} <= set(state(page)[1:].split("&"))
    (told, *_) = table_of(page, page.locator(".trend-of"))
    del told["Cells"]
    assert {name: n for name, n in told.items() if n} == counts(
        samples.RUN, spec="adr-50", server="2.14.0"
    )


def test_a_trend_is_drawn_and_told_in_words(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "view=trends")
    chart = page.locator(".trend-of").first.get_by_role("img")
    chart.wait_for()
    assert chart.locator("g").count() == 3
    told = chart.get_attribute("aria-label")
    assert f"2026-01-02 03:04: pass {counts(samples.RUN)['pass']}" in told
    assert "n/a" not in told


def test_a_run_is_found_by_its_date(shown: Shown, files: Files) -> None:
    page = shown().open(files("few"), "view=trends&q=2025-12-30")
    assert page.locator(".trend-of").first.locator("tbody tr").count() == 1


def test_one_run_has_no_trend_and_a_run_that_is_not_whole_is_marked(
    shown: Shown, tmp_path: Path
) -> None:
    only = [row for row in FEW["trends"] if row["run_id"] == samples.RUN]
    runs = [FEW["runs"][0] | {"partial": "--spec adr-50"}]
    file = tmp_path / "one.html"
    tables = {**FEW, "trends": only, "runs": runs}
    file.write_text(report.render(report.document(tables)), "utf-8")
    page = shown().open(file, "view=trends")
    page.get_by_text("One run has no trend").wait_for()
    assert page.locator(".trend-of tbody .mark").first.inner_text() == "not whole"
