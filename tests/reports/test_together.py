"""Jobs side by side: every answer under its name, and no further job after one that failed."""

from __future__ import annotations

import threading
import time

import pytest

from jetproof_reports.together import AT_ONCE, together


def test_every_job_answers_under_its_name() -> None:
    assert together({name: name.upper for name in ("a", "b", "c")}) == {
        "a": "A",
        "b": "B",
        "c": "C",
    }


def test_jobs_run_at_the_same_time() -> None:
    both = threading.Barrier(AT_ONCE, timeout=60)
    together({str(n): both.wait for n in range(AT_ONCE)})


def test_what_fails_is_raised_and_jobs_that_wait_are_left() -> None:
    begun: list[int] = []
    failed = threading.Event()

    def job(number: int) -> None:
        begun.append(number)
        if number == 0:
            failed.set()
            raise ValueError("no")
        failed.wait(60)
        time.sleep(0.1)  # all of them would take long enough for anybody to be stopped

    jobs = {str(n): (lambda n=n: job(n)) for n in range(200)}
    with pytest.raises(ValueError, match="no"):
        together(jobs)
    assert len(begun) < len(jobs)
