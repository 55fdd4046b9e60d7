"""JUnit XML as CI systems read it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from jetproof.errors import JetproofError
from jetproof.events import CaseFinished
from jetproof.model.verdict import Verdict
from jetproof.sinks.junit import JUnit

from .samples import every_verdict, hostile_cell, make_cell, play, run_started, whole_run


def written(tmp_path: Path, *finished: CaseFinished) -> ElementTree.Element:
    path = tmp_path / "junit.xml"
    play(JUnit.create(path), whole_run(*finished))
    return ElementTree.parse(path).getroot()


def find(root: ElementTree.Element, name: str) -> ElementTree.Element:
    found = [case for case in root.iter("testcase") if f"::{name} @" in case.attrib["name"]]
    assert len(found) == 1
    return found[0]


def test_a_suite_is_a_testsuite_with_its_counts(tmp_path: Path) -> None:
    root = written(tmp_path, *every_verdict())
    suites = {suite.attrib["name"]: suite.attrib for suite in root.iter("testsuite")}
    commit, restart = suites["adr-50/atomic/commit"], suites["adr-50/atomic/restart"]
    counts = ("tests", "failures", "errors", "skipped")
    assert [commit[name] for name in counts] == ["8", "3", "0", "2"]
    assert [restart[name] for name in counts] == ["1", "0", "1", "0"]


def test_a_cell_has_its_full_name(tmp_path: Path) -> None:
    case = find(written(tmp_path, *every_verdict()), "passes")
    assert case.attrib["classname"] == "adr-50/atomic/commit"
    assert case.attrib["name"] == "adr-50/atomic/commit::passes @2.15.1 single"
    assert case.attrib["time"] == "0.013" or case.attrib["time"] == "0.012"


@pytest.mark.parametrize(
    ("name", "tag", "kind"),
    [
        ("fails", "failure", "fail"),
        ("is-stale", "failure", "stale"),
        ("has-no-verdict", "error", "error"),
        ("is-known", "skipped", "known deviation"),
        ("does-not-apply", "skipped", "not applicable"),
        ("warns", "system-out", None),
        ("takes-a-position", "system-out", None),
        ("passes", None, None),
    ],
)
def test_each_verdict_becomes_what_ci_understands(
    tmp_path: Path, name: str, tag: str | None, kind: str | None
) -> None:
    case = find(written(tmp_path, *every_verdict()), name)
    told = [child for child in case if child.tag != "properties"]
    assert [child.tag for child in told] == ([tag] if tag else [])
    assert [child.attrib.get("type") for child in told] == ([kind] if tag else [])


def test_a_failure_carries_the_evidence(tmp_path: Path) -> None:
    failure = find(written(tmp_path, *every_verdict()), "fails").find("failure")
    assert failure is not None
    text = failure.text or ""
    assert "10176" in text
    assert "10175" in text
    assert "HPUB  stream.20" in text
    assert "jetproof replay adr-50/atomic/commit::fails" in text


def test_the_reason_of_a_skip_and_a_position_is_told(tmp_path: Path) -> None:
    root = written(tmp_path, *every_verdict())
    skipped = find(root, "is-known").find("skipped")
    assert skipped is not None
    assert skipped.attrib["message"] == "D-7: says 10175"
    assert "limit: error 10208" in (find(root, "takes-a-position").findtext("system-out") or "")


@pytest.mark.parametrize("verdict", list(Verdict))
def test_hostile_text_gives_valid_xml_without_control_characters(
    tmp_path: Path, verdict: Verdict
) -> None:
    written(tmp_path, hostile_cell(verdict))
    text = (tmp_path / "junit.xml").read_text(encoding="utf-8")
    assert "<testcase" in text
    assert all(line.isprintable() for line in text.split("\n"))


def test_an_interrupted_run_still_gives_a_whole_file(tmp_path: Path) -> None:
    sink = JUnit.create(tmp_path / "junit.xml")
    sink.handle(run_started(9))
    sink.handle(CaseFinished(make_cell()))
    sink.close()
    root = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert len(list(root.iter("testcase"))) == 1


def test_a_place_that_cannot_be_written_is_found_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JetproofError, match="cannot write the JUnit file") as caught:
        JUnit.create(tmp_path / "file" / "junit.xml")
    assert caught.value.phase == "write"


def test_no_half_file_is_left_beside_it(tmp_path: Path) -> None:
    written(tmp_path, *every_verdict())
    assert [path.name for path in tmp_path.iterdir()] == ["junit.xml"]


def test_a_first_suite_without_tests_holds_the_first_screen(tmp_path: Path) -> None:
    first, *others = written(tmp_path, *every_verdict()).iter("testsuite")
    assert (first.attrib["name"], first.attrib["tests"]) == ("jetproof", "0")
    lines = [one.attrib["value"] for one in first.iter("property")]
    assert lines[0].startswith("2.15.1: no verdict for 1 cell, 1 new failure")
    assert "says 10175" in (first.findtext("system-out") or "")
    assert all(suite.attrib["name"] != "jetproof" for suite in others)


def test_an_unstable_cell_is_a_failure_only_if_it_fails_the_run(tmp_path: Path) -> None:
    for never_right, failures in ((True, "1"), (False, "0")):
        cell = make_cell("u", Verdict.UNSTABLE, never_right=never_right, plays=("fail", "pass"))
        _, suite = written(tmp_path, CaseFinished(cell)).iter("testsuite")
        assert suite.attrib["failures"] == failures
        plays = [one.attrib for one in suite.iter("property") if one.attrib["name"] == "plays"]
        assert plays == [{"name": "plays", "value": "fail, pass"}]
