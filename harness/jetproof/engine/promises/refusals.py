"""A refused request changes nothing: the state of the case before it and after it.

The expectation of a step says beforehand that a refusal is due, so the state can be read before the
request is sent.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Mapping, Sequence

from jetproof.engine.judge import Finding, Seen
from jetproof.engine.play import Play
from jetproof.engine.promises.history import read_history
from jetproof.engine.promises.names import REFUSED, streams_of
from jetproof.engine.promises.state import Reader, StreamView
from jetproof.model.case import Expectation, Request
from jetproof.model.matching import at_path, mismatch
from jetproof.wire import ConnectionLost, WireTimeout

State = Mapping[str, Mapping[str, object] | None]

_CREATE = re.compile(r"\$JS\.(?:[^.]+\.)?API\.STREAM\.CREATE\.([^.*>\s]+)")
_COUNTS = ("messages", "bytes", "first_seq", "last_seq", "num_deleted")
_LOOKS, _AGAIN = 20, 0.05
_FOLLOWS = ("bytes", "first_seq")
"""What changes with the number of messages anyway."""
_POSITIONS = (
    "config",
    "delivered.stream_seq",
    "ack_floor.stream_seq",
    "num_pending",
    "num_ack_pending",
)
_REFUSALS = frozenset({400, 408, 409, 412, 413})
"""Statuses that refuse a request. 404 and 204 answer one."""
_OTHERS = (100, 204, 404, 503)
_MOVES = ("max_age", "subject_delete_marker_ttl", "sources", "mirror")
"""Settings with which a stream changes by itself."""


def is_due(play: Play, step: Request) -> bool:
    """Whether a step expects a refusal, at a moment at which nothing else of the case goes on."""
    wanted = step.reply
    if not isinstance(wanted, Expectation) or REFUSED not in play.promises:
        return False
    session = play.session
    if play.client is not None or session.down or session.foreign or play.is_branch:
        return False
    return _wants_refusal(play, wanted) and play.settled and not play.moving


def _wants_refusal(play: Play, wanted: Expectation) -> bool:
    status = wanted.status
    if wanted.error is not None or status is None:
        return wanted.error is not None
    accepted = {code for code in (*_REFUSALS, *_OTHERS) if mismatch(status, code, play.env) is None}
    return bool(accepted) and accepted <= _REFUSALS


@contextlib.asynccontextmanager
async def changes_nothing(play: Play, step: Request) -> AsyncIterator[list[Seen | None]]:
    """Around a request: takes what answered it. A refusal must have left everything as it was."""
    answers: list[Seen | None] = []
    names = (*streams_of(play), *_about(play, step)) if is_due(play, step) else ()
    listed = names[0] if names and ".API.STREAM." in play.text(step.message.subject) else None
    before = await _caught_up(play, names, listed) if names else None
    yield answers
    if before is None or not answers or not is_refusal(answers[-1]):
        return
    after = await _state(play, names, listed)
    if after is None:
        return
    for finding in differences(before, after):
        play.check(
            step,
            play.generic(f"refused.{finding.path}"),
            finding.ok,
            finding.expected,
            finding.actual,
            clause=REFUSED,
        )


def _about(play: Play, step: Request) -> list[str]:
    """The stream that a refused request would have made."""
    found = _CREATE.fullmatch(play.text(step.message.subject))
    return [found[1]] if found else []


def is_refusal(seen: Seen | None) -> bool:
    if seen is None:
        return False
    return seen.status in _REFUSALS or isinstance(at_path(seen.document, "error.code"), int)


def differences(before: State, after: State) -> list[Finding]:
    """What a refusal changed, by stream; one finding that holds where that is nothing."""
    found: list[Finding] = []
    for name, was in before.items():
        now = after.get(name)
        if was is None or now is None:
            if was is not now:
                words = "no such stream, as before" if was is None else "the stream, as before"
                found.append(Finding(name, False, words, "absent" if now is None else "there"))
            continue
        changed = [key for key in sorted(was.keys() & now.keys()) if was[key] != now[key]]
        if "messages" in changed:
            changed = [key for key in changed if key not in _FOLLOWS]
        found += [Finding(f"{name}.{key}", False, str(was[key]), now[key]) for key in changed]
    return found or [Finding("state", True, "as before the refusal")]


async def _caught_up(play: Play, names: Sequence[str], listed: str | None) -> State | None:
    """The state, once it shows every message that was acknowledged; None if it never does.

    A server of a cluster that was the leader a moment ago may answer for the one that is."""
    highest = read_history(play.transcript.frames).highest
    for _ in range(_LOOKS):
        state = await _state(play, names, listed)
        if state is None or all(
            view is None or _last(view) >= highest.get(name, 0)
            for name, view in state.items()
            if name in names
        ):
            return state
        await asyncio.sleep(_AGAIN)
    return None


def _last(view: Mapping[str, object]) -> int:
    last = view.get("last_seq")
    return last if isinstance(last, int) else 0


async def _state(play: Play, names: Sequence[str], listed: str | None) -> State | None:
    """The streams and consumers of the case, by name; None if they cannot be asked for.

    `listed` is the stream whose subjects are looked up, where a stream could have been made."""
    reader = Reader(play)
    clustered = len(play.session.target.nodes) > 1
    found: dict[str, Mapping[str, object] | None] = {}
    try:
        for name in names:
            view = await reader.stream(name, consumers=True, details=False)
            if view is not None and any(view.config.get(setting) for setting in _MOVES):
                return None
            found[name] = None if view is None else _flat(view, clustered)
        if listed is not None:
            found["names"] = {"listed": await reader.streams_on(f"{listed}.>")}
    except (ConnectionLost, WireTimeout):
        return None
    return found


def _flat(view: StreamView, clustered: bool) -> Mapping[str, object]:
    """What must not change. Servers of a cluster hear of a consumer at different moments."""
    flat: dict[str, object] = {"config": view.config}
    flat |= {name: view.number(name) for name in _COUNTS}
    if clustered:
        return flat
    flat["consumers"] = sorted(str(info.get("name")) for info in view.consumers)
    for info in view.consumers:
        name = info.get("name")
        flat |= {f"consumer.{name}.{path}": at_path(info, path) for path in _POSITIONS}
    return flat


__all__ = ["changes_nothing", "differences", "is_due", "is_refusal"]
