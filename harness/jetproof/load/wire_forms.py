"""The table of wire forms, `fixtures/servers/forms.yaml`: read, and checked against the catalogues."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from jetproof.load.mistakes import Mistake, choices
from jetproof.load.structure import FileSchema
from jetproof.load.yaml_source import Document, Keys
from jetproof.model.clause import Spec
from jetproof.model.versions import Version
from jetproof.model.wire_form import WireForm


def read_forms(
    document: Document,
    schema: FileSchema,
    specs: Mapping[str, Spec],
    elsewhere: Collection[str],
    mistakes: list[Mistake],
) -> tuple[WireForm, ...]:
    """The forms of the specifications that the library has.

    A library may hold a part of the specifications: a form of one that is known `elsewhere` is left
    out, a form of any other is a mistake."""
    if schema.check(document, mistakes):
        return ()
    data: Any = document.data
    elsewhere = {*elsewhere, *data.get("specifications", ())}
    found: dict[str, WireForm] = {}
    for index, raw in enumerate(data["forms"]):
        reader = _Form(document, ("forms", index), raw, mistakes)
        if raw["name"] in found:
            reader.tell(("name",), f"duplicate form {raw['name']}")
        elif raw["spec"] in specs:
            found[raw["name"]] = reader.form(specs[raw["spec"]])
        elif raw["spec"] not in elsewhere:
            known = sorted({*specs, *elsewhere})
            message = f"no specification {raw['spec']}; {choices(raw['spec'], known)}"
            reader.tell(("spec",), message)
    return tuple(found.values())


class _Form:
    """One entry, whose structure is right."""

    def __init__(
        self, document: Document, keys: Keys, raw: Mapping[str, Any], mistakes: list[Mistake]
    ) -> None:
        self._document = document
        self._keys = keys
        self._raw = raw
        self._mistakes = mistakes

    def tell(self, keys: Keys, message: str) -> None:
        line = self._document.line_of((*self._keys, *keys))
        self._mistakes.append(Mistake(self._document.file, line, message))

    def form(self, spec: Spec) -> WireForm:
        raw = self._raw
        spoken = tuple((Version.parse(row["from"]), row["revision"]) for row in raw["spoken"])
        form = WireForm(
            raw["name"],
            spec.id,
            raw["clauses"],
            spoken,
            raw.get("reference"),
            in_ledger=raw.get("unspoken") == "ledger",
        )
        if not any(map(form.has, spec.clauses.values())):
            self.tell(("clauses",), f"no clause of {spec.id} has an id like {form.clauses}...")
            return form
        for number, (start, revision) in enumerate(spoken):
            if number and start <= spoken[number - 1][0]:
                before = spoken[number - 1][0]
                self.tell(
                    ("spoken", number, "from"),
                    f"{start} is not later than {before}: rows have the oldest release first",
                )
            if revision is not None:
                self._check(form, spec, ("spoken", number, "revision"), revision)
            elif not number:
                self.tell(
                    ("spoken", number, "revision"), "nobody spoke the form before: remove the row"
                )
        if form.reference is not None:
            self._check(form, spec, ("reference",), form.reference)
        return form

    def _check(self, form: WireForm, spec: Spec, keys: Keys, revision: int) -> None:
        if revision not in spec.revisions:
            listed = ", ".join(map(str, spec.revisions))
            self.tell(keys, f"{spec.id} has no revision {revision}; it has: {listed}")
        elif not any(form.has(one) and one.holds_in(revision) for one in spec.clauses.values()):
            self.tell(keys, f"no clause {form.clauses}... holds in revision {revision}")
