"""One factor a machine: how much longer than on a quiet, fast one a wait may take here.

It stretches upper bounds and silences. Lower bounds are exact and what is sent is never scaled.
"""

from __future__ import annotations

import hashlib
import os
import time

from jetproof.errors import JetproofError

VARIABLE = "JETPROOF_TIME_FACTOR"
LEAST, MOST = 1.0, 8.0
_WORK_MS = 6.0  # what the work below takes on a quiet machine of 2024
_LATE_MS = 4.0  # a timer that is this late counts as one more factor


def time_factor() -> float:
    """The factor: from the environment, or measured in about thirty milliseconds."""
    given = os.environ.get(VARIABLE)
    if given is not None:
        return _given(given)
    work = min(_timed_work() for _ in range(3)) / _WORK_MS
    late = sorted(_lateness() for _ in range(8))[-2] / _LATE_MS
    return round(min(MOST, max(LEAST, work, LEAST + late)), 2)


def _given(text: str) -> float:
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not LEAST <= factor <= 100:
        raise JetproofError(
            f"{VARIABLE} is {text!r}",
            phase="plan",
            hint="it must be a number from 1 to 100, or be unset to have it measured",
        )
    return factor


def _timed_work() -> float:
    began = time.perf_counter()
    digest = b"jetproof"
    for _ in range(4000):
        digest = hashlib.sha256(digest).digest() + digest[:8]
    return (time.perf_counter() - began) * 1000


def _lateness() -> float:
    began = time.perf_counter()
    time.sleep(0.001)
    return max(0.0, (time.perf_counter() - began) * 1000 - 1.0)
