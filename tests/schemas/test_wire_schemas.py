"""What servers say is judged by schemas: real messages pass, damaged ones do not."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from jetproof.data import fixtures_dir
from jetproof.engine.wire_schemas import WireSchemas
from jetproof.errors import JetproofError
from jetproof.load.mistakes import LoadError
from jetproof.load.wire_schemas import read_schema_set


@dataclass(frozen=True, slots=True)
class Frame:
    """A message that a release sent: where it arrived, what it answered, what it is."""

    release: str
    subject: str
    answers: str | None
    schema: str
    document: dict[str, Any]


def _recorded() -> list[Frame]:
    lines = (Path(__file__).parent / "frames.jsonl").read_text().splitlines()
    return [Frame(**json.loads(line)) for line in lines]


def _name(frame: Frame) -> str:
    return f"{frame.schema}-{frame.release}"


FRAMES = _recorded()
# The largest message of each kind: what the referee, who is slow, looks at in all its parts.
LARGEST = {
    frame.schema: frame for frame in sorted(FRAMES, key=lambda frame: len(str(frame.document)))
}
each_frame = pytest.mark.parametrize("frame", FRAMES, ids=_name)

ADVISORY = "$JS.EVENT.ADVISORY.STREAM.BATCH_ABANDONED.S"
ABANDONED = {
    "type": "io.nats.jetstream.advisory.v1.stream_batch_abandoned",
    "id": "x",
    "timestamp": "2026-11-16T11:24:08.784779977Z",
    "stream": "S",
    "batch": "b",
    "reason": "large",
}
# No release sends this one before its disk is full: it is written by the published type.
OUT_OF_SPACE = {
    "type": "io.nats.jetstream.advisory.v1.server_out_of_space",
    "id": "x",
    "timestamp": "2026-11-16T11:24:08.784779977Z",
    "server": "n1",
    "server_id": "NABC",
    "stream": "S",
    "cluster": "C",
}
PAUSE = "io.nats.jetstream.api.v1.consumer_pause_response"
SNAPSHOT = "io.nats.jetstream.api.v1.stream_snapshot_response"
RESTORE = "io.nats.jetstream.api.v1.stream_restore_response"
ACCOUNT_PURGE = "io.nats.jetstream.api.v1.account_purge_response"
# What no schema may take: each is wrong in one way.
API_ERROR = {"code": 400, "err_code": 10071, "description": "wrong last sequence: 1"}
WRONG = [
    ("pub-ack", {"stream": "S"}, "seq"),
    ("pub-ack", {"stream": "S", "seq": "1"}, "seq"),
    ("pub-ack", {"stream": "S", "seq": -1}, "seq"),
    ("pub-ack", {"stream": "S", "seq": 1.5}, "seq"),
    ("pub-ack", {"stream": 5, "seq": 1}, "stream"),
    ("pub-ack", {"stream": "S", "seq": 1, "batch": "b"}, "count"),
    ("pub-ack", {"stream": "S", "seq": 1, "count": 2}, "batch"),
    ("pub-ack", {"stream": "S", "seq": 1, "error": {}}, "error"),
    ("pub-ack-plain", {"stream": "S", "seq": 1, "duplicate": True}, "duplicate"),
    ("pub-ack-plain", {"stream": "S", "seq": 1, "batch": "b", "count": 1}, "batch"),
    ("pub-ack-duplicate", {"stream": "S", "seq": 1}, "duplicate"),
    ("pub-ack-duplicate", {"stream": "S", "seq": 1, "duplicate": False}, "duplicate"),
    ("pub-ack-batch", {"stream": "S", "seq": 1}, "batch"),
    ("pub-ack-batch", {"stream": "S", "seq": 1, "batch": "b" * 65, "count": 1}, "batch"),
    ("pub-ack-batch", {"stream": "S", "seq": 1, "batch": "b", "count": 0}, "count"),
    ("pub-ack-fast", {"stream": "S", "seq": 0, "batch": "b"}, "count"),
    ("pub-ack-fast", {"stream": "S", "seq": -1, "batch": "b", "count": 0}, "seq"),
    ("batch-flow-gap", {"type": "gap", "last_seq": 2}, "seq"),
    ("batch-flow-gap", {"type": "ack", "last_seq": 2, "seq": 3}, "type"),
    ("batch-flow-gap", {"type": "gap", "last_seq": 2, "seq": 3, "msgs": 1}, "msgs"),
    ("batch-flow-gap", {"type": "gap", "last_seq": 2, "seq": 3, "batch": "b"}, "batch"),
    ("batch-flow-err", {"type": "err", "seq": 2, "error": API_ERROR, "msgs": 1}, "msgs"),
    ("batch-flow-err", {"type": "err", "seq": 2, "error": API_ERROR, "stream": "S"}, "stream"),
    ("batch-flow-err", {"type": "err", "seq": 2, "error": API_ERROR, "last_seq": 1}, "last_seq"),
    ("error-reply", {"error": API_ERROR}, "stream"),
    ("error-reply", {"error": API_ERROR, "stream": "S", "batch": "b"}, "not"),
    ("error-reply", {"error": API_ERROR, "stream": "S", "count": 2}, "not"),
    ("pub-ack-fast", {"stream": "S", "seq": 1, "batch": "b", "count": 1, "val": 5}, "val"),
    ("batch-flow-err", {"type": "err", "seq": 2}, "error"),
    ("batch-flow-err", {"type": "err", "seq": 0, "error": {}}, "seq"),
    ("batch-flow-err", {"type": "err", "seq": 2, "error": {"code": 400}}, "err_code"),
    ("error-reply", {"error": "no"}, "error"),
    ("error-reply", {"error": {"code": 400, "description": "no"}}, "err_code"),
    ("error-reply", {"error": {"code": "400", "err_code": 10176, "description": "x"}}, "code"),
    ("js-api-error", {"error": {"code": 404, "err_code": 10059, "description": "x"}}, "type"),
    ("consumer-pause", {"type": PAUSE}, "paused"),
    ("consumer-pause", {"type": PAUSE, "paused": True}, "pause_until"),
    ("consumer-pause", {"type": PAUSE, "paused": False, "pause_remaining": 5}, "pause_remaining"),
    ("consumer-pause", {"type": PAUSE, "paused": False, "error": API_ERROR}, "error"),
    ("stream-snapshot", {"type": SNAPSHOT, "config": {"name": "S"}}, "state"),
    ("stream-restore", {"type": RESTORE}, "deliver_subject"),
    ("stream-restore", {"type": RESTORE, "deliver_subject": ""}, "deliver_subject"),
    ("account-purge", {"type": ACCOUNT_PURGE}, "initiated"),
    ("account-purge", {"type": ACCOUNT_PURGE, "initiated": False}, "initiated"),
    ("server-out-of-space", {**OUT_OF_SPACE, "server_id": 7}, "server_id"),
    ("server-out-of-space", {**OUT_OF_SPACE, "timestamp": "today"}, "timestamp"),
    ("server-out-of-space", {**OUT_OF_SPACE, "type": "server_out_of_space"}, "type"),
    ("server-out-of-space", {"type": OUT_OF_SPACE["type"], "id": "x"}, "server"),
]


@pytest.fixture(scope="module")
def schemas() -> WireSchemas:
    return WireSchemas(read_schema_set())


@each_frame
class TestRealMessages:
    def test_a_message_of_a_release_fits_its_schema(
        self, schemas: WireSchemas, frame: Frame
    ) -> None:
        revision = 10 if frame.schema in ("batch-abandoned", "batch-flow-ack") else None
        assert schemas.validate(frame.schema, frame.document, revision) == []

    def test_and_has_no_field_that_the_schema_does_not_name(
        self, schemas: WireSchemas, frame: Frame
    ) -> None:
        assert schemas.unknown_fields(frame.schema, frame.document, 10) == []

    def test_and_is_recognised_for_what_it_is(self, schemas: WireSchemas, frame: Frame) -> None:
        known = frame.schema in ("pub-ack-fast",) or not frame.schema.startswith("pub-ack")
        expected = frame.schema if known else "pub-ack"
        assert schemas.classify(frame.subject, frame.answers, frame.document) == expected


def test_an_advisory_that_no_run_can_provoke_fits_its_schema(schemas: WireSchemas) -> None:
    assert schemas.validate("server-out-of-space", OUT_OF_SPACE) == []
    assert schemas.unknown_fields("server-out-of-space", OUT_OF_SPACE) == []


class TestWrongMessages:
    @pytest.mark.parametrize(("name", "document", "named"), WRONG)
    def test_each_fault_is_told_with_the_field(
        self, schemas: WireSchemas, name: str, document: dict[str, Any], named: str
    ) -> None:
        told = schemas.validate(name, document)
        assert told
        assert any(named in f"{violation.path} {violation.message}" for violation in told)

    @pytest.mark.parametrize(
        ("document", "named"),
        [
            ({"seq": 2, "msgs": 2}, "type"),
            ({"type": "ack", "seq": 2}, "msgs"),
            ({"type": "ack", "seq": 2, "msgs": 0}, "msgs"),
            ({"type": "ack", "seq": 2, "msgs": 65536}, "msgs"),
            ({"type": "ack", "seq": -1, "msgs": 2}, "seq"),
            ({"type": "ack", "seq": "2", "msgs": 2}, "seq"),
            ({"type": "ack", "seq": 2, "msgs": 2, "batch": "b"}, "batch"),
            ({"type": "ack", "seq": 2, "msgs": 2, "stream": "S"}, "stream"),
            ({"type": "ack", "seq": 2, "msgs": 2, "last_seq": 1}, "last_seq"),
            ({"type": "ack", "seq": 2, "msgs": 2, "error": {}}, "error"),
        ],
    )
    def test_each_fault_of_a_flow_ack_is_told(
        self, schemas: WireSchemas, document: dict[str, Any], named: str
    ) -> None:
        assert schemas.validate("batch-flow-ack", {"type": "ack", "seq": 2, "msgs": 2}, 10) == []
        told = schemas.validate("batch-flow-ack", document, 10)
        assert any(named in f"{violation.path} {violation.message}" for violation in told)

    @pytest.mark.parametrize(
        "document",
        [
            {"seq": 2},
            {"last_seq": 1, "seq": 4},
            {"seq": 2, "messages": 0},
            {"seq": 2, "bytes": "1024"},
            {"seq": 2, "messages": 2, "bytes": 1024},
            {"seq": 0, "messages": 2},
            {"last_seq": 0, "seq": 2, "messages": 2},
            {"seq": 2, "messages": 2, "batch": "b"},
            {"seq": 2, "messages": 2, "stream": "S"},
            {"seq": 2, "messages": 2, "type": "ack"},
            {"seq": 2, "messages": 2, "error": {}},
        ],
    )
    @pytest.mark.parametrize("revision", [7, 9])
    def test_each_fault_of_a_flow_ack_of_revision_7_is_told(
        self, schemas: WireSchemas, document: dict[str, Any], revision: int
    ) -> None:
        for right in (
            {"messages": 10},
            {"seq": 1, "bytes": 1024},
            {"last_seq": 1, "seq": 4, "messages": 2},
        ):
            assert schemas.validate("batch-flow-ack", right, revision) == []
        assert schemas.validate("batch-flow-ack", document, revision)

    def test_all_faults_are_told_with_their_paths(self, schemas: WireSchemas) -> None:
        told = schemas.validate("error-reply", {"error": {"code": 1, "err_code": "x"}, "seq": -1})
        assert {violation.path for violation in told} == {
            "(document)",
            "error",
            "error.code",
            "error.err_code",
            "seq",
        }

    def test_the_place_of_a_fault_at_the_top_has_a_name(self, schemas: WireSchemas) -> None:
        assert [v.path for v in schemas.validate("pub-ack", {"stream": "S"})] == ["(document)"]

    @pytest.mark.parametrize("document", [None, [], 7, "text", True])
    def test_what_is_no_object_fits_nothing(self, schemas: WireSchemas, document: object) -> None:
        names = schemas.schemas.names()
        assert names
        assert all(schemas.validate(name, document) for name in names)

    @pytest.mark.parametrize(
        "seq", ['"\\ud800"', '{"\\ud800": 1}', '{"a":' * 500 + "1" + "}" * 500]
    )
    def test_hostile_json_is_told_and_does_no_harm(self, schemas: WireSchemas, seq: str) -> None:
        document = json.loads(f'{{"stream": "S", "seq": {seq}}}')
        told = schemas.validate("pub-ack", document)
        assert [violation.path for violation in told] == ["(document)"]
        assert "cannot be examined" in told[0].message
        assert schemas.unknown_fields("pub-ack", document) == []

    @pytest.mark.parametrize(
        "text",
        ["2026-11-16", "2026-13-16T11:24:08Z", "2026-11-16T11:24:08", "2026-11-16 11:24:08Z", ""],
    )
    def test_a_time_is_written_as_rfc_3339_demands(self, schemas: WireSchemas, text: str) -> None:
        told = schemas.validate("batch-abandoned", {**ABANDONED, "timestamp": text}, 10)
        assert [violation.path for violation in told] == ["timestamp"]

    @each_frame
    def test_a_required_field_that_is_missing_is_told(
        self, schemas: WireSchemas, frame: Frame
    ) -> None:
        required = schemas.schemas.document(frame.schema, 10)["required"]
        assert required
        for name in required:
            damaged = {key: value for key, value in frame.document.items() if key != name}
            assert schemas.validate(frame.schema, damaged, 10), f"{name} is not missed"


class TestReferee:
    """jsonschema-rs judges on the hot path; jsonschema must agree with every judgement."""

    def test_the_schemas_are_schemas(self, schemas: WireSchemas) -> None:
        for name in schemas.schemas.names():
            for revision in (None, 10):
                jsonschema.Draft202012Validator.check_schema(
                    schemas.schemas.document(name, revision)
                )

    def test_both_agree_on_what_is_wrong_on_purpose(self, schemas: WireSchemas) -> None:
        for name, document, _ in WRONG:
            assert not _referee(schemas, name).is_valid(document), document

    @pytest.mark.parametrize("frame", LARGEST.values(), ids=_name)
    def test_both_agree_on_a_message_and_on_every_way_to_damage_it(
        self, schemas: WireSchemas, frame: Frame
    ) -> None:
        referee = _referee(schemas, frame.schema)
        judged = {True: 0, False: 0}
        for document in [frame.document, *_damaged(frame.document)]:
            expected = referee.is_valid(document)
            assert (schemas.validate(frame.schema, document, 10) == []) is expected, document
            judged[expected] += 1
        assert judged[True]
        assert judged[False]


def _referee(schemas: WireSchemas, name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schemas.schemas.document(name, 10))


def _damaged(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The document with each value in turn left out, or replaced by one of another kind."""
    others: tuple[Any, ...] = (None, "", "text", -1, 0, 2.5, True, [], {}, ...)
    for path in _paths(document):
        for value in others:
            changed = copy.deepcopy(document)
            inner: Any = changed
            for part in path[:-1]:
                inner = inner[part]
            if value is ...:
                del inner[path[-1]]
            else:
                inner[path[-1]] = value
            yield changed


