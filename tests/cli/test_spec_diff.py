"""`jetproof spec-diff`: clauses that came, went and changed, and what releases do of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jetproof.load import library as library_module
from jetproof.model.clause import Clause, Spec
from jetproof.results import latest_cells, read_run
from jetproof.results.revisions import (
    Release,
    compare_revisions,
    grouped,
    positions_of,
    releases_of,
    verdicts_of,
)
from support.commands import Command
from support.documents import Validate

from .specdemo import Played, carried, demo, library_of, played, run_folder


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands see the specification of the page, and nothing else."""
    library = library_of(demo())
    monkeypatch.setattr(library_module, "load_library", lambda *_: library)


def with_clauses(*clauses: Clause) -> Spec:
    spec = demo()
    history = (*spec.history, replace(spec.history[-1], number=3))
    more = {clause.id: clause for clause in clauses}
    return replace(spec, revisions=(1, 2, 3), history=history, clauses={**spec.clauses, **more})


def clause(name: str, first: int, last: int | None = None, replaces: str | None = None) -> Clause:
    old = demo().clauses["DEMO-001"]
    return replace(old, id=name, revision_from=first, revision_to=last, replaces=replaces)


def names(clauses: tuple[Clause, ...]) -> list[str]:
    return [clause.id for clause in clauses]


class TestComparison:
    def test_clauses_come_go_and_change(self) -> None:
        spec = with_clauses(clause("DEMO-005", 2), clause("DEMO-006", 1, 1))
        found = compare_revisions(spec, 1, 2)
        assert names(found.added) == ["DEMO-005"]
        assert names(found.removed) == ["DEMO-006"]
        assert [(c.before.id, c.after.id) for c in found.changed] == [("DEMO-002", "DEMO-003")]
        assert names(found.kept) == ["DEMO-001", "DEMO-004"]
        assert [one.number for one in found.between] == [2]

    def test_the_other_way_round_is_the_mirror_image(self) -> None:
        spec = with_clauses(clause("DEMO-005", 2), clause("DEMO-006", 1, 1))
        found = compare_revisions(spec, 2, 1)
        assert names(found.added) == ["DEMO-006"]
        assert names(found.removed) == ["DEMO-005"]
        assert [(c.before.id, c.after.id) for c in found.changed] == [("DEMO-003", "DEMO-002")]
        assert [one.number for one in found.between] == [2]

    def test_a_change_is_found_over_a_clause_that_held_only_in_between(self) -> None:
        spec = with_clauses(clause("DEMO-005", 3, replaces="DEMO-003"))
        middle = replace(spec.clauses["DEMO-003"], revision_to=2)
        spec = replace(spec, clauses={**spec.clauses, "DEMO-003": middle})
        found = compare_revisions(spec, 1, 3)
        assert [(c.before.id, c.after.id) for c in found.changed] == [("DEMO-002", "DEMO-005")]
        assert (found.added, found.removed) == ((), ())

    def test_clauses_that_replace_each_other_in_a_circle_end(self) -> None:
        one = clause("DEMO-005", 2, replaces="DEMO-006")
        other = clause("DEMO-006", 2, replaces="DEMO-005")
        assert names(compare_revisions(with_clauses(one, other), 1, 2).added) == [
            "DEMO-005", "DEMO-006",
        ]  # fmt: skip

    def test_a_revision_does_not_differ_from_itself(self) -> None:
        found = compare_revisions(demo(), 2, 2)
        assert (found.added, found.removed, found.changed, found.between) == ((), (), (), ())

    def test_what_a_release_takes_a_position_on_is_silent_contested_or_optional(self) -> None:
        from jetproof.model.clause import Level

        optional = replace(clause("DEMO-005", 2), level=Level.MAY)
        spec = with_clauses(optional)
        assert names(compare_revisions(spec, 1, 2).open) == ["DEMO-004", "DEMO-005"]
        assert names(compare_revisions(spec, 1, 1).open) == ["DEMO-004"]


