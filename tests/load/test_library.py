"""The library as a whole: what belongs together across files, and what is told when it does not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from jetproof.errors import JetproofError
from jetproof.load.library import Library, load_library
from jetproof.load.mistakes import LoadError
from jetproof.model.clause import Actor, Level, Status
from jetproof.model.matching import mismatch
from jetproof.model.versions import Version

CASE = """\
suite: demo/{suite}
about: A case
given: {{stream: {{subjects: [a]}}}}
cases:
  - case: one
    clauses: [DEMO-001]
    steps:
      - {{label: ask, request: {{subject: a}}, reply: {{empty: true}}}}
      - repeat: {{as: i, times: 2}}
        steps:
          - publish: {{subject: a}}
"""


def put(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def told(root: Path) -> list[str]:
    with pytest.raises(LoadError) as caught:
        load_library(root)
    return str(caught.value).splitlines()


def entry(**changes: str) -> str:
    fields = {
        "id": "one-is-late",
        "kind": "bug",
        "severity": "protocol",
        "servers": '">=2.12.0 <2.14"',
        "text": "It answers at once.",
        "does": "It answers late.",
        **changes,
    }
    case = fields.pop("case", "demo/a::one")
    mismatches = fields.pop("mismatches", "[{step: ask, path: reply, actual: no reply}]")
    fields["cases"] = f"\n      {case}: {mismatches}"
    lines = [f"    {name}: {value}" for name, value in fields.items()]
    return "  -" + lines[0][3:] + "\n" + "\n".join(lines[1:]) + "\n"


# -- the real library --------------------------------------------------------------------------


def test_the_library_that_jetproof_carries_has_no_mistakes() -> None:
    library = load_library()
    assert library.cases
    assert "default" in library.configurations
    assert [case.id for case in library.cases] == sorted(case.id for case in library.cases)
    for case in library.cases:
        assert library.clauses_of(case)


def test_every_case_says_at_its_place_what_it_is() -> None:
    library = load_library()
    assert library.cases
    for case in library.cases:
        lines = (library.root / case.file).read_text().splitlines()
        line, written = lines[case.line - 1], f"case: {case.name}"
        if any(written in it for it in lines):
            assert written in line
        else:  # a row of a table
            assert line.startswith("      - ")


# -- catalogues ---------------------------------------------------------------------------------


def test_clauses_carry_all_that_a_catalogue_says(root: Path) -> None:
    put(
        root,
        "suites/other/clauses.yaml",
        """\
spec: other
title: Another one
revision: 2
revisions: [{revision: 1, date: 2025-01-01, server: 2.12.0, api_level: 2}, {revision: 2}]
clauses:
  - {id: O-001, section: A, level: must, actor: server, revisions: {to: 1}, clause: It was.}
  - id: O-002
    section: B
    level: should
    actor: both
    status: contested
    revisions: {from: 2}
    applies_from: 2.12.1
    clause: It is.
    hash: "0123456789abcdef"
    anchor: "B: bullet 1"
    replaces: O-001
    contested_with: [DEMO-001]
    note: A note.
""",
    )
    library = load_library(root)
    assert library.specs["other"].revision == 2
    assert library.specs["other"].revisions == (1, 2)
    plain, full = library.clause("O-001"), library.clause("O-002")
    assert (plain.level, plain.actor, plain.status) == (
        Level.MUST,
        Actor.SERVER,
        Status.NORMATIVE,
    )
    assert (plain.revision_from, plain.revision_to, plain.applies_from) == (None, 1, None)
    assert full.applies_from == Version.parse("2.12.1")
    assert (full.revision_from, full.revision_to) == (2, None)
    assert (full.status, full.replaces, full.contested_with) == (
        Status.CONTESTED,
        "O-001",
        ("DEMO-001",),
    )
    assert (full.sentence_hash, full.anchor, full.note, full.text) == (
        "0123456789abcdef",
        "B: bullet 1",
        "A note.",
        "It is.",
    )


def test_mistakes_of_a_catalogue_are_told_with_their_lines(root: Path) -> None:
    put(
        root,
        "suites/other/clauses.yaml",
        """\
