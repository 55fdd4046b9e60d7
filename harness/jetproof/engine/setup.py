"""What a case is given before its first step: connections and streams."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import Mapping

from jetproof import clock
from jetproof.engine.judge import Seen, shown, summary
from jetproof.engine.nodes import is_role, node_of
from jetproof.engine.play import GIVEN, CannotGoOn, Play
from jetproof.errors import JetproofError
from jetproof.model.case import ConnectionGiven
from jetproof.model.matching import MISSING, at_path, same
from jetproof.model.template import render
from jetproof.model.verdict import Fault
from jetproof.wire import Headers, WireTimeout

REACHABLE_WITHIN = 10.0
NOT_READY = (10005, 10008, 10023, 10074)  # no suitable peers, not available, no resources
# A server removes an account's folder with the last stream in it. A stream that is made at that very
# moment has no place on disk, and has one when it is asked for again.
NO_PLACE = 10049
NAME_IN_USE = 10058
PROBE_WITHIN = 5.0
_WILDCARD = re.compile(r"(?<![^.])[*>](?![^.])")


async def prepare(play: Play) -> None:
    """Connections first, streams next, and at last the connections that depend on a stream."""
    await play.session.observe(play.account)
    given = play.case.given
    early = {name: wanted for name, wanted in given.connections.items() if not is_role(wanted.node)}
    for name in dict.fromkeys(("main", *early)):
        await connect(play, name, given=early.get(name, ConnectionGiven()))
    for name, config in given.streams:
        await _create(play, name, render(config, play.env))
    for name in given.connections:
        if name in early:
            continue
        if name in play.lines:
            await play.detach(name)
        await connect(play, name)
    if len(play.session.target.nodes) > 1:
        await _reachable(play)


async def connect(play: Play, name: str, *, given: ConnectionGiven | None = None) -> None:
    """Opens one connection of the case; `main` is a shared one unless the case says otherwise."""
    wanted = given or play.case.given.connections.get(name, ConnectionGiven())
    if name == "main" and wanted == ConnectionGiven() and play.account is None:
        play.attach(name, await play.session.shared(), private=False, account=None)
        return
    node = play.session.live_nodes()[0] if wanted.node is None else await node_of(play, wanted.node)
    account = wanted.account or play.account
    connection = await play.session.open(node, account, wanted.options, user=wanted.user)
    play.attach(name, connection, private=True, account=account)


async def _create(play: Play, name: str, config: object) -> None:
    """Creates a stream and makes sure that the server took every setting, not just most."""
    assert isinstance(config, Mapping)
    stream = str(play.env[name])
    wanted = {"name": stream, **config}
    deadline = clock.now() + REACHABLE_WITHIN * play.factor
    lost = False
    while True:
        answer = await play.asked(f"$JS.API.STREAM.CREATE.{stream}", wanted)
        if lost and _error_code(answer) == NAME_IN_USE:
            # It was made when it was asked for first. A server that compares what it has completed
            # with what is asked for takes the two for different streams.
            answer = await play.asked(f"$JS.API.STREAM.INFO.{stream}", None)
        # A busy cluster may lose the answer; the same stream may be asked for again.
        lost = answer is None and len(play.session.target.nodes) > 1
        if not (lost or _not_yet(answer)) or clock.now() > deadline:
            break
        await asyncio.sleep(0.1)
    if answer is None:
        words = "the stream is created"
        play.check(GIVEN, f"given.{name}", False, words, "no reply", Fault.TIMING)
        raise CannotGoOn
    document = answer.document
    if not isinstance(document, Mapping) or "config" not in document:
        got = summary(answer)
        if answer.status is not None or _http_code(document) >= 500 or _not_yet(answer):
            raise JetproofError(f"the stream ${name} could not be created: {got}", phase="play")
        play.check(GIVEN, f"given.{name}", False, "the stream is created", got)
        raise CannotGoOn
    config = document["config"]
    for key, value in wanted.items():
        actual = config.get(key, MISSING) if isinstance(config, Mapping) else MISSING
        if not _echoed(value, actual):
            play.check(GIVEN, f"given.{name}.{key}", False, json.dumps(value), shown(actual))
    if play.failed:
        raise CannotGoOn


async def _reachable(play: Play) -> None:
    """In a cluster a new stream is known to every node only after a moment."""
    deadline = clock.now() + REACHABLE_WITHIN * play.factor
    for name, _ in play.case.given.streams:
        subject = _probe_subject(play, name)
        if subject is None:
            continue
        while not await _listed(play, str(play.env[name]), subject):
            if clock.now() > deadline:
                raise JetproofError(f"the cluster does not list the stream ${name}", phase="play")
            await asyncio.sleep(0.02)
        unreached = await _unreached(play, subject, deadline)
        if unreached is not None:
            raise JetproofError(
                f"the stream ${name} cannot be reached by {unreached}", phase="play"
            )


async def reached_again(play: Play, stream: str) -> None:
    """Waits until the next leader of a stream of the case can be reached, as after its creation.

    Where that does not come to be, the case goes on all the same, and judges what it sees.
    """
    deadline = clock.now() + REACHABLE_WITHIN * play.factor
    for name, _ in play.case.given.streams:
        subject = _probe_subject(play, name)
        if subject is not None and str(play.env[name]) == stream:
            await _unreached(play, subject, deadline)


def _probe_subject(play: Play, name: str) -> str | None:
    """A subject of a stream that the case is given, if its answers can be waited for."""
    settings = render(dict(play.case.given.streams)[name], play.env)
    if not isinstance(settings, dict) or not settings.get("subjects") or settings.get("no_ack"):
        return None
    return _WILDCARD.sub("jetproof-probe", settings["subjects"][0])


async def _unreached(play: Play, subject: str, deadline: float) -> str | None:
    """The connection from which nobody is reached on a stream's subject in time, if there is one.

    A message that expects another stream is refused without being stored: its refusal tells that
    the stream's subjects are reached from here. A 503 tells that they are not yet; so does silence,
    when a former leader still got the message.
    """
    wrong = Headers([("Nats-Expected-Stream", "jetproof-probe")])
    for line in list(play.lines.values()):
        gone = line.connection.closed or play.session.is_planned_loss(line.connection)
        if gone or line.account != play.account:
            continue  # a stranger never reaches it
        while True:
            left = max(0.1, min(PROBE_WITHIN * play.factor, deadline - clock.now()))
            with contextlib.suppress(WireTimeout):
                answer = await play.questions.request(
                    line.name, line.connection, subject, wrong, left
                )
                if answer.status is None:
                    break
            if clock.now() > deadline:
                return line.name
            await asyncio.sleep(0.02)
    return None


async def _listed(play: Play, stream: str, subject: str) -> bool:
    """Whether the meta leader knows the stream; until it does, it says that there is none."""
    try:
        told = await play.questions.api("$JS.API.STREAM.NAMES", {"subject": subject})
    except WireTimeout:
        return False
    return stream in (told.get("streams") or ())


def _echoed(value: object, actual: object) -> bool:
    """Whether a setting came back: what is inside an object may have been completed."""
    if value in (None, False, 0, "") and actual is MISSING:
        return True
    if isinstance(value, Mapping) and isinstance(actual, Mapping):
        return all(_echoed(item, actual.get(key, MISSING)) for key, item in value.items())
    if isinstance(value, list) and isinstance(actual, list):
        return len(value) == len(actual) and all(map(_echoed, value, actual))
    return same(value, actual)


def _not_yet(answer: Seen | None) -> bool:
    """Whether a stream cannot be made for the moment: a young cluster does not know its peers or
    their room yet, or a folder is being removed."""
    error = _error_code(answer)
    return error in NOT_READY or error == NO_PLACE


def _error_code(answer: Seen | None) -> object:
    return None if answer is None else at_path(answer.document, "error.err_code")


def _http_code(document: object) -> int:
    code = at_path(document, "error.code")
    return code if isinstance(code, int) else 0
