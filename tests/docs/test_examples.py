"""Every example of docs/cases.md is loaded, and played against a real server.

What an example is stands behind its fence: `yaml case=pass` is a whole case file whose cases get
that verdict, `yaml steps=pass` the steps of one case; `ledger`, `clauses` and `mutants` are files
of those kinds. An example without such a word would be one that nothing checks: there may be none.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from jetproof.data import data_root
from jetproof.engine.run import RunOptions, fresh_run_id, run
from jetproof.events import CaseFinished, Event
from jetproof.load.catalogue import read_catalogue
from jetproof.load.deviations import read_deviations
from jetproof.load.library import Library, load_cases, load_library
from jetproof.load.mistakes import Mistake
from jetproof.load.mutants import read_mutants
from jetproof.load.rule_schema import DEFINITIONS
from jetproof.load.steps import KINDS as STEP_KINDS
from jetproof.load.structure import FileSchema
from jetproof.load.yaml_source import Document, parse_yaml
from jetproof.model.case import Case
from jetproof.model.laws import LAWS
from jetproof.model.ledger import Deviation
from jetproof.model.verdict import Cell, Verdict
from jetproof.plan import Selection, make_plan, select
from jetproof.targets.resolve import resolve

PAGE = Path(__file__).parents[2] / "docs" / "cases.md"
FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
PLAYED = {"case", "steps"}
KINDS = {*PLAYED, "ledger", "clauses", "mutants"}
HEAD = """\
suite: adr-50/docs/line-{line}
about: The example in line {line}
given:
  stream: {{subjects: ["$stream.>"], allow_atomic: true, allow_direct: true}}
cases:
  - case: example
    clauses: [A50-ATOMIC-007]
    steps:
