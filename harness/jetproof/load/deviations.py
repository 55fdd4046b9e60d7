"""Ledgers to the model: that of servers (`suites/deviations.yaml`) and those of client libraries.

An entry is one cause with the cases that it makes fail. Here it becomes one `Deviation` per case.
What a check saw is kept with the case's fresh names put back (`$stream`, `$batch`), so a ledger's
texts are taken as they stand: `$stream` in it is those seven characters, and no variable.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from jetproof.load.mistakes import Mistake, choices, nearest
from jetproof.load.structure import FileSchema
from jetproof.load.yaml_source import Document, Keys
from jetproof.model.case import Case
from jetproof.model.edition import Edition
from jetproof.model.identity import schema_name
from jetproof.model.ledger import Deviation, Kind, KnownMismatch, Severity
from jetproof.model.matcher import Matcher, parse_matcher
from jetproof.model.versions import Releases, VersionError
from jetproof.model.wire_form import WireForm

GIVEN = "given"
CLOSING = "closing"


def read_deviations(
    document: Document,
    schema: FileSchema,
    cases: Mapping[str, Case] | None,
    schemas: Collection[str],
    mistakes: list[Mistake],
    forms: Collection[WireForm] = (),
) -> tuple[Deviation, ...]:
    """The ledger of servers. `cases` is None if some could not be read: then none is missed."""
    if schema.check(document, mistakes):
        return ()
    data: Any = document.data
    reader = EntryReader(document, cases, mistakes, schemas, forms)
    found: list[Deviation] = []
    for index, raw in enumerate(data["deviations"]):
        keys = ("deviations", index)
        read = tuple(reader.deviations(keys, raw))
        if read and read[0].sometimes and not read[0].servers.bounded:
            reader.report(
                (*keys, "sometimes"),
                "an entry that holds sometimes never gets stale, so its releases must have an end: "
                "give `servers` an upper bound",
            )
        found += read
    return tuple(found)


class EntryReader:
    """Reads entries of one ledger whose structure has been checked."""

    def __init__(
        self,
        document: Document,
        cases: Mapping[str, Case] | None,
        mistakes: list[Mistake],
        schemas: Collection[str] = (),
        forms: Collection[WireForm] = (),
        renamed: Mapping[str, str] | None = None,
        edition: Edition | None = None,
    ) -> None:
        """`edition` is the one that the ledger was written for: a case that it lists may be gone or have
        changed since, and is then no mistake."""
        self._renamed = renamed or {}
        self._edition = edition
        self._document = document
        self._cases = cases
        self._mistakes = mistakes
        self._schemas = schemas
        self._forms = {form.name: form for form in forms}
        self._lines: dict[str, int] = {}

    def deviations(self, keys: Keys, raw: Any) -> Iterator[Deviation]:
        """One deviation per case of the entry; none if its releases cannot be read."""
        line = self._document.line_of((*keys, "id"))
        if first := self._lines.get(raw["id"]):
            self.report(
                (*keys, "id"), f"duplicate entry {raw['id']}: it is in line {first} already"
            )
        self._lines.setdefault(raw["id"], line)
        for case, mismatches in raw["cases"].items():
            self._check_case(keys, raw, case, mismatches)
        try:
            servers = Releases.parse(raw.get("servers", "*"))
        except VersionError as error:
            self.report((*keys, "servers"), str(error))
            return
        form = self._form(keys, raw.get("form"))
        for case, mismatches in raw["cases"].items():
            yield Deviation(
                id=raw["id"],
                case=self._renamed.get(case, case),
                servers=servers,
                text=raw["text"],
                does=raw["does"],
                mismatches=_known_mismatches(mismatches),
                kind=Kind(raw["kind"]),
                severity=Severity(raw["severity"]),
                upstream=raw.get("upstream"),
                topology=raw.get("topology"),
                provider=raw.get("provider"),
                file=self._document.file,
                line=line,
                sometimes=raw.get("sometimes", False),
                form=form,
            )

    def report(self, keys: Keys, message: str) -> None:
        self._mistakes.append(Mistake(self._document.file, self._document.line_of(keys), message))

    def _form(self, keys: Keys, name: str | None) -> WireForm | None:
        form = None if name is None else self._forms.get(name)
        if name is not None and form is None:
            self.report((*keys, "form"), f"no wire form {name}; {choices(name, self._forms)}")
        elif form is not None and not form.in_ledger:
            self.report(
                (*keys, "form"),
                f"cases of {name} are n/a where it is not spoken: no entry can be about them",
            )
        return form

    def _check_case(self, keys: Keys, raw: Any, name: str, mismatches: Any) -> None:
        place = (*keys, "cases", name)
        schema = schema_name(name)
        if self._schemas and schema is not None:
            if schema not in self._schemas:
                self.report(
                    place, f"no schema {schema!r}; {choices(schema, sorted(self._schemas))}"
                )
            return
        if self._cases is None:
            return
        name = self._renamed.get(name, name)
        case = self._cases.get(name)
        listed = self._edition.hashes.get(name) if self._edition else None
        if listed is not None and listed != (case.hash if case else None):
            return  # it is not scored: what the entry says of it decides nothing
        if case is None:
            self.report(place, f"no case {name}{nearest(name, self._cases)}")
            return
        topology = raw.get("topology")
        if topology is not None and topology != case.given.topology:
            self.report((*keys, "topology"), f"{name} is played in {case.given.topology} only")
        self._check_steps(place, case, mismatches)

    def _check_steps(self, place: Keys, case: Case, mismatches: Any) -> None:
        steps = list(case.all_steps())
        names = [GIVEN, CLOSING, *(step.name for step in steps)]
        labels = {step.address: step.label for step in steps if step.label}
        for index, mismatch in enumerate(mismatches):
            at, step = (*place, index, "step"), mismatch["step"]
            if label := labels.get(step):
                self.report(at, f"step {step} has the label {label}: name it by that")
            elif step not in names:
                self.report(at, f"{case.id} has no step {step!r}; {choices(step, names)}")


def _known_mismatches(raw: Any) -> tuple[KnownMismatch, ...]:
    return tuple(
        KnownMismatch(entry["step"], entry["path"], _literal(entry["actual"])) for entry in raw
    )


def _literal(raw: object) -> Matcher:
    return parse_matcher(_escaped(raw))


def _escaped(raw: object) -> object:
    if isinstance(raw, str):
        return raw.replace("$", "$$")
    if isinstance(raw, Mapping):
        return {key: _escaped(value) for key, value in raw.items()}
    if isinstance(raw, list):
        return [_escaped(item) for item in raw]
    return raw