spec: another
title: Another one
revision: 4
revisions: [{revision: 1}, {revision: 2}, {revision: 2}]
clauses:
  - {id: O-001, section: A, level: must, actor: server, clause: One.}
  - {id: O-001, section: A, level: must, actor: server, clause: Two.}
  - {id: DEMO-001, section: A, level: must, actor: server, clause: Three.}
  - {id: O-004, section: A, level: must, actor: server, revisions: {from: 3}, clause: Four.}
  - {id: O-005, section: A, level: must, actor: server, revisions: {from: 2, to: 1}, clause: Five.}
  - {id: O-006, section: A, level: must, actor: server, replaces: O-009, clause: Six.}
  - id: O-007
    section: A
    level: must
    actor: server
    status: contested
    contested_with: [O-007]
    clause: Seven.
  - id: O-008
    section: A
    level: must
    actor: server
    revisions: {from: 1}
    clause: Eight.
    reworded:
      - {from: 2, anchor: "A: bullet 1", hash: "0123456789abcdef"}
      - {from: 2, anchor: "A: bullet 2", hash: "0123456789abcdef"}
      - {from: 5, anchor: "A: bullet 3", hash: "0123456789abcdef"}
""",
    )
    file = "suites/other/clauses.yaml"
    assert told(root) == [
        f"{file}:1: spec is another, but the folder is other",
        f"{file}:3: revision 4 is not among the revisions",
        f"{file}:4: revision 2 is listed twice",
        f"{file}:7: duplicate clause O-001: it is in line 6 already",
        f"{file}:8: duplicate clause DEMO-001: it is at suites/demo/clauses.yaml:6 already",
        f"{file}:9: revision 3 is not among the revisions",
        f"{file}:10: the last revision is before the first",
        f"{file}:11: no other clause O-009",
        f"{file}:17: no other clause O-007",
        f"{file}:27: revision 2 is not a later one of this clause",
        f"{file}:28: revision 5 is not among the revisions",
    ]


def test_a_catalogue_follows_its_schema(root: Path) -> None:
    put(
        root,
        "suites/other/clauses.yaml",
        """\
spec: other
title: Another one
revision: 1
revisions: [{revision: 1}]
clauses:
  - {id: O-1, section: A, level: shall, actor: server, clause: One.}
  - {id: O-002, section: A, level: must, actor: sever, clause: Two., since: 2.12.0}
  - {id: O-003, section: A, level: must, actor: server, applies_from: 2.12, clause: Three.}
