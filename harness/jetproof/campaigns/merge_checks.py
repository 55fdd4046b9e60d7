"""Whether folders are parts of one run, and what they cover together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jetproof.errors import JetproofError
from jetproof.results import Run
from jetproof.results.rows import Row

Part = tuple[int, int]

_MISSING = "without shard"
_UNENDED = "not ended: shard"
_SAME: Mapping[str, str] = {"suite_hash": "the suites", "jetproof": "the versions of jetproof"}


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which parts there are, which are missing, and why the joined run is partial (or is not)."""

    rows: list[Row]
    missing: tuple[Part, ...]
    partial: str


def same_run(shards: Sequence[Run]) -> None:
    """Refuse folders that are not parts of one and the same selection of the same cases."""
    ids: dict[str, Run] = {}
    for run in shards:
        if run.id in ids:
            raise _refused(
                f"{ids[run.id].folder} and {run.folder} are the same run, {run.id}",
                "name every shard once",
            )
        ids[run.id] = run
    first = shards[0]
    for run in shards[1:]:
        for key, what in _SAME.items():
            mine, other = first.document.get(key), run.document.get(key)
            if mine != other:
                raise _refused(
                    f"{first.folder} and {run.folder} do not belong together: {what} differ "
                    f"({mine} and {other})",
                    "play all shards with the same version of jetproof and the same suites",
                )
        mine, other = _selection(first), _selection(run)
        differing = [key for key in mine if mine[key] != other.get(key)]
        if differing:
            key = differing[0]
            raise _refused(
                f"{first.folder} and {run.folder} were asked for different things: {key} "
                f"{mine[key]} and {other.get(key)}",
                "shards of one run differ in --shard alone",
            )
    _same_versions(shards)
    _same_builds(shards)


def coverage(shards: Sequence[Run]) -> Coverage:
    """What the shards cover: everything, if every part is there and was played to its end."""
    parts: dict[Part, bool] = {}
    rows: list[Row] = []
    for run in shards:
        ended = run.document.get("finished_at") is not None and not run.document.get("interrupted")
        for part in _parts(run):
            parts[part] = parts.get(part, False) or ended
        rows += _rows(run)
    counts = {count for _, count in parts}
    if len(counts) > 1:
        words = " and ".join(str(count) for count in sorted(counts))
        raise _refused(
            f"these are shards of runs that were split into {words} parts",
            "join shards of one split",
        )
    count = counts.pop()
    wanted = [(index, count) for index in range(1, count + 1)]
    missing = tuple(part for part in wanted if part not in parts)
    unended = [part for part in wanted if parts.get(part) is False]
    reasons = [
        reason
        for reason in str(shards[0].document.get("partial", "")).split("; ")
        if reason and not reason.startswith(("shard ", _MISSING, _UNENDED))
    ]
    if missing:
        reasons.append(f"{_MISSING} {_words(missing)}")
    if unended:
        reasons.append(f"{_UNENDED} {_words(unended)}")
    return Coverage(rows, missing, "; ".join(reasons))


def _selection(run: Run) -> dict[str, object]:
    """What was asked for, but for the shard."""
    request = run.document.get("request")
    asked = request if isinstance(request, dict) else {}
    return {key: asked.get(key) for key in ("patterns", "clauses", "specs", "servers", "edition")}


def _same_versions(shards: Sequence[Run]) -> None:
    """`path:./nats-server` can be one build here and another there."""
    versions: dict[str, tuple[str, Run]] = {}
    for run in shards:
        for target, server in {(cell.target, cell.server) for cell in run.cells}:
            known, where = versions.setdefault(target, (server, run))
            if known != server:
                raise _refused(
                    f"{target} is {known} in {where.folder} and {server} in {run.folder}",
                    "play all shards on the same servers",
                )


def _same_builds(shards: Sequence[Run]) -> None:
    """Two commits of a checkout have one version; a build of `go:` may differ between machines."""
    builds: dict[str, tuple[str, Run]] = {}
    for run in shards:
        rows = run.document.get("targets")
        for row in rows if isinstance(rows, list) else ():
            target, build = str(row.get("target")), row.get("build")
            if build is None or not target.startswith("path:"):
                continue
            known, where = builds.setdefault(target, (build, run))
            if known != build:
                raise _refused(
                    f"{target} is the build {known} in {where.folder} and {build} in {run.folder}",
                    "play all shards on the same build",
                )


def _parts(run: Run) -> list[Part]:
    """The parts that a folder holds: one, or those of the shards that it was joined from."""
    request = run.document.get("request")
    asked = request if isinstance(request, dict) else {}
    merged = asked.get("merged")
    if isinstance(merged, list):
        return [_part(row.get("shard")) for row in merged if isinstance(row, dict)]
    return [_part(asked.get("shard"))]


def _rows(run: Run) -> list[Row]:
    request = run.document.get("request")
    merged = request.get("merged") if isinstance(request, dict) else None
    if isinstance(merged, list):
        return [dict(row) for row in merged if isinstance(row, dict)]
    (part,) = _parts(run)
    return [{"run": run.id, "shard": list(part)}]


def _part(value: object) -> Part:
    """`[2, 5]`; a run that was not split is the only part of itself."""
    if isinstance(value, list) and len(value) == 2:
        return int(value[0]), int(value[1])
    return (1, 1)


def _words(parts: Sequence[Part]) -> str:
    return ", ".join(f"{index}/{count}" for index, count in parts)


def _refused(message: str, hint: str) -> JetproofError:
    return JetproofError(message, phase="plan", hint=hint)
