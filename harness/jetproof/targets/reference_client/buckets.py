"""Key-value buckets: a stream of which the last message of a subject is the value of a key."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import Any, Final

from jetproof.targets.reference_client.consumers import Delivery
from jetproof.targets.reference_client.errors import ClientError, invalid
from jetproof.targets.reference_client.fetching import fetch
from jetproof.targets.reference_client.ordered import Ordered
from jetproof.targets.reference_client.publishing import Outgoing, publish
from jetproof.targets.reference_client.reading import Reads, Stored
from jetproof.targets.reference_client.requests import Requests
from jetproof.targets.reference_client.settings import FetchSettings, Request
from jetproof.targets.reference_client.values import digits, encoded

WRONG_LAST_SEQUENCE: Final = (10071, 10164)
NOT_FOUND: Final = (10037, 10059)
_NUMBER: Final = re.compile(r"wrong last sequence: (\d+)")
_KEY: Final = re.compile(r"[-/_=.a-zA-Z0-9]+")
_PAGE: Final = 1000


@dataclass(frozen=True, slots=True)
class Entry:
    """The value of a key at a revision; `operation` is put, delete or purge."""

    key: str
    data: bytes
    revision: int
    operation: str

    def body(self) -> dict[str, Any]:
        told = {"key": self.key, "data": encoded(self.data), "operation": self.operation}
        return told | digits({"revision": self.revision})


class Bucket:
    """A bucket that exists, opened with `Bucket.open`."""

    def __init__(self, requests: Requests, name: str, *, direct: bool) -> None:
        self._requests = requests
        self._reads = Reads(requests)
        self._wrong = requests.line.conduct.wrong
        self._direct = direct
        self.stream = f"KV_{name}"
        self._prefix = f"$KV.{name}."

    @classmethod
    async def open(cls, requests: Requests, name: str) -> Bucket:
        info = await requests.api(f"STREAM.INFO.KV_{name}")
        return cls(requests, name, direct=bool(info["config"].get("allow_direct")))

    async def get(
        self, key: str, *, revision: int | None = None, minimum: int | None = None
    ) -> Entry | None:
        """The entry, or None if there is none or it was deleted."""
        entry = await self._entry(key, revision=revision, minimum=minimum)
        return None if entry is None or entry.operation != "put" else entry

    async def put(self, key: str, data: bytes) -> int:
        return await self._store(key, data)

    async def update(self, key: str, data: bytes, revision: int) -> int:
        """Stores a value only if the key's last revision is this one."""
        items = (("Nats-Expected-Last-Subject-Sequence", str(revision)),)
        return await self._store(key, data, *items)

    async def create(self, key: str, data: bytes) -> int:
        """Stores a value only if there is none, or the key was deleted or purged before."""
        if self._wrong("create-overwrites"):
            return await self.put(key, data)
        try:
            return await self.update(key, data, 0)
        except ClientError as error:
            if error.err_code not in WRONG_LAST_SEQUENCE:
                raise
            refused = error
        entry = await self._entry(key, minimum=self._sequence_in(refused))
        if entry is None or entry.operation == "put" or self._wrong("create-minds-deleted-keys"):
            raise ClientError(
                "KeyExists",
                f"the key {key} exists: {refused.text}",
                code=refused.code,
                err_code=refused.err_code,
                description=refused.description,
            )
        if self._wrong("create-ends-in-a-put"):
            return await self.put(key, data)
        return await self.update(key, data, entry.revision)

    async def delete(self, key: str) -> None:
        """A new message says that the key is gone: nothing is removed from the stream."""
        if self._wrong("delete-removes-the-message"):
            entry = await self._entry(key)
            if entry is not None:
                await self._requests.api(
                    f"STREAM.MSG.DELETE.{self.stream}", {"seq": entry.revision}
                )
            return
        await self._store(key, b"", ("KV-Operation", "DEL"))

    async def purge(self, key: str) -> None:
        """A message that replaces all others of the key says that it is gone."""
        if self._wrong("purge-without-rollup"):
            await self._requests.api(f"STREAM.PURGE.{self.stream}", {"filter": self._prefix + key})
            return
        await self._store(key, b"", ("KV-Operation", "PURGE"), ("Nats-Rollup", "sub"))

    async def list(self, *, minimum: int | None = None) -> list[str]:
        """The keys that have a value, by an ordered consumer of each key's last message."""
        config: dict[str, Any] = {
            "deliver_policy": "last_per_subject",
            "filter_subject": f"{self._prefix}>",
            "headers_only": True,
        }
        if minimum is not None and not self._wrong("list-unguarded"):
            config["min_last_seq"] = minimum
        deliveries = await gather(self._requests, self.stream, config)
        return [
            delivery.msg.subject.removeprefix(self._prefix)
            for delivery in deliveries
            if delivery.msg.headers is None
            or _operation(delivery.msg.headers.get("KV-Operation")) == "put"
            or self._wrong("deleted-keys-shown")
        ]

    def _sequence_in(self, error: ClientError) -> int | None:
        """The number in `wrong last sequence: N`, if the error has one."""
        if self._wrong("create-reads-unguarded"):
            return None
        found = _NUMBER.search(error.description or "")
        if found is None and self._wrong("create-needs-the-number"):
            raise error
        return None if found is None else int(found[1])

    async def _entry(
        self, key: str, *, revision: int | None = None, minimum: int | None = None
    ) -> Entry | None:
        subject = self._subject(key)
        if minimum is not None and self._wrong("bucket-reads-unguarded"):
            minimum = None
        read = self._reads.direct if self._direct else self._reads.message
        try:
            if revision is not None:
                stored = await read(self.stream, seq=revision, min_last_seq=minimum)
            else:
                stored = await read(self.stream, last_by_subject=subject, min_last_seq=minimum)
        except ClientError as error:
            if error.status == 404 or error.err_code in NOT_FOUND:
                return None
            raise
        return None if stored.subject != subject else self._read(key, stored)

    def _read(self, key: str, stored: Stored) -> Entry:
        operation = _operation(stored.header("KV-Operation"))
        if operation == "delete" and self._wrong("deleted-keys-shown"):
            operation = "put"
        if stored.header("Nats-Rollup") and self._wrong("rollups-taken-for-values"):
            operation = "put"
        return Entry(key, stored.payload, stored.seq, operation)

    async def _store(self, key: str, data: bytes, *items: tuple[str, str]) -> int:
        message = Outgoing(self._subject(key), data, items)
        return int((await publish(self._requests, message, None))["seq"])

    def _subject(self, key: str) -> str:
        if not _KEY.fullmatch(key) or key.startswith(".") or key.endswith("."):
            raise invalid(f"{key!r} is not a key")
        return self._prefix + key


async def gather(requests: Requests, stream: str, config: dict[str, Any]) -> list[Delivery]:
    """All messages that an ordered consumer has when it is made, and no later ones."""
    source = Ordered(requests, stream, config)
    gathered: list[Delivery] = []
    await source.renew()
    # One that waits for its sequence has nothing yet, and all of it later.
    left = source.pending or (1 if "min_last_seq" in config else 0)
    request = Request(int(requests.line.endpoint.timeout * 1000), 0)
    try:
        while left:
            settings = FetchSettings(min(left, _PAGE), 0, request)
            fetched = await fetch(requests.line, source.ref, settings, source.accept)
            gathered += fetched.deliveries
            if fetched.error is not None:
                raise fetched.error
            left = (gathered[-1].pending or 0) if fetched.deliveries else 0
        return gathered
    finally:
        await asyncio.shield(source.delete())


def _operation(header: str | None) -> str:
    return {"DEL": "delete", "PURGE": "purge"}.get(header or "", "put")