class TestReleases:
    def test_a_cell_counts_only_under_a_revision_in_which_the_clause_holds(self) -> None:
        cells = [
            Played("a", ("DEMO-002",), "2.15.1", "fail", revision=2).cell(),
            Played("b", ("DEMO-002",), "2.15.1", "pass", revision=1).cell(),
        ]
        release = Release("2.15.1", "embedded")
        assert verdicts_of(demo(), cells) == {"DEMO-002": {release: {"pass": 1}}}

    def test_the_newest_run_decides(self, tmp_path: Path) -> None:
        old = [Played("a", ("DEMO-001",), "2.15.1", "fail")]
        new = [Played("a", ("DEMO-001",), "2.15.1", "pass")]
        runs = [
            read_run(run_folder(tmp_path / "b", new, "run-b", "2026-02-02")),
            read_run(run_folder(tmp_path / "a", old, "run-a", "2026-01-01")),
        ]
        assert [cell.verdict for cell in latest_cells(runs)] == ["pass"]

    def test_releases_are_grouped_with_their_neighbours_only(self) -> None:
        every = [Release(server, "embedded") for server in ("2.9.1", "2.10.0", "2.10.1", "2.11.0")]
        told = {every[0]: "x", every[1]: "x", every[3]: "x"}
        assert grouped(told, every) == [(every[:2], "x"), ([every[3]], "x")]
        mixed = [every[2], every[0], every[3], every[1]]
        assert sorted(mixed, key=lambda release: release.order) == every

    def test_positions_change_where_releases_differ(self) -> None:
        cells = [one.cell() for one in played()]
        [found] = positions_of(demo(), demo().clauses.values(), cells)
        assert found.changed
        assert [([str(r) for r in s.releases], dict(s.position)) for s in found.stances] == [
            (["2.12.0", "2.12.8"], {"order": "as-sent"}),
            (["2.14.0", "2.15.1"], {"order": "as-stored"}),
        ]

    def test_a_cell_without_a_verdict_takes_no_position(self) -> None:
        cells = [Played("a", ("DEMO-004",), "2.15.1", "error", (("order", "x"),)).cell()]
        assert positions_of(demo(), demo().clauses.values(), cells) == []

    def test_the_reference_layer_stands_apart(self) -> None:
        cells = [
            Played("order", ("DEMO-004",), "2.15.1", "position", (("order", "x"),)).cell(),
            Played(
                "order", ("DEMO-004",), "2.15.1", "position", (("order", "y"),), 1, "reference"
            ).cell(),
        ]
        found = positions_of(demo(), demo().clauses.values(), cells)
        assert [(one.provider, one.changed) for one in found] == [
            ("embedded", False), ("reference", False),
        ]  # fmt: skip

    def test_plain_releases_come_first_and_the_reference_layer_last(self) -> None:
        servers = (("2.15.1", "reference"), ("2.15.1", "container"), ("2.15.1", "embedded"),
                   ("2.14.0", "embedded"), ("dev", "path"))  # fmt: skip
        cells = [
            Played("a", ("DEMO-001",), server, "pass", provider=provider).cell()
            for server, provider in servers
        ]
        assert [str(release) for release in releases_of(cells, demo())] == [
            "2.14.0", "2.15.1", "container:2.15.1", "path:dev", "reference:2.15.1",
        ]  # fmt: skip

    def test_what_the_reference_layer_does_not_answer_for_is_no_verdict(self) -> None:
        cells = [
            Played("a", ("DEMO-001",), "2.15.1", "n/a", provider=provider).cell()
            for provider in ("embedded", "reference")
        ]
        [by_release] = verdicts_of(demo(), cells).values()
        assert [str(release) for release in by_release] == ["2.15.1"]