""",
    )
    file = "suites/other/clauses.yaml"
    assert told(root) == [
        f"{file}:6: id must be a clause id such as A50-ATOMIC-042, not 'O-1'",
        f"{file}:6: level cannot be 'shall'; there are: must, should, may",
        f"{file}:7: actor cannot be 'sever'; did you mean server? There are: server, client, both",
        f"{file}:7: unknown key 'since' in clause; there are: id, section, level, actor, status, "
        "revisions, applies_from, applies_to, clause, hash, anchor, reworded, replaces, "
        "contested_with, note, follows",
        f"{file}:8: applies_from must be a version such as 2.12.0, not 2.12",
    ]


def test_an_unknown_clause_is_an_error_that_helps(library: Library) -> None:
    with pytest.raises(JetproofError, match=r"no clause X-001\s+jetproof clauses lists them"):
        library.clause("X-001")


def test_specifications_come_in_the_order_in_which_they_are_listed(root: Path) -> None:
    shutil.copytree(root / "suites" / "demo", root / "suites" / "aaa")
    catalogue = (root / "suites" / "demo" / "clauses.yaml").read_text()
    put(root, "suites/aaa/clauses.yaml", catalogue.replace("demo", "aaa").replace("DEMO", "AAA"))
    put(root, "suites/specs.yaml", "specs:\n  - {id: demo}\n  - {id: aaa}\n")
    assert list(load_library(root).specs) == ["demo", "aaa"]
    put(root, "suites/specs.yaml", "specs:\n  - {id: demo}\n  - {id: bbb}\n")
    assert told(root) == [
        "suites/specs.yaml:1: the folder aaa is not listed",
        "suites/specs.yaml:3: no folder for specification bbb; there are: aaa, demo",
    ]


def test_a_folder_without_a_catalogue_is_a_mistake(root: Path) -> None:
    put(root, "suites/other/a.yaml", CASE.format(suite="a").replace("demo/a", "other/a"))
    assert told(root) == [
        "suites/other/a.yaml:1: no clause catalogue for specification other; there are: demo",
        "suites/other/clauses.yaml:1: cannot be read: No such file or directory",
    ]


# -- case files ---------------------------------------------------------------------------------


def test_a_suite_is_called_as_its_path_says(root: Path) -> None:
    put(root, "suites/demo/deep/er/a.yaml", CASE.format(suite="deep/er/a"))
    assert [case.id for case in load_library(root).cases] == ["demo/deep/er/a::one"]
    put(root, "suites/demo/b.yaml", CASE.format(suite="c"))
    assert told(root) == ["suites/demo/b.yaml:1: suite is demo/c, but the file is demo/b.yaml"]


def test_a_case_id_that_two_files_claim_names_both_places(root: Path) -> None:
    put(root, "suites/demo/a.yaml", CASE.format(suite="a"))
    put(root, "suites/demo/b.yaml", CASE.format(suite="a"))
    assert told(root) == [
        "suites/demo/b.yaml:1: suite is demo/a, but the file is demo/b.yaml",
        "suites/demo/b.yaml:5: duplicate case demo/a::one: it is at suites/demo/a.yaml:5 already",
    ]


def test_no_file_is_left_out_silently(root: Path) -> None:
    put(root, "suites/demo/a.yml", CASE.format(suite="a"))
    assert told(root) == ["suites/demo/a.yml:1: call it .yaml"]


def test_suites_from_elsewhere_are_read_with_the_fixtures_of_the_root(
    root: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "mine"
    shutil.copytree(root / "suites", elsewhere)
    (elsewhere / "demo" / "a.yaml").write_text(CASE.format(suite="a"))
    library = load_library(root, suites=elsewhere)
    assert [case.file for case in library.cases] == [str(elsewhere / "demo" / "a.yaml")]


def test_mistakes_of_all_files_come_in_one_error_sorted_by_place(root: Path) -> None:
    put(root, "suites/demo/b.yaml", CASE.format(suite="b").replace("DEMO-001", "DEMO-9"))
    put(root, "suites/demo/a.yaml", "suite: [\n")
    put(root, "suites/deviations.yaml", "deviations: none\n")
    put(root, "fixtures/mutants/m.yaml", "mutants:\n")
    assert [line.split(": ")[0] for line in told(root)] == [
        "fixtures/mutants/m.yaml:1",
        "suites/demo/a.yaml:1",
        "suites/demo/b.yaml:6",
        "suites/deviations.yaml:1",
    ]


# -- the ledger ---------------------------------------------------------------------------------


def test_an_entry_of_the_ledger(root: Path) -> None:
    put(root, "suites/demo/a.yaml", CASE.format(suite="a"))
    mismatches = """
        - {step: ask, path: reply.empty, actual: "$stream: $5"}
        - {step: "2.1", path: reply.json.seq, actual: {gte: 3}}
        - {step: given, path: given.stream, actual: {absent: true}}"""
    put(
        root,
        "suites/deviations.yaml",
        "deviations:\n" + entry(topology="single", provider="embedded", mismatches=mismatches),
    )
    [deviation] = load_library(root).deviations
    assert (deviation.id, deviation.case) == ("one-is-late", "demo/a::one")
    assert deviation.servers.contains("2.12.8")
    assert not deviation.servers.contains("2.14.0")
    assert (deviation.topology, deviation.provider, deviation.line) == ("single", "embedded", 2)
    literal, numbers, _ = (known.actual for known in deviation.mismatches)
    assert mismatch(literal, "$stream: $5") is None
    assert mismatch(numbers, 3) is None
    assert mismatch(numbers, 2) is not None


def test_an_entry_may_be_about_a_schema(root: Path) -> None:
    mismatches = "[{step: any, path: pub-ack-plain, actual: {exists: true}}]"
    put(
        root,
        "suites/deviations.yaml",
        "deviations:\n" + entry(case="schemas::pub-ack-plain", mismatches=mismatches),
    )
    [deviation] = load_library(root).deviations
    assert deviation.case == "schemas::pub-ack-plain"


FORM = """\
forms:
  - name: waiting
    spec: demo
    clauses: DEMO-003
    spoken: [{from: 2.12.2, revision: 2}, {from: 2.12.4, revision: null}]
    unspoken: ledger