def _paths(value: object, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value or ())  # type: ignore[arg-type]
    for key, inner in parts:
        yield (*at, key)
        if isinstance(inner, dict | list):
            yield from _paths(inner, (*at, key))


class TestUnknownFields:
    def test_a_new_field_is_valid_and_recorded(self, schemas: WireSchemas) -> None:
        ack = {"stream": "S", "seq": 1, "shard": 4, "trace": {"id": 1}}
        assert schemas.validate("pub-ack", ack) == []
        assert schemas.unknown_fields("pub-ack", ack) == ["shard", "trace"]

    def test_deep_fields_and_list_items_are_found_once(self, schemas: WireSchemas) -> None:
        info = {
            "config": {"name": "S", "allow_magic": True, "metadata": {"any": "thing"}},
            "cluster": {"replicas": [{"name": "a", "mood": 1}, {"name": "b", "mood": 2}]},
            "state": {"subjects": {"S.a": 1}},
        }
        assert schemas.unknown_fields("stream-info", info) == [
            "cluster.replicas[].mood",
            "config.allow_magic",
        ]

    @pytest.mark.parametrize("document", [None, [], "text", {"config": "text"}])
    def test_what_has_no_fields_has_no_unknown_ones(
        self, schemas: WireSchemas, document: object
    ) -> None:
        assert schemas.unknown_fields("stream-info", document) == []


