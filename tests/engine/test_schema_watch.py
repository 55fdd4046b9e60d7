"""Messages are validated by the revision that a target speaks."""

from __future__ import annotations

import json

import pytest

from jetproof.engine.schema_watch import SchemaWatch
from jetproof.engine.wire_schemas import WireSchemas
from jetproof.load.wire_schemas import read_schema_set
from jetproof.model.versions import Version
from jetproof.targets.reference import REVISIONS

LATEST = Version(2, 15, 1)
HEADERS = {"seq": 3, "messages": 3}
TYPED = {"type": "ack", "seq": 3, "msgs": 3}


@pytest.fixture(scope="module")
def schemas() -> WireSchemas:
    return WireSchemas(read_schema_set())


@pytest.mark.parametrize(
    ("subject", "document", "by_release", "by_layer"),
    [("_INBOX.1", HEADERS, 1, 0), ("i.b.3.ok.3.1.$FI", TYPED, 0, 1)],
)
def test_the_reference_layer_speaks_another_revision_than_its_release(
    schemas: WireSchemas,
    subject: str,
    document: dict[str, object],
    by_release: int,
    by_layer: int,
) -> None:
    for speaks, invalid in ((None, by_release), (REVISIONS, by_layer)):
        watch = SchemaWatch(schemas, LATEST, speaks)
        watch.see("case", subject, "S.a", json.dumps(document).encode())
        record = watch.records["batch-flow-ack"]
        assert (record.seen, record.broken) == (1, invalid)


def test_a_schema_of_no_specification_is_the_same_for_all(schemas: WireSchemas) -> None:
    watch = SchemaWatch(schemas, LATEST, REVISIONS)
    watch.see("case", "_INBOX.1", "S.a", b'{"stream": "S", "seq": 1}')
    assert watch.records["pub-ack"].broken == 0
