"""The JSON Schemas of what a server says: replies to a publish, API replies, advisories.

Each file of `fixtures/schemas/wire` describes one kind of message. `batch-abandoned.json` is the
default; `batch-abandoned@adr-50-10.json` is the same message from revision 10 of ADR-50 on.
`common.json` holds the parts that they share and is no message itself.

A schema says which fields a message must have and of which type. It tolerates fields that it does
not name, since servers may add some; `unknown_fields` lists them, so that they are recorded.

Every message of a run passes through here: validators are compiled once, on first use, with
jsonschema-rs, and a valid message costs one pass.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jetproof.data import fixtures_dir
from jetproof.errors import JetproofError
from jetproof.load.mistakes import LoadError, Mistake, choices
from jetproof.load.shapes import Shape, shape_of
from jetproof.load.yaml_source import read_yaml
from jetproof.model.fingerprint import schema_fingerprint
from jetproof.model.versions import Version

if TYPE_CHECKING:
    import jsonschema_rs

_Speaks = Mapping[str, tuple[tuple[Version, int], ...]]

ROOT = "(document)"
COMMON = "common"
FAST_INGEST = ".$FI"  # ends the reply subject of every message of fast ingest, ADR-50 revision 10

_FILE = re.compile(r"(?P<name>[a-z][a-z0-9-]*)(?:@(?P<spec>[a-z]+(?:-[0-9]+)?)-(?P<revision>\d+))?")
_API_REQUEST = re.compile(r"\$JS\.(?:[^.]+\.)?API\.(?P<call>.+)")
_API_TYPE = re.compile(r"io\.nats\.jetstream\.api\.v1\.(?P<reply>[a-z_]+)")
_BY_CALL = (
    ("STREAM.INFO.", "stream-info"),
    ("STREAM.CREATE.", "stream-create"),
    ("STREAM.UPDATE.", "stream-update"),
    ("STREAM.MSG.GET.", "msg-get"),
    ("STREAM.MSG.DELETE.", "msg-delete"),
    ("STREAM.DELETE.", "stream-delete"),
    ("STREAM.PURGE.", "stream-purge"),
    ("STREAM.NAMES", "stream-names"),
    ("STREAM.LIST", "stream-list"),
    ("CONSUMER.CREATE.", "consumer-create"),
    ("CONSUMER.DURABLE.CREATE.", "consumer-create"),
    ("CONSUMER.INFO.", "consumer-info"),
    ("CONSUMER.LIST.", "consumer-list"),
    ("CONSUMER.NAMES.", "consumer-names"),
    ("CONSUMER.DELETE.", "consumer-delete"),
    ("CONSUMER.LEADER.STEPDOWN.", "consumer-stepdown"),
    ("STREAM.LEADER.STEPDOWN.", "stream-stepdown"),
    ("CONSUMER.UNPIN.", "consumer-unpin"),
    ("CONSUMER.PAUSE.", "consumer-pause"),
    ("CONSUMER.RESET.", "consumer-reset"),
    ("STREAM.SNAPSHOT.", "stream-snapshot"),
    ("STREAM.RESTORE.", "stream-restore"),
    ("ACCOUNT.PURGE.", "account-purge"),
    ("META.LEADER.STEPDOWN", "meta-stepdown"),
    ("SERVER.REMOVE", "server-remove"),
    ("INFO", "account-info"),
)
_BY_TYPE = {
    "stream_info_response": "stream-info",
    "stream_create_response": "stream-create",
    "stream_update_response": "stream-update",
    "stream_msg_get_response": "msg-get",
    "stream_msg_delete_response": "msg-delete",
    "stream_delete_response": "stream-delete",
    "stream_purge_response": "stream-purge",
    "stream_names_response": "stream-names",
    "stream_list_response": "stream-list",
    "consumer_create_response": "consumer-create",
    "consumer_info_response": "consumer-info",
    "consumer_list_response": "consumer-list",
    "consumer_names_response": "consumer-names",
    "consumer_delete_response": "consumer-delete",
    "consumer_leader_stepdown_response": "consumer-stepdown",
    "stream_leader_stepdown_response": "stream-stepdown",
    "consumer_unpin_response": "consumer-unpin",
    "consumer_pause_response": "consumer-pause",
    "consumer_reset_response": "consumer-reset",
    "stream_snapshot_response": "stream-snapshot",
    "stream_restore_response": "stream-restore",
    "account_purge_response": "account-purge",
    "meta_leader_stepdown_response": "meta-stepdown",
    "meta_server_remove_response": "server-remove",
    "account_info_response": "account-info",
}
_BY_FLOW = {"ack": "batch-flow-ack", "gap": "batch-flow-gap", "err": "batch-flow-err"}
# What tells a flow acknowledgement from a PubAck in revision 7 of ADR-50, where it has no type.
_FLOW_ACK_ONLY = {"last_seq", "messages", "bytes"}
_PUB_ACK_ONLY = {"type", "stream", "batch"}
_EVENT = re.compile(r"\$JS\.EVENT\.(?:ADVISORY|METRIC)\.(?P<event>.+)")
_BY_EVENT_SUBJECT = (
    ("API.LIMIT_REACHED", "api-limit-reached"),
    ("API", "api-audit"),
    ("SERVER.OUT_OF_STORAGE", "server-out-of-space"),
    ("STREAM.BATCH_ABANDONED.", "batch-abandoned"),
    ("STREAM.CREATED.", "stream-action"),
    ("STREAM.UPDATED.", "stream-action"),
    ("STREAM.DELETED.", "stream-action"),
    ("STREAM.SNAPSHOT_CREATE.", "stream-snapshot-started"),
    ("STREAM.SNAPSHOT_COMPLETE.", "stream-snapshot-completed"),
    ("STREAM.RESTORE_CREATE.", "stream-restore-started"),
    ("STREAM.RESTORE_COMPLETE.", "stream-restore-completed"),
    ("STREAM.LEADER_ELECTED.", "stream-leader-elected"),
    ("STREAM.QUORUM_LOST.", "stream-quorum-lost"),
    ("CONSUMER.CREATED.", "consumer-action"),
    ("CONSUMER.DELETED.", "consumer-action"),
    ("CONSUMER.LEADER_ELECTED.", "consumer-leader-elected"),
    ("CONSUMER.QUORUM_LOST.", "consumer-quorum-lost"),
    ("CONSUMER.PAUSE.", "consumer-paused"),
    ("CONSUMER.PINNED.", "consumer-pinned"),
    ("CONSUMER.UNPINNED.", "consumer-unpinned"),
    ("CONSUMER.MSG_NAKED.", "msg-naked"),
    ("CONSUMER.MSG_TERMINATED.", "msg-terminated"),
    ("CONSUMER.MAX_DELIVERIES.", "max-deliveries"),
    ("CONSUMER.ACK.", "consumer-ack"),
)
_BY_EVENT_TYPE = {
    "io.nats.jetstream.advisory.v1.api_audit": "api-audit",
    "io.nats.jetstream.advisory.v1.api_limit_reached": "api-limit-reached",
    "io.nats.jetstream.advisory.v1.server_out_of_space": "server-out-of-space",
    "io.nats.jetstream.advisory.v1.batch_abandoned": "batch-abandoned",
    "io.nats.jetstream.advisory.v1.stream_batch_abandoned": "batch-abandoned",
    "io.nats.jetstream.advisory.v1.stream_action": "stream-action",
    "io.nats.jetstream.advisory.v1.snapshot_create": "stream-snapshot-started",
    "io.nats.jetstream.advisory.v1.snapshot_complete": "stream-snapshot-completed",
    "io.nats.jetstream.advisory.v1.restore_create": "stream-restore-started",
    "io.nats.jetstream.advisory.v1.restore_complete": "stream-restore-completed",
    "io.nats.jetstream.advisory.v1.stream_leader_elected": "stream-leader-elected",
    "io.nats.jetstream.advisory.v1.stream_quorum_lost": "stream-quorum-lost",
    "io.nats.jetstream.advisory.v1.consumer_action": "consumer-action",
    "io.nats.jetstream.advisory.v1.consumer_leader_elected": "consumer-leader-elected",
    "io.nats.jetstream.advisory.v1.consumer_quorum_lost": "consumer-quorum-lost",
    "io.nats.jetstream.advisory.v1.consumer_pause": "consumer-paused",
    "io.nats.jetstream.advisory.v1.consumer_group_pinned": "consumer-pinned",
    "io.nats.jetstream.advisory.v1.consumer_group_unpinned": "consumer-unpinned",
    "io.nats.jetstream.advisory.v1.nak": "msg-naked",
    "io.nats.jetstream.advisory.v1.terminated": "msg-terminated",
    "io.nats.jetstream.advisory.v1.max_deliver": "max-deliveries",
    "io.nats.jetstream.metric.v1.consumer_ack": "consumer-ack",
}


@dataclass(frozen=True, slots=True)
class Violation:
    """Where a message departs from its schema, and how."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class _Variant:
    """One schema file: the default (`revision` None) or the form from a revision on."""

    spec: str | None
    revision: int | None
    document: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WireSchemas:
    """All schemas of one folder, and which revision each release speaks."""

    _variants: Mapping[str, tuple[_Variant, ...]]
    _speaks: _Speaks
    _validators: dict[tuple[str, int | None], jsonschema_rs.Validator] = field(
        default_factory=dict, repr=False, compare=False
    )
    _shapes: dict[tuple[str, int | None], Shape] = field(
        default_factory=dict, repr=False, compare=False
    )

    @classmethod
    def load(cls, folder: Path | None = None, speaks: Path | None = None) -> WireSchemas:
        """Read the schemas, by default those that Jetproof carries; tell each mistake."""
        mistakes: list[Mistake] = []
        variants = _read_schemas(*_place(folder, "schemas/wire"), mistakes)
        spoken = _read_speaks(*_place(speaks, "servers/speaks.yaml"), mistakes)
        if mistakes:
            raise LoadError(mistakes)
        return cls(variants, spoken)

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._variants))

    def exists(self, name: str) -> bool:
        return name in self._variants

    def document(self, name: str, revision: int | None = None) -> Mapping[str, Any]:
        """Return the schema itself, complete with the parts that it shares with others."""
        return self._variant(name, revision).document

    def fingerprint(self, name: str) -> str:
        """The hash of all that a message can break: two schemas with one hash judge alike."""
        forms = {f"{one.spec}@{one.revision}": one.document for one in self._of(name)}
        return schema_fingerprint(forms)

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

    def unknown_fields(self, name: str, document: object, revision: int | None = None) -> list[str]:
        """Return the paths of the fields that the schema does not name, `[]` for list items."""
        variant = self._variant(name, revision)
        key = (name, variant.revision)
        if key not in self._shapes:
            self._shapes[key] = shape_of(variant.document)
        return sorted(self._shapes[key].unknown(document))

    def classify(self, subject: str, reply_to_subject: str | None, document: object) -> str | None:
        """Name the schema that a message has to fit, or None if there is none for it.

        `subject` is where the message arrived and `reply_to_subject` the subject of the request
        that it answers. What was asked decides before what the message says of itself, so that a
        reply without its `type` is still found wanting. A message that answers nothing is judged
        only if it is an advisory or a metric, or says that it is an API reply: a stored payload
        may look like anything.
        """
        if not isinstance(document, Mapping):
            return None
        kind = document.get("type")
        if event := _EVENT.fullmatch(subject):
            return self._known(_starting(_BY_EVENT_SUBJECT, event["event"])) or self._event(kind)
        asked = _API_REQUEST.fullmatch(reply_to_subject or "")
        said = _API_TYPE.fullmatch(kind) if isinstance(kind, str) else None
        if asked or said:
            if "error" in document:
                return self._known("js-api-error")
            if asked:
                return self._known(_starting(_BY_CALL, asked["call"]))
            return self._known(_BY_TYPE.get(said["reply"])) if said else None
        if reply_to_subject is None:
            return self._event(kind)
        if subject.endswith(FAST_INGEST) and ("type" in document or "batch" in document):
            # Whatever says of itself that it is no PubAck has to be one of the three.
            name = _BY_FLOW.get(str(kind), "batch-flow-ack") if kind else "pub-ack-fast"
            return self._known(name)
        if "error" in document and "type" not in document:
            return self._known("error-reply")
        if not document.keys() & _PUB_ACK_ONLY and document.keys() & _FLOW_ACK_ONLY:
            return self._known("batch-flow-ack")
        if "type" not in document and ("stream" in document or "seq" in document):
            return self._known("pub-ack")
        return None

    @property
    def spoken_specs(self) -> frozenset[str]:
        """Return the specifications of which the table says what releases speak."""
        return frozenset(self._speaks)

    def spoken_revision(self, spec: str, version: Version | str) -> int | None:
        """Return the revision of a specification that a release speaks; None: it does not."""
        release = (Version.parse(version) if isinstance(version, str) else version).base
        spoken = [revision for start, revision in self._speaks.get(spec, ()) if start <= release]
        return spoken[-1] if spoken else None

    def validate_as_spoken(
        self, name: str, document: object, version: Version | str
    ) -> list[Violation]:
        """Validate against the form of the revision that the release speaks."""
        return self.validate(name, document, self.spoken_form(name, version))

    def spoken_form(self, name: str, version: Version | str) -> int | None:
        """Return the revision whose form of this schema the release speaks; None: the default."""
        spec = self.spec_of(name)
        return None if spec is None else self.spoken_revision(spec, version)

    def spec_of(self, name: str) -> str | None:
        """Return the specification whose revisions give this schema other forms, if one does."""
        return next((variant.spec for variant in self._of(name) if variant.spec), None)

    def _of(self, name: str) -> tuple[_Variant, ...]:
        variants = self._variants.get(name)
        if variants is None:
            raise JetproofError(
                f"there is no schema {name!r}; {choices(name, self.names())}", phase="load"
            )
        return variants

    def _variant(self, name: str, revision: int | None) -> _Variant:
        variants = self._of(name)
        fitting = [
            variant
            for variant in variants
            if variant.revision is None or (revision is not None and variant.revision <= revision)
        ]
        return fitting[-1]

    def _validator(self, name: str, revision: int | None) -> jsonschema_rs.Validator:
        variant = self._variant(name, revision)
        key = (name, variant.revision)
        if key not in self._validators:
            import jsonschema_rs  # the import is paid by runs that validate, not by every command

            self._validators[key] = jsonschema_rs.Draft202012Validator(dict(variant.document))
        return self._validators[key]

    def _known(self, name: str | None) -> str | None:
        return name if name in self._variants else None

    def _event(self, kind: object) -> str | None:
        return self._known(_BY_EVENT_TYPE.get(kind)) if isinstance(kind, str) else None


