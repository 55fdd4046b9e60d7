"""The answer that one release or library alone gives is marked, by the page's own functions in Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="no Node on this machine")

STUBS = """
const h = (tag, attributes, ...children) => ({ tag, attributes, children: children.flat(9) });
const row = (...cells) => h("tr", {}, cells);
const longTable = (heads, rows, made) => h("table", {}, rows.map(made));
const plural = (count, one) => `${count} ${one}`;
const caseLink = (name) => name, wireText = (text) => text, asked = () => true;
const spans = (matrix, servers) => servers.join(", ");
const viewAddress = () => "", CLEARED = {};
class Grid {}
const text = (node) => (node?.children ? node.children.map(text).join("") : String(node ?? ""));
const isOdd = (node) => node.attributes.class === "answer odd";
const nodes = (node) => (node?.children ? [node, ...node.children.flatMap(nodes)] : []);
const marked = (node) => nodes(node).filter(isOdd).map(text);
"""


def run(scripts: tuple[str, ...], question: str) -> Any:
    folder = files("jetproof_reports.page") / "script"
    parts = [STUBS, *((folder / f"{name}.js").read_text() for name in scripts)]
    program = "\n".join([*parts, f"console.log(JSON.stringify({question}));"])
    done = subprocess.run(
        ["node", "-"], input=program, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("votes", "odd"),
    [
        ({"yes": 3, "no": 1}, "no"),
        ({"no": 1, "yes": 2}, "no"),
        ({"yes": 1, "no": 1}, None),
        ({"yes": 2, "no": 2}, None),
        ({"yes": 3}, None),
        ({"yes": 3, "no": 1, "perhaps": 1}, None),
        ({}, None),
    ],
)
def test_one_is_odd_if_at_least_two_others_agree(votes: dict[str, int], odd: str | None) -> None:
    pairs = json.dumps(list(votes.items()))
    assert run(("libraries",), f"oddOne(new Map({pairs}))") == odd


def test_a_release_that_answers_alone_is_marked() -> None:
    def taken(name: str, value: str, *servers: str) -> dict[str, object]:
        return {
            "case": "s/x::one",
            "revision": 1,
            "topology": "single",
            "client": None,
            "provider": "embedded",
            "clauses": ["C-1"],
            "name": name,
            "value": value,
            "servers": servers,
        }

    positions = [
        taken("alone", "gap", "2.15.1"),
        taken("alone", "pub-ack", "2.14.0", "2.14.6"),
        taken("split", "gap", "2.14.6", "2.15.1"),
        taken("split", "pub-ack", "2.12.0", "2.12.8"),
    ]
    matrix = json.dumps({"servers": ["2.12.0", "2.12.8", "2.14.0", "2.14.6", "2.15.1"]})
    shown = f"positionsShown({matrix}, positionsTaken({json.dumps(positions)}))"
    found = run(("libraries", "history"), f"marked(h('div', {{}}, {shown}))")
    assert found == ["gap 2.15.1alone"]


def test_a_library_that_answers_alone_is_marked() -> None:
    answers = """new Map([
        ["a", new Map([["ok", []]])], ["b", new Map([["ok", []]])],
        ["c", new Map([["error", []]])], ["reference@0.1.0", new Map([["other", []]])],
    ])"""
    cells = "[{ name: 'n', column: { name: 'c' } }]"
    found = run(
        ("libraries",),
        f"['ok', 'error'].map((value) => text(answerShown(usualAnswer({answers}), value, {cells})))",
    )
    assert found == ["ok", "erroralone"]
