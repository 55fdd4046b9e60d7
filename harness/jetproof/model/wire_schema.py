"""The JSON Schemas of what a server says, in all their forms, and which revision each release speaks.

A schema has a default form, and others from some revision of one specification on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jetproof.model.fingerprint import schema_fingerprint
from jetproof.model.versions import Version

Speaks = Mapping[str, tuple[tuple[Version, int], ...]]
"""By specification: from which release on which revision is spoken, the oldest first."""


@dataclass(frozen=True, slots=True)
class SchemaForm:
    """One schema file: the default (`revision` None) or the form from a revision on."""

    spec: str | None
    revision: int | None
    document: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SchemaSet:
    """All schemas by name, the default form first, and which revision each release speaks."""

    forms: Mapping[str, tuple[SchemaForm, ...]]
    speaks: Speaks

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self.forms))

    def form(self, name: str, revision: int | None = None) -> SchemaForm:
        """The form that holds in a revision; without one, the default."""
        return next(
            form
            for form in reversed(self.forms[name])
            if form.revision is None or (revision is not None and form.revision <= revision)
        )

    def document(self, name: str, revision: int | None = None) -> Mapping[str, Any]:
        """The schema itself, complete with the parts that it shares with others."""
        return self.form(name, revision).document

    def fingerprint(self, name: str) -> str:
        """The hash of all that a message can break: two schemas with one hash judge alike."""
        forms = {f"{one.spec}@{one.revision}": one.document for one in self.forms[name]}
        return schema_fingerprint(forms)

    @property
    def spoken_specs(self) -> frozenset[str]:
        """The specifications of which the table says what releases speak."""
        return frozenset(self.speaks)

    def spoken_revision(self, spec: str, version: Version | str) -> int | None:
        """The revision of a specification that a release speaks; None: it does not."""
        release = (Version.parse(version) if isinstance(version, str) else version).base
        spoken = [revision for start, revision in self.speaks.get(spec, ()) if start <= release]
        return spoken[-1] if spoken else None

    def spoken_form(self, name: str, version: Version | str) -> int | None:
        """The revision whose form of this schema the release speaks; None: the default."""
        spec = self.spec_of(name)
        return None if spec is None else self.spoken_revision(spec, version)

    def spec_of(self, name: str) -> str | None:
        """The specification whose revisions give this schema other forms, if one does."""
        return next((form.spec for form in self.forms[name] if form.spec), None)
