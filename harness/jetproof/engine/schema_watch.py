"""Every JetStream reply and advisory seen in a run is validated, whether a case asks or not.

That gives one `SchemaResult` per schema and target, and never changes a case's verdict. Fields that
no schema names are kept with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jetproof.engine.documents import cut, read_json
from jetproof.engine.wire_schemas import WireSchemas
from jetproof.model.verdict import BrokenMessage, Violation
from jetproof.model.versions import Version

KEPT = 20
MOST_UNKNOWN = 100
MOST_BYTES = 4096
"""So much is kept of the first message that breaks a schema."""


@dataclass(slots=True)
class SchemaRecord:
    """What was seen of one schema on one target."""

    seen: int = 0
    broken: int = 0
    unknown: set[str] = field(default_factory=set)
    violations: dict[tuple[str, str], Violation] = field(default_factory=dict)
    first_broken: BrokenMessage | None = None

    def with_(self, other: SchemaRecord) -> SchemaRecord:
        """What both have seen."""
        return SchemaRecord(
            self.seen + other.seen,
            self.broken + other.broken,
            self.unknown | other.unknown,
            {**other.violations, **self.violations},
            self.first_broken or other.first_broken,
        )


class SchemaWatch:
    """Collects for one target, over all its groups."""

    def __init__(
        self, schemas: WireSchemas, version: Version, speaks: Mapping[str, int] | None = None
    ) -> None:
        """`speaks` gives the revisions of specifications that are not those of the release."""
        self._schemas = schemas
        self._version = version
        self._speaks = speaks or {}
        self.records: dict[str, SchemaRecord] = {}
        self._revisions: dict[str, int | None] = {}

    def record(self, name: str) -> SchemaRecord:
        """What was seen of a schema, if anything was."""
        return self.records.get(name) or SchemaRecord()

    def see(self, case: str, subject: str, asked: str | None, payload: bytes) -> None:
        """One message off the wire; `asked` is the subject of the request it answers."""
        if not payload.startswith(b"{"):
            return
        document = read_json(payload)
        name = self._schemas.classify(subject, asked, document)
        if name is None:
            return
        record = self.records.setdefault(name, SchemaRecord())
        record.seen += 1
        revision = self.spoken(name)
        for unknown in self._schemas.unknown_fields(name, document, revision):
            if len(record.unknown) < MOST_UNKNOWN:
                record.unknown.add(cut(unknown, 100))
        violations = self._schemas.validate(name, document, revision)
        if violations:
            record.broken += 1
            record.first_broken = record.first_broken or BrokenMessage(
                case, subject, payload[:MOST_BYTES]
            )
        for violation in violations:
            key = (violation.path, violation.message)
            if key not in record.violations and len(record.violations) < KEPT:
                record.violations[key] = Violation(violation.path, cut(violation.message), case)

    def spoken(self, name: str) -> int | None:
        """The revision of the schema's specification that this target speaks."""
        if name not in self._revisions:
            schemas = self._schemas.schemas
            spec = schemas.spec_of(name)
            spoken = schemas.spoken_form(name, self._version)
            self._revisions[name] = self._speaks.get(spec, spoken) if spec else spoken
        return self._revisions[name]
