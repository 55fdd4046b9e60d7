"""docs/tap.md: its rules can be read, its code runs, and it leaves nothing out."""

from __future__ import annotations

import asyncio
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from jetproof.load.mistakes import Mistake
from jetproof.load.rule_schema import ACTIONS, COUNTS, SELECTOR, SIMPLE
from jetproof.load.yaml_source import parse_yaml
from jetproof.targets.tap import Event, Tap, TapEvent, parse_rules
from jetproof.wire import Connection

PAGE = (Path(__file__).parents[2] / "docs" / "tap.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(found["info"], found["text"]) for found in FENCE.finditer(PAGE)]
RULES = [text for info, text in BLOCKS if info == "yaml rules"]


def test_every_block_is_checked_by_something() -> None:
    assert {info for info, _ in BLOCKS} == {"yaml rules", "python"}


@pytest.mark.parametrize("text", RULES, ids=range(len(RULES)))
def test_the_rules_can_be_read(text: str) -> None:
    mistakes: list[Mistake] = []
    document = parse_yaml(text, "docs/tap.md", mistakes)
    assert mistakes == []
    assert document is not None
    assert parse_rules(document.data)


@pytest.mark.parametrize("word", sorted({*SIMPLE, *ACTIONS, *SELECTOR, "answers", *COUNTS}))
def test_nothing_is_left_out(word: str) -> None:
    assert re.search(rf"`\{{?{word}\b", PAGE), word


CLIENT = """\
    client = await Connection.open(tap.host, tap.port)
    client.subscribe("_INBOX.x", lambda msg, at: None)
    client.subscribe("service", lambda msg, at: client.publish(msg.reply))
    client.publish("service", reply="_INBOX.x")
"""


def test_the_code_runs(port: int) -> None:
    (code,) = [text for info, text in BLOCKS if info == "python"]
    body = re.sub(r"^    \.\.\..*\n", CLIENT, code, flags=re.MULTILINE)
    told: list[Event] = []
    space: dict[str, Any] = {"Tap": Tap, "Connection": Connection, "print": told.append}
    exec(f"async def main(host, port):\n{textwrap.indent(body, '    ')}", space)
    asyncio.run(space["main"]("127.0.0.1", port))
    assert [event.rules for event in told if isinstance(event, TapEvent) and event.rules] == [
        ("lose",)
    ]
