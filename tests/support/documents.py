"""The published JSON Schemas, as a check."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache

import pytest
from jsonschema import Draft202012Validator

from jetproof.data import fixtures_dir

Validate = Callable[[str, object], None]


@cache
def _validator(name: str) -> Draft202012Validator:
    path = fixtures_dir() / "schemas" / f"{name}.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def check_document(name: str, document: object) -> None:
    """Fails unless a document conforms to the published schema of that name."""
    _validator(name).validate(document)


@pytest.fixture(scope="session")
def conforms() -> Validate:
    return check_document
