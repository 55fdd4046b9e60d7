"""Ways for the reference client to be wrong on purpose, one each, for `jetproof mutate`.

`does` says what it then does, `breaks` which clauses a client that does so breaks: the cases of
those clauses must notice. `revision` names the revision under which alone it makes a difference.
`BEYOND` names the clauses that demand something of clients and that no knob can break, and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jetproof.targets.reference_client.knob import Knob
from jetproof.targets.reference_client.knobs_consuming import CONSUMING
from jetproof.targets.reference_client.knobs_fetching import FETCHING
from jetproof.targets.reference_client.knobs_publishing import PUBLISHING
from jetproof.targets.reference_client.knobs_reading import READING

__all__ = ["BEYOND", "KNOBS", "Knob"]

KNOBS: Final[tuple[Knob, ...]] = (*CONSUMING, *FETCHING, *PUBLISHING, *READING)

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
