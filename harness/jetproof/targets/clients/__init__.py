"""Client libraries behind adapters: what to start, how it is built, and the process itself.

`spec` reads `--client` strings, `build` makes adapters of folders, `process` runs one and keeps it
contained, `protocol` checks what it says, `values` turns what it says into plain Python values.
docs/adapters.md is the protocol.
"""

from jetproof.targets.clients.process import (
    Adapter,
    AdapterFault,
    Answer,
    Event,
    Hello,
    Limits,
    Unanswered,
    start_adapter,
)

__all__ = [
    "Adapter",
    "AdapterFault",
    "Answer",
    "Event",
    "Hello",
    "Limits",
    "Unanswered",
    "start_adapter",
]
