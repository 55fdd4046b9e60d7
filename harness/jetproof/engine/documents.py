"""Payloads as JSON, read strictly: a server may send anything, and nothing it sends may hurt.

Python's own reader is generous (NaN, UTF-16) and can be brought down (a hundred thousand brackets).
What is no JSON by the letter, or nested beyond any use, counts as no JSON here.
"""

from __future__ import annotations

import json
from typing import NoReturn

from jetproof.model.matching import MISSING

DEEPEST = 64
_OPENING = (list, dict)


def read_json(payload: bytes) -> object:
    """The document, or MISSING if the payload is none."""
    if not payload:
        return MISSING
    try:
        document = _READER.decode(payload.decode("utf-8"))
    except (ValueError, RecursionError):
        return MISSING
    # Counting is quick, and only a payload with many brackets can be deep.
    if payload.count(b"[") + payload.count(b"{") > DEEPEST and _too_deep(document):
        return MISSING
    return document


def cut(text: str, most: int = 300) -> str:
    """The beginning of a text that may be megabytes, with its length."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _too_deep(document: object) -> bool:
    level = [document] if isinstance(document, _OPENING) else []
    for _ in range(DEEPEST):
        if not level:
            return False
        level = [
            item
            for value in level
            for item in (value.values() if isinstance(value, dict) else value)
            if isinstance(item, _OPENING)
        ]
    return True


_READER = json.JSONDecoder(parse_constant=_refuse)
