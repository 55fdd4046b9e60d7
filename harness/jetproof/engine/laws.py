"""Laws: invariants over what a case has recorded, written once and named by cases.

Their names and arguments are declared in `jetproof.model.laws`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from jetproof.engine.judge import Finding, Seen
from jetproof.engine.play import Play
from jetproof.model.case import Law
from jetproof.model.laws import LAWS
from jetproof.model.matcher import Matcher
from jetproof.model.matching import describe, mismatch

EARLY = 0.1  # the share of an interval by which a timer may be early


async def law(play: Play, step: Law) -> None:
    for finding in _LAWS[step.law](play, step.arguments):
        play.check(
            step, f"law.{step.law}.{finding.path}", finding.ok, finding.expected, finding.actual
        )


def spaced(play: Play, arguments: Mapping[str, object]) -> list[Finding]:
    """Counted from a mark: a first frame that arrives late would make the second look early."""
    status, by, since = arguments["status"], arguments["by"], play.marks[str(arguments["since"])]
    assert isinstance(by, float)
    times = [seen.at - since for seen in _heard(play, arguments) if seen.status == status]
    findings = _counted(play, arguments, len(times))
    early = [
        f"number {number} came after {passed:.3f} s"
        for number, passed in enumerate(times, 1)
        if passed < by * (number - EARLY)
    ]
    words = f"one every {by:g} s at most"
    findings.append(Finding("by", not early, words, early[0] if early else None))
    return findings


def contiguous(play: Play, arguments: Mapping[str, object]) -> list[Finding]:
    """Stream sequences, as the ack subject of each delivery tells them, rise by one."""
    sequences = [sequence_of(seen.reply) for seen in _heard(play, arguments)]
    findings = _counted(play, arguments, len(sequences))
    broken = [
        f"{before} then {after}"
        for before, after in pairwise(sequences)
        if before is None or after != before + 1
    ]
    words = "sequences that rise by one"
    findings.append(Finding("sequence", not broken, words, broken[0] if broken else None))
    return findings


def outcomes(play: Play, arguments: Mapping[str, object]) -> list[Finding]:
    """How many replies to one step's requests were of one kind."""
    wanted = (str(arguments["of"]), str(arguments["saying"]))
    return _counted(play, arguments, sum(outcome == wanted for outcome in play.outcomes))


def sequence_of(reply: str) -> int | None:
    """The stream sequence in `$JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>...`.

    Releases since 2.10 may put a domain and an account hash before the stream.
    """
    tokens = reply.split(".")
    if tokens[:2] != ["$JS", "ACK"] or len(tokens) < 9:
        return None
    position = 5 if len(tokens) == 9 else 7
    return int(tokens[position]) if tokens[position].isdigit() else None


def _heard(play: Play, arguments: Mapping[str, object]) -> list[Seen]:
    """What came on one subscription, or on every one and every reply subject."""
    name = arguments.get("on")
    boxes = [play.boxes[str(name)]] if name else [*play.boxes.values(), *play.replies.values()]
    heard = [seen for box in boxes for seen in (*box.read, *box.unread)]
    return sorted(heard, key=lambda seen: seen.at)


def _counted(play: Play, arguments: Mapping[str, object], count: int) -> list[Finding]:
    wanted = arguments.get("count")
    if not isinstance(wanted, Matcher):
        return [Finding("count", count > 0, "at least one", count)]
    missed = mismatch(wanted, count, play.env)
    return [Finding("count", missed is None, describe(wanted, play.env), count)]


_LAWS: Mapping[str, Callable[[Play, Mapping[str, object]], list[Finding]]] = {
    "spaced": spaced,
    "contiguous": contiguous,
    "outcomes": outcomes,
}
assert _LAWS.keys() == LAWS.keys(), "every declared law has a body, and none has no declaration"
