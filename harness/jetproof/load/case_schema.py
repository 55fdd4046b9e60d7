"""What the published schemas say about steps and rules: made from the records of step kinds.

    python -m jetproof.load.case_schema

writes it into `fixtures/schemas` and into the tables of `docs`. Everything else in those files is
written by hand and kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jetproof.data import data_root
from jetproof.load.rule_schema import DEFINITIONS, NEEDED
from jetproof.load.schema_parts import Schema, mapping, ref
from jetproof.load.steps import KINDS
from jetproof.load.steps.kind import StepKind

_OF_ANY_STEP: Mapping[str, Schema] = {
    "label": ref("label", "A name for this step, used by ledgers and people."),
    "mark": ref("label", "Names the moment at which this step began."),
}
_TABLE = re.compile(
    r"(?P<begin><!-- step kinds: (?P<which>server|client) -->\n).*?(?P<end><!-- end -->)", re.DOTALL
)


def definitions(kinds: Iterable[StepKind] = KINDS.values()) -> dict[str, Any]:
    """The part of `$defs` of case files that is about steps and rules."""
    listed = tuple(kinds)
    beside = dict.fromkeys(key for kind in listed for key in kind.beside)
    made: dict[str, Any] = _plain(
        {
            **{f"{kind.key}-step": _step(kind) for kind in listed},
            "step": {
                "title": "step",
                "type": "object",
                "x-expected": "a mapping with a step's kind, such as request",
                "description": "One step: exactly one of the kinds.",
                "x-names": "step",
                "x-beside": [*beside, *_OF_ANY_STEP],
                "oneOf": [{"required": [kind.key]} for kind in listed],
                "allOf": [
                    {
                        "if": {"type": "object", "required": [kind.key]},
                        "then": ref(f"{kind.key}-step"),
                    }
                    for kind in listed
                ],
            },
            **DEFINITIONS,
        }
    )
    return made


def case_file(published: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of case files, with all that is about steps and rules as it must be."""
    made = definitions()
    by_hand = {
        name: part
        for name, part in published["$defs"].items()
        if name not in made and not name.endswith("-step")
    }
    return {**published, "$defs": {**by_hand, **made}}


def mutants_file(published: Mapping[str, Any], cases: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of mutants, with rules as in case files."""
    shared = {name: cases["$defs"][name] for name in (*NEEDED, *DEFINITIONS)}
    return {**published, "$defs": {"mutant": published["$defs"]["mutant"], **shared}}


def table(*, for_client: bool) -> str:
    """The table of step kinds of a page of the documentation."""
    page = "client-cases" if for_client else "cases"
    rows = [
        f"| [`{kind.key}`](#{_ANCHORS.get(kind.key, kind.key)}) | {kind.summary} |"
        for kind in KINDS.values()
        if kind.for_client is for_client
    ]
    assert rows, page
    return "\n".join(["| kind | what it does |", "|---|---|", *rows]) + "\n"


_ANCHORS = {
    **dict.fromkeys(("subscribe", "receive", "unsubscribe"), "subscribe-and-receive"),
    **dict.fromkeys(("call", "answered"), "call-and-answered"),
    **dict.fromkeys(("tap", "fired"), "tap-and-fired"),
}
"""Kinds that a page explains together with others."""


def page(text: str) -> str:
    """A page of the documentation, with its tables of step kinds as they must be."""
    return _TABLE.sub(
        lambda found: found["begin"] + table(for_client=found["which"] == "client") + found["end"],
        text,
    )


def _step(kind: StepKind) -> Schema:
    body = {**kind.body, "description": kind.body.get("description", kind.about)}
    return mapping(
        f"{kind.key} step",
        {kind.key: body, **kind.beside, **_OF_ANY_STEP},
        kind.about,
        required=[kind.key, *kind.required],
        **kind.rules,
    )


def _plain(value: Any) -> Any:
    """The same as JSON knows it."""
    return json.loads(json.dumps(value))


def _write(root: Path) -> None:
    schemas = root / "fixtures" / "schemas"
    cases = case_file(json.loads((schemas / "case-file.json").read_text(encoding="utf-8")))
    mutants = json.loads((schemas / "mutants-file.json").read_text(encoding="utf-8"))
    made = {"case-file": cases, "mutants-file": mutants_file(mutants, cases)}
    for name, document in made.items():
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        (schemas / f"{name}.json").write_text(text, encoding="utf-8")
    for path in (root / "docs").glob("*cases.md"):
        path.write_text(page(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    _write(data_root())
