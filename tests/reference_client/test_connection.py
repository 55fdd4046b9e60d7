"""The connection: as whom, with TLS, and what becomes of it."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from jetproof.targets.reference_client.knobs import Faulty
from support.servers import served

from .bench import Bench, Inside, bench


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    """A server with TLS and a user; its port, and the certificate to trust."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    made = f"req -x509 -newkey rsa:2048 -nodes -days 2 -keyout {key} -out {certificate}"
    known = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(["openssl", *made.split(), *known], check=True, capture_output=True)
    config = (
        f"tls {{ cert_file: '{certificate}', key_file: '{key}' }}\n"
        "authorization { user: u, password: p }\n"
    )
    with served(tmp_path, config) as port:
        yield port, certificate


def test_tls_and_a_user(secured: tuple[int, Path]) -> None:
    port, certificate = secured

    async def test() -> None:
        inside = Inside(Faulty())
        url = f"tls://127.0.0.1:{port}"
        plain = await inside.call("connect", {"url": url, "user": "u", "password": "p"})
        assert plain.kind == "error"
        trusted = {"url": url, "tls_ca": str(certificate)}
        nobody = await inside.call("connect", trusted)
        assert nobody.kind == "error"
        assert "Authorization" in str(nobody.body)
        somebody = await inside.call("connect", {**trusted, "user": "u", "password": "p"})
        assert somebody.kind == "ok"
        answer = await inside.call("publish", {"subject": "nobody.listens"})
        assert answer.body["status"] == 503  # type: ignore[index]
        await inside.call("close", {})
        in_url = {"url": f"tls://u:p@127.0.0.1:{port}", "tls_ca": str(certificate)}
        assert (await inside.call("connect", in_url)).kind == "ok"
        await inside.call("close", {})

    asyncio.run(test())


def test_it_gives_up_when_told_to(port: int) -> None:
    async def test() -> None:
        async with bench(port, ()) as made:
            await made.call("close")
            url = f"nats://{made.tap.host}:{made.tap.port}"
            await made.call("connect", url=url, reconnect_wait_ms=20, max_reconnects=3)
            await _given_up(made)

    asyncio.run(test())


async def _given_up(made: Bench) -> None:
    await made.make_stream()
    await made.make_consumer()
    await made.call("consume", of="c", **{"as": "k"}, expires_ms=5000)
    async with made.tap.outage():
        await made.until(lambda: len(made.told("connection")) == 2)
    kinds = [event.body["kind"] for event in made.told("connection")]
    assert kinds == ["disconnected", "closed"]
    assert made.told("end")[0].body["error"]["type"] == "ConnectionClosed"  # type: ignore[index]


def test_inboxes_have_their_prefix(port: int) -> None:
    async def test() -> None:
        async with bench(port, ()) as made:
            await made.call("close")
            url = f"nats://{made.tap.host}:{made.tap.port}"
            await made.call("connect", url=url, inbox_prefix="_MINE", name="me")
            await made.refused("publish", subject="nobody.listens")
            assert str(made.sent("nobody.")[0].reply).startswith("_MINE.")

    asyncio.run(test())
