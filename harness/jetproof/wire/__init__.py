"""The NATS client protocol, byte by byte: headers, frames, the codec, and a raw driver on it.

Read in this order: `headers`, `frames`, `codec` (frames to bytes and back), `link` (one TCP
connection), `driver` (a client that hides nothing), `rules` (what a tap may do to frames).
"""

from jetproof.wire.codec import Parser, encode
from jetproof.wire.driver import Connection
from jetproof.wire.errors import ConnectionLost, ConnectTimeout, ProtocolError, WireTimeout
from jetproof.wire.frames import (
    Connect,
    Err,
    Frame,
    Info,
    Msg,
    Ok,
    Ping,
    Pong,
    Pub,
    Raw,
    Sub,
    Unsub,
)
from jetproof.wire.headers import Headers

__all__ = [
    "Connect",
    "ConnectTimeout",
    "Connection",
    "ConnectionLost",
    "Err",
    "Frame",
    "Headers",
    "Info",
    "Msg",
    "Ok",
    "Parser",
    "Ping",
    "Pong",
    "ProtocolError",
    "Pub",
    "Raw",
    "Sub",
    "Unsub",
    "WireTimeout",
    "encode",
]
