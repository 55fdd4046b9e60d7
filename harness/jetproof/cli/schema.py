"""`jetproof schema`: the published JSON Schemas, listed or printed."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, write_json

if TYPE_CHECKING:
    from jetproof.cli.common import Commands


def add_parser(commands: Commands) -> None:
    parser = add_command(commands, "schema", "List the published JSON Schemas, or print one.")
    parser.add_argument("name", nargs="?", metavar="NAME", help="such as case-file or cli/run")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from jetproof.load.published_schemas import find_schema, published_schemas

    schemas = published_schemas()
    if args.name is not None:
        sys.stdout.write(find_schema(schemas, args.name).read_text(encoding="utf-8"))
        return 0
    rows = [{"name": name, **_head(path)} for name, path in schemas.items()]
    if args.json:
        write_json({"schema": 1, "schemas": rows})
        return 0
    size = max(len(row["name"]) for row in rows)
    for row in rows:
        sys.stdout.write(f"{row['name']:<{size}}  {row['title']}\n")
    return 0


def _head(path: Path) -> dict[str, str]:
    document = json.loads(path.read_text(encoding="utf-8"))
    title = str(document.get("title", ""))
    return {"title": title, "description": str(document.get("description", ""))}
