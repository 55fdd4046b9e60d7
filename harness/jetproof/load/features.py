"""The table of optional features, `fixtures/features.yaml`, and what case files say about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jetproof.load.mistakes import Mistake, choices
from jetproof.load.structure import FileSchema
from jetproof.load.yaml_source import Document, Keys
from jetproof.model.case import Case, FeatureUse
from jetproof.model.client import OPERATIONS
from jetproof.model.feature import Asking, Feature, Fieldset, sends
from jetproof.model.versions import Releases, VersionError


def read_features(
    document: Document, schema: FileSchema, mistakes: list[Mistake]
) -> dict[str, Feature]:
    """The features by name. Each must be carried by something."""
    if schema.check(document, mistakes):
        return {}
    data: Any = document.data
    found: dict[str, Feature] = {}
    for index, raw in enumerate(data["features"]):
        keys: Keys = ("features", index)

        def tell(inner: Keys, message: str, keys: Keys = keys) -> None:
            line = document.line_of((*keys, *inner))
            mistakes.append(Mistake(document.file, line, message))

        if raw["name"] in found:
            tell(("name",), f"duplicate feature {raw['name']}")
            continue
        if not any(raw.get(name) for name in ("headers", "fields", "reply_ends")):
            tell((), f"nothing carries {raw['name']}: write headers, fields or reply_ends")
        found[raw["name"]] = Feature(
            name=raw["name"],
            about=raw["about"],
            headers=tuple(raw.get("headers", ())),
            with_headers=tuple(raw.get("with_headers", ())),
            fields=tuple(
                Fieldset(tuple(one["subjects"]), tuple(one["json"]))
                for one in raw.get("fields", ())
            ),
            reply_ends=raw.get("reply_ends"),
            calls=_calls(raw.get("calls", ()), tell),
            servers=_releases(raw.get("servers"), tell),
            reference=raw.get("reference", False),
        )
    return found


def _calls(raw: Any, tell: Callable[[Keys, str], None]) -> tuple[Asking, ...]:
    """Calls of the adapter protocol, each with parameters that its operations have."""
    for index, one in enumerate(raw):
        for op in one["ops"]:
            if op not in OPERATIONS:
                tell(("calls", index, "ops"), f"no operation {op!r}; {choices(op, OPERATIONS)}")
        known = {name for op in one["ops"] for name in OPERATIONS.get(op, ())}
        for name in one.get("parameters", ()):
            if name not in known:
                where = ("calls", index, "parameters")
                tell(where, f"none of {', '.join(one['ops'])} has a parameter {name!r}")
    keys = ("ops", "parameters", "revisions")
    return tuple(Asking(*(tuple(one.get(key, ())) for key in keys)) for one in raw)


def _releases(raw: Any, tell: Callable[[Keys, str], None]) -> Releases | None:
    if raw is None:
        return None
    try:
        return Releases.parse(_NOWHERE if raw == "none" else raw)
    except VersionError as error:
        tell(("servers",), str(error))
        return None


class FeatureUses:
    """What one case file declares: a default for the file, and what its cases say themselves."""

    def __init__(
        self, document: Document, features: Mapping[str, Feature], tell: Callable[[int, str], None]
    ) -> None:
        self._document = document
        self._features = features
        self._tell = tell
        self._default: dict[str, FeatureUse] = {}
        self._sent: set[str] = set()
        self._read_any = False
        self._for_client = False

    def of_file(self, raw: object, *, for_client: bool) -> None:
        self._for_client = for_client
        self._default = self._read(("feature",), raw)

    def of(self, case: Case, keys: Keys, raw: object) -> tuple[FeatureUse, ...]:
        """The features that a case is about: its own, and those of the file that it sends."""
        self._read_any = True
        place = (*keys, "feature")
        own = self._read(place, raw)
        for name in own:
            # What a library sends by itself, only a run shows.
            if not case.for_client and not sends(case, self._features[name]):
                self._report(place, f"no step of {case.name} sends {name}: take it out, or send it")
        inherited = [
            name for name in self._default if name in own or sends(case, self._features[name])
        ]
        self._sent.update(inherited)
        return tuple((self._default | own)[name] for name in dict.fromkeys((*inherited, *own)))

    def finish(self) -> None:
        """A default that holds for no case is a mistake."""
        for name in self._default:
            if self._read_any and name not in self._sent:
                wrong = f"no case of the file sends {name}: take it out"
                if self._for_client:
                    wrong = f"no call of the file asks for {name}: declare it in cases that need it"
                self._report(("feature",), wrong)

    def _read(self, keys: Keys, raw: object) -> dict[str, FeatureUse]:
        entries = raw if isinstance(raw, list) else [] if raw is None else [raw]
        found: dict[str, FeatureUse] = {}
        for index, entry in enumerate(entries):
            place = (*keys, index) if isinstance(raw, list) else keys
            fields: Mapping[str, Any] = entry if isinstance(entry, Mapping) else {"name": entry}
            name = fields.get("name")
            if not isinstance(name, str):
                continue  # the schema has said so
            if name not in self._features:
                known = choices(name, sorted(self._features))
                where = f"{known}. fixtures/features.yaml describes features"
                self._report(place, f"no feature {name!r}; {where}")
            elif name in found:
                self._report(place, f"duplicate feature {name}")
            else:
                differs, reason = fields.get("differs", True), str(fields.get("reason", ""))
                if bool(differs) == bool(reason):
                    self._report(place, _NO_REASON if reason else _REASON)
                found[name] = FeatureUse(name, bool(differs), reason)
        return found

    def _report(self, keys: Keys, message: str) -> None:
        self._tell(self._document.line_of(keys), message)


_NOWHERE = "<0.0.0"
"""A range without any release."""
_REASON = "differs: false needs a reason: why the case passes without the feature"
_NO_REASON = "a reason belongs to differs: false"
