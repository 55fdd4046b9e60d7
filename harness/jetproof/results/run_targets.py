"""The list of targets in `run.json`, where a run has several parts: a resumed run, or shards."""

from __future__ import annotations

from collections.abc import Iterable

from jetproof.results.rows import Row


def merge_targets(parts: Iterable[object]) -> list[Row]:
    """Each target as it was seen last, with every server that was started for it."""
    merged: dict[str, Row] = {}
    for row in (row for part in parts for row in _list(part)):
        now = dict(row) if isinstance(row, dict) else {}
        name = str(now["target"])
        before = merged.get(name)
        if before is None:
            merged[name] = now
            continue
        known = {key: value for key, value in now.items() if value is not None}
        servers = [*_list(before.get("servers")), *_list(now.get("servers"))]
        merged[name] = {**before, **known, "servers": servers}
    return list(merged.values())


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
