"""A step kind is a type of the model, a record that files are read by, and a player: nothing else."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import jsonschema
import pytest

from jetproof.data import fixtures_dir
from jetproof.engine import player
from jetproof.load.case_schema import case_file, definitions, mutants_file, page, table
from jetproof.load.library import Library
from jetproof.load.mistakes import Mistake
from jetproof.load.reader import FileSource, Reader
from jetproof.load.schema_parts import mapping, ref
from jetproof.load.scope import Scope
from jetproof.load.steps import KINDS
from jetproof.load.steps.kind import Readers, StepKind, Written
from jetproof.load.steps.reading import CaseSteps
from jetproof.load.yaml_source import parse_yaml
from jetproof.model.case import Step

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {False: DOCS / "cases.md", True: DOCS / "client-cases.md"}
HINT = "run: python -m jetproof.load.case_schema"


def published(name: str) -> dict[str, Any]:
    document = json.loads((fixtures_dir() / "schemas" / f"{name}.json").read_text("utf-8"))
    assert isinstance(document, dict)
    return document


def types_of_steps(base: type[Step] = Step) -> Iterator[str]:
    """By name: a class with slots is made twice, and the first one may still be there."""
    for one in base.__subclasses__():
        yield from types_of_steps(one)
        if one.kind and one.__module__.startswith("jetproof."):
            yield one.__qualname__


def test_every_type_of_the_model_has_a_record_and_a_player() -> None:
    types = set(types_of_steps())
    assert len(types) > 20
    assert {kind.model.__qualname__ for kind in KINDS.values()} == types
    assert player.PLAYERS.keys() == {kind.model for kind in KINDS.values()}


def test_the_published_schemas_say_what_the_records_say() -> None:
    cases, mutants = published("case-file"), published("mutants-file")
    assert case_file(cases) == cases, HINT
    assert mutants_file(mutants, cases) == mutants, HINT
    assert [one["required"] for one in cases["$defs"]["step"]["oneOf"]] == [[key] for key in KINDS]


@pytest.mark.parametrize("for_client", [False, True])
def test_the_pages_have_a_row_and_a_section_for_every_kind(for_client: bool) -> None:
    text = PAGES[for_client].read_text(encoding="utf-8")
    assert page(text) == text, HINT
    assert table(for_client=for_client) in text
    sections = {found[1].replace(" ", "-") for found in re.finditer(r"^##+ (.+)$", text, re.M)}
    for kind in KINDS.values():
        if kind.for_client is for_client:
            anchor = re.search(rf"^\| \[`{kind.key}`\]\(#([\w-]+)\) \|", text, re.M)
            assert anchor is not None, kind.key
            assert anchor[1] in sections, kind.key


@dataclass(frozen=True, slots=True, kw_only=True)
class Nap(Step):
    """A kind that no file has."""

    kind: ClassVar[str] = "nap"

    seconds: float


def read_nap(read: Readers, step: Written) -> Step:
    if step.body["for"] == "2m":
        read.reader.mistake((*step.here, "for"), "that is no nap")
    return Nap(seconds=1.0)


NAP = StepKind(
    Nap,
    about="Waits.",
    summary="waits",
    body=mapping("nap", {"for": ref("duration")}, required=["for"]),
    read=read_nap,
)


def test_a_new_kind_needs_a_type_a_record_and_a_player(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = {**KINDS, "nap": NAP}
    document = parse_yaml("steps:\n- {nap: {for: 1s}, label: rest}\n- {nap: {for: 2m}}\n", "f", [])
    assert document is not None
    data: Any = document.data

    schema = published("case-file")
    made = {**schema["$defs"], **definitions(kinds.values())}
    validator = jsonschema.Draft202012Validator({"$ref": "#/$defs/step", "$defs": made})
    assert validator.is_valid(data["steps"][0])
    assert not validator.is_valid({"nap": {"for": "long"}})
    assert not validator.is_valid({"nap": {"for": "1s"}, "publish": {"subject": "a"}})

    mistakes: list[Mistake] = []

    def report(line: int, message: str) -> None:
        mistakes.append(Mistake("f", line, message))

    scope = Scope(library.known, report)
    reader = Reader(FileSource(document, report), scope)
    steps = CaseSteps(reader, scope, None, lambda keys: True, kinds=kinds)
    read = steps.steps(("steps",), data["steps"])
    assert mistakes == [Mistake("f", 3, "that is no nap")]
    assert read[0] == Nap(seconds=1.0, line=2, address="1", label="rest")
    assert read[0].kind == "nap"

    played: list[Step] = []

    async def nap(play: Any, step: Nap) -> None:
        played.append(step)

    monkeypatch.setitem(player.PLAYERS, Nap, nap)  # type: ignore[arg-type]
    play: Any = SimpleNamespace(step=None, transcript=SimpleNamespace(step=""), marks={})
    asyncio.run(player.play_steps(play, read))
    assert played == list(read)
