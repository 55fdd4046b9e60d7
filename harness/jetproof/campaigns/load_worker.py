"""One worker of a load: `load_worker.py cpu SECONDS` or `load_worker.py disk SECONDS FOLDER MIB`.

It imports nothing of Jetproof: it is run by its path, in an interpreter of its own. It ends when
its standard input ends, and after SECONDS in any case: the kernel sees to the latter. Once in a
while it writes one JSON line with the CPU seconds and the MiB that it has used up.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import tempfile
import time

_REPORT_SECONDS = 0.25
_CHUNK = b"jetproof" * (128 * 1024)
_SYNC_MIB = 4
_MIB_PER_SECOND = 128  # enough to make others wait for the disk, and no more wear than needed
_LOOPS = 50_000


def ended(wait: float = 0.0) -> bool:
    """Whether the starter of this process has closed the pipe, or is gone; waits that long."""
    return bool(select.select([sys.stdin], [], [], max(0.0, wait))[0])


def report(mib: int, error: str = "") -> None:
    row = {"cpu": round(time.process_time(), 3), "mib": mib, "error": error}
    sys.stdout.write(json.dumps(row) + "\n")
    sys.stdout.flush()


def burn() -> None:
    """Keep one core busy."""
    reported_at = 0.0
    while not ended():
        for _ in range(_LOOPS):
            pass
        if time.monotonic() - reported_at >= _REPORT_SECONDS:
            reported_at = time.monotonic()
            report(0)
    report(0)


def write(folder: str, most: int) -> None:
    """Write and sync one file over and over. It has no name: it goes with this process."""
    mib, reported_at, began = 0, 0.0, time.monotonic()
    try:
        with tempfile.TemporaryFile(dir=folder) as stream:
            while not ended(began + mib / _MIB_PER_SECOND - time.monotonic()):
                for _ in range(_SYNC_MIB):
                    if mib % most == 0:
                        stream.seek(0)
                    stream.write(_CHUNK)
                    mib += 1
                stream.flush()
                os.fsync(stream.fileno())
                if time.monotonic() - reported_at >= _REPORT_SECONDS:
                    reported_at = time.monotonic()
                    report(mib)
        report(mib)
    except OSError as error:
        report(mib, error.strerror or str(error))
        sys.exit(1)


def main(arguments: list[str]) -> None:
    kind, seconds, *more = arguments
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started this
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(seconds))
    try:
        if kind == "cpu":
            burn()
        else:
            write(more[0], int(more[1]))
    except BrokenPipeError:
        os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
