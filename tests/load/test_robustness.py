"""Whatever is done to a good file, loading it gives cases or mistakes with lines, and no more."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jetproof.data import data_root
from jetproof.load.library import Library, load_cases, load_library
from jetproof.load.mistakes import LoadError, Mistake
from jetproof.load.yaml_source import parse_yaml, read_yaml

FILES = sorted((data_root() / "suites").glob("*/*/**/*.yaml"))
JUNK: list[Any] = [
    None, True, 0, -1, 1.5, "", "x", "$never", "${", "$stream", "3s", [], [1], {}, {"x": 1},
    [{"x": {"y": []}}], {"text": "x", "times": "$n"}, {"equals": {"a": 1}}, {"match": "("},
]  # fmt: skip
KEYS = ["", "x", "reply", "steps", "request", "until", "json", "capture", "$x", "given", "text"]


@cache
def library() -> Library:
    return load_library()


@cache
def good(path: Path) -> Any:
    document = read_yaml(path, path.name, [])
    assert document is not None
    return document.data


def places(data: Any, keys: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner: list[tuple[str | int, Any]] = []
    if isinstance(data, dict):
        inner = list(data.items())
    elif isinstance(data, list):
        inner = list(enumerate(data))
    return [(*keys, key) for key, _ in inner] + [
        place for key, value in inner for place in places(value, (*keys, key))
    ]


def spoil(draw: st.DrawFn, data: Any) -> None:
    """Replaces, removes, renames or adds something somewhere."""
    found = places(data)
    *outer, last = draw(st.sampled_from(found))
    holder = data
    for key in outer:
        holder = holder[key]
    match draw(st.sampled_from(["replace", "remove", "rename", "add"])):
        case "replace":
            holder[last] = copy.deepcopy(draw(st.sampled_from(JUNK)))
        case "remove":
            del holder[last]
        case "rename" if isinstance(holder, dict):
            holder[draw(st.sampled_from(KEYS))] = holder.pop(last)
        case _ if isinstance(holder, dict):
            holder[draw(st.sampled_from(KEYS))] = copy.deepcopy(draw(st.sampled_from(JUNK)))
        case _:
            holder.append(copy.deepcopy(draw(st.sampled_from(JUNK))))


@st.composite
def spoiled(draw: st.DrawFn) -> str:
    data = copy.deepcopy(good(draw(st.sampled_from(FILES))))
    for _ in range(draw(st.integers(1, 4))):
        if places(data):
            spoil(draw, data)
    return json.dumps(data, indent=1)


def mistakes_of(path: Path) -> tuple[Mistake, ...]:
    try:
        assert load_cases([path], library())
    except LoadError as error:
        return error.mistakes
    return ()


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=spoiled())
def test_a_spoiled_file_gives_cases_or_mistakes(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "spoiled.yaml"
    path.write_text(text)
    for mistake in mistakes_of(path):
        assert 1 <= mistake.line <= text.count("\n") + 1
        assert mistake.message
        assert "is not valid under" not in mistake.message


@settings(max_examples=150, deadline=None)
@given(
    text=st.text(alphabet=" \n\t:-[]{}&*!|>'\"#%@`,?abc01.~<\x00\x85\ufeff\U0001f600", max_size=60)
)
def test_any_text_gives_a_document_or_mistakes(text: str) -> None:
    mistakes: list[Mistake] = []
    document = parse_yaml(text, "f.yaml", mistakes)
    assert document is not None or mistakes
