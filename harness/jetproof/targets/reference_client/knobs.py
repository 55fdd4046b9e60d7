"""All knobs of the reference client, for `jetproof mutate`.

The cases of the clauses that a knob breaks must notice it. `BEYOND` names the clauses that demand
something of clients and that no knob can break, and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jetproof.targets.reference_client.faults import (
    batches,
    consumers,
    consuming,
    fetching,
    ingest,
    publishing,
    reading,
    settings,
    statuses,
    stores,
)
from jetproof.targets.reference_client.faults.fault import Faulty, Knob, knobs_of

__all__ = ["BEYOND", "KNOBS", "Faulty", "Knob"]

KNOBS: Final = knobs_of(
    consuming,
    statuses,
    settings,
    fetching,
    consumers,
    publishing,
    batches,
    ingest,
    reading,
    stores,
)


_NO_STREAMS = "the protocol of adapters makes no streams"
_AIM = "an aim of the design that one client alone cannot miss"
_NAMES = "about the names in an API, which an adapter hides"

BEYOND: Final[Mapping[str, str]] = {
    "A31-141": _NO_STREAMS,
    "A31-144": _NO_STREAMS,
    "A37-088": "about the way to a consumer in an API, which an adapter hides",
    "A37-091": _NAMES,
    "A37-206": "about the old API of a library, which this client does not have",
    "A50-FAST10-019": _AIM,
    "A50-FAST7-015": _AIM,
    "A53-055": _NAMES,
}
