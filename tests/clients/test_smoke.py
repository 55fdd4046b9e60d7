"""`jetproof smoke` tells a broken adapter from a library that does not conform."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from jetproof.targets.clients.build import Client
from jetproof.targets.clients.process import Limits
from jetproof.targets.clients.smoke import Finding, Smoke, smoke
from jetproof.targets.topology import start_target
from support.commands import Command
from support.documents import Validate

from .conftest import HERE, Program

MISBEHAVING = HERE / "misbehaving.py"
Smoked = dict[str, Smoke]

SPOILT = {
    "text-only": ("exact data", "broken", "direct.get gave binary data that is not what is stored"),
    "rounded": ("64-bit numbers", "note", "2^53+1 is not given back by direct.get"),
    "serial": ("calls at once", "broken", "a call is held up by fetch until that ends"),
    "no-end": ("events", "broken", "after consume.stop there is no event `end`"),
    "swapped": ("events", "broken", "out of order"),
    "modest": ("other operations", "broken", "message.get is not among the capabilities"),
    "boastful": ("batch.publish", "broken", "a capability, and yet unsupported"),
    "cheerful": ("errors", "broken", "publish on what is not there is answered with ok"),
    "forgetful": ("connect", "broken", "failed in the normal course: E: connected"),
    "nameless": ("fetch", "broken", "a message has no name"),
    "numbers": ("protocol", "broken", "ack.seq: 1 is not of type 'string'"),
    "stays": ("end of input", "broken", "still ran 2 s after the end of its input"),
}


@pytest.fixture(scope="module")
def smoked(nats_py: Path) -> Smoked:
    """Every spoilt adapter, all at once on one server; and the one that is spoilt in no way."""
    good = Client("python:nats-py", (sys.executable, str(nats_py)))
    spoiler = (sys.executable, str(HERE / "spoiling.py"))

    async def all_of_them() -> Smoked:
        async with asyncio.timeout(120), start_target("latest") as target:
            kinds = ["none", *SPOILT]
            limits = Limits(factor=2.0)
            quick = replace(limits, end_seconds=1.0)
            tries = [
                smoke(
                    replace(good, command=(*spoiler, kind, *good.command)),
                    target,
                    quick if kind == "stays" else limits,
                )
                for kind in kinds
            ]
            return dict(zip(kinds, await asyncio.gather(*tries), strict=True))

    return asyncio.run(all_of_them())


def found(smoked: Smoke, name: str) -> Finding:
    return next(finding for finding in smoked.findings if finding.name == name)


def test_a_good_adapter_is_good(smoked: Smoked) -> None:
    good = smoked["none"]
    assert not good.broken, good.findings
    assert good.hello is not None
    tried = {finding.name for finding in good.findings}
    assert good.hello.capabilities <= tried
    assert found(good, "events").outcome == "ok"
    assert found(good, "64-bit numbers").detail == "2^53+1 in direct.get, message.get, fetch"
    assert found(good, "connection events").detail.endswith("disconnected, reconnected")


@pytest.mark.parametrize("kind", SPOILT)
def test_a_spoilt_adapter_is_seen_to_be_spoilt(smoked: Smoked, kind: str) -> None:
    name, outcome, words = SPOILT[kind]
    finding = found(smoked[kind], name)
    assert (finding.outcome, words in finding.detail) == (outcome, True), finding
    assert smoked[kind].broken == (outcome == "broken")


def test_the_command_says_what_is_well(
    jetproof: Command, conforms: Validate, program: Program, nats_py: Path
) -> None:
    done = jetproof("smoke", "--client", program(nats_py), "--server", "latest", "--json")
    assert done.code == 0, done.out
    conforms("cli/smoke", done.document)
    assert done.document["broken"] is False
    assert done.document["hello"]["library"] == "nats-py"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("dies-at-once", "died (exit code 1)"),
        ("bad-hello", "version: 1 is not of type 'string'"),
        ("polite", "a capability, and yet unsupported"),
    ],
)
def test_the_command_exits_with_1_for_a_broken_adapter(
    jetproof: Command,
    conforms: Validate,
    program: Program,
    kind: str,
    words: str,
) -> None:
    path = program(MISBEHAVING, kind)
    done = jetproof("smoke", "--client", path)
    assert done.code == 1
    assert words in done.out
    assert "the adapter is broken" in done.out
    told = jetproof("smoke", "--client", path, "--json")
    assert told.code == 1
    conforms("cli/smoke", told.document)


def test_nothing_of_an_adapter_acts_on_the_terminal(jetproof: Command, tmp_path: Path) -> None:
    path = tmp_path / "evil"
    path.write_text("#!/bin/sh\nprintf '\\033[2Jowned\\n'\nprintf '\\033]0;x\\007' >&2\n")
    path.chmod(0o755)
    done = jetproof("smoke", "--client", path)
    assert done.code == 1
    assert "\\x1b[2Jowned" in done.out
    assert "\x1b" not in done.out + done.err


@pytest.mark.parametrize(
    "arguments",
    [("--client", "./nothing"), ("--client", "python:nats-pi"), ()],
)
def test_a_wrong_request_exits_with_2(jetproof: Command, arguments: tuple[str, ...]) -> None:
    assert jetproof("smoke", *arguments).code == 2


def test_what_cannot_be_built_here_exits_with_3(jetproof: Command, tmp_path: Path) -> None:
    folder = tmp_path / "lacking"
    folder.mkdir()
    (folder / "adapter.yaml").write_text(
        "adapter: toy:thing\nabout: A toy\nversion: 1.0.0\nneeds: [{program: no-such-program}]\n"
        "run: [./a]\n"
    )
    done = jetproof("smoke", "--client", folder)
    assert done.code == 3
    assert "toy:thing cannot be built here: no-such-program is not installed" in done.err


def test_clients_are_listed(jetproof: Command, conforms: Validate) -> None:
    done = jetproof("clients", "list")
    assert done.code == 0
    assert "python:nats-py" in done.out
    told = jetproof("clients", "list", "--json")
    conforms("cli/clients", told.document)


@pytest.mark.network
def test_the_adapter_of_nats_py_is_built(jetproof: Command, conforms: Validate) -> None:
    done = jetproof("clients", "build", "python:nats-py", "--json")
    assert done.code == 0
    conforms("cli/clients", done.document)
    (entry,) = done.document["clients"]
    assert entry["state"] == "built"
    assert jetproof("smoke", "--client", "python:nats-py").code == 0


def test_a_build_that_fails_exits_with_3(
    jetproof: Command, conforms: Validate, tmp_path: Path
) -> None:
    folder = tmp_path / "failing"
    folder.mkdir()
    (folder / "adapter.yaml").write_text(
        "adapter: toy:thing\nabout: A toy\nversion: 1.0.0\n"
        'build: [[sh, -c, "echo it cannot be; exit 1"]]\nrun: [./a]\n'
    )
    failed = jetproof("clients", "build", folder)
    assert failed.code == 3
    assert "it cannot be" in failed.out
    conforms("cli/clients", jetproof("clients", "build", folder, "--json").document)