class TestRevisions:
    def test_the_advisory_has_another_type_from_revision_10_on(self, schemas: WireSchemas) -> None:
        old = {**ABANDONED, "type": "io.nats.jetstream.advisory.v1.batch_abandoned"}
        old["reason"] = "timeout"
        for revision in (None, 7, 9):
            assert schemas.validate("batch-abandoned", old, revision) == []
            told = schemas.validate("batch-abandoned", ABANDONED, revision)
            assert {violation.path for violation in told} == {"type", "reason"}
        for revision in (10, 11):
            assert schemas.validate("batch-abandoned", ABANDONED, revision) == []
            told = schemas.validate("batch-abandoned", old, revision)
            assert [violation.path for violation in told] == ["type"]

    def test_a_schema_without_forms_is_the_same_for_every_revision(
        self, schemas: WireSchemas
    ) -> None:
        assert schemas.schemas.document("pub-ack", 7) == schemas.schemas.document("pub-ack", 10)

    @pytest.mark.parametrize(
        ("version", "revision"),
        [
            ("2.10.25", None),
            ("2.11.11", None),
            ("2.12.0", 7),
            ("2.12.8", 7),
            ("2.14.0-RC.1", 10),
            ("2.14.0", 10),
            ("2.15.1", 10),
            ("3.0.0", 10),
        ],
    )
    def test_a_release_speaks_a_revision(
        self, schemas: WireSchemas, version: str, revision: int | None
    ) -> None:
        assert schemas.schemas.spoken_revision("adr-50", version) == revision

    def test_nobody_speaks_an_unknown_specification(self, schemas: WireSchemas) -> None:
        assert schemas.schemas.spoken_revision("adr-0", "2.15.1") is None

    def test_what_a_release_says_is_judged_by_the_revision_that_it_speaks(
        self, schemas: WireSchemas
    ) -> None:
        assert schemas.validate_as_spoken("batch-abandoned", ABANDONED, "2.15.1") == []
        assert schemas.validate_as_spoken("batch-abandoned", ABANDONED, "2.12.8") != []
        assert schemas.schemas.spoken_form("batch-abandoned", "2.15.1") == 10
        assert schemas.schemas.spoken_form("pub-ack", "2.15.1") is None
        assert schemas.validate_as_spoken("pub-ack", {"stream": "S", "seq": 1}, "2.10.25") == []


