"""Adapters stay small: what is not about the library is in the kit of the language."""

from __future__ import annotations

from pathlib import Path

import pytest

from jetproof.targets.clients.spec import known_adapters

SOURCES = frozenset({".go", ".java", ".js", ".mjs", ".py", ".rs", ".sh"})
MOST = {"rust:async-nats": 370}  # it calls two releases of its library: jetstream-extra has its own
NOT_WRITTEN = frozenset({".venv", "kit", "node_modules", "target"})


def sources(folder: Path) -> list[Path]:
    return [
        path
        for path in folder.rglob("*")
        if path.suffix in SOURCES and not NOT_WRITTEN & set(path.relative_to(folder).parts)
    ]


@pytest.mark.parametrize("name", known_adapters())
def test_an_adapter_has_less_than_300_lines(name: str) -> None:
    files = sources(known_adapters()[name].folder)
    assert files
    lines = [line for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(lines) < MOST.get(name, 300)
    assert max(map(len, lines)) <= 120
