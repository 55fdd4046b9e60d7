"""What a run keeps of what it was asked for: enough to go on with it, and no password."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jetproof.campaigns.gate import stored_request
from jetproof.campaigns.request import Request
from jetproof.campaigns.resume import resumed
from jetproof.errors import JetproofError
from jetproof.results.rows import SCHEMA

SECRET = "nats://alice:s3cret@127.0.0.1:4222"
EVERYTHING = Request(
    patterns=("adr-50/atomic",),
    servers=("2.15.1", "cover:2.14.6"),
    clauses=("A50-ATOMIC-042",),
    specs=(("adr-50", 10), ("adr-31", None)),
    shard=(2, 5),
    per_case=True,
    edition="2026.11",
    laws="full",
)


def kept(folder: Path, request: Request) -> Path:
    document = {"schema": SCHEMA, "run": "r1", "request": request.document()}
    (folder / "run.json").write_text(json.dumps(document))
    return folder


def test_a_request_is_read_back_as_it_was(tmp_path: Path) -> None:
    request, earlier = resumed(kept(tmp_path, EVERYTHING), Request())
    assert request == EVERYTHING
    assert earlier.id == "r1"


@pytest.mark.parametrize(
    "given",
    [
        Request(patterns=("adr-31",)),
        Request(servers=("2.12.0",)),
        Request(per_case=True),
        Request(edition="2026.11"),
        Request(laws="off"),
    ],
)
def test_a_resumed_run_cannot_be_asked_for_something_else(tmp_path: Path, given: Request) -> None:
    with pytest.raises(JetproofError, match="goes on with its original options"):
        resumed(kept(tmp_path, EVERYTHING), given)
    with pytest.raises(JetproofError, match="goes on with its original options"):
        resumed(tmp_path, Request(), others=True)


def test_a_target_with_a_password_is_named_again(tmp_path: Path) -> None:
    secret = Request(servers=(SECRET,))
    folder = kept(tmp_path, secret)
    assert "s3cret" not in (folder / "run.json").read_text()
    with pytest.raises(JetproofError, match="does not keep passwords"):
        resumed(folder, Request())
    assert resumed(folder, secret)[0] == secret


def test_a_gate_keeps_no_password() -> None:
    stored = stored_request(Request(servers=(SECRET,)), ["python:nats-py"])
    assert "s3cret" not in json.dumps(stored)
    assert stored["clients"] == ["python:nats-py"]