class TestClassify:
    @pytest.mark.parametrize(
        ("subject", "answers", "document", "name"),
        [
            ("_INBOX.1", "S.a", {"stream": "S", "seq": 1}, "pub-ack"),
            ("_INBOX.1", "S.a", {"seq": 1}, "pub-ack"),
            ("_INBOX.1", "S.a", {"error": {}, "stream": "S", "seq": 0}, "error-reply"),
            ("_INBOX.1", "$JS.API.STREAM.INFO.S", {"config": {}}, "stream-info"),
            ("_INBOX.1", "$JS.hub.API.STREAM.INFO.S", {"config": {}}, "stream-info"),
            ("_INBOX.1", "$JS.API.STREAM.INFO.S", {"error": {}}, "js-api-error"),
            ("_INBOX.1", "$JS.API.CONSUMER.INFO.S.c", {"error": {}}, "js-api-error"),
            ("_INBOX.1", "$JS.API.CONSUMER.INFO.S.c", {"config": {}}, "consumer-info"),
            ("_INBOX.1", "$JS.API.CONSUMER.RESET.S.c", {"config": {}}, "consumer-reset"),
            ("_INBOX.1", "$JS.API.CONSUMER.PAUSE.S.c", {"paused": 1}, "consumer-pause"),
            ("_INBOX.1", "$JS.API.CONSUMER.PAUSE.S.c", {"error": {}}, "js-api-error"),
            ("_INBOX.1", "$JS.API.STREAM.SNAPSHOT.S", {"state": {}}, "stream-snapshot"),
            ("_INBOX.1", "$JS.API.STREAM.RESTORE.S", {}, "stream-restore"),
            ("_INBOX.1", "$JS.API.ACCOUNT.PURGE.A", {}, "account-purge"),
            ("_INBOX.1", "$JS.API.STREAM.PEER.REMOVE.S", {"success": True}, None),
            ("$JS.EVENT.ADVISORY.API", None, {"subject": "x"}, "api-audit"),
            ("$JS.EVENT.ADVISORY.API.LIMIT_REACHED", None, {"dropped": 1}, "api-limit-reached"),
            ("$JS.EVENT.ADVISORY.SERVER.OUT_OF_STORAGE", None, {}, "server-out-of-space"),
            ("copy.of.it", None, OUT_OF_SPACE, "server-out-of-space"),
            ("_INBOX.1", "$JS.API.INFO", {"memory": 0}, "account-info"),
            (
                "_INBOX.1",
                None,
                {"type": "io.nats.jetstream.api.v1.stream_msg_get_response"},
                "msg-get",
            ),
            (ADVISORY, None, {"type": "anything"}, "batch-abandoned"),
            ("copy.of.it", None, ABANDONED, "batch-abandoned"),
            ("$JS.EVENT.ADVISORY.STREAM.CREATED.S", None, {"action": "create"}, "stream-action"),
            ("$JS.EVENT.ADVISORY.STREAM.RENAMED.S", None, {"action": "rename"}, None),
            ("$JS.EVENT.METRIC.CONSUMER.ACK.S.c", None, {"deliveries": 1}, "consumer-ack"),
            ("S.a", None, {"stream": "S", "seq": 1}, None),
            ("_INBOX.1", "service.a", {"price": 1}, None),
            ("_INBOX.1", "S.a", {"type": "err", "seq": 2, "error": {}}, None),
            ("i.b.2.ok.2.1.$FI", "S.a", {"type": "err", "seq": 2}, "batch-flow-err"),
            ("i.b.2.ok.2.1.$FI", "S.a", {"type": "gap"}, "batch-flow-gap"),
            ("i.b.2.ok.2.1.$FI", "S.a", {"type": "ack", "seq": 2}, "batch-flow-ack"),
            ("i.b.2.ok.2.1.$FI", "S.a", {"type": "news"}, "batch-flow-ack"),
            ("i.b.2.ok.2.2.$FI", "S.a", {"batch": "b", "seq": 2}, "pub-ack-fast"),
            ("i.b.2.ok.2.1.$FI", "S.a", {"seq": 2, "msgs": 2}, "pub-ack"),
            ("i.b.2.ok.2.1.$FI", "S.a", {"error": {}, "seq": 0}, "error-reply"),
            ("i.b.2.ok.2.1.$FI", None, {"type": "ack"}, None),
            ("_INBOX.1", "S.a", {"seq": 1, "messages": 10}, "batch-flow-ack"),
            ("_INBOX.1", "S.a", {"bytes": 1024}, "batch-flow-ack"),
            ("_INBOX.1", "S.a", {"last_seq": 1, "seq": 4}, "batch-flow-ack"),
            ("_INBOX.1", "S.a", {"stream": "S", "seq": 4, "messages": 1}, "pub-ack"),
            ("_INBOX.1", None, {"seq": 1, "messages": 10}, None),
            ("_INBOX.1", "S.a", [1], None),
            ("_INBOX.1", "S.a", None, None),
            ("_INBOX.1", "S.a", {"type": 5}, None),
        ],
    )
    def test_a_message_is_known_by_what_it_answers_and_says(
        self,
        schemas: WireSchemas,
        subject: str,
        answers: str | None,
        document: object,
        name: str | None,
    ) -> None:
        assert schemas.classify(subject, answers, document) == name