"""


def test_an_entry_about_a_form_leaves_out_who_speaks_it(root: Path) -> None:
    put(root, "suites/demo/a.yaml", CASE.format(suite="a"))
    put(root, "fixtures/servers/forms.yaml", FORM)
    put(root, "suites/deviations.yaml", "deviations:\n" + entry(form="waiting"))
    [deviation] = load_library(root).deviations
    covered = [
        patch
        for patch in range(6)
        if deviation.covers("demo/a::one", Version(2, 12, patch), "single", "embedded")
    ]
    assert covered == [0, 1, 4, 5]


@pytest.mark.parametrize(
    ("name", "unspoken", "message"),
    [
        ("wating", "ledger", "no wire form wating; did you mean waiting?"),
        (
            "waiting",
            "n/a",
            "cases of waiting are n/a where it is not spoken: no entry can be about them",
        ),
    ],
)
def test_a_form_that_no_entry_can_be_about(
    root: Path, name: str, unspoken: str, message: str
) -> None:
    put(root, "suites/demo/a.yaml", CASE.format(suite="a"))
    put(root, "fixtures/servers/forms.yaml", FORM.replace("ledger", unspoken))
    put(root, "suites/deviations.yaml", "deviations:\n" + entry(form=name))
    [line] = told(root)
    assert line.startswith("suites/deviations.yaml:")
    assert line.endswith(message)


def test_mistakes_of_the_ledger_are_told_with_their_lines(root: Path) -> None:
    put(root, "suites/demo/a.yaml", CASE.format(suite="a"))
    wrong = [
        entry(),
        entry(),
        entry(id="two", case="demo/a::on"),
        entry(id="three", case="schemas::pub-ack"),
        entry(id="four", servers="recent"),
        entry(id="five", mismatches='[{step: "3", path: reply, actual: x}]'),
        entry(id="six", mismatches='[{step: "1", path: reply, actual: x}]'),
        entry(id="seven", topology="cluster-3"),
        entry(id="eight", sometimes="true", servers="'>=2.12.0'"),
        entry(id="nine", servers='{"2.12": "*", "2.14": recent}'),
    ]
    put(root, "suites/deviations.yaml", "deviations:\n" + "".join(wrong))
    file = "suites/deviations.yaml"
    no_range = (
        "'recent' is not a version range such as `>=2.12.0 <2.14.0`, `2.12.*`, "
        "`2.12.0 - 2.12.8` or `*`"
    )
    assert told(root) == [
        f"{file}:10: duplicate entry one-is-late: it is in line 2 already",
        f"{file}:25: no case demo/a::on; did you mean demo/a::one?",
        f"{file}:33: no schema 'pub-ack'; did you mean pub-ack-plain? "
        "There are: error-reply, pub-ack-plain",
        f"{file}:37: {no_range}",
        f"{file}:49: demo/a::one has no step '3'; there are: given, closing, ask, 2, 2.1",
        f"{file}:57: step 1 has the label ask: name it by that",
        f"{file}:64: demo/a::one is played in single only",
        f"{file}:73: an entry that holds sometimes never gets stale, so its releases must have an "
        "end: give `servers` an upper bound",
        f"{file}:79: {no_range}",
    ]


def test_a_ledger_follows_its_schema(root: Path) -> None:
    put(
        root,
        "suites/deviations.yaml",
        "deviations:\n"
        + entry(mismatches="[{step: 1, path: reply, actual: {like: x}}]", providr="embedded")
        + entry(mismatches="[]", severity="bad", servers="{recent: '*'}")
        + entry().replace("    kind: bug\n", ""),
    )
    matchers = (
        "equals, not, exists, absent, type, match, contains, length, gt, gte, lt, lte, in, values"
    )
    file = "suites/deviations.yaml"
    assert told(root) == [
        f"{file}:8: unknown key 'providr' in deviation; did you mean provider? There are: id, "
        "kind, severity, upstream, servers, form, topology, provider, sometimes, text, does, cases",
        f'{file}:10: step must be a label, or an address in quotes such as "2", not 1',
        f"{file}:10: unknown matcher 'like'; there are: {matchers}",
        f"{file}:13: severity cannot be 'bad'; there are: loss, crash, protocol, cosmetic",
        f"{file}:14: key 'recent' in servers must be a release line such as \"2.12\", or "
        '"2.14+" for that line and all later ones',
        f"{file}:18: demo/a::one is empty",
        f"{file}:19: missing key 'kind' in deviation: give one of bug, text-behind, "
        "not-implemented, reading",
    ]


def test_the_ledger_keeps_quiet_about_cases_that_could_not_be_read(root: Path) -> None:
    put(root, "suites/demo/a.yaml", CASE.format(suite="a").replace("repeat", "repeet"))
    put(root, "suites/deviations.yaml", "deviations:\n" + entry())
    assert [line.split(": ")[0] for line in told(root)] == ["suites/demo/a.yaml:9"]


# -- mutants ------------------------------------------------------------------------------------

MUTANT = """\
mutants:
  - id: no-batch
    about: The ack has no batch
    breaks: [{clause}]
    rules:
      - {{id: strip, on: {{from: server}}, do: {{change: {{json: {{batch: {{remove: true}}}}}}}}}}
