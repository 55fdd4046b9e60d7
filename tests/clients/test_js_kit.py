"""The kit for adapters in JavaScript: the example of its README, around a library of a few lines."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jetproof.data import adapters_dir
from jetproof.targets.clients.protocol import RawAnswer, read_line

KIT = adapters_dir() / "kits" / "js"
LIBRARY = """\
export const version = "1.2.3";

class Refused extends Error {
  name = "Refused";
  code = 400;
}

async function* messages(count) {
  for (let n = 0; n < count; n++) {
    if (n === 2) throw new Refused("two is enough");
    yield { data: new Uint8Array([n, 255]) };
  }
}

export const connect = async (given) => ({
  close: async () => {},
  consumer: async (stream, name) => {
    if (stream !== given.name) throw new Refused(`no stream ${stream}`);
    return { fetch: async ({ batch = 1 }) => messages(batch) };
  },
  publish: async (subject, data, options) => {
    console.log("said on the wrong channel");
    return { stream: JSON.stringify([given, options]), seq: 2 ** 52 + data.length };
  },
});
"""
Call = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("node") is None:
        pytest.skip("node is not on this machine")
    folder = tmp_path_factory.mktemp("js")
    (example,) = re.findall(
        r"^```js\n(.*?)^```$", (KIT / "README.md").read_text(encoding="utf-8"), re.M | re.S
    )
    shutil.copytree(KIT, folder / "kit")
    library = folder / "node_modules" / "some-library"
    library.mkdir(parents=True)
    (library / "package.json").write_text('{"type": "module", "exports": "./index.js"}')
    (library / "index.js").write_text(LIBRARY)
    (folder / "adapter.mjs").write_text(example)
    return folder


@pytest.fixture
def call(folder: Path) -> Iterator[Call]:
    """Calls the adapter, and is handed its answer without the id; at the end it is seen to exit."""
    with subprocess.Popen(
        ["node", "adapter.mjs"],
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
            answer = it.stdout.readline()
            assert isinstance(read_line(answer.encode()), RawAnswer)
            told: dict[str, Any] = json.loads(answer)
            assert told.pop("id") == 7
            return told

        yield ask
        assert it.stdin is not None
        assert it.stdout is not None
        it.stdin.close()
        assert it.stdout.read() == ""
    assert it.returncode == 0


def test_hello_tells_of_the_library(call: Call) -> None:
    hello = call("hello", protocol=1)["ok"]
    assert (hello["library"], hello["version"]) == ("some-library", "1.2.3")
    expected = ["close", "connect", "consumer.get", "fetch", "publish"]
    assert sorted(hello["capabilities"]) == expected


def test_options_have_the_names_of_the_library_and_only_what_was_given(call: Call) -> None:
    assert call("connect", url="nats://x", name="S") == {"ok": {}}
    connection = {"servers": "nats://x", "name": "S"}
    for given, options in (({}, {}), ({"msg_id": "a"}, {"msgID": "a"})):
        data = base64.b64encode(b"\x00\xff").decode()
        ack = call("publish", subject="a", data=data, **given)["ok"]["ack"]
        assert json.loads(ack["stream"]) == [connection, options]
        assert ack["seq"] == str(2**52 + 2)


def test_messages_and_the_error_that_ends_them(call: Call) -> None:
    call("connect", url="nats://x", name="S")
    call("consumer.get", **{"as": "c"}, stream="S", consumer="C")
    first = {"data": base64.b64encode(b"\x00\xff").decode()}
    assert call("fetch", of="c") == {"ok": {"messages": [first]}}
    told = call("fetch", of="c", max_messages=5)["ok"]
    assert len(told["messages"]) == 2
    assert told["error"] == {"type": "Refused", "text": "two is enough", "code": 400}


def test_an_error_is_told_with_its_fields_and_leaves_nothing_open(call: Call) -> None:
    call("connect", url="nats://x", name="S")
    error = {"type": "Refused", "text": "no stream T", "code": 400}
    assert call("consumer.get", **{"as": "c"}, stream="T", consumer="C") == {"error": error}
    assert call("fetch", of="c")["error"]["type"] == "NotOpen"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"op": "kv.put"}, "no API for kv.put"),
        ({"op": "fetch", "of": "c", "heartbeat_ms": 1}, "heartbeat_ms: "),
        (
            {"op": "publish", "subject": "a", "last_seq": str(2**53)},
            f"last_seq: {2**53} does not fit",
        ),
    ],
)
def test_what_the_library_cannot_express_is_unsupported(
    call: Call, given: dict[str, Any], why: str
) -> None:
    call("connect", url="nats://x", name="S")
    assert call(**given)["unsupported"].startswith(why)


def test_after_close_nothing_is_open_and_it_connects_again(call: Call) -> None:
    assert call("close") == {"ok": {}}
    call("connect", url="nats://x", name="S")
    call("consumer.get", **{"as": "c"}, stream="S", consumer="C")
    assert call("close") == {"ok": {}}
    assert call("publish", subject="a")["error"]["type"] == "NotOpen"
    assert call("connect", url="nats://x", name="S") == {"ok": {}}
    assert call("fetch", of="c")["error"]["type"] == "NotOpen"
