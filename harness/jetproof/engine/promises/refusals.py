"""A refused request changes nothing: the state of the case before it and after it.

The expectation of a step says beforehand that a refusal is due, so the state can be read before the
request is sent.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator, Mapping, Sequence

from jetproof.engine.judge import Finding, Seen
from jetproof.engine.play import Play
from jetproof.engine.promises.names import REFUSED, streams_of
from jetproof.engine.promises.state import Reader, StreamView
from jetproof.model.case import Expectation, Request
from jetproof.model.matching import at_path
from jetproof.wire import ConnectionLost, WireTimeout

State = Mapping[str, Mapping[str, object] | None]

_CREATE = re.compile(r"\$JS\.(?:[^.]+\.)?API\.STREAM\.CREATE\.([^.*>\s]+)")
_COUNTS = ("messages", "bytes", "first_seq", "last_seq", "num_deleted", "consumer_count")
_POSITIONS = ("config", "delivered.stream_seq", "ack_floor.stream_seq", "num_pending")
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
    return wanted.error is not None and play.settled and not play.moving


@contextlib.asynccontextmanager
async def changes_nothing(play: Play, step: Request) -> AsyncIterator[list[Seen | None]]:
    """Around a request: takes what answered it. A refusal must have left everything as it was."""
    answers: list[Seen | None] = []
    names = (*streams_of(play), *_about(play, step)) if is_due(play, step) else ()
    before = await _state(play, names) if names else None
    yield answers
    if before is None or not answers or not is_refusal(answers[-1]):
        return
    after = await _state(play, names)
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
    return seen is not None and isinstance(at_path(seen.document, "error.code"), int)


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
        # A cluster may leave a consumer out of a list; how many there are is compared as well.
        for key in sorted(was.keys() & now.keys()):
            if was[key] != now[key]:
                found.append(Finding(f"{name}.{key}", False, str(was[key]), now[key]))
    return found or [Finding("state", True, "as before the refusal")]


async def _state(play: Play, names: Sequence[str]) -> State | None:
    """The streams and consumers of the case, by name; None if they cannot be asked for."""
    reader = Reader(play)
    found: dict[str, Mapping[str, object] | None] = {}
    try:
        for name in names:
            view = await reader.stream(name, consumers=True, details=False)
            if view is not None and any(view.config.get(setting) for setting in _MOVES):
                return None
            found[name] = None if view is None else _flat(view)
    except (ConnectionLost, WireTimeout):
        return None
    return found


def _flat(view: StreamView) -> Mapping[str, object]:
    flat: dict[str, object] = {"config": view.config}
    flat |= {name: view.number(name) for name in _COUNTS}
    for info in view.consumers:
        name = info.get("name")
        flat |= {f"consumer.{name}.{path}": at_path(info, path) for path in _POSITIONS}
    return flat


__all__ = ["changes_nothing", "differences", "is_due", "is_refusal"]
