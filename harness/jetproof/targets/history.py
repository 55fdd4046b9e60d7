"""The commits of a checkout: named, ordered, and written out to be built.

Everything here only reads the user's repository. The files of a commit are written into a repository
of their own, which borrows the objects of the user's: no work tree, index or ref of the user changes.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jetproof.targets.checkout import CheckoutError, git


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit, as people know it. `date` is the author's, in ISO 8601."""

    id: str
    subject: str
    date: str
    parents: tuple[str, ...]


def commit_of(folder: Path, revision: str) -> Commit:
    """The commit that a revision names (`main`, `v2.15.0`, `HEAD~3`, the digits of a commit)."""
    try:
        said = git(folder, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    except CheckoutError as error:
        raise CheckoutError(
            f"{folder} has no commit {revision!r}",
            _shallow_hint(folder) or "name a commit, a tag or a branch of that checkout",
        ) from error
    shown = git(folder, "show", "-s", "--format=%H%x00%P%x00%aI%x00%s", said.decode().strip())
    found, parents, date, subject = shown.decode("utf-8", "replace").rstrip("\n").split("\0")
    return Commit(found, subject, date, tuple(parents.split()))


def check_order(folder: Path, good: Commit, bad: Commit) -> None:
    """Commits are searched from an ancestor to a descendant; CheckoutError if they are not that."""
    if good.id == bad.id:
        raise CheckoutError(f"both ends are the commit {good.id[:12]}", "name two commits")
    base = _merge_base(folder, good.id, bad.id)
    if base == good.id:
        return
    hint = _shallow_hint(folder)
    if not hint and base == bad.id:
        hint = "--bad comes after --good in history: exchange them"
    elif not hint:
        hint = (
            f"search from where they parted: --good {base[:12]}" if base else "they share nothing"
        )
    raise CheckoutError(f"{good.id[:12]} is not an ancestor of {bad.id[:12]}", hint)


def halves(folder: Path, good: Sequence[str], bad: str) -> list[str]:
    """The commits of `bad` that no good commit has; those that halve the search best come first."""
    said = git(folder, "rev-list", "--bisect-all", bad, "--not", *good)
    return [line.split()[0] for line in said.decode("ascii", "replace").splitlines() if line]


def write_out(folder: Path, commit: str, place: Path) -> None:
    """Write the files of a commit into the empty folder `place`."""

    def path_of(name: str) -> Path:
        said = git(folder, "rev-parse", "--path-format=absolute", "--git-path", name)
        return Path(said.decode("utf-8", "surrogateescape").rstrip("\n"))

    kind = git(folder, "rev-parse", "--show-object-format").decode("ascii").strip()
    git(place, "init", "--quiet", "--template=", f"--object-format={kind}")
    own = place / ".git"
    (own / "objects" / "info").mkdir(parents=True, exist_ok=True)
    (own / "objects" / "info" / "alternates").write_text(f"{path_of('objects')}\n")
    if (shallow := path_of("shallow")).is_file():
        shutil.copy(shallow, own / "shallow")
    git(place, "-c", "core.hooksPath=", "checkout", "--quiet", "--detach", commit)


def _merge_base(folder: Path, one: str, other: str) -> str:
    try:
        return git(folder, "merge-base", one, other).decode("ascii", "replace").strip()
    except CheckoutError:
        return ""


def _shallow_hint(folder: Path) -> str:
    if git(folder, "rev-parse", "--is-shallow-repository").strip() != b"true":
        return ""
    return "the checkout has only a part of the history: `git fetch --unshallow` brings the rest"