"""


@dataclass(frozen=True, slots=True)
class Example:
    """One fenced block: what it is, the verdict its cases get, where it stands."""

    kind: str
    verdict: str
    text: str
    line: int

    def file(self) -> str:
        if self.kind == "case":
            return self.text
        lines = "".join(f"      {line}\n" for line in self.text.splitlines())
        return HEAD.format(line=self.line) + lines

    def __str__(self) -> str:
        return f"line-{self.line}"


def examples() -> Iterator[Example]:
    page = PAGE.read_text(encoding="utf-8")
    for found in FENCE.finditer(page):
        language, _, what = found["info"].partition(" ")
        if language == "yaml":
            kind, _, verdict = what.partition("=")
            yield Example(kind, verdict, found["text"], page.count("\n", 0, found.start()) + 1)


EXAMPLES = list(examples())


@cache
def library() -> Library:
    return load_library()


def cases_of(example: Example, folder: Path) -> tuple[Case, ...]:
    path = folder / f"line-{example.line}.yaml"
    path.write_text(example.file(), encoding="utf-8")
    return load_cases([path], library())


def only(kind: str) -> list[Example]:
    return [example for example in EXAMPLES if example.kind == kind]


def document_of(example: Example) -> Document:
    mistakes: list[Mistake] = []
    document = parse_yaml(example.text, f"docs/cases.md, line {example.line}", mistakes)
    assert mistakes == []
    assert document is not None
    return document


def schema(name: str) -> FileSchema:
    return FileSchema(data_root() / "fixtures" / "schemas" / f"{name}-file.json")


def deviations(cases: tuple[Case, ...]) -> tuple[Deviation, ...]:
    mistakes: list[Mistake] = []
    known = {case.id: case for case in cases}
    names = library().schemas.names()
    read = [
        entry
        for example in only("ledger")
        for entry in read_deviations(
            document_of(example), schema("deviations"), known, names, mistakes
        )
    ]
    assert mistakes == []
    return tuple(read)


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Cell]:
    """Every example played, in one run on the embedded server, with the ledger of the page."""
    folder = tmp_path_factory.mktemp("examples")
    cases = tuple(
        case for example in EXAMPLES if example.kind in PLAYED for case in cases_of(example, folder)
    )
    carried = replace(library(), cases=cases, deviations=deviations(cases))
    found: dict[str, Cell] = {}

    def emit(event: Event) -> None:
        if isinstance(event, CaseFinished):
            found[event.cell.case] = event.cell

    async def play() -> None:
        targets = await resolve(["latest"])
        plan = make_plan(carried, select(carried, Selection()), targets, skip=frozenset())
        # Examples that fail are meant to: they are not played again.
        options = RunOptions(run=fresh_run_id(), time_factor=2.0, confirm=0)
        await run(plan, carried, emit, options)

    asyncio.run(play())
    return found


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.kind in PLAYED], ids=str)
def test_an_example_gets_the_verdict_that_the_page_says(
    example: Example, cells: dict[str, Cell], tmp_path: Path
) -> None:
    cases = cases_of(example, tmp_path)
    assert cases
    for case in cases:
        cell = cells[case.id]
        assert cell.verdict == Verdict(example.verdict), cell.reason


def test_what_the_page_says_about_a_mismatch_is_what_is_said(cells: dict[str, Cell]) -> None:
    failing = [example for example in EXAMPLES if example.verdict == "fail"]
    assert failing
    for example in failing:
        told = re.findall(r"# (step .*)", example.text)
        assert cells[f"adr-50/docs/line-{example.line}::example"].reason == "; ".join(told)


def test_the_entry_of_the_ledger_is_used(cells: dict[str, Cell]) -> None:
    assert [cell.deviation for cell in cells.values() if cell.verdict is Verdict.KNOWN] == [
        "docs-advisory-type"
    ]


@pytest.mark.parametrize("example", only("clauses"), ids=str)
def test_an_example_of_clauses_is_a_catalogue(example: Example) -> None:
    mistakes: list[Mistake] = []
    read_catalogue(document_of(example), Path("adr-50"), schema("clauses"), mistakes)
    assert mistakes == []


@pytest.mark.parametrize("example", only("mutants"), ids=str)
def test_an_example_of_mutants_is_a_file_of_mutants(example: Example) -> None:
    mistakes: list[Mistake] = []
    clauses = {
        name: clause for spec in library().specs.values() for name, clause in spec.clauses.items()
    }
    assert read_mutants(document_of(example), schema("mutants"), clauses, {}, mistakes)
    assert mistakes == []


def test_every_key_of_the_format_is_explained_and_used_in_an_example_that_is_played() -> None:
    page = PAGE.read_text(encoding="utf-8")
    used: set[str] = set()
    for example in EXAMPLES:
        if example.kind in PLAYED:
            used |= keys_in(document_of(replace(example, text=example.file())).data)
    path = data_root() / "fixtures" / "schemas" / "case-file.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    for_clients = client_names(schema)
    names = property_names(schema) - for_clients
    assert names - used == set()
    assert {name for name in names if f"`{name}`" not in page} == set()
    of_rules = for_clients & property_names([schema["$defs"][name] for name in DEFINITIONS])
    for page_name, explained in (("tap", of_rules), ("client-cases", for_clients - of_rules)):
        words = set(re.findall(r"\w+", (PAGE.parent / f"{page_name}.md").read_text("utf-8")))
        assert explained
        assert explained - words == set()


def test_every_law_is_explained_and_used() -> None:
    played = "".join(example.text for example in EXAMPLES if example.kind in PLAYED)
    page = PAGE.read_text(encoding="utf-8")
    suites = data_root() / "suites"
    of_clients = "".join(
        path.read_text(encoding="utf-8") for path in suites.glob("*/client/*.yaml")
    )
    assert LAWS
    for name, law in LAWS.items():
        assert f"law: {{{name}: " in (of_clients if law.for_clients else played)
        [row] = [line for line in page.splitlines() if line.startswith(f"| `{name}` | ")]
        for argument in law.arguments:
            optional = "" if argument in law.required or law.for_clients else "?"
            assert f"`{argument}`{optional}" in row


def keys_in(data: object) -> set[str]:
    if isinstance(data, dict):
        return set(data).union(*map(keys_in, data.values()))
    return set().union(*map(keys_in, data)) if isinstance(data, list) else set()


def client_names(schema: dict[str, Any]) -> set[str]:
    """The names of properties that only cases for client libraries have."""
    definitions = schema["$defs"]
    kinds = [key for key, kind in STEP_KINDS.items() if kind.for_client]
    rules = [definitions[name] for name in DEFINITIONS]
    steps = [*(definitions[f"{kind}-step"] for kind in kinds), *rules]
    given = definitions["given"]["properties"]["client"]
    own = property_names([*steps, given]) | {"client", "tap", "is"}
    others = {name: part for name, part in definitions.items() if part not in steps}
    others = json.loads(json.dumps(others))
    for part, name in (
        ("given", "client"),
        ("case", "tap"),
        ("tabled-case", "tap"),
        ("expectation", "is"),
    ):
        del others[part]["properties"][name]
    return own - property_names([others, schema["properties"]])


def property_names(schema: object) -> set[str]:
    """The names of all properties anywhere in a schema."""
    if isinstance(schema, list):
        return set().union(*map(property_names, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", {})).union(*map(property_names, schema.values()))


def test_every_example_is_checked_and_every_kind_is_there() -> None:
    assert {example.kind for example in EXAMPLES} == KINDS
    assert {example.verdict for example in EXAMPLES if example.kind not in PLAYED} == {""}
