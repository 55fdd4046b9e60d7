"""From the patterns of a command line to cases: names, globs, and paths of case files.

A path below the suites stands for the suite of that name, so that a shell's completion helps. Any
other case file is loaded on the spot; a run of it is a partial one.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from jetproof.errors import JetproofError
from jetproof.load.library import Library, load_cases
from jetproof.model.case import Case
from jetproof.model.patterns import ABOUT_PATTERNS
from jetproof.plan import Selected, Selection, matches, named_exactly, select

_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns for the library's own cases, and case files elsewhere with the names wanted."""

    names: list[str] = field(default_factory=list)
    files: dict[Path, list[str]] = field(default_factory=dict)


def split_patterns(suites: Path, patterns: Sequence[str]) -> Patterns:
    """Tell names from paths; a path that leads nowhere is a mistake."""
    found = Patterns()
    home = suites.resolve()
    for pattern in patterns:
        place, colons, case = pattern.partition("::")
        path = Path(place)
        if not path.exists():
            if path.suffix in _SUFFIXES and not any(char in place for char in "*?["):
                raise JetproofError(
                    f"no such case file: {place}",
                    phase="load",
                    hint=f"a pattern is {ABOUT_PATTERNS}",
                )
            found.names.append(pattern)
            continue
        real = path.resolve()
        if real == home:
            found.names.append("*")
        elif real.is_relative_to(home):
            name = real.relative_to(home)
            suite = (name.with_suffix("") if real.is_file() else name).as_posix()
            found.names.append(f"{suite}{colons}{case}")
        elif path.is_file():
            found.files.setdefault(path, []).append(case or "*")
        elif files := sorted(each for each in path.rglob("*") if each.suffix in _SUFFIXES):
            for each in files:
                found.files.setdefault(each, []).append("*")
        else:
            found.names.append(pattern)
    return found


def select_cases(
    library: Library, selection: Selection, *, for_clients: bool | None = False
) -> Selected:
    """The items that a selection names, whose patterns may be paths, or names that cases had.

    Cases for servers are chosen from, or those for client libraries; None: both."""
    pool = library.cases_for(clients=for_clients)
    asked = [library.renamed.get(pattern, pattern) for pattern in selection.patterns]
    patterns = split_patterns(library.root / "suites", asked)
    _check_plane(library, patterns.names, pool)
    if not patterns.files:
        return select(library, replace(selection, patterns=tuple(patterns.names)), cases=pool)
    outside = _outside(library, patterns.files, for_clients)
    other = select(library, replace(selection, patterns=()), cases=outside)
    inside = Selected(())
    if patterns.names:
        inside = select(library, replace(selection, patterns=tuple(patterns.names)), cases=pool)
    files = ", ".join(str(path) for path in patterns.files)
    reasons = (inside.partial, other.partial, f"cases of {files}")
    return Selected(inside.items + other.items, "; ".join(filter(None, reasons)))


def select_one(
    library: Library, selection: Selection, *, purpose: str, for_clients: bool = False
) -> Selected:
    """The one case that a selection names; `purpose` says in the error why it must be one."""
    selected = select_cases(library, selection, for_clients=for_clients)
    if len(selected.items) != 1:
        listed = ", ".join(item.case.id for item in selected.items[:10])
        raise JetproofError(
            f"{' '.join(selection.patterns)!r} names {len(selected.items)} cases",
            phase="plan",
            hint=f"{purpose}; these are: {listed}",
        )
    return named_exactly(selected)


def _check_plane(library: Library, names: Sequence[str], pool: Sequence[Case]) -> None:
    """A pattern that names cases of the other kind only is told where they are played."""
    for name in names:
        if any(matches(case, name) for case in pool):
            continue
        others = [case for case in library.cases_for(clients=None) if matches(case, name)]
        if others:
            judged, command = (
                ("client libraries", "gate") if others[0].for_client else ("servers", "run")
            )
            raise JetproofError(
                f"{name!r} names cases about {judged}",
                phase="plan",
                hint=f"jetproof {command} plays them",
            )


def _outside(
    library: Library, files: dict[Path, list[str]], for_clients: bool | None
) -> list[Case]:
    cases = load_cases(list(files), library)
    chosen = []
    for case in cases:
        if for_clients is not None and case.for_client != for_clients:
            judged, command = ("clients", "gate") if case.for_client else ("servers", "run")
            raise JetproofError(
                f"{case.file}:{case.line}: {case.id} judges {judged}",
                phase="plan",
                hint=f"play it with jetproof {command}",
            )
        if case.id in library.ids:
            raise JetproofError(
                f"{case.file}:{case.line}: {case.id} is a case of the suites already",
                phase="load",
                hint="name its suite differently",
            )
        if any(fnmatch.fnmatchcase(case.name, name) for name in files[Path(case.file)]):
            chosen.append(case)
    for path, names in files.items():
        for name in names:
            if not any(
                Path(case.file) == path and fnmatch.fnmatchcase(case.name, name) for case in cases
            ):
                raise JetproofError(f"no case {name!r} in {path}", phase="plan")
    return chosen
