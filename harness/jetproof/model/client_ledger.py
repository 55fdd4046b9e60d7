"""The ledger of a client library: where it is known not to keep a sentence, and exactly how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from jetproof.model.ledger import Deviation
from jetproof.model.versions import Version, VersionError, VersionRange


@dataclass(frozen=True, slots=True)
class ClientDeviation:
    """One entry: in these versions of the library, on these servers, the case fails just so.

    After the day it `expires` it explains nothing any more."""

    deviation: Deviation
    versions: VersionRange | None = None
    expires: date | None = None

    def covers(self, case: str, library_version: str, server: Version) -> bool:
        entry = self.deviation
        return (
            entry.case == case
            and entry.servers.contains(server)
            and (self.versions is None or _within(self.versions, library_version))
        )


@dataclass(frozen=True, slots=True)
class ClientLedger:
    """The entries of one library that count today, and those that have expired."""

    library: str = ""
    entries: tuple[ClientDeviation, ...] = ()
    file: str = ""
    edition: str | None = None
    """The edition that it was written for, if it says so."""

    def on(self, today: date) -> ClientLedger:
        """The ledger without what has expired."""
        kept = tuple(entry for entry in self.entries if not _expired(entry, today))
        return replace(self, entries=kept)

    def expired(self, today: date) -> tuple[ClientDeviation, ...]:
        return tuple(entry for entry in self.entries if _expired(entry, today))

    def covering(self, case: str, library_version: str, server: Version) -> Sequence[Deviation]:
        return [
            entry.deviation for entry in self.entries if entry.covers(case, library_version, server)
        ]


def _expired(entry: ClientDeviation, today: date) -> bool:
    return entry.expires is not None and entry.expires < today


def _within(versions: VersionRange, text: str) -> bool:
    """A version that is none, such as that of a checkout, counts as the newest."""
    try:
        version = Version.parse(text)
    except VersionError:
        return True
    return versions.contains(version)