@pytest.mark.usefixtures("small")
class TestCommand:
    def test_the_document_tells_clauses_verdicts_and_positions(
        self, jetproof: Command, conforms: Validate, tmp_path: Path
    ) -> None:
        folder = run_folder(tmp_path / "run", played())
        done = jetproof("spec-diff", "demo@1", "demo@2", "--run", folder, "--json")
        assert done.code == 0
        document: dict[str, Any] = done.document
        conforms("cli/spec-diff", document)
        assert [row["server"] for row in document["revisions"]] == ["2.12.0", "2.14.0"]
        [change] = document["changed"]
        assert change["before"]["releases"][-1] == {
            "server": "2.15.1", "provider": "embedded", "verdicts": {"known": 1},
        }  # fmt: skip
        [position] = document["positions"]
        assert (position["clause"], position["changed"]) == ("DEMO-004", True)

    def test_without_a_run_it_says_how_to_give_one(
        self, jetproof: Command, conforms: Validate
    ) -> None:
        done = jetproof("spec-diff", "demo", "demo@2")
        assert "--run DIR" in done.out
        assert "revision 1 to 2" in done.out
        conforms("cli/spec-diff", jetproof("spec-diff", "demo@1", "demo@2", "--json").document)

    def test_of_a_position_only_what_changed_is_shown(
        self, jetproof: Command, tmp_path: Path
    ) -> None:
        cells = [
            Played("order", ("DEMO-004",), server, "position", (("same", "x"), ("other", server)))
            for server in ("2.14.0", "2.15.1")
        ]
        folder = run_folder(tmp_path / "run", cells)
        arguments = ("spec-diff", "demo@1", "demo@2", "--run", folder)
        told = jetproof(*arguments).out
        assert "other: 2.14.0" in told
        assert "same: x" not in told
        assert "1 more, the same on all of them" in told
        assert "same: x" in jetproof(*arguments, "-v").out

    def test_positions_that_did_not_change_are_shown_on_request(
        self, jetproof: Command, tmp_path: Path
    ) -> None:
        same = [one for one in played() if one.server.startswith("2.15")]
        folder = run_folder(tmp_path / "run", same)
        arguments = ("spec-diff", "demo@1", "demo@2", "--run", folder)
        assert "order: as-stored" not in jetproof(*arguments).out
        assert "order: as-stored" in jetproof(*arguments, "-v").out

    def test_markdown_has_a_table_for_each_kind(self, jetproof: Command, tmp_path: Path) -> None:
        odd = Played("odd", ("DEMO-004",), "2.15.1", "position", (("a|b", "<i>c</i>"),))
        folder = run_folder(tmp_path / "run", [*played(), odd])
        page = jetproof("spec-diff", "demo@1", "demo@2", "--run", folder, "--markdown").out
        assert "## Changed (1)" in page
        assert "## Positions (2)" in page
        assert "| 2.12.0 - 2.12.8: pass 1; 2.14.0 - 2.15.1: known 1 |" in page
        assert "a\\|b: &lt;i>c&lt;/i>" in page
        rows = [line for line in page.splitlines() if line.startswith("|")]
        assert all(line.endswith("|") for line in rows)

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (("demo@1", "demo@7"), "demo has no revision 7"),
            (("demo@1", "adr-50@7"), "no specification adr-50"),
            (("demo@one", "demo@2"), "is not like adr-50"),
            (("demo@1", "demo@2", "--run", "nowhere"), "is not a run folder"),
        ],
    )
    def test_what_cannot_be_compared_is_refused(
        self, jetproof: Command, arguments: tuple[str, ...], told: str
    ) -> None:
        done = jetproof("spec-diff", *arguments)
        assert done.code == 2
        assert told in done.err

    def test_what_a_server_said_cannot_act_on_a_terminal(
        self, jetproof: Command, tmp_path: Path
    ) -> None:
        taken = (("order", "\x1b[2J"),)
        folder = run_folder(
            tmp_path / "run", [Played("order", ("DEMO-004",), "2.15.1", "position", taken)]
        )
        for option in ("-v", "--markdown", "--json"):
            done = jetproof("spec-diff", "demo@1", "demo@2", "--run", folder, option)
            assert "\x1b" not in done.out


@pytest.fixture
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands see what Jetproof carries, without reading it again each time."""
    monkeypatch.setattr(library_module, "load_library", lambda *_: carried())


@pytest.mark.usefixtures("read_once")
class TestCatalogues:
    """What Jetproof carries."""

    @pytest.mark.parametrize(
        ("spec", "a", "b"),
        [("adr-50", 7, 10), ("adr-37", 0, 3), ("adr-31", 2, 8), ("adr-53", 1, 4)],
    )
    def test_revisions_can_be_compared(
        self, jetproof: Command, conforms: Validate, spec: str, a: int, b: int
    ) -> None:
        document: dict[str, Any] = jetproof(
            "spec-diff", f"{spec}@{a}", f"{spec}@{b}", "--json"
        ).document
        conforms("cli/spec-diff", document)
        counts = document["counts"]
        assert counts["added"] + counts["removed"] + counts["changed"] > 0
        assert counts["kept"] > 0

    def test_two_specifications_are_not_two_revisions(self, jetproof: Command) -> None:
        done = jetproof("spec-diff", "adr-50@7", "adr-31@8")
        assert done.code == 2
        assert "adr-50 and adr-31 are two specifications" in done.err

    def test_every_numbered_revision_has_a_date(self) -> None:
        assert carried().specs
        for spec in carried().specs.values():
            assert [one.number for one in spec.history] == list(spec.revisions)
            if len(spec.revisions) > 1:
                assert all(one.date for one in spec.history), spec.id

    def test_the_revisions_of_adr_50_are_those_of_its_table(self) -> None:
        history = carried().specs["adr-50"].history
        assert [(one.server, one.api_level) for one in history][:7] == [
            ("2.12.0", 2), ("2.12.0", 2), ("2.12.0", 2), ("2.12.0", 2),
            ("2.14.0", 3), ("2.12.1", 2), ("2.14.0", 3),
        ]  # fmt: skip
        assert (history[-1].number, history[-1].server, history[-1].api_level) == (10, "2.14.0", 4)

    def test_a_sentence_without_a_clause_really_has_none(self) -> None:
        """Fails when a clause is written for a sentence that the catalogue still excuses."""
        assert any(spec.no_clause for spec in carried().specs.values())
        for spec in carried().specs.values():
            stated = {clause.sentence_hash for clause in spec.clauses.values()}
            twice = [one.anchor for one in spec.no_clause if one.sentence_hash in stated]
            assert twice == []
