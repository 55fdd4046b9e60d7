"""The kit for adapters in Python: the example of its README, around a library of a few lines."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jetproof.data import adapters_dir
from jetproof.targets.clients.protocol import RawAnswer, RawEvent, read_line

KIT = adapters_dir() / "kits" / "python"
LIBRARY = """\
import json
from types import SimpleNamespace


class Refused(Exception):
    code = 400


class Message:
    def __init__(self, number):
        self.data = bytes([number, 255])

    async def ack(self):
        if self.data[0] == 1:
            raise Refused("not this one")


class Consumer:
    async def fetch(self, batch=1):
        return [Message(number) for number in range(batch)]

    async def __aiter__(self):
        for number in range(2):
            yield Message(number)


class Connection:
    def __init__(self, name):
        self.name = name

    async def consumer(self, stream, name):
        if stream != self.name:
            raise Refused(f"no stream {stream}")
        return Consumer()

    async def publish(self, subject, data, message_id="none"):
        print("said on the wrong channel")
        return SimpleNamespace(stream=json.dumps([subject, message_id]), seq=2**60 + len(data))


async def connect(url, name=None):
    return Connection(name)
"""
Call = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("python")
    (example,) = re.findall(
        r"^```python\n(.*?)^```$", (KIT / "README.md").read_text(encoding="utf-8"), re.M | re.S
    )
    shutil.copytree(KIT, folder / "kit")
    (folder / "some_library.py").write_text(LIBRARY)
    about = folder / "some_library-1.2.3.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: some-library\nVersion: 1.2.3\n")
    (folder / "adapter.py").write_text(example)
    return folder


@pytest.fixture
def call(folder: Path) -> Iterator[Call]:
    """Calls the adapter, and is handed its answer without the id; at the end it is seen to exit.

    Events that come before the answer are under the key `events`, if there are any.
    """
    with subprocess.Popen(
        [sys.executable, "adapter.py"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as it:

        def ask(op: str, **given: Any) -> dict[str, Any]:
            assert it.stdin is not None
            assert it.stdout is not None
            it.stdin.write(json.dumps({"id": 7, "op": op, **given}) + "\n")
            it.stdin.flush()
            events: list[RawEvent] = []
            while isinstance(said := read_line((line := it.stdout.readline()).encode()), RawEvent):
                events.append(said)
            assert isinstance(said, RawAnswer)
            told: dict[str, Any] = json.loads(line)
            assert told.pop("id") == 7
            return told | ({"events": events} if events else {})

        yield ask
        assert it.stdin is not None
        assert it.stdout is not None
        it.stdin.close()
        assert it.stdout.read() == ""
    assert it.returncode == 0


def opened(call: Call) -> None:
    assert call("connect", url="nats://x", name="S") == {"ok": {}}
    assert call("consumer.get", **{"as": "c"}, stream="S", consumer="C") == {"ok": {}}


def test_hello_tells_of_the_library(call: Call) -> None:
    hello = call("hello", protocol=1)["ok"]
    assert (hello["library"], hello["version"]) == ("some-library", "1.2.3")
    assert hello["parts"] == {"some-library": "1.2.3"}
    assert hello["claims"] == {"adr-37": 3}
    expected = ["ack", "close", "connect", "consume", "consumer.get", "fetch", "publish"]
    assert sorted(hello["capabilities"]) == expected


def test_only_what_was_given_reaches_the_library(call: Call) -> None:
    call("connect", url="nats://x", name="S")
    data = base64.b64encode(b"\x00\xff").decode()
    for given, passed in (({}, "none"), ({"msg_id": "a"}, "a")):
        ack = call("publish", subject="s", data=data, **given)["ok"]["ack"]
        assert json.loads(ack["stream"]) == ["s", passed]
        assert ack["seq"] == str(2**60 + 2)


def test_messages_are_acknowledged_by_their_names(call: Call) -> None:
    opened(call)
    messages = call("fetch", of="c", max_messages=2)["ok"]["messages"]
    assert [message["msg"] for message in messages] == ["m1", "m2"]
    assert call("ack", messages=["m1"], kind="ack") == {"ok": {}}
    error = {"type": "Refused", "text": "not this one", "code": 400}
    assert call("ack", messages=["m2"], kind="ack") == {"error": error}
    assert call("ack", messages=["m3"], kind="ack")["error"]["type"] == "NotOpen"


def test_events_come_beside_the_calls(call: Call) -> None:
    opened(call)
    events = list(call("consume", of="c", **{"as": "k"}).get("events", []))
    while len(events) < 3:
        events += call("fetch", of="c").get("events", [])
    assert [(event.name, event.of) for event in events] == [
        ("message", "k"),
        ("message", "k"),
        ("end", "k"),
    ]


def test_an_error_leaves_nothing_open(call: Call) -> None:
    call("connect", url="nats://x", name="S")
    error = {"type": "Refused", "text": "no stream T", "code": 400}
    assert call("consumer.get", **{"as": "c"}, stream="T", consumer="C") == {"error": error}
    assert call("fetch", of="c")["error"]["type"] == "NotOpen"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"op": "kv.put"}, "no API for kv.put"),
        ({"op": "fetch", "of": "c", "heartbeat_ms": 1}, "fetch with heartbeat_ms"),
        ({"op": "publish", "subject": "a", "timeout_ms": 1}, "publish with timeout"),
        ({"op": "keep", "message": "m1"}, "no API for keep"),
    ],
)
def test_what_the_library_cannot_express_is_unsupported(
    call: Call, given: dict[str, Any], why: str
) -> None:
    opened(call)
    assert call(**given) == {"unsupported": why}


def test_after_close_nothing_is_open_and_it_connects_again(call: Call) -> None:
    assert call("close") == {"ok": {}}
    opened(call)
    assert call("close") == {"ok": {}}
    assert call("publish", subject="a")["error"]["type"] == "NotOpen"
    assert call("connect", url="nats://x", name="S") == {"ok": {}}
    assert call("fetch", of="c")["error"]["type"] == "NotOpen"
