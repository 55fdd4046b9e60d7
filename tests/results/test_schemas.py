"""The published schemas of rows and documents are those that their types give."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from jetproof.data import fixtures_dir
from jetproof.results.schemas import PUBLISHED, generate, path_of, text


@pytest.mark.parametrize("name", PUBLISHED)
def test_what_is_published_is_what_the_type_gives(name: str) -> None:
    published = path_of(name).read_text(encoding="utf-8")
    assert published == text(name), "python -m jetproof.results.schemas --write"
    Draft202012Validator.check_schema(json.loads(published))


def test_every_row_and_document_has_a_type() -> None:
    root = fixtures_dir() / "schemas"
    files = [*root.glob("cli/*.json"), *root.glob("results/*.json")]
    assert {path.relative_to(root).with_suffix("").as_posix() for path in files} == set(PUBLISHED)


def objects(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        if "properties" in part and isinstance(part["properties"], dict):
            yield part
        for value in part.values():
            yield from objects(value)
    elif isinstance(part, list):
        for value in part:
            yield from objects(value)


@pytest.mark.parametrize("name", PUBLISHED)
def test_no_object_allows_a_field_that_it_does_not_name(name: str) -> None:
    found = list(objects(generate(name)))
    assert found
    for one in found:
        assert one["additionalProperties"] is False
        assert set(one.get("required", ())) <= set(one["properties"])


def test_a_document_has_every_field_that_has_a_default_and_a_row_need_not() -> None:
    [cell] = [one for one in objects(generate("cli/run")) if "mismatches" in one["properties"]]
    assert {"kind", "plays", "scored"} <= set(cell["required"])
    assert "mismatches" not in cell["required"]
    row = generate("results/cell")
    assert not {"kind", "plays", "scored"} & set(row["required"])  # type: ignore[call-overload]


def test_descriptions_of_fields_reach_the_schema() -> None:
    row: Any = generate("results/schema")
    assert row["properties"]["seen"]["description"] == "How many such messages came."
    assert row["properties"]["target"]["description"].startswith("The target as it was asked for")
