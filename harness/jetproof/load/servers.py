"""The heads of server configurations: what a case may know of one before any server runs.

A configuration in `fixtures/servers` begins with comments:

    # about: Two accounts, one of which offers its JetStream to the other.
    # applies_from: 2.12.0
    # accounts: JP, B, SYS
    # users: reader@JP, guest@B

`accounts` says that the configuration brings all its accounts itself, with a user in each that is
called as the account is; `users` are further ones. Every user's password is the user's name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jetproof.model.versions import Version

_HEAD = re.compile(r"#\s*(\w+):\s*(.*?)\s*$")
_USER = re.compile(r"([A-Za-z][\w-]*)@([A-Za-z][\w-]*)")


@dataclass(frozen=True, slots=True)
class ServerHead:
    """What a configuration says of itself. No `accounts` means that it takes any."""

    name: str
    about: str
    applies_from: Version | None = None
    accounts: tuple[str, ...] = ()
    users: Mapping[str, str] = field(default_factory=dict)

    def refused_by(self, version: Version) -> str | None:
        """Why a release cannot run with this configuration, or None if it can."""
        if self.applies_from is None or version.base >= self.applies_from:
            return None
        return (
            f"the configuration {self.name} applies from {self.applies_from}, "
            f"this server is {version}"
        )


def read_head(name: str, text: str) -> ServerHead:
    """The leading comments of a configuration."""
    about: list[str] = []
    applies_from: Version | None = None
    accounts: list[str] = []
    users: dict[str, str] = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        found = _HEAD.match(line)
        if found is None:
            continue
        match found[1]:
            case "about":
                about.append(found[2])
            case "applies_from":
                applies_from = Version.parse(found[2])
            case "accounts":
                accounts += filter(None, (one.strip() for one in found[2].split(",")))
            case "users":
                users.update(_USER.findall(found[2]))
    return ServerHead(name, " ".join(about), applies_from, tuple(accounts), users)


def read_heads(folder: Path) -> dict[str, ServerHead]:
    """The head of every configuration in a folder, by name."""
    return {
        path.stem: read_head(path.stem, path.read_text(encoding="utf-8"))
        for path in sorted(folder.glob("*.conf"))
    }
