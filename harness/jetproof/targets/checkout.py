"""A checkout of nats-server: whether a folder is one, and which state of the source it has.

Its state is its commit. Changes that are not committed count as well: files that Git tracks, files
that it does not ignore, and folders that a `replace` line of go.mod names. They become a hash
behind the commit.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jetproof.errors import JetproofError

_MODULE = re.compile(r"^module\s+\"?github\.com/nats-io/nats-server(?:/v2)?\"?\s*(?://.*)?$", re.M)
_LOCAL = re.compile(r"^(?!\s*//).*=>\s*\"?(\.{1,2}(?:/[^\s\"]*)?|/[^\s\"]+)", re.M)
_SECONDS = 60.0
_HASH_DIGITS = 12
_SHOWN_DIGITS = 12
_OTHER_REPOSITORY = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
"""Git sets these for a hook: they name its repository, whatever the folder."""


class CheckoutError(JetproofError):
    """A folder that is no checkout of nats-server, or whose state cannot be named."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, phase="plan", hint=hint)


@dataclass(frozen=True, slots=True)
class Checkout:
    """The state of a checkout: the commit, and the hash of what was changed since, if anything."""

    commit: str
    changes: str = ""

    @property
    def identity(self) -> str:
        return f"{self.commit}-dirty-{self.changes}" if self.changes else self.commit

    @property
    def shown(self) -> str:
        """Short, for people."""
        return f"{self.commit[:_SHOWN_DIGITS]}{'-dirty-' if self.changes else ''}{self.changes}"


def look_at(folder: Path) -> Checkout:
    """The state of a checkout; CheckoutError if the folder is none."""
    try:
        text = (folder / "go.mod").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    if not _MODULE.search(text):
        raise CheckoutError(
            f"{folder} is a folder and no checkout of nats-server: its go.mod names another "
            "module, or there is none",
            "path: wants a nats-server binary, or the top folder of a Git checkout of nats-server",
        )
    top = git(folder, "rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").strip()
    if Path(top).resolve() != folder.resolve():
        raise CheckoutError(
            f"{folder} is not the top of a Git checkout: that is {top}",
            "build it yourself and name the binary: path:./nats-server",
        )
    commit = git(folder, "rev-parse", "HEAD").decode("ascii", "replace").strip()
    return Checkout(commit, _changes(folder, [folder / name for name in _LOCAL.findall(text)]))


def _changes(folder: Path, replaced: Sequence[Path]) -> str:
    """A hash of all that is not in the commit; empty if that is nothing."""
    status = git(folder, "status", "--porcelain", "-z", "--untracked-files=all")
    if not status and not replaced:
        return ""
    found = hashlib.sha256(git(folder, "diff", "--binary", "--no-ext-diff", "HEAD"))
    names = git(folder, "ls-files", "-z", "--others", "--exclude-standard")
    for name in sorted(filter(None, names.split(b"\0"))):
        path = os.path.join(os.fsencode(folder), name)
        try:
            content = (
                os.readlink(path) if os.path.islink(path) else Path(os.fsdecode(path)).read_bytes()
            )
        except OSError as error:
            raise _unreadable(folder, str(error)) from error
        found.update(b"\0%b\0%b" % (name, hashlib.sha256(content).digest()))
    for place in replaced:
        for name, content in _files(place):
            found.update(b"\0%b\0%b" % (name, hashlib.sha256(content).digest()))
    return found.hexdigest()[:_HASH_DIGITS]


def _files(place: Path) -> Iterator[tuple[bytes, bytes]]:
    """The files of a folder that no commit of the checkout covers."""
    for top, folders, names in os.walk(place):
        folders[:] = sorted(set(folders) - {".git"})
        for path in (Path(top) / name for name in sorted(names)):
            if path.is_file():
                yield os.fsencode(path.relative_to(place)), path.read_bytes()


def git(folder: Path, *arguments: str) -> bytes:
    """What Git says about the repository of a folder; CheckoutError if it fails."""
    env = {key: value for key, value in os.environ.items() if key not in _OTHER_REPOSITORY}
    command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            env=env,
            check=False,
        )
    except FileNotFoundError as error:
        raise _unreadable(folder, "git is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise _unreadable(folder, f"git did not answer within {_SECONDS:.0f} s") from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise _unreadable(folder, said[0] if said else f"git ended with {done.returncode}")
    return done.stdout


def _unreadable(folder: Path, why: str) -> CheckoutError:
    return CheckoutError(
        f"cannot see which state {folder} has: {why}",
        "it must be a Git checkout; or build it yourself and name the binary: path:./nats-server",
    )
