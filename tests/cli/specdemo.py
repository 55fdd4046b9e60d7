"""The small specification of docs/specs.md, as a library of its own, and a run about it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from jetproof.data import data_root
from jetproof.load.catalogue import check_catalogues, read_catalogue
from jetproof.load.library import Library, load_library
from jetproof.load.mistakes import Mistake
from jetproof.load.structure import FileSchema
from jetproof.load.yaml_source import parse_yaml
from jetproof.model.clause import Spec
from jetproof.model.verdict import Cell, Verdict
from jetproof.results.rows import SCHEMA, cell_row, encode

PAGE = Path(__file__).parents[2] / "docs" / "specs.md"
FENCE = re.compile(r"^```(?P<info>[^\n]+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@cache
def fences() -> dict[str, list[str]]:
    """The examples of the page by what stands behind their fences."""
    found: dict[str, list[str]] = {}
    for fence in FENCE.finditer(PAGE.read_text(encoding="utf-8")):
        found.setdefault(fence["info"], []).append(fence["text"])
    return found


def spec_of(text: str) -> Spec:
    """A catalogue without mistakes."""
    mistakes: list[Mistake] = []
    document = parse_yaml(text, "clauses.yaml", mistakes)
    assert document is not None
    schema = FileSchema(data_root() / "fixtures" / "schemas" / "clauses-file.json")
    spec = read_catalogue(document, Path("demo"), schema, mistakes)
    if spec is not None:
        check_catalogues([document], spec.clauses, mistakes)
    assert mistakes == []
    assert spec is not None
    return spec


def demo() -> Spec:
    return spec_of(fences()["yaml clauses"][0])


@cache
def carried() -> Library:
    """What Jetproof carries, read once."""
    return load_library()


def library_of(*specs: Spec) -> Library:
    """What Jetproof carries, with these specifications instead of its own."""
    return replace(carried(), specs={spec.id: spec for spec in specs}, cases=())


@dataclass(frozen=True, slots=True)
class Played:
    """What a run says of one case on one release."""

    case: str
    clauses: tuple[str, ...]
    server: str
    verdict: str
    position: tuple[tuple[str, str], ...] = ()
    revision: int = 1
    provider: str = "embedded"

    def cell(self) -> Cell:
        return Cell(
            case=f"demo/sending::{self.case}",
            suite="demo/sending",
            spec="demo",
            spec_revision=self.revision,
            server=self.server,
            provider=self.provider,
            topology="single",
            configuration="default",
            verdict=Verdict(self.verdict),
            clauses=self.clauses,
            position=dict(self.position),
            target=f"{self.provider}:{self.server}",
        )


def run_folder(
    folder: Path, played: Iterable[Played], name: str = "run-1", at: str = "2026-01-01"
) -> Path:
    """A run folder that holds these cells."""
    folder.mkdir(parents=True)
    document = {"schema": SCHEMA, "run": name, "started_at": f"{at}T00:00:00+00:00"}
    (folder / "run.json").write_text(json.dumps(document))
    rows = b"".join(encode(cell_row(name, one.cell())) for one in played)
    (folder / "cells.jsonl").write_bytes(rows)
    return folder


OLD, NEW = ("2.12.0", "2.12.8"), ("2.14.0", "2.15.1")


def played() -> list[Played]:
    """The run of the page: two old releases and two new ones."""
    cells = []
    for servers, ignored, answered, order in (
        (OLD, "pass", "n/a", "as-sent"),
        (NEW, "known", "pass", "as-stored"),
    ):
        for server in servers:
            taken = (("order", order),)
            cells += [
                Played("ignored", ("DEMO-002",), server, ignored),
                Played("answered", ("DEMO-003",), server, answered, revision=2),
                Played("order", ("DEMO-004",), server, "position", taken),
            ]
    return cells
