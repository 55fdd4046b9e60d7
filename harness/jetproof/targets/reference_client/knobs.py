"""Ways for the reference client to be wrong on purpose, one each, for `jetproof mutate`.

`does` says what it then does, `breaks` which clauses a client that does so breaks: the cases of
those clauses must notice. `revision` names the revision under which alone it makes a difference.
"""

from __future__ import annotations

from typing import Final

from jetproof.targets.reference_client.knob import Knob
from jetproof.targets.reference_client.knobs_consuming import CONSUMING
from jetproof.targets.reference_client.knobs_fetching import FETCHING
from jetproof.targets.reference_client.knobs_publishing import PUBLISHING
from jetproof.targets.reference_client.knobs_reading import READING

__all__ = ["KNOBS", "Knob"]

KNOBS: Final[tuple[Knob, ...]] = (*CONSUMING, *FETCHING, *PUBLISHING, *READING)
