"""`jetproof schema`: the published JSON Schemas, listed or printed."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, write_json
from jetproof.errors import JetproofError

if TYPE_CHECKING:
    from jetproof.cli.common import Commands


def add_parser(commands: Commands) -> None:
    parser = add_command(commands, "schema", "List the published JSON Schemas, or print one.")
    parser.add_argument("name", nargs="?", metavar="NAME", help="such as case-file or cli/run")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    schemas = published()
    if args.name is not None:
        sys.stdout.write(find(schemas, args.name).read_text(encoding="utf-8"))
        return 0
    rows = [{"name": name, **_head(path)} for name, path in schemas.items()]
    if args.json:
        write_json({"schema": 1, "schemas": rows})
        return 0
    size = max(len(row["name"]) for row in rows)
    for row in rows:
        sys.stdout.write(f"{row['name']:<{size}}  {row['title']}\n")
    return 0


def published() -> dict[str, Path]:
    """Every schema by its name: its path below `fixtures/schemas`, without `.json`."""
    from jetproof.data import fixtures_dir

    root = fixtures_dir() / "schemas"
    paths = sorted(root.rglob("*.json"))
    return {path.relative_to(root).with_suffix("").as_posix(): path for path in paths}


def find(schemas: dict[str, Path], name: str) -> Path:
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


def _head(path: Path) -> dict[str, str]:
    document = json.loads(path.read_text(encoding="utf-8"))
    title = str(document.get("title", ""))
    return {"title": title, "description": str(document.get("description", ""))}
