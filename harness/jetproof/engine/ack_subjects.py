"""What the reply subject of a delivered message says about it."""

from __future__ import annotations


def sequence_of(reply: str) -> int | None:
    """The stream sequence in `$JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>...`.

    Releases since 2.10 may put a domain and an account hash before the stream.
    """
    tokens = reply.split(".")
    if tokens[:2] != ["$JS", "ACK"] or len(tokens) < 9:
        return None
    position = 5 if len(tokens) == 9 else 7
    return int(tokens[position]) if tokens[position].isdigit() else None