def _place(given: Path | None, default: str) -> tuple[Path, str]:
    """Return where to read, and the name of that place for people."""
    return (
        (fixtures_dir() / default, f"fixtures/{default}") if given is None else (given, str(given))
    )


def _starting(table: Iterable[tuple[str, str]], text: str) -> str | None:
    return next((name for start, name in table if text.startswith(start)), None)


def _path(parts: Iterable[str | int]) -> str:
    return ".".join(str(part) for part in parts) or ROOT


def _read_schemas(
    folder: Path, name: str, mistakes: list[Mistake]
) -> Mapping[str, tuple[_Variant, ...]]:
    found: dict[str, list[_Variant]] = {}
    common = _read_json(folder / f"{COMMON}.json", name, mistakes)
    for file in sorted(folder.glob("*.json")):
        if file.stem == COMMON:
            continue
        named = _FILE.fullmatch(file.stem)
        if named is None:
            why = "the name is neither <name>.json nor <name>@<spec>-<revision>.json"
            mistakes.append(Mistake(f"{name}/{file.name}", 1, why))
            continue
        revision = None if named["revision"] is None else int(named["revision"])
        schema = _read_json(file, name, mistakes)
        bundled = {**schema, "$defs": {**schema.get("$defs", {}), COMMON: common}}
        found.setdefault(named["name"], []).append(_Variant(named["spec"], revision, bundled))
    for kind, variants in found.items():
        variants.sort(key=lambda variant: (variant.revision is not None, variant.revision or 0))
        if variants[0].revision is not None:
            mistakes.append(Mistake(f"{name}/{kind}.json", 1, "the default form is missing"))
        if len({variant.spec for variant in variants if variant.spec}) > 1:
            why = "its forms follow more than one specification"
            mistakes.append(Mistake(f"{name}/{kind}.json", 1, why))
    return {kind: tuple(variants) for kind, variants in found.items()}


