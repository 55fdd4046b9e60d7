"""Every operation of docs/adapters.md: those of the connection here, the others by kind."""

from __future__ import annotations

import platform
import ssl
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from jetproof import __version__
from jetproof.targets.reference_client.calls_consuming import ConsumingCalls
from jetproof.targets.reference_client.calls_publishing import PublishingCalls
from jetproof.targets.reference_client.calls_reading import ReadingCalls
from jetproof.targets.reference_client.calls_stores import StoreCalls
from jetproof.targets.reference_client.connection import Endpoint
from jetproof.targets.reference_client.errors import Unsupported
from jetproof.targets.reference_client.protocol import Handler
from jetproof.targets.reference_client.state import Params, Result, State
from jetproof.targets.reference_client.values import bad_call, number, text

PROTOCOL: Final = 1


class Operations:
    """The operations of one adapter process."""

    def __init__(self, state: State) -> None:
        self._state = state
        part = state.conduct.part
        self._groups = (
            self,
            part(PublishingCalls)(state),
            part(ReadingCalls)(state),
            part(ConsumingCalls)(state),
            part(StoreCalls)(state),
        )

    def handlers(self) -> dict[str, Handler]:
        """By operation: `do_batch__add` is `batch.add`."""
        return {
            name.removeprefix("do_").replace("__", "."): partial(self.perform, getattr(group, name))
            for group in self._groups
            for name in dir(group)
            if name.startswith("do_")
        }

    async def perform(self, handler: Handler, params: Params) -> Mapping[str, Any]:
        """One call of the protocol."""
        return await handler(params)

    async def do_hello(self, params: Params) -> Result:
        if params.get("protocol") != PROTOCOL:
            raise Unsupported(f"protocol {params.get('protocol')!r}; this is version {PROTOCOL}")
        conduct = self._state.conduct
        return {
            "protocol": PROTOCOL,
            "library": "reference",
            "version": __version__,
            "language": "python",
            "runtime": f"{platform.python_implementation()} {platform.python_version()}",
            "parts": {"jetproof": __version__, **conduct.parts},
            "capabilities": sorted(self.handlers().keys() - {"hello"}),
            "claims": conduct.claims,
        }

    async def do_connect(self, params: Params) -> Result:
        given: dict[str, Any] = Endpoint.address(text(params, "url"))
        for name in ("user", "password", "token", "name", "inbox_prefix"):
            if params.get(name) is not None:
                given[name] = text(params, name)
        if params.get("tls_ca") is not None:
            given["tls"] = _trusting(text(params, "tls_ca"))
        if (most := number(params, "max_reconnects")) is not None:
            given["max_reconnects"] = most
        for name, milliseconds in (
            ("reconnect_wait", "reconnect_wait_ms"),
            ("timeout", "timeout_ms"),
        ):
            if (value := number(params, milliseconds)) is not None:
                given[name] = value / 1000
        await self._state.connect(Endpoint(**given))
        return {}

    async def do_close(self, params: Params) -> Result:
        await self._state.close()
        return {}


def _trusting(file: str) -> ssl.SSLContext:
    """TLS with a server whose certificate is signed by an authority of this file."""
    try:
        return ssl.create_default_context(cafile=file)
    except OSError as error:
        raise bad_call(f"tls_ca: {error}") from None
