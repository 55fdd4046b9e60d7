"""Keeps what servers with coverage recorded in the folder of a run; `results.server_code` reads it."""

from __future__ import annotations

import shutil
from pathlib import Path

from jetproof.events import ServerCode
from jetproof.results.go_coverage import COUNTERS, META
from jetproof.results.server_code import FOLDER, ServerCodeRow


def keep(folder: Path, run: str, event: ServerCode) -> ServerCodeRow:
    """Copy the files of one server, and return the row that says what they are.

    The row comes last: a file without a row belongs to nothing."""
    program = next((path for path in event.files if path.name.startswith(META)), None)
    digest = program.name.removeprefix(META) if program is not None else None
    kept = []
    if program is not None and digest is not None:
        place = folder / FOLDER / digest
        place.mkdir(parents=True, exist_ok=True)
        if not (place / program.name).exists():
            shutil.copyfile(program, place / program.name)
        for path in event.files:
            if path.name.startswith(f"{COUNTERS}{digest}."):
                shutil.copyfile(path, place / path.name)
                kept.append(path.name)
    return ServerCodeRow(
        run=run,
        target=event.target,
        build=event.build,
        topology=event.topology,
        configuration=event.configuration,
        node=event.node,
        cases=list(event.cases),
        lives=event.lives,
        program=digest,
        counters=kept,
    )