def _read_json(file: Path, name: str, mistakes: list[Mistake]) -> dict[str, Any]:
    try:
        document = json.loads(file.read_bytes())
        if isinstance(document, dict):
            return document
        line, why = 1, "a schema is an object"
    except json.JSONDecodeError as error:
        line, why = error.lineno, f"not JSON: {error.msg}"
    except (OSError, UnicodeDecodeError) as error:
        line, why = 1, f"cannot be read: {error}"
    mistakes.append(Mistake(f"{name}/{file.name}", line, why))
    return {}


def _read_speaks(file: Path, name: str, mistakes: list[Mistake]) -> _Speaks:
    document = read_yaml(file, name, mistakes)
    table: dict[str, tuple[tuple[Version, int], ...]] = {}
    for spec, rows in _mapping(document.data if document else None).items():
        spoken: list[tuple[Version, int]] = []
        for number, row in enumerate(rows if isinstance(rows, list) else [None]):
            start, revision = _mapping(row).get("from"), _mapping(row).get("revision")
            try:
                version = Version.parse(str(start))
                if not isinstance(revision, int) or (spoken and version <= spoken[-1][0]):
                    raise ValueError("rows are {from: release, revision: number}, oldest first")
                spoken.append((version, revision))
            except ValueError as error:
                line = document.line_of((spec, number)) if document else 1
                mistakes.append(Mistake(name, line, str(error)))
        table[spec] = tuple(spoken)
    return table


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
