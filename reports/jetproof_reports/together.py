"""Several Spark jobs at the same time.

A small job is mostly planning, which one thread does while the other cores wait: two jobs side by
side take little longer than one. More than two would only add up what they hold in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

AT_ONCE = 2

T = TypeVar("T")


def together(jobs: Mapping[str, Callable[[], T]]) -> dict[str, T]:
    """What each job returns. The first that fails fails all: those not begun are left."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        begun = {name: pool.submit(job) for name, job in jobs.items()}
        try:
            return {name: job.result() for name, job in begun.items()}
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