class TestFiles:
    def test_names_and_existence(self, schemas: WireSchemas) -> None:
        assert "pub-ack-batch" in schemas.schemas.names()
        assert "common" not in schemas.schemas.names()

    def test_an_unknown_schema_is_told_with_what_was_probably_meant(
        self, schemas: WireSchemas
    ) -> None:
        with pytest.raises(JetproofError, match=r"no schema 'stream-inof'; did you mean") as error:
            schemas.validate("stream-inof", {})
        assert error.value.phase == "load"

    def test_a_schema_is_complete_in_itself(self, schemas: WireSchemas) -> None:
        alone = json.loads(json.dumps(schemas.schemas.document("stream-info")))
        assert not jsonschema.Draft202012Validator(alone).is_valid({"config": {}})

    def test_all_mistakes_of_a_folder_are_told_with_their_place(self, tmp_path: Path) -> None:
        (tmp_path / "common.json").write_text("{}")
        (tmp_path / "broken.json").write_text('{\n  "type": \n}')
        (tmp_path / "list.json").write_text("[]")
        (tmp_path / "Odd Name.json").write_text("{}")
        (tmp_path / "late@adr-50-9.json").write_text("{}")
        (tmp_path / "torn.json").write_text("{}")
        (tmp_path / "torn@adr-50-9.json").write_text("{}")
        (tmp_path / "torn@adr-31-2.json").write_text("{}")
        speaks = tmp_path / "speaks.yaml"
        speaks.write_text(
            "adr-50:\n  - {from: 2.14.0, revision: 10}\n  - {from: 2.12.0, revision: 7}\n"
        )
        with pytest.raises(LoadError) as error:
            read_schema_set(tmp_path, speaks)
        told = {(Path(mistake.file).name, mistake.line) for mistake in error.value.mistakes}
        assert told == {
            ("broken.json", 3),
            ("list.json", 1),
            ("Odd Name.json", 1),
            ("late.json", 1),
            ("torn.json", 1),
            ("speaks.yaml", 3),
        }

    def test_a_missing_folder_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(LoadError, match=r"common\.json:1: cannot be read"):
            read_schema_set(tmp_path / "nowhere")

    def test_the_identity_of_a_schema_is_its_file_name(self) -> None:
        files = list((fixtures_dir() / "schemas" / "wire").glob("*.json"))
        assert files
        for file in files:
            assert json.loads(file.read_text())["$id"] == f"urn:jetproof:wire:{file.stem}"
