"""`summary.md` and the badge: the page's own numbers, and nothing that a server could inject."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from jetproof_reports import page
from jetproof_reports.page.summary import NAMED, escaped

from . import libraries, samples, variants

FEW = samples.tables(57, 8)


def summary(tables: samples.Tables) -> str:
    return page.summary_markdown(page.document(tables))


def with_verdicts(*verdicts: str) -> samples.Tables:
    rows = [
        row | {"verdict": verdict} for row, verdict in zip(FEW["matrix"], verdicts, strict=False)
    ]
    return {"matrix": rows, "runs": FEW["runs"]}


def test_verdicts_are_counted_by_release() -> None:
    newest = Counter(row["verdict"] for row in FEW["matrix"] if row["server"] == "2.15.1")
    lines = summary(FEW).splitlines()
    head = next(line for line in lines if line.startswith("| Release "))
    names = [cell.split()[-1] for cell in head.strip("| ").split(" | ")[1:]]
    line = next(line for line in lines if line.startswith("| 2.15.1 "))
    counts = [int(cell.replace("·", "0")) for cell in line.strip("| ").split(" | ")[1:]]
    assert {name: count for name, count in zip(names, counts, strict=True) if count} == newest


def test_what_fails_is_named_with_its_releases_and_reason() -> None:
    failing = [row for row in FEW["matrix"] if row["verdict"] in ("fail", "stale")]
    text = summary(FEW)
    assert failing
    assert all(escaped(row["case"]) in text for row in failing)


def test_many_failures_are_cut_with_a_count() -> None:
    rows = [row | {"verdict": "fail", "reason": row["case"]} for row in FEW["matrix"]]
    assert f"and {57 - NAMED} more in the report" in summary({"matrix": rows})


def test_coverage_is_counted_by_specification() -> None:
    mine = [row for row in FEW["coverage"] if row["spec"] == "adr-50"]
    tested = sum(row["covered"] for row in mine)
    assert f"| adr-50 | {len(mine)} | {tested} | {len(mine) - tested} |" in summary(FEW)


def test_deviations_and_flaky_cells_are_named() -> None:
    text = summary(FEW)
    example = [row for row in FEW["matrix"] if row["verdict"] == "known"]
    (line,) = [line for line in text.splitlines() if "| a50-example |" in line]
    does = "The release counts from the opening of the batch"
    assert line.startswith(f"| loss | bug | a50-example | {does} | {len(example)} | ")
    assert line.endswith("| [issues/7](https://example.com/nats/issues/7) |")
    assert "gave different verdicts" in text


def test_a_run_that_is_not_whole_is_said_before_what_it_found() -> None:
    runs = [FEW["runs"][0] | {"partial": "--spec adr-50"}]
    text = summary({**FEW, "runs": runs})
    assert text.index(f"> Run {samples.RUN} is not whole") < text.index("### ")


def test_hostile_reasons_stay_one_line_of_plain_text() -> None:
    text = summary(variants.hostile())
    assert "<" not in text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e\u2066\u2028\udcff]", text)
    rows = [line for line in text.splitlines() if "::hostile" in line]
    assert len(rows) == 2
    assert all(re.findall(r"(?<!\\)\|", row) == ["|"] * 5 for row in rows)


@pytest.mark.parametrize(
    "text",
    ["a|b", "`code`", "[x](http://h)", "@everyone", "# 1", "*b*", "<b>", "&lt;", "\nx", "\\|"],
)
def test_markup_is_escaped(text: str) -> None:
    assert not re.search(r"(?<!\\)(?:\\\\)*[|`*\[\]@#<>\n]", escaped(text))


@pytest.mark.parametrize(
    ("verdicts", "message", "colour"),
    [
        (("pass", "known", "position", "n/a"), "3 conform", "brightgreen"),
        (("pass", "fail", "stale"), "2 of 3 do not conform", "red"),
        (("fail", "error"), "1 without a verdict", "orange"),
        ((), "no cells", "lightgrey"),
    ],
)
def test_the_badge_says_the_worst(verdicts: tuple[str, ...], message: str, colour: str) -> None:
    made = page.badge(page.document(with_verdicts(*verdicts)))
    expected = {"schemaVersion": 1, "label": "jetproof", "message": message, "color": colour}
    assert made == expected


@pytest.mark.parametrize(
    "change", [{"partial": "--clause X"}, {"interrupted": True}, {"finished_at": None}]
)
def test_the_badge_of_a_run_that_is_not_whole_is_never_green(change: samples.Row) -> None:
    tables = with_verdicts("pass") | {"runs": [FEW["runs"][0] | change]}
    made = page.badge(page.document(tables))
    assert made["message"] == "partial: 1 conform"
    assert made["color"] == "lightgrey"


def test_the_reference_layer_is_told_apart_and_counts_for_nothing() -> None:
    apart = [row | {"provider": "reference", "verdict": "fail"} for row in FEW["matrix"][:3]]
    rows = [row | {"verdict": "pass"} for row in FEW["matrix"]]
    document = page.document({"matrix": [*rows, *apart], "runs": FEW["runs"]})
    text = page.summary_markdown(document)
    assert "57 cases on 8 releases, nothing fails" in text
    assert "the reference layer: 3 fail. It counts as no release's conformance." in text
    assert "### New and unstable" not in text
    assert "2.15.1: conforms" in text
    assert not [line for line in text.splitlines() if line.startswith("| ") and "refer" in line]
    assert page.badge(document)["message"] == f"{len(rows)} conform"


def test_libraries_are_counted_by_what_they_claim() -> None:
    document = page.document(libraries.libraries())
    text = page.summary_markdown(document)
    assert "57 cases on 8 releases, 5 cases for 4 libraries" in text
    lines = {line.split(" | ")[0].strip("| "): line for line in text.splitlines()}
    row = lines[escaped(libraries.PY)]
    names = [cell.split()[-1] for cell in lines["Library"].strip("| ").split(" | ")[1:-1]]
    counts = dict(zip(names, row.strip("| ").split(" | ")[1:], strict=False))
    assert counts == {"pass": "4", "fail": "2", "known": "·", "position": "4", "n/a": "·"}
    assert "adr-37 revision 3" in row
    assert escaped(libraries.WITNESS) not in text
    assert "the reference client: 6 pass, 4 position." in text
    assert "2 more by the text in force, which the library does not claim." in text


def test_failures_of_libraries_are_named_with_them() -> None:
    text = summary(libraries.libraries())
    (line,) = [line for line in text.splitlines() if escaped(libraries.LOST) in line]
    assert all(escaped(f"{libraries.PY} on {server}") in line for server in libraries.SERVERS)
    assert "| protocol | bug | go:nats.go: a37-known | It gives up | " in text


def test_libraries_that_use_one_name_have_a_cause_each() -> None:
    made = libraries.libraries()
    mine = [row for row in made["matrix"] if row["client"] and row["deviation"]]
    other = [
        row | {"client": libraries.JS, "spec_revision": libraries.CLAIMS[libraries.JS]}
        for row in mine
    ]
    text = summary({**made, "matrix": [*made["matrix"], *other]})
    assert "go:nats.go: a37-known" in text
    assert f"{libraries.JS.partition('@')[0]}: a37-known" in text


def test_where_only_libraries_were_played_their_sentences_are_counted() -> None:
    made = libraries.libraries()
    rows = [dict(row, covered=row["actor"] != "server") for row in made["coverage"]]
    rows.append(rows[0] | {"clause": "X-1", "actor": "client", "covered": True})
    text = summary({**made, "coverage": rows})
    assert "### Sentences for clients and their tests" in text
    theirs = [row for row in rows if row["actor"] != "server" and row["spec"] == rows[0]["spec"]]
    assert f"| {rows[0]['spec']} | {len(theirs)} | {len(theirs)} | 0 |" in text
    assert "### Sentences and their tests" in summary(made)


def test_what_a_library_does_not_claim_fails_nobody() -> None:
    made = libraries.libraries((libraries.CLAIMED,))
    rows = [row for row in made["matrix"] if row["client"]]
    for row in rows:
        row["verdict"] = "fail" if row["client"] in (libraries.JS, libraries.WITNESS) else "pass"
    document = page.document({**made, "matrix": rows, "cells": rows})
    assert "nothing fails" in page.summary_markdown(document)
    assert page.badge(document)["message"] == "3 libraries: 6 conform"


def test_releases_are_told_as_without_libraries() -> None:
    alone, both = summary(FEW).splitlines(), summary(libraries.libraries()).splitlines()
    releases = [line for line in alone if line.startswith(("| 2.", "| Release"))]
    assert releases == [line for line in both if line.startswith(("| 2.", "| Release"))]


def test_hostile_words_of_a_library_stay_one_line_of_plain_text() -> None:
    text = summary(libraries.hostile())
    assert "<" not in re.sub(r"</?(details|summary)>", "", text)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e\u2066\u2028\udcff]", text)


def test_it_begins_with_a_sentence_for_the_newest_release_of_each_line() -> None:
    lines = summary(FEW).splitlines()
    assert lines[0].startswith("## Jetproof")
    targets = [line.split(": ")[0] for line in lines if re.match(r"- [✓≈✗] ", line)]
    assert [name[4:] for name in targets[:4]] == ["2.15.1", "2.14.6", "2.12.8", "2.11.11"]
    assert lines[2].startswith("- ✗ 2.15.1: ")
    folded = summary(FEW).partition("<details>")[2].partition("</details>")[0]
    assert "4 more targets" in folded
    assert [name[4:] for name in targets[4:]] == ["2.14.0", "2.12.2", "2.12.1", "2.12.0"]
    assert all(f"{name}: " in folded for name in targets[4:])


def test_the_sentence_is_the_one_of_the_digest() -> None:
    from jetproof.results.digest import digest
    from jetproof_reports.page.overview import cell_of

    cells = [cell_of(row) for row in FEW["cells"] if row["server"] == "2.15.1"]
    assert f"- ✗ {escaped(digest(cells).verdict_line)}\n" in summary(FEW)


def test_unstable_cells_are_named_first() -> None:
    text = summary(variants.unstable())
    table = text.partition("### New and unstable\n\n")[2].split("\n\n")[0].splitlines()[2:]
    assert [row.split(" | ")[0] for row in table[:2]] == ["| ≀ unstable"] * 2
    assert all("unstable" not in row for row in table[2:])
    assert text.count("1 unstable") == 2  # each on a release of its own


def test_an_unstable_cell_fails_only_if_what_was_seen_is_never_right() -> None:
    rows = with_verdicts("pass", "unstable", "unstable")["matrix"]
    for row in rows:
        row["never_right"] = False
    assert page.badge(page.document({"matrix": rows}))["color"] == "brightgreen"
    assert "nothing fails" in summary({"matrix": rows})
    rows[1]["never_right"] = True
    assert page.badge(page.document({"matrix": rows}))["message"] == "1 of 3 do not conform"
    assert "1 fail" in summary({"matrix": rows})


def test_a_run_of_an_older_version_takes_the_kind_from_the_ledger() -> None:
    marks = ("kind", "severity", "upstream")
    rows = [{k: v for k, v in row.items() if k not in marks} for row in FEW["matrix"]]
    cells = [{k: v for k, v in row.items() if k not in marks} for row in FEW["cells"]]
    text = summary({**FEW, "matrix": rows, "cells": cells})
    assert "| loss | bug | a50-example |" in text
    text = summary({"matrix": rows})
    assert "|  | known | a50-example |" in text


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "http://example.com/1", "https://h/)[x](https://evil"]
)
def test_only_plain_https_addresses_become_links(address: str) -> None:
    rows = [row | {"upstream": address} for row in FEW["matrix"]]
    text = summary({"matrix": rows, "cells": []})
    assert "](" not in re.sub(r"\\.", "", text)


def test_positions_are_a_count_and_a_command() -> None:
    count = sum(row["verdict"] == "position" for row in FEW["matrix"])
    assert f"{count} cells take a position" in summary(FEW)
    assert "`jetproof positions RUN`" in summary(FEW)
    assert "jetproof positions" not in summary(with_verdicts("pass"))
