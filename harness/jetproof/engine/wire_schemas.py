"""Messages held against the JSON Schemas of what a server says: replies, API replies, advisories.

A schema says which fields a message must have and of which type. It tolerates fields that it does
not name, since servers may add some; `unknown_fields` lists them, so that they are recorded.

Every message of a run passes through here: validators are compiled once, on first use, with
jsonschema-rs, and a valid message costs one pass.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jetproof.engine.message_kinds import message_kind
from jetproof.engine.schema_shape import Shape, shape_of
from jetproof.errors import JetproofError
from jetproof.load.mistakes import choices
from jetproof.model.versions import Version
from jetproof.model.wire_schema import SchemaForm, SchemaSet

if TYPE_CHECKING:
    import jsonschema_rs

ROOT = "(document)"


@dataclass(frozen=True, slots=True)
class Violation:
    """Where a message departs from its schema, and how."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class WireSchemas:
    """Validates messages by the schemas of one set."""

    schemas: SchemaSet
    _validators: dict[tuple[str, int | None], jsonschema_rs.Validator] = field(
        default_factory=dict, repr=False, compare=False
    )
    _shapes: dict[tuple[str, int | None], Shape] = field(
        default_factory=dict, repr=False, compare=False
    )

    def validate(self, name: str, document: object, revision: int | None = None) -> list[Violation]:
        """Return every departure from the schema in the form of that revision, or an empty list."""
        validator = self._validator(name, revision)
        try:
            if validator.is_valid(document):
                return []
            return [
                Violation(_path(error.instance_path), error.message)
                for error in validator.iter_errors(document)
            ]
        except ValueError as error:
            # Half a surrogate pair, or a thousand levels: legal JSON that no server has to send.
            return [Violation(ROOT, f"cannot be examined: {error}")]

    def validate_as_spoken(
        self, name: str, document: object, version: Version | str
    ) -> list[Violation]:
        """Validate against the form of the revision that the release speaks."""
        return self.validate(name, document, self.schemas.spoken_form(name, version))

    def unknown_fields(self, name: str, document: object, revision: int | None = None) -> list[str]:
        """Return the paths of the fields that the schema does not name, `[]` for list items."""
        form = self._form(name, revision)
        key = (name, form.revision)
        if key not in self._shapes:
            self._shapes[key] = shape_of(form.document)
        return sorted(self._shapes[key].unknown(document))

    def classify(self, subject: str, reply_to_subject: str | None, document: object) -> str | None:
        """Name the schema that a message has to fit, or None if there is none for it."""
        return message_kind(subject, reply_to_subject, document, self.schemas.forms)

    def _form(self, name: str, revision: int | None) -> SchemaForm:
        if name not in self.schemas.forms:
            known = choices(name, self.schemas.names())
            raise JetproofError(f"there is no schema {name!r}; {known}", phase="load")
        return self.schemas.form(name, revision)

    def _validator(self, name: str, revision: int | None) -> jsonschema_rs.Validator:
        form = self._form(name, revision)
        key = (name, form.revision)
        if key not in self._validators:
            import jsonschema_rs  # the import is paid by runs that validate, not by every command

            self._validators[key] = jsonschema_rs.Draft202012Validator(dict(form.document))
        return self._validators[key]


def _path(parts: Iterable[str | int]) -> str:
    return ".".join(str(part) for part in parts) or ROOT
