"""The published JSON Schemas, as a check."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from jsonschema import Draft202012Validator

from jetproof.data import fixtures_dir

Validate = Callable[[str, object], None]


@pytest.fixture(scope="session")
def conforms() -> Validate:
    """Fails unless a document conforms to the published schema of that name."""
    read: dict[str, Draft202012Validator] = {}

    def check(name: str, document: object) -> None:
        if name not in read:
            path = fixtures_dir() / "schemas" / f"{name}.json"
            schema = json.loads(path.read_text(encoding="utf-8"))
            Draft202012Validator.check_schema(schema)
            read[name] = Draft202012Validator(schema)
        read[name].validate(document)

    return check
