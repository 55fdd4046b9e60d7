"""Promises about consumers: their numbers agree, order holds, and an answered ack is final."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from jetproof.engine.judge import Finding
from jetproof.engine.promises.history import Acknowledged, Delivery, History
from jetproof.engine.promises.state import StreamView
from jetproof.model.matching import at_path
from jetproof.wire.rules.selecting import subject_matches

Key = tuple[str, str]
FROM_THE_START = ("all", "by_start_sequence", "by_start_time", "new")


def consumer_adds_up(view: StreamView, info: Mapping[str, object]) -> Iterator[Finding]:
    """Pending, delivered and acknowledged sequences of one consumer describe one state."""
    name = f"consumer.{info.get('name')}"
    delivered, floor = (_pair(info, field) for field in ("delivered", "ack_floor"))
    pending, unacked = (_number(info, field) for field in ("num_pending", "num_ack_pending"))
    policy = at_path(info, "config.ack_policy")
    below = floor[0] <= delivered[0] and floor[1] <= delivered[1]
    words = "at most what was delivered"
    yield Finding(f"{name}.ack_floor", below, words, f"{floor} of {delivered}")
    if policy == "none":
        yield Finding(f"{name}.num_ack_pending", unacked == 0, "none without acks", unacked)
    else:
        most = delivered[0] - floor[0]
        words = f"at most {most}: delivered above the floor"
        yield Finding(f"{name}.num_ack_pending", unacked <= most, words, unacked)
    if _sees_everything(info):
        behind = _above(view, delivered[1])
        yield Finding(
            f"{name}.num_pending", pending == behind, f"{behind} messages after it", pending
        )
    else:
        most = view.number("messages")
        yield Finding(f"{name}.num_pending", pending <= most, f"at most {most}", pending)


def in_order(history: History) -> Iterator[Finding]:
    """First deliveries of a consumer follow the order of the stream, each message once."""
    for (_, consumer), deliveries in _by_consumer(history).items():
        # Two subscriptions of a case may hear one and the same delivery.
        first = sorted(
            {one.said for one in deliveries if one.said.count == 1},
            key=lambda said: said.consumer_seq,
        )
        wrong = [
            f"{before.stream_seq} then {after.stream_seq}"
            for before, after in pairwise(first)
            if after.stream_seq <= before.stream_seq
        ]
        words = "first deliveries in the order of the stream"
        yield Finding(f"order.{consumer}", not wrong, words, wrong[:3] or None)


def without_gaps(
    view: StreamView, history: History, acknowledged: Sequence[Acknowledged]
) -> Iterator[Finding]:
    """Between two messages that a consumer delivered, it leaves out none that its filter matches."""
    stored = {one.seq: one.message.subject for one in acknowledged if one.stream == view.name}
    for info in view.consumers:
        name = str(info.get("name"))
        deliveries = _by_consumer(history).get((view.name, name), [])
        numbers = {one.said.consumer_seq for one in deliveries}
        policy = at_path(info, "config.deliver_policy")
        if policy not in FROM_THE_START or len(numbers) < 2:
            continue
        if len(numbers) != max(numbers) - min(numbers) + 1:
            continue  # some went to nobody, or to somebody else
        seen = {one.said.stream_seq for one in deliveries}
        missed = [
            seq
            for seq in range(min(seen), max(seen))
            if seq not in seen and seq in stored and _matches(info, stored[seq])
        ]
        words = "every message that the filter matches"
        yield Finding(f"gaps.{name}", not missed, words, missed[:5] or None)


def acked_is_final(history: History) -> Iterator[Finding]:
    """A message is not delivered again after the server answered its ack."""
    if history.actions & {"kill", "restart", "stop", "stepdown", "cut", "pause"}:
        return
    by_consumer = _by_consumer(history)
    acked = [
        ack for ack in history.answered_acks if (ack.said.stream, ack.said.consumer) in by_consumer
    ]
    for ack in acked:
        said = ack.said
        again = [
            one.said.count
            for one in by_consumer[said.stream, said.consumer]
            if one.said.stream_seq == said.stream_seq
            and one.at > ack.at
            and one.said.consumer_seq > said.consumer_seq
        ]
        if again:
            words = f"no further delivery of {said.stream_seq} after its answered ack"
            yield Finding(f"acked.{said.consumer}", False, words, f"delivery {again[0]}")
    if acked:
        yield Finding("acked", True, "no delivery after an answered ack")


def within_limits(view: StreamView, history: History) -> Iterator[Finding]:
    """A consumer keeps to the limits that the server confirmed in its configuration."""
    by_consumer = _by_consumer(history)
    for info in view.consumers:
        name = str(info.get("name"))
        said = [one.said for one in by_consumer.get((view.name, name), [])]
        most = _number(info, "config.max_deliver")
        if most > 0 and said:
            highest = max(one.count for one in said)
            words = f"at most {most} deliveries of a message"
            yield Finding(f"limits.{name}.max_deliver", highest <= most, words, highest)
        most = _number(info, "config.max_ack_pending")
        unacked = _number(info, "num_ack_pending")
        if most > 0 and at_path(info, "config.ack_policy") != "none":
            words = f"at most {most} messages without an ack"
            yield Finding(f"limits.{name}.max_ack_pending", unacked <= most, words, unacked)


def _by_consumer(history: History) -> dict[Key, list[Delivery]]:
    """Deliveries of each consumer that has been one and the same for the whole case."""
    found: dict[Key, list[Delivery]] = defaultdict(list)
    for one in history.deliveries:
        found[one.said.stream, one.said.consumer].append(one)
    return {key: each for key, each in found.items() if _is_one(history, key)}


def _is_one(history: History, key: Key) -> bool:
    stream, consumer = key
    made = sum(
        ".CONSUMER." in subject
        and "CREATE" in subject
        and (f".{consumer}." in f"{subject}." or subject.endswith(f".CREATE.{stream}"))
        for subject in history.api
    )
    again = history.asked("CONSUMER.DELETE", "CONSUMER.RESET", of=f"{stream}.{consumer}")
    whole = history.asked("STREAM.DELETE", "STREAM.RESTORE", "STREAM.PURGE", of=stream)
    return made <= 1 and not again and not whole


def _sees_everything(info: Mapping[str, object]) -> bool:
    """Whether a consumer has no filter and no start that leaves messages out."""
    config = info.get("config")
    if not isinstance(config, Mapping):
        return False
    filtered = config.get("filter_subject") or config.get("filter_subjects")
    return not filtered and config.get("deliver_policy") == "all"


def _matches(info: Mapping[str, object], subject: str) -> bool:
    config = info.get("config")
    if not isinstance(config, Mapping):
        return False
    filters = config.get("filter_subjects") or [config.get("filter_subject") or ">"]
    return isinstance(filters, list) and any(
        subject_matches(str(each), subject) for each in filters
    )


def _above(view: StreamView, seq: int) -> int:
    """How many messages the stream holds after a sequence."""
    first = max(view.number("first_seq"), seq + 1)
    gone = sum(deleted >= first for deleted in view.deleted)
    return max(0, view.number("last_seq") - first + 1 - gone) if view.number("messages") else 0


def _pair(info: Mapping[str, object], field: str) -> tuple[int, int]:
    return _number(info, f"{field}.consumer_seq"), _number(info, f"{field}.stream_seq")


def _number(info: Mapping[str, object], path: str) -> int:
    value = at_path(info, path)
    return value if isinstance(value, int) else 0
