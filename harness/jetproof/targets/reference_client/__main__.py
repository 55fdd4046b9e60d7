"""`python -m jetproof.targets.reference_client`: the adapter `reference`.

--knob NAME (again and again) makes it wrong on purpose; --revision adr-37@0 keeps to an earlier
revision. A knob or a revision that does not exist ends it with 2.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence

from jetproof.errors import JetproofError
from jetproof.targets.reference_client.conduct import NEWEST, Conduct
from jetproof.targets.reference_client.knobs import Faulty
from jetproof.targets.reference_client.operations import Operations
from jetproof.targets.reference_client.protocol import Writer, serve
from jetproof.targets.reference_client.state import State


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        conduct = read_conduct(arguments)
    except JetproofError as error:
        log(str(error))
        return 2
    asyncio.run(run(conduct))
    for name in sorted(conduct.knobs):
        log(f"knob {name} came to bear {conduct.fired[name]} times")
    return 0


def read_conduct(arguments: Sequence[str] | None) -> Faulty:
    parser = argparse.ArgumentParser(prog="jetproof.targets.reference_client", description=__doc__)
    parser.add_argument("--knob", action="append", default=[], metavar="NAME")
    parser.add_argument("--revision", action="append", default=[], metavar="SPEC@N")
    options = parser.parse_args(arguments)
    asked = {"adr-37": NEWEST["adr-37"], "adr-50": NEWEST["adr-50"]}
    for revision in options.revision:
        spec, _, number = revision.partition("@")
        if spec not in asked or not number.isdigit():
            raise JetproofError(
                f"there is no choice of {revision!r}",
                phase="plan",
                hint=f"a revision is written as in adr-37@0; of {' and '.join(asked)}",
            )
        asked[spec] = int(number)
    return Faulty(options.knob, adr37=asked["adr-37"], adr50=asked["adr-50"])


async def run(conduct: Conduct) -> None:
    writer = Writer(sys.stdout.buffer)
    state = conduct.part(State)(conduct, writer)
    handlers = conduct.part(Operations)(state).handlers()
    await serve(sys.stdin.buffer, writer, handlers, log)
    await state.close()


def log(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
