"""Server configurations: named templates from `fixtures/servers`, completed for one node.

A template holds what a case may ask for by name and refers to `$JETPROOF_STORE`. Its leading
comment says what it is for, and from which release on a server starts with it:

    # about: Atomic batches end early.
    # applies_from: 2.12.0

`render` adds what belongs to the place and not to the test: name, address, store, cluster and
accounts. Every server has the account JP, which a connection without credentials lands in, the
account B, and the system account SYS.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from jetproof.data import fixtures_dir
from jetproof.errors import JetproofError
from jetproof.model.versions import Version

MAIN_ACCOUNT = "JP"
SYSTEM_ACCOUNT = "SYS"
_ALWAYS = (MAIN_ACCOUNT, "B")
_ACCOUNT = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,127}")
_HEAD = re.compile(r"#\s*(\w+):\s*(.*?)\s*$")


@dataclass(frozen=True, slots=True)
class Configuration:
    """A template by name. `applies_from` is the first release that starts with it."""

    name: str
    about: str
    text: str
    applies_from: Version | None = None

    def refused_by(self, version: Version) -> str | None:
        """Why a release cannot run with this configuration, or None if it can."""
        if self.applies_from is None or version.base >= self.applies_from:
            return None
        return (
            f"the configuration {self.name} applies from {self.applies_from}, "
            f"this server is {version}"
        )


@dataclass(frozen=True, slots=True)
class ClusterPlace:
    """A node's place in a cluster: its name, where it listens for routes, and all routes."""

    name: str
    listen: str
    routes: tuple[str, ...]
    advertise: bool = True
    """Whether clients are told of the other nodes; in containers those addresses lead nowhere."""


@dataclass(frozen=True, slots=True)
class NodePlace:
    """Where one server runs: what `render` adds to a template."""

    name: str
    listen: str
    store: str
    ports_dir: str | None = None
    cluster: ClusterPlace | None = None

    def in_cluster(self, cluster: ClusterPlace) -> NodePlace:
        return replace(self, cluster=cluster)


def configuration_names() -> tuple[str, ...]:
    """Every configuration there is."""
    return tuple(sorted(path.stem for path in (fixtures_dir() / "servers").glob("*.conf")))


def load_configuration(name: str) -> Configuration:
    """The configuration of that name; the error lists the ones there are."""
    known = configuration_names()
    if name not in known:
        raise JetproofError(
            f"no server configuration {name!r}",
            phase="plan",
            hint=f"there are: {', '.join(known)} (fixtures/servers)",
        )
    text = (fixtures_dir() / "servers" / f"{name}.conf").read_text(encoding="utf-8")
    return parse_configuration(name, text)


def parse_configuration(name: str, text: str) -> Configuration:
    """Read a template's leading comment."""
    about: list[str] = []
    applies_from: Version | None = None
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        found = _HEAD.match(line)
        if found is None:
            continue
        if found[1] == "about":
            about.append(found[2])
        elif found[1] == "applies_from":
            applies_from = Version.parse(found[2])
    if not about or "$JETPROOF_STORE" not in text:
        raise JetproofError(
            f"the server configuration {name!r} is incomplete",
            phase="load",
            hint="it begins with `# about: ...` and stores in $JETPROOF_STORE",
        )
    return Configuration(name, " ".join(about), text, applies_from)


@dataclass(frozen=True, slots=True)
class Accounts:
    """The accounts of a target: the standing ones and those that were asked for."""

    names: tuple[str, ...]

    @classmethod
    def of(cls, asked: Iterable[str] = ()) -> Accounts:
        names = list(_ALWAYS)
        for name in asked:
            if not _ACCOUNT.fullmatch(name):
                raise JetproofError(
                    f"{name!r} cannot be the name of an account",
                    phase="plan",
                    hint="letters, digits, '-' and '_', a letter first",
                )
            if name not in names and name != SYSTEM_ACCOUNT:
                names.append(name)
        return cls(tuple(names))

    def credentials(self, account: str | None = None) -> dict[str, str]:
        """CONNECT options for an account; None is the main one, `$SYS` the system account."""
        name = {None: MAIN_ACCOUNT, "$SYS": SYSTEM_ACCOUNT}.get(account, account or "")
        if name != SYSTEM_ACCOUNT and name not in self.names:
            raise JetproofError(
                f"the server has no account {account!r}",
                phase="play",
                hint=f"it has: {', '.join((*self.names, SYSTEM_ACCOUNT))}",
            )
        return {"user": name, "pass": name}

    def render(self) -> str:
        # A connection whose CONNECT is late on a busy machine is still a connection.
        lines = ["authorization { timeout: 60 }", "accounts {"]
        for name in self.names:
            users = f"users: [{{user: {_quoted(name)}, password: {_quoted(name)}}}]"
            lines.append(f"  {_quoted(name)}: {{ jetstream: enabled, {users} }}")
        system = _quoted(SYSTEM_ACCOUNT)
        lines += [
            f"  {system}: {{ users: [{{user: {system}, password: {system}}}] }}",
            "}",
            f"system_account: {system}",
            f"no_auth_user: {_quoted(MAIN_ACCOUNT)}",
        ]
        return "\n".join(lines)


def render(configuration: Configuration, place: NodePlace, accounts: Accounts) -> str:
    """The whole configuration file of one node."""
    settings: Mapping[str, str] = {
        "JETPROOF_STORE": place.store,
        "server_name": place.name,
        "listen": place.listen,
    }
    lines = [f"{key}: {_quoted(value)}" for key, value in settings.items()]
    if place.ports_dir is not None:
        lines.append(f"ports_file_dir: {_quoted(place.ports_dir)}")
    if place.cluster is not None:
        lines.append(_render_cluster(place.cluster))
    return "\n".join([*lines, accounts.render(), "", configuration.text])


def _render_cluster(cluster: ClusterPlace) -> str:
    routes: Sequence[str] = [f"    {_quoted(route)}" for route in cluster.routes]
    return "\n".join(
        [
            "cluster {",
            f"  name: {_quoted(cluster.name)}",
            f"  listen: {_quoted(cluster.listen)}",
            "  routes: [",
            *routes,
            "  ]",
            f"  no_advertise: {str(not cluster.advertise).lower()}",
            "}",
        ]
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
