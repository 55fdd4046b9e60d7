"""The file schemas: good in themselves, and read alike by the fast and the thorough validator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest

from jetproof.data import data_root, fixtures_dir
from jetproof.load.mistakes import Mistake
from jetproof.load.structure import FileSchema
from jetproof.load.yaml_source import read_yaml

SCHEMAS = sorted((fixtures_dir() / "schemas").glob("*-file.json"))
INVALID = sorted((Path(__file__).parent.parent / "format" / "invalid").glob("*.yaml"))
SUITES = sorted((data_root() / "suites").glob("*/*/**/*.yaml"))


def documents() -> list[Any]:
    found = []
    for path in (*INVALID, *SUITES):
        document = read_yaml(path, path.name, [])
        if document is not None:
            found.append(document.data)
    return found


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.stem)
def test_a_file_schema_is_a_schema(path: Path) -> None:
    schema = json.loads(path.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    version = 2 if path.stem in ("client-ledger-file", "deviations-file") else 1
    assert schema["$id"] == f"urn:jetproof:{path.stem}:{version}"
    assert schema["title"]
    assert schema["description"]


def test_both_validators_agree_on_every_case_file_good_or_bad() -> None:
    schema = json.loads((fixtures_dir() / "schemas" / "case-file.json").read_text())
    thorough = jsonschema.Draft202012Validator(schema)
    fast = jsonschema_rs.Draft202012Validator(schema)
    verdicts = [(thorough.is_valid(data), fast.is_valid(data)) for data in documents()]
    assert {thorough for thorough, _ in verdicts} == {True, False}
    assert [thorough for thorough, _ in verdicts] == [fast for _, fast in verdicts]


def test_every_key_of_the_case_format_is_described() -> None:
    schema = json.loads((fixtures_dir() / "schemas" / "case-file.json").read_text())
    definitions = schema["$defs"]

    def described(inner: dict[str, Any]) -> bool:
        if "description" in inner or "$ref" not in inner:
            return "description" in inner
        target: Any = definitions
        for part in inner["$ref"].removeprefix("#/$defs/").split("/"):
            target = target[part]
        return "description" in target

    def bare(node: Any, at: str) -> list[str]:
        if isinstance(node, list):
            return [key for item in node for key in bare(item, at)]
        if not isinstance(node, dict):
            return []
        found = [
            f"{at}.{key}"
            for key, inner in node.get("properties", {}).items()
            if isinstance(inner, dict) and not described(inner)
        ]
        for key, inner in node.items():
            found += bare(inner, f"{at}.{key}")
        return found

    assert bare(schema, "file") == []


def test_a_departure_that_only_one_validator_sees_is_still_a_mistake(tmp_path: Path) -> None:
    """`format` is an annotation to one and may be a rule to the other: nothing slips through."""
    path = tmp_path / "odd-file.json"
    path.write_text('{"type": "object"}')
    file = tmp_path / "f.yaml"
    file.write_text("a: 1\n")
    document = read_yaml(file, "f.yaml", [])
    assert document is not None
    schema = FileSchema(path)
    schema.__dict__["_accepts"] = lambda data: False
    mistakes: list[Mistake] = []
    schema.check(document, mistakes)
    assert mistakes == [Mistake("f.yaml", 1, "the file does not follow the schema odd-file.json")]
