"""Mistakes in files: each with its place, all of them in one error."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from jetproof.errors import JetproofError


@dataclass(frozen=True, slots=True, order=True)
class Mistake:
    """One thing to correct. `file` is relative to the data root, or as the user gave it."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class LoadError(JetproofError):
    """Everything that is wrong with the files, sorted by place."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(sorted(set(mistakes)))
        super().__init__("\n".join(map(str, self.mistakes)), phase="load")


def choices(unknown: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: what was probably meant, and what there is."""
    names = list(known)
    if not names:
        return "there are none"
    listed = ", ".join(names)
    close = closest(unknown, names)
    if close is None:
        return f"there are: {listed}"
    return (
        f"did you mean {close}?"
        if len(names) == 1
        else f"did you mean {close}? There are: {listed}"
    )


def nearest(unknown: str, known: Iterable[str]) -> str:
    """Like `choices`, for lists too long to print: only what was probably meant."""
    close = closest(unknown, known)
    return f"; did you mean {close}?" if close else ""


def closest(unknown: str, known: Iterable[str]) -> str | None:
    """The name that was probably meant, if one is near enough."""
    return next(iter(difflib.get_close_matches(unknown, list(known), n=1, cutoff=0.65)), None)
