"""`render`: the document as one HTML file that needs nothing from anywhere.

Data stands in it as gzip in base64, so that no byte of it can be read as markup; the page's own
script and style are allowed by their hash and nothing else is: no network, no inline handler, no
markup made of text (trusted types). Equal documents give equal files.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
from collections.abc import Mapping
from importlib.resources import files
from string import Template
from typing import Any

from jetproof_reports.page.trim import TRIMS, trimmed
from jetproof_reports.plain import Plain

SIZE_LIMIT = 3_000_000
"""Bytes. A page beyond it has its transcripts and logs shortened, and says so."""

SCRIPTS = (
    "dom", "store", "compare", "state", "filters", "folding", "grid", "sequence", "diff",
    "evidence", "lists", "overview", "libraries", "regressions", "revisions", "coverage", "history",
    "trends", "main",
)  # fmt: skip


def render(document: Mapping[str, Any], limit: int = SIZE_LIMIT) -> str:
    """The page."""
    page = _page(document)
    for trim in TRIMS:
        if len(page) <= limit:
            break
        page = _page(trimmed(document, trim))
    return page


def _page(document: Mapping[str, Any]) -> str:
    style, script = _read("style.css"), _script()
    return Template(_read("shell.html")).substitute(
        policy=html.escape(_policy(script, style), quote=True),
        title=html.escape(_title(document["head"])),
        style=style,
        script=script,
        blocks="\n".join(
            [
                _block("overview", document["overview"]),
                _block("head", document["head"]),
                _block("tables", document["tables"]),
                *(
                    _block(f"evidence-{number}", block)
                    for number, block in enumerate(document["evidence"])
                ),
            ]
        ),
    )


def _policy(script: str, style: str) -> str:
    return (
        "default-src 'none'; "
        f"script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _block(name: str, data: object) -> str:
    """A block of data; a browser runs no script of this type."""
    plain = json.dumps(data, separators=(",", ":"), allow_nan=False).encode("ascii")
    packed = base64.b64encode(gzip.compress(plain, compresslevel=9, mtime=0)).decode("ascii")
    return f'<script type="application/gzip" id="data-{name}">{packed}</script>'


def _title(head: Plain) -> str:
    servers = [column["server"] for column in head["columns"]]
    span = f" · {servers[0]} to {servers[-1]}" if len(servers) > 1 else "".join(servers)
    return f"Jetproof report{span}"


def _script() -> str:
    parts = "\n".join(_read("script", f"{name}.js") for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}\n}})();\n'


def _read(*path: str) -> str:
    return files("jetproof_reports.page").joinpath(*path).read_text(encoding="utf-8")
