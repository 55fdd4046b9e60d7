"""Promises: what a server owes whatever a case is about, judged when the case has ended.

The streams of the case are read through independent paths before they are deleted, and its whole
exchange is read again. Each law has a clause of its own (`suites/promises/clauses.yaml`), so that a
broken promise fails a case that is about a sentence on which the text is silent.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass

from jetproof import clock
from jetproof.engine.client_side import ClientSide
from jetproof.engine.judge import Finding
from jetproof.engine.play import BATCH_ID, Play
from jetproof.engine.promises import calls, consumer_laws, handed, published, reads, stream_laws
from jetproof.engine.promises.history import Acknowledged, History, read_history
from jetproof.engine.promises.names import (
    ACKED,
    ACKNOWLEDGED,
    AS_GIVEN,
    BATCH,
    COMMITTED,
    CONSUMER,
    GAPS,
    HANDED,
    LIMITS,
    OF_CLIENTS,
    ORDER,
    PATHS,
    REFUSED,
    RETURNS,
    STORED,
    STREAM,
    UNCHANGED,
    WHOLE,
    streams_of,
)
from jetproof.engine.promises.state import Reader, StreamView
from jetproof.model.case import Step
from jetproof.wire import ConnectionLost, WireTimeout

CLOSING = "closing"
SETTLED = 1.0
"""Seconds for which a state is read again before it counts as settled."""
AGAIN = 0.05
STREAMS_MOST = 3
FRAMES_MOST = 3000
MESSAGES_MOST = 200


@dataclass(frozen=True, slots=True)
class Held:
    """One law, judged: the clause that it is about, and what was found."""

    clause: str
    finding: Finding


async def close(play: Play, promises: frozenset[str]) -> None:
    """Judges every promise that the catalogue names. What cannot be asked is not judged."""
    session = play.session
    if play.client is not None:
        await _close_client(play, play.client, promises)
        return
    if not promises or session.down or session.foreign:
        return
    if len(play.transcript.frames) > FRAMES_MOST:
        return
    play.step, play.transcript.step = CLOSING, CLOSING
    history = read_history(play.transcript.frames)
    deadline = clock.now() + SETTLED * play.factor
    while True:
        try:
            held = [one async for one in _judged(play, history) if one.clause in promises]
            if all(one.finding.ok for one in held) or clock.now() > deadline:
                break
        except (ConnectionLost, WireTimeout) as problem:
            if isinstance(problem, ConnectionLost) or clock.now() > deadline:
                play.transcript.note("harness", CLOSING, f"not judged: {problem}")
                return
        await asyncio.sleep(AGAIN)
    _check(play, held)


async def _close_client(play: Play, client: ClientSide, promises: frozenset[str]) -> None:
    """The promises of a client library that are judged in every case."""
    if not promises & OF_CLIENTS:
        return
    play.step, play.transcript.step = CLOSING, CLOSING
    steps = tuple(play.case.all_steps())
    deadline = clock.now() + SETTLED * play.factor
    while True:
        held = [one for one in _about_client(client, steps) if one.clause in promises]
        if all(one.finding.ok for one in held) or clock.now() > deadline:
            break
        await asyncio.sleep(AGAIN)
    _check(play, held)


def _about_client(client: ClientSide, steps: Sequence[Step]) -> Iterator[Held]:
    made, exchange = client.made(), client.exchange()
    yield from _all(RETURNS, calls.returned(made))
    yield from _all(HANDED, handed.judged(client, steps))
    yield from _all(ACKNOWLEDGED, published.judged(made, exchange))
    yield from _all(COMMITTED, published.committed(made, exchange))
    yield from _all(AS_GIVEN, published.as_given(made, exchange))
    yield from _all(WHOLE, reads.whole(made, exchange))
    yield from _all(UNCHANGED, reads.unchanged(exchange, client.handed()))


def _check(play: Play, held: Iterable[Held]) -> None:
    for one in held:
        finding = one.finding
        play.check(
            CLOSING,
            finding.path,
            finding.ok,
            finding.expected,
            finding.actual,
            finding.fault,
            clause=one.clause,
        )


async def _judged(play: Play, history: History) -> AsyncIterator[Held]:
    reader = Reader(play)
    acknowledged = history.acknowledged()
    for one in _about_deliveries(history):
        yield one
    for name in streams_of(play)[:STREAMS_MOST]:
        view = await reader.stream(name, consumers=True)
        if view is None:
            continue
        for one in _about_stream(view, history, acknowledged):
            yield one
        async for one in _about_messages(reader, view, history, acknowledged, play.full_laws):
            yield one


async def _about_messages(
    reader: Reader,
    view: StreamView,
    history: History,
    acknowledged: list[Acknowledged],
    full: bool,
) -> AsyncIterator[Held]:
    """Reads acknowledged messages back: the last one, or all of them."""
    grows = stream_laws.is_append_only(view, history)
    ours = [one for one in acknowledged if one.stream == view.name]
    there = [one for one in ours if grows or view.holds(one.seq)]
    for one in there[-MESSAGES_MOST:] if full else there[-1:]:
        stored = await reader.message(view.name, seq=one.seq)
        clause = BATCH if one.message.header(BATCH_ID) else STORED
        for finding in stream_laws.stored_as_sent(one, stored, view):
            yield Held(clause, finding)
        if stored is None:
            continue
        newest = await reader.message(view.name, last_by_subj=stored.subject)
        seq = None if newest is None else newest.seq
        at_least = seq is not None and seq >= stored.seq
        words = f"{stored.seq} or a later message"
        yield Held(PATHS, Finding("last_by_subj", at_least, words, seq))


def _about_deliveries(history: History) -> Iterator[Held]:
    yield from _all(ORDER, consumer_laws.in_order(history))
    yield from _all(ACKED, consumer_laws.acked_is_final(history))


def _about_stream(
    view: StreamView, history: History, acknowledged: list[Acknowledged]
) -> Iterator[Held]:
    yield from _all(STREAM, stream_laws.adds_up(view))
    for info in view.consumers:
        yield from _all(CONSUMER, consumer_laws.consumer_adds_up(view, info))
    yield from _all(LIMITS, consumer_laws.within_limits(view, history))
    if stream_laws.is_append_only(view, history):
        yield from _all(GAPS, consumer_laws.without_gaps(view, history, acknowledged))
        yield from _all(REFUSED, stream_laws.nothing_else(view, history))


def _all(clause: str, findings: Iterable[Finding]) -> Iterator[Held]:
    return (Held(clause, finding) for finding in findings)
