"""A case about a revision of a wire form is played on releases that speak it, or if asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from jetproof.load.library import Library, load_library
from jetproof.model.versions import Version
from jetproof.plan import (
    PlanClient,
    PlanTarget,
    Selected,
    Selection,
    client_items,
    make_plan,
    named_exactly,
    select,
    why_not,
)
from jetproof.targets.reference import SPEAKS
from jetproof.targets.reference.spoken import REVISIONS

REV_7, REV_10 = "adr-50/fast-ingest/rev-7", "adr-50/fast-ingest/rev-10"
CASE = f"{REV_7}/start::first-message-gets-a-flow-ack"


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library()


def at(name: str, version: str, provider: str = "embedded") -> PlanTarget:
    fixed = "an external server" if provider == "external" else None
    speaks = SPEAKS if provider == "reference" else None
    return PlanTarget(name, Version.parse(version), provider, fixed, speaks=speaks)


def reasons(library: Library, selected: Selected, target: PlanTarget) -> Counter[str | None]:
    return Counter(why_not(library, item, target) for item in selected.items)


def of(library: Library, *patterns: str, specs: Sequence[tuple[str, int | None]] = ()) -> Selected:
    return select(library, Selection(patterns, specs=tuple(specs)))


@pytest.mark.parametrize(
    ("target", "layer"),
    [
        (at("2.15.1", "2.15.1"), "2.15.1"),
        (at("2.14.0", "2.14.0"), "2.14.0"),
        (at("container:2.14.6", "2.14.6", "container"), "2.14.6"),
        (at("path:server", "2.16.0-dev", "path"), "latest"),
        (at("nats://127.0.0.1:4222", "2.15.1", "external"), "2.15.1"),
    ],
    ids=lambda value: value.name if isinstance(value, PlanTarget) else "",
)
def test_a_revision_that_a_release_does_not_speak_is_not_applicable_there(
    library: Library, target: PlanTarget, layer: str
) -> None:
    every = of(library, REV_7)
    assert reasons(library, every, target) == {
        f"{target.version} speaks fast ingest of revision 10, not 7: "
        f"--spec adr-50@7 or --server reference:{layer} plays it": len(every.items)
    }


@pytest.mark.parametrize("version", ["2.15.1", "2.14.0", "2.16.0-dev"])
def test_the_revision_that_a_release_speaks_is_played(library: Library, version: str) -> None:
    plan = make_plan(library, of(library, REV_10), [at(version, version)], skip=frozenset())
    assert not [one for one in plan.not_applicable if "fast ingest" in one.reason]
    assert plan.groups


@pytest.mark.parametrize("version", ["2.12.8", "2.11.11", "2.10.25"])
@pytest.mark.parametrize("suite", [REV_7, REV_10])
def test_a_release_before_the_form_does_not_speak_it(
    library: Library, suite: str, version: str
) -> None:
    every = of(library, suite)
    assert reasons(library, every, at(version, version)) == {
        f"{version} does not speak fast ingest: releases do from 2.14.0": len(every.items)
    }


def test_a_revision_that_is_asked_for_is_played(library: Library) -> None:
    asked = of(library, REV_7, specs=[("adr-50", 7)])
    assert reasons(library, asked, at("2.15.1", "2.15.1")) == {None: len(asked.items)}
    for reason in reasons(library, asked, at("2.12.8", "2.12.8")):
        assert str(reason).endswith("applies from 2.14.0, this server is 2.12.8")


def test_a_specification_without_a_number_asks_for_no_revision(library: Library) -> None:
    asked = of(library, REV_7, specs=[("adr-50", None)])
    assert None not in reasons(library, asked, at("2.15.1", "2.15.1"))


def test_a_case_that_is_named_exactly_is_played(library: Library) -> None:
    named = named_exactly(of(library, CASE))
    assert reasons(library, named, at("2.15.1", "2.15.1")) == {None: 1}


def test_the_reference_layer_is_asked_what_it_speaks(library: Library) -> None:
    every = of(library, REV_7)
    layer = at("reference:2.15.1", "2.15.1", "reference")
    assert reasons(library, every, layer) == {None: len(every.items)}
    spoken = {form.spec: form.reference for form in library.forms if form.reference is not None}
    assert spoken == REVISIONS


def test_other_clauses_of_the_specification_keep_their_revision(library: Library) -> None:
    every = of(library, "adr-50/atomic")
    told = reasons(library, every, at("2.15.1", "2.15.1"))
    assert not [reason for reason in told if reason is not None and "speaks" in reason]


def test_a_case_about_a_library_is_not_about_what_the_server_speaks(library: Library) -> None:
    cases = [one for one in library.client_cases if one.suite == "adr-50/client/fast-ingest-rev-7"]
    everything = frozenset(
        {"ingest.open", "ingest.add", "ingest.commit", "ingest.close", "connect", "publish"}
    )
    client = PlanClient("x", "x", capabilities=everything, claims={"adr-50": 7})
    items = client_items(library, cases, client)
    told = reasons(library, Selected(items), at("2.15.1", "2.15.1"))
    assert told[None]
    assert not [reason for reason in told if reason is not None and "speaks" in reason]


def test_every_case_of_the_form_is_found_by_its_clauses(library: Library) -> None:
    [form] = [one for one in library.forms if one.name == "fast-ingest"]
    found = {
        case.suite.rpartition("/")[0]
        for case in library.cases
        if any(map(form.has, library.clauses_of(case)))
    }
    assert found == {REV_7, REV_10}


# -- min_last_seq: one preview speaks it, and the ledger explains the rest --------------------------


@pytest.mark.parametrize("version", ["2.12.0-preview.1", "2.12.0-preview.2", "2.12.8", "2.15.1"])
def test_cases_of_min_last_seq_are_played_on_every_release(library: Library, version: str) -> None:
    target = at(version, version, "go")
    given = reasons(library, of(library, "adr-53"), target)
    assert not [reason for reason in given if reason is not None and "speak" in reason]


@pytest.mark.parametrize(
    ("version", "provider", "covered"),
    [
        ("2.12.0-preview.1", "go", False),
        ("2.12.0-preview.1", "path", False),
        ("2.12.0-preview.2", "go", True),
        ("2.12.0", "embedded", True),
        ("2.15.1", "container", True),
        ("2.16.0-dev", "path", True),
        ("2.15.1", "reference", False),
    ],
)
def test_the_ledger_covers_who_does_not_speak_min_last_seq(
    library: Library, version: str, provider: str, covered: bool
) -> None:
    entries = [one for one in library.deviations if one.id == "min-last-seq-not-implemented"]
    assert entries
    for entry in entries:
        place = entry.case, Version.parse(version), "single", provider
        assert entry.covers(*place) is covered


def test_what_the_preview_does_wrong_is_said_of_no_release(library: Library) -> None:
    entries = [one for one in library.deviations if one.id == "a53-waiting-list-of-keys-skips-one"]
    assert entries
    for entry in entries:
        for version in ("2.12.0-preview.1", "2.12.0-preview.2", "2.12.0", "2.15.1"):
            place = entry.case, Version.parse(version), "single", "go"
            assert entry.covers(*place) is (version == "2.12.0-preview.1")


def test_a_sentence_about_the_initial_release_is_not_held_against_a_later_one(
    library: Library,
) -> None:
    clause = library.specs["adr-50"].clauses["A50-ATOMIC-079"]
    why = "A50-ATOMIC-079 applies"
    assert clause.why_not(Version.parse("2.12.0")) is None
    assert clause.why_not(Version.parse("2.12.1")) == f"{why} up to 2.12.0, this server is 2.12.1"
    assert clause.why_not(Version.parse("2.11.0")) == f"{why} from 2.12.0, this server is 2.11.0"
