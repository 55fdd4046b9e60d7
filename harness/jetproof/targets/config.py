"""Server configurations: named templates from `fixtures/servers`, completed for one node.

A template holds what a case may ask for by name and refers to `$JETPROOF_STORE`. Its leading
comments, which `jetproof.load.servers` reads, say what it is for.

`render` adds what belongs to the place and not to the test: name, address, store, cluster, domain
and accounts. Every server has the account JP, which a connection without credentials lands in, the
account B, and the system account SYS. A template that names its `accounts` brings them itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from jetproof.data import fixtures_dir
from jetproof.errors import JetproofError
from jetproof.load.servers import ServerHead, read_head
from jetproof.model.versions import Version

MAIN_ACCOUNT = "JP"
SYSTEM_ACCOUNT = "SYS"
_ALWAYS = (MAIN_ACCOUNT, "B")
_ACCOUNT = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,127}")
_STORE = "$JETPROOF_STORE"


@dataclass(frozen=True, slots=True)
class Configuration:
    """A template by name. `applies_from` is the first release that starts with it."""

    head: ServerHead
    text: str

    @property
    def name(self) -> str:
        return self.head.name

    @property
    def about(self) -> str:
        return self.head.about

    @property
    def applies_from(self) -> Version | None:
        return self.head.applies_from

    def refused_by(self, version: Version) -> str | None:
        """Why a release cannot run with this configuration, or None if it can."""
        return self.head.refused_by(version)


@dataclass(frozen=True, slots=True)
class ClusterPlace:
    """A node's place in a cluster: its name, where it listens for routes, and all routes."""

    name: str
    listen: str
    routes: tuple[str, ...]
    advertise: bool = True
    """Whether clients are told of the other nodes; in containers those addresses lead nowhere."""


@dataclass(frozen=True, slots=True)
class LeafPlace:
    """A node's end of the link: where a hub listens for leaf nodes, or where a leaf finds one."""

    listen: str | None = None
    advertise: str | None = None
    hub: str | None = None


@dataclass(frozen=True, slots=True)
class NodePlace:
    """Where one server runs: what `render` adds to a template."""

    name: str
    listen: str
    store: str
    ports_dir: str | None = None
    cluster: ClusterPlace | None = None
    domain: str | None = None
    leaf: LeafPlace | None = None

    def in_cluster(self, cluster: ClusterPlace) -> NodePlace:
        return replace(self, cluster=cluster)

    def in_domain(self, domain: str, leaf: LeafPlace) -> NodePlace:
        return replace(self, domain=domain, leaf=leaf)


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
    """Read a template's leading comments."""
    head = read_head(name, text)
    if not head.about or _STORE not in text:
        raise JetproofError(
            f"the server configuration {name!r} is incomplete",
            phase="load",
            hint="it begins with `# about: ...` and stores in $JETPROOF_STORE",
        )
    return Configuration(head, text)


@dataclass(frozen=True, slots=True)
class Accounts:
    """The accounts of a target: the standing ones and those that were asked for.

    `brought` are those of a configuration that brings them itself."""

    names: tuple[str, ...]
    brought: bool = False

    @classmethod
    def of(cls, asked: Iterable[str] = (), head: ServerHead | None = None) -> Accounts:
        if head is not None and head.accounts:
            return cls(tuple(name for name in head.accounts if name != SYSTEM_ACCOUNT), True)
        names = list(_ALWAYS)
        for name in asked:
            if name == "$SYS":
                continue
            if not _ACCOUNT.fullmatch(name):
                raise JetproofError(
                    f"{name!r} cannot be the name of an account",
                    phase="plan",
                    hint="letters, digits, '-' and '_', a letter first",
                )
            if name not in (*names, SYSTEM_ACCOUNT):
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
        lines = ["authorization { timeout: 60 }"]
        if not self.brought:
            lines += self._accounts()
        lines += [
            f"system_account: {_quoted(SYSTEM_ACCOUNT)}",
            f"no_auth_user: {_quoted(MAIN_ACCOUNT)}",
        ]
        return "\n".join(lines)

    def _accounts(self) -> list[str]:
        lines = ["accounts {"]
        for name in self.names:
            users = f"users: [{{user: {_quoted(name)}, password: {_quoted(name)}}}]"
            lines.append(f"  {_quoted(name)}: {{ jetstream: enabled, {users} }}")
        system = _quoted(SYSTEM_ACCOUNT)
        return [*lines, f"  {system}: {{ users: [{{user: {system}, password: {system}}}] }}", "}"]


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
    if place.leaf is not None:
        lines.append(_render_leaf(place.leaf, accounts))
    return "\n".join([*lines, accounts.render(), "", _in_domain(configuration, place.domain)])


def _in_domain(configuration: Configuration, domain: str | None) -> str:
    """The template with a domain beside its store: a block of settings cannot be given twice."""
    if domain is None:
        return configuration.text
    if re.search(r"^\s*domain\s*[:=]", configuration.text, re.MULTILINE):
        raise JetproofError(
            f"the configuration {configuration.name} has a domain of its own",
            phase="plan",
            hint="hub and leaf node need different ones: use another configuration with leaf",
        )
    return configuration.text.replace(_STORE, f"{_STORE}\n  domain: {_quoted(domain)}", 1)


def _render_leaf(leaf: LeafPlace, accounts: Accounts) -> str:
    """The hub's end, or the leaf's: one remote an account, but none for the system account."""
    if leaf.listen is not None:
        # A leaf that is told where the hub really listens would find its way around the link.
        told = f", advertise: {_quoted(leaf.advertise)}" if leaf.advertise else ""
        return f"leafnodes {{ listen: {_quoted(leaf.listen)}{told} }}"
    remotes = [
        f"    {{ url: {_quoted(f'nats-leaf://{name}:{name}@{leaf.hub}')}, account: {_quoted(name)} }}"
        for name in accounts.names
    ]
    return "\n".join(["leafnodes {", '  reconnect: "200ms"', "  remotes: [", *remotes, "  ]", "}"])


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
