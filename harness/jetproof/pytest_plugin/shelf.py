"""Which of the files that pytest walks over are case files, and the cases in them.

pytest asks file by file. Mistakes are kept, so that all of them are told at once at the end.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from jetproof.load.library import Library, load_cases
from jetproof.load.mistakes import LoadError, Mistake
from jetproof.model.case import Case

_SUFFIXES = (".yaml", ".yml")
_LOOKS_LIKE_CASES = re.compile(rb"^(suite|cases)[ \t]*:", re.MULTILINE)


class Shelf:
    """The cases of the library by their files, and those of files elsewhere as they are met."""

    def __init__(self, library: Library, start: Path) -> None:
        self.mistakes: list[Mistake] = []
        self._library = library
        self._start = start
        self._home = (library.root / "suites").resolve()
        own: dict[Path, list[Case]] = defaultdict(list)
        for case in library.cases:
            own[(library.root / case.file).resolve()].append(case)
        self._own = dict(own)
        self._read: dict[Path, tuple[Case, ...] | None] = {}
        self._places: dict[str, str] = {}

    def cases(self, path: Path, *, named: bool) -> tuple[Case, ...] | None:
        """The cases of a file in their order, or None if it is not a case file.

        A file that was named on the command line has to be one.
        """
        if path.suffix not in _SUFFIXES:
            return None
        real = path.resolve()
        if real not in self._read:
            self._read[real] = self._find(path, real, named)
        return self._read[real]

    def elsewhere(self, case: Case) -> bool:
        """Whether the library does not have this case: it is found by its file alone."""
        return case.id not in self._library.ids

    def _find(self, path: Path, real: Path, named: bool) -> tuple[Case, ...] | None:
        name = self._name(path)
        if real.is_relative_to(self._home):
            cases = self._own.get(real, [])
            if not cases and not named:
                return None
        elif named or (path.suffix == ".yaml" and _looks_like_cases(path)):
            try:
                cases = list(load_cases([Path(name)], self._library))
            except LoadError as error:
                self.mistakes.extend(error.mistakes)
                return ()
        else:
            return None
        if not cases:
            self.mistakes.append(Mistake(name, 1, "it holds no cases"))
        for case in cases:
            here = f"{name}:{case.line}"
            first = self._places.setdefault(case.id, here)
            if first != here:
                message = f"duplicate case {case.id}: it is at {first} already"
                self.mistakes.append(Mistake(name, case.line, message))
        return tuple(sorted(cases, key=lambda case: case.line))

    def _name(self, path: Path) -> str:
        near = path.is_relative_to(self._start)
        return (path.relative_to(self._start) if near else path).as_posix()


def _looks_like_cases(path: Path) -> bool:
    """Other YAML may lie in the same folders: a case file says `suite` or `cases`."""
    try:
        return _LOOKS_LIKE_CASES.search(path.read_bytes()) is not None
    except OSError:
        return True
