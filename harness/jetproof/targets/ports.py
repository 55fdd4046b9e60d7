"""Ports for servers: free, and free again after a restart.

A server keeps its port over a restart, so the port must not be one that the system hands to an
outgoing connection in between: it is chosen below the system's range of those. Somebody else may
still take it between the choice and the start; whoever starts a server then chooses again.
"""

from __future__ import annotations

import random
import socket
from collections.abc import Callable
from pathlib import Path

from jetproof.errors import JetproofError

PortChooser = Callable[[], int]

LOOPBACK = "127.0.0.1"
_LOWEST = 10240
_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_USUAL_EPHEMERAL = 32768
_TRIES = 200


def free_port() -> int:
    """A port on 127.0.0.1 that nobody listens on now and no client will be given."""
    highest = max(_ephemeral_start() - 1, _LOWEST)
    for _ in range(_TRIES):
        port = random.randint(_LOWEST, highest)
        if is_free(port):
            return port
    raise JetproofError(
        f"no free port on {LOOPBACK} between {_LOWEST} and {highest} in {_TRIES} tries",
        phase="start",
        hint="end some of the servers on this machine",
    )


def is_free(port: int) -> bool:
    """Whether a server could listen on the port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def _ephemeral_start() -> int:
    try:
        return int(_RANGE.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return _USUAL_EPHEMERAL
