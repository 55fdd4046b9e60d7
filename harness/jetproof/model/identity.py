"""What a cell is: one case on one target. Its name is made here, and read here, and nowhere else.

    adr-50/atomic/commit::gap-fails-the-batch @2.14.6 single
    adr-50/client/atomic::one-commit @2.15.1 single container go:nats.go@1.55.0 adr-50@10

Edition and round are no part of it: they say what counts, and when it was played.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

REFERENCE: Final = "reference"
"""The layer, and the client, that show what a text demands. Neither is anybody's conformance."""
EMBEDDED: Final = "embedded"
"""The provider that a name leaves out."""
ANY: Final = "any"
"""The topology of what is judged over all topologies of a target."""
SCHEMAS: Final = "schemas"
"""Ledgers and editions name a wire schema in the place of a case: `schemas::pub-ack`."""

_REVISION = re.compile(r"[a-z0-9-]+@[0-9]+")
_PROVIDER = re.compile(r"[a-z]+")
_SUITE: Final = "::"
_TWIN: Final = "+"
_PEER: Final = "to:"
_ESCAPED = re.compile(r"%([0-9A-F]{2})")


@dataclass(frozen=True, slots=True)
class ClientName:
    """A client library in one version: `go:nats.go@1.55.0`. The version may be unknown."""

    library: str
    version: str = ""

    def __str__(self) -> str:
        versioned = self.version or "@" in self.library
        return f"{self.library}@{self.version}" if versioned else self.library

    @property
    def is_reference(self) -> bool:
        return self.library == REFERENCE


def client_name(text: str) -> ClientName:
    library, at, version = text.rpartition("@")
    return ClientName(library, version) if at and library else ClientName(text)


@dataclass(frozen=True, slots=True)
class CellId:
    """Everything that tells a cell from another one.

    `revision` (`adr-50@10`) is given where it is not the one that the case is about. `build` and
    `attempt` tell plays of one name apart, and are not in it."""

    case: str
    server: str
    topology: str
    provider: str = EMBEDDED
    client: ClientName | None = None
    revision: str = ""
    twin: str = ""
    peer: ClientName | None = None
    build: str = ""
    attempt: int = 1

    def __str__(self) -> str:
        """The cell's name everywhere: console, JUnit, files, URL."""
        case = f"{self.case}{_TWIN}{self.twin}" if self.twin else self.case
        provider = "" if self.provider == EMBEDDED else self.provider
        words = [] if self.client is None else str(self.client).replace("%", "%25").split(" ")
        first = 0 if words and not provider else None
        if self.peer is not None:
            peer = str(self.peer).replace("%", "%25").split(" ")
            words = [*map(_not_a_peer, words), f"{_PEER}{peer[0]}", *map(_not_a_peer, peer[1:])]
        else:
            words = list(map(_not_a_peer, words))
        if first is not None and _PROVIDER.fullmatch(words[first]):
            words[first] = _escaped(words[first])
        if words and not self.revision and _is_revision(words[-1]):
            words[-1] = _escaped(words[-1])
        server = self.server.replace("%", "%25").replace(" ", "%20")
        axes = (f"@{server}", self.topology, provider, *words, self.revision)
        return " ".join((case, *filter(None, axes)))


def _escaped(word: str) -> str:
    """A word of a client's name that would be read as something else."""
    return f"%{ord(word[0]):02X}{word[1:]}"


def _not_a_peer(word: str) -> str:
    return _escaped(word) if word.startswith(_PEER) else word


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


@dataclass(frozen=True, slots=True)
class CaseId:
    """The name of a case: `suite::own`. An edition or a ledger may name a schema in its place."""

    suite: str
    own: str

    def __str__(self) -> str:
        return f"{self.suite}{_SUITE}{self.own}"


def case_id(text: str) -> CaseId:
    suite, _, own = text.partition(_SUITE)
    return CaseId(suite, own)


def revision_of(text: str) -> tuple[str, int]:
    """Specification and number of a revision: `adr-50@10`."""
    spec, _, number = text.partition("@")
    return spec, int(number)


def schema_key(name: str) -> str:
    """What ledgers, editions and reports call a wire schema."""
    return f"{SCHEMAS}::{name}"


def schema_name(key: str) -> str | None:
    """The wire schema that a key of a ledger or an edition names; None if it names a case."""
    prefix = schema_key("")
    return key.removeprefix(prefix) if key.startswith(prefix) else None


def cell_id(name: str) -> CellId:
    """Reads a cell's name, or the id of a case: then server and topology are empty."""
    case, _, place = name.strip().partition(" @")
    suite, colons, own = case.strip().partition(_SUITE)
    own, _, twin = own.partition(_TWIN)
    server, _, axes = place.partition(" ")
    topology, *rest = axes.split(" ")
    revised = rest.pop() if rest and _is_revision(rest[-1]) else ""
    provider = rest.pop(0) if rest and _PROVIDER.fullmatch(rest[0]) else EMBEDDED
    # A client may be a path, with blanks in it.
    peers = [place for place, word in enumerate(rest) if word.startswith(_PEER)]
    end = peers[0] if peers else len(rest)
    client, peer = " ".join(rest[:end]).strip(), " ".join(rest[end:]).removeprefix(_PEER)
    return CellId(
        f"{suite}{colons}{own}",
        _plain(server),
        topology,
        provider,
        client_name(_plain(client)) if client else None,
        revised,
        twin,
        client_name(_plain(peer)) if peer else None,
    )


def _is_revision(word: str) -> bool:
    return bool(_REVISION.fullmatch(word)) and not word.startswith(f"{REFERENCE}@")
