"""The laws a case may name: invariants over recorded frames, with the arguments each takes.

The names and their arguments stand here so that a case file is checked before anything runs; what
each law says is in `jetproof.engine.laws`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LawSpec:
    """What a law takes: each argument's kind (int, duration, matcher, text), and which it needs."""

    about: str
    arguments: Mapping[str, str]
    required: frozenset[str]
    for_clients: bool = False


LAWS: Mapping[str, LawSpec] = {
    "spaced": LawSpec(
        "The n-th frame from the server with this status came no earlier than n times `by` after "
        "the step marked `since` began (a tenth is allowed), and so many of them.",
        {"status": "int", "since": "text", "on": "text", "by": "duration", "count": "matcher"},
        frozenset({"status", "since", "by"}),
    ),
    "contiguous": LawSpec(
        "The stream sequences of the messages on a subscription go up one by one.",
        {"on": "text", "count": "matcher"},
        frozenset({"on"}),
    ),
    "sequences": LawSpec(
        "The messages on a subscription, deliveries of a consumer or replies of direct gets, have "
        "exactly these stream sequences, in this order.",
        {"on": "text", "sequences": "text", "within": "duration"},
        frozenset({"on", "sequences"}),
    ),
    "pages": LawSpec(
        "The replies of direct gets on a subscription, page after page, read everything that matches: "
        "sequences rise, each message names the one before it on its page, what is pending falls by one "
        "with each message down to 0, each end marker says what the last message of its page says, and "
        "no page has more than `most` messages.",
        {"on": "text", "most": "int"},
        frozenset({"on"}),
    ),
    "accounted": LawSpec(
        "What was delivered on a subscription and what pull requests left pending, as their ends say, "
        "add up to the messages and bytes that were asked for.",
        {"on": "text", "batch": "int", "max_bytes": "int", "headers": "text"},
        frozenset({"on"}),
    ),
    "flow": LawSpec(
        "The acknowledgements of fast ingest on a subscription, or on all of them and all reply "
        "subjects, go up, come as many messages apart as "
        "the one before tells, and tell no more than was asked for (`asked`, where the reply subject "
        "does not say it).",
        {"on": "text", "count": "matcher", "asked": "int"},
        frozenset(),
    ),
    "triggers": LawSpec(
        "The acknowledgements of fast ingest on a subscription, or on all of them and all reply "
        "subjects, have the sequence of the message that each of them answers.",
        {"on": "text", "count": "matcher"},
        frozenset(),
    ),
    "outcomes": LawSpec(
        "So many replies to the requests of one step, labelled `of`, were of one kind: empty, "
        "pub-ack, batch pub-ack, error 10071 (400), status 503, no reply.",
        {"of": "text", "saying": "text", "count": "matcher"},
        frozenset({"of", "saying", "count"}),
    ),
    "outstanding": LawSpec(
        "A client library that consumes never has more outstanding than its limit, as its pull "
        "requests, the messages and the statuses at the tap tell; and now as much as is said.",
        {
            "messages": "int",
            "bytes": "int",
            "now": "matcher",
            "headers": "text",
            "within": "duration",
        },
        frozenset(),
        for_clients=True,
    ),
    "refilled": LawSpec(
        "Every further pull request of a client library that consumes asks for as much as was taken "
        "off what is outstanding, so that its limit is reached again.",
        {"messages": "int", "bytes": "int", "headers": "text", "within": "duration"},
        frozenset(),
        for_clients=True,
    ),
    "handed_over": LawSpec(
        "Every message that reached a client library, until the step marked `until` if given, was "
        "handed to the application by the consume of this name, in the order in which it came.",
        {"consume": "text", "until": "text", "within": "duration"},
        frozenset({"consume"}),
        for_clients=True,
    ),
    "delivered": LawSpec(
        "The consume of this name has handed exactly these stream sequences to the application, in "
        "this order.",
        {"consume": "text", "sequences": "text", "within": "duration"},
        frozenset({"consume", "sequences"}),
        for_clients=True,
    ),
    "channels": LawSpec(
        "Whenever a client library that ingests fast sends a message, one subscription covers its "
        "reply subject, and that is the one to the inbox of its batch.",
        {"count": "matcher"},
        frozenset(),
        for_clients=True,
    ),
    "numbered": LawSpec(
        "The messages of each batch that a client library sends, atomic or fast, have the numbers 1, "
        "2, 3 and so on, in this order.",
        {"count": "matcher"},
        frozenset(),
        for_clients=True,
    ),
    "paced": LawSpec(
        "A client library that ingests fast sends no message beyond what the acknowledgements before "
        "it allow, with so many acknowledgements outstanding.",
        {"outstanding": "int", "count": "matcher"},
        frozenset({"outstanding"}),
        for_clients=True,
    ),
    "pings": LawSpec(
        "Every ping of a client library that ingests fast names the highest sequence that its batch "
        "had sent until then.",
        {"count": "matcher"},
        frozenset(),
        for_clients=True,
    ),
    "subscribed_first": LawSpec(
        "A client library has subscribed to the delivery subject of every consumer before it "
        "creates it.",
        {},
        frozenset(),
        for_clients=True,
    ),
}
