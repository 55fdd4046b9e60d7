"""A fake as a program: `python -m fakes twice` prints its URL and serves until it is ended."""

from __future__ import annotations

import asyncio
import contextlib
import sys

from .kinds import KINDS
from .server import serving


async def _main(kind: str) -> None:
    async with serving(KINDS[kind]()) as fake:
        print(fake.url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_main(sys.argv[1]))