"""


def test_mutants_are_read_from_every_file(root: Path) -> None:
    put(root, "fixtures/mutants/b.yaml", MUTANT.format(clause="DEMO-001"))
    put(root, "fixtures/mutants/a.yaml", MUTANT.format(clause="DEMO-004").replace("no-", "odd-"))
    first, second = load_library(root).mutants
    assert (first.id, first.breaks) == ("no-batch", ("DEMO-001",))
    assert (second.id, second.file, second.line) == ("odd-batch", "fixtures/mutants/a.yaml", 2)
    [rule] = first.rules
    assert rule["do"] == {"change": {"json": {"batch": {"remove": True}}}}


def test_mistakes_of_mutants_are_told_with_their_lines(root: Path) -> None:
    put(root, "fixtures/mutants/a.yaml", MUTANT.format(clause="DEMO-001"))
    put(root, "fixtures/mutants/b.yaml", MUTANT.format(clause="DMEO-001"))
    put(root, "fixtures/mutants/c.yaml", "mutants:\n  - {id: x, about: y, rules: [{on: {}}]}\n")
    assert told(root) == [
        "fixtures/mutants/b.yaml:2: duplicate mutant no-batch: "
        "it is at fixtures/mutants/a.yaml:2 already",
        "fixtures/mutants/b.yaml:4: unknown clause DMEO-001; did you mean DEMO-001?",
        "fixtures/mutants/c.yaml:2: missing key 'breaks' in mutant",
        "fixtures/mutants/c.yaml:2: missing key 'do' in rule",
    ]


def test_a_rule_that_cannot_be_read_is_told_with_its_line(root: Path) -> None:
    put(
        root,
        "fixtures/mutants/a.yaml",
        """\
mutants:
  - id: wrong
    about: Rules that are none
    breaks: [DEMO-001]
    rules:
      - {on: {from: server}, do: drop}
      - on:
          from: nobody
          json: {"a[": 1}
        do: explode
""",
    )
    lines = told(root)
    assert lines[0] == (
        "fixtures/mutants/a.yaml:8: from cannot be 'nobody'; there are: client, server"
    )
    assert lines[1].startswith("fixtures/mutants/a.yaml:10: do cannot be 'explode'; there are:")
    assert len(lines) == 2


def test_a_rule_that_means_nothing_is_reported_with_its_line(root: Path) -> None:
    put(
        root,
        "fixtures/mutants/a.yaml",
        """\
mutants:
  - id: wrong
    about: Rules that follow the schema
    breaks: [DEMO-001]
    rules:
      - {id: twice, on: {from: server}, do: drop}
      - id: twice
        on:
          op: PING
          json: {"a[": 1}
        do: {answer: {status: 503}}
""",
    )
    assert told(root) == [
        "fixtures/mutants/a.yaml:7: there is another rule 'twice'",
        "fixtures/mutants/a.yaml:8: whose frames? Write from: client or from: server",
        "fixtures/mutants/a.yaml:10: 'a[' is not a path like state.messages or items[0]",
        "fixtures/mutants/a.yaml:11: only a publish of the client can be answered: "
        "write op: PUB in on",
    ]


# -- the hash of everything ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "suites/demo/a.yaml",
        "suites/demo/clauses.yaml",
        "suites/deviations.yaml",
        "fixtures/errors.yaml",
        "fixtures/servers/default.conf",
        "fixtures/servers/forms.yaml",
        "fixtures/servers/speaks.yaml",
        "fixtures/schemas/wire/error-reply.json",
    ],
)
def test_the_suite_hash_changes_with_everything_that_can_change_a_verdict(
    root: Path, name: str
) -> None:
    put(root, "suites/demo/a.yaml", CASE.format(suite="a"))
    put(root, "suites/deviations.yaml", "deviations: []\n")
    put(root, "fixtures/servers/forms.yaml", "forms: []\n")
    before = load_library(root).suite_hash
    assert load_library(root).suite_hash == before
    path = root / name
    path.write_text(path.read_text() + "\n")
    assert load_library(root).suite_hash != before


def test_the_suite_hash_does_not_depend_on_where_the_files_are(root: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(root, moved)
    assert load_library(moved).suite_hash == load_library(root).suite_hash
