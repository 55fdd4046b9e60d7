"""What a case is given: streams that are made although answers are lost."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from jetproof.engine import setup
from jetproof.engine.judge import Seen
from jetproof.engine.play import CannotGoOn, Play

MADE = {"config": {"name": "s", "subjects": ["s.>"], "storage": "file"}}
IN_USE = {"error": {"code": 400, "err_code": 10058}}


class _Play:
    """Gives these answers, one after the other; None is one that was lost."""

    def __init__(self, *answers: dict[str, Any] | None, nodes: int = 3) -> None:
        self.answers = list(answers)
        self.asked_for: list[str] = []
        self.checks: list[str] = []
        self.env = {"stream": "s"}
        self.factor = 1.0
        self.session = SimpleNamespace(target=SimpleNamespace(nodes=range(nodes)))

    async def asked(self, subject: str, document: object) -> Seen | None:
        self.asked_for.append(subject.split(".")[3])
        answer = self.answers.pop(0)
        return None if answer is None else Seen("r", None, json.dumps(answer).encode(), at=0.0)

    def check(self, step: object, path: str, ok: bool, expected: str, actual: object) -> None:
        self.checks.append(f"{path}: {actual}")

    @property
    def failed(self) -> bool:
        return bool(self.checks)


def _made(play: _Play, config: dict[str, Any]) -> None:
    asyncio.run(setup._create(cast("Play", play), "stream", config))


def test_a_stream_whose_first_answer_was_lost_is_looked_up() -> None:
    play = _Play(None, IN_USE, MADE)
    _made(play, {"subjects": ["s.>"]})
    assert play.asked_for == ["CREATE", "CREATE", "INFO"]


def test_what_is_looked_up_must_have_every_setting() -> None:
    play = _Play(None, IN_USE, MADE)
    with pytest.raises(CannotGoOn):
        _made(play, {"subjects": ["s.>"], "allow_direct": True})
    assert play.checks == ["given.stream.allow_direct: {'absent': True}"]


def test_a_name_in_use_is_a_failure_where_no_answer_was_lost() -> None:
    play = _Play(IN_USE)
    with pytest.raises(CannotGoOn):
        _made(play, {"subjects": ["s.>"]})
    assert play.asked_for == ["CREATE"]
