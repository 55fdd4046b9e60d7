"""The published JSON Schemas: the files below `fixtures/schemas`, by name."""

from __future__ import annotations

from pathlib import Path

from jetproof.data import fixtures_dir
from jetproof.errors import JetproofError


def published_schemas() -> dict[str, Path]:
    """Every schema by its name: its path below `fixtures/schemas`, without `.json`."""
    root = fixtures_dir() / "schemas"
    paths = sorted(root.rglob("*.json"))
    return {path.relative_to(root).with_suffix("").as_posix(): path for path in paths}


def find_schema(schemas: dict[str, Path], name: str) -> Path:
    """The schema of that name; its last part is enough where it is the only one."""
    wanted = name.removesuffix(".json")
    if wanted in schemas:
        return schemas[wanted]
    ending = [full for full in schemas if full.endswith(f"/{wanted}")]
    if len(ending) == 1:
        return schemas[ending[0]]
    hint = f"there are: {', '.join(ending or schemas)}"
    what = f"{name!r} is the name of several schemas" if ending else f"no schema {name!r}"
    raise JetproofError(what, phase="plan", hint=hint)
