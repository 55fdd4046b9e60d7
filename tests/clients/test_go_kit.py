"""The kit for adapters in Go: the example of its README, around a library of a few lines."""

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

KIT = adapters_dir() / "kits" / "go"
LIBRARY = """\
package client

import (
	"context"
	"errors"
	"fmt"
	"math"
)

var ErrNoBucket = errors.New("no bucket")

type (
	Conn   struct{ name string }
	Bucket struct{ conn *Conn }
	Option func(*Conn)
)

func WithName(name string) Option { return func(c *Conn) { c.name = name } }

func Dial(url string, options ...Option) (*Conn, error) {
	c := &Conn{}
	for _, option := range options {
		option(c)
	}
	return c, nil
}

func (c *Conn) Close() {}

func (c *Conn) Bucket(ctx context.Context, name string) (*Bucket, error) {
	if name != c.name {
		return nil, fmt.Errorf("opening %s: %w", name, ErrNoBucket)
	}
	return &Bucket{c}, nil
}

func (b *Bucket) Put(ctx context.Context, key string, value []byte) (uint64, error) {
	if key == "bad" {
		panic("a bad key")
	}
	return math.MaxUint64 - uint64(len(value)), nil
}
"""
MODULE = """\
module example.org/adapter

go 1.24

require (
	example.org/someone/client v0.0.0
	jetproof/kit v0.0.0
)

replace (
	example.org/someone/client => ./client
	jetproof/kit => ./kit
)
"""
Call = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("go") is None:
        pytest.skip("go is not on this machine")
    folder = tmp_path_factory.mktemp("go")
    readme = (KIT / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```go\n(.*?)^```$", readme, re.M | re.S)
    (build,) = re.findall(r"^```yaml\nbuild:\n(.*?)^```$", readme, re.M | re.S)
    shutil.copytree(KIT, folder / "kit")
    (folder / "client").mkdir()
    for name, text in {
        "client/client.go": LIBRARY,
        "client/go.mod": "module example.org/someone/client\n\ngo 1.24\n",
        "go.mod": MODULE,
        "main.go": example,
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    for words in re.findall(r"\[(.*?)\]", build):
        subprocess.run(words.split(", "), cwd=folder, check=True)
    return folder / "adapter"


@pytest.fixture
def call(adapter: Path) -> Iterator[Call]:
    """Calls the adapter, and is handed its answer without the id; at the end it is seen to exit."""
    with subprocess.Popen(adapter, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as it:
        assert it.stdin is not None
        assert it.stdout is not None

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
        it.stdin.close()
        assert it.stdout.read() == ""
    assert it.returncode == 0


def test_hello_tells_what_is_built_in(call: Call) -> None:
    hello = call("hello", protocol=1)["ok"]
    assert (hello["library"], hello["version"], hello["claims"]) == (
        "client",
        "(devel)",
        {"adr-37": 3},
    )
    assert sorted(hello["capabilities"]) == ["close", "connect", "kv.open", "kv.put"]


def test_arguments_options_and_results_have_their_forms(call: Call) -> None:
    assert call("connect", url="nats://x", name="b") == {"ok": {}}
    assert call("kv.open", **{"as": "k"}, bucket="b") == {"ok": {}}
    data = base64.b64encode(b"\x00\xff").decode()
    assert call("kv.put", of="k", key="a", data=data) == {"ok": {"revision": str(2**64 - 3)}}
    assert call("kv.put", of="k", key="a") == {"ok": {"revision": str(2**64 - 1)}}


def test_an_error_has_the_name_of_the_variable_that_it_wraps(call: Call) -> None:
    call("connect", url="nats://x", name="b")
    error = {"type": "ErrNoBucket", "text": "opening c: no bucket"}
    assert call("kv.open", **{"as": "k"}, bucket="c") == {"error": error}
    assert call("kv.put", of="k", key="a")["error"]["type"] == "NotOpen"


def test_a_library_that_panics_is_told_and_the_adapter_goes_on(call: Call) -> None:
    call("connect", url="nats://x", name="b")
    call("kv.open", **{"as": "k"}, bucket="b")
    assert call("kv.put", of="k", key="bad") == {"error": {"type": "panic", "text": "a bad key"}}
    assert "ok" in call("kv.put", of="k", key="good")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"op": "kv.purge"}, "no API for kv.purge"),
        ({"op": "kv.put", "of": "k", "key": "a", "ttl_ms": 1}, "no parameter ttl_ms"),
        ({"op": "kv.put", "of": "k"}, "no API for kv.put with just these parameters: of"),
        ({"op": "kv.put", "of": "k", "key": 5}, "key: json: cannot unmarshal number"),
        ({"op": "connect", "url": "nats://y"}, "no second connection"),
    ],
)
def test_what_the_library_cannot_express_is_unsupported(
    call: Call, given: dict[str, Any], why: str
) -> None:
    call("connect", url="nats://x", name="b")
    call("kv.open", **{"as": "k"}, bucket="b")
    assert call(**given)["unsupported"].startswith(why)


def test_after_close_nothing_is_open_and_it_connects_again(call: Call) -> None:
    assert call("close") == {"ok": {}}
    call("connect", url="nats://x", name="b")
    call("kv.open", **{"as": "k"}, bucket="b")
    assert call("close") == {"ok": {}}
    assert call("kv.put", of="k", key="a")["error"]["type"] == "NotOpen"
    assert call("connect", url="nats://x") == {"ok": {}}
    assert call("kv.put", of="k", key="a")["error"]["type"] == "NotOpen"
