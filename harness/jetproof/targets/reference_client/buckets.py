"""Key-value buckets: a stream of which the last message of a subject is the value of a key."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import Any, Final, Self

from jetproof.targets.reference_client.consumers import Delivery
from jetproof.targets.reference_client.errors import ClientError, invalid
from jetproof.targets.reference_client.fetching import fetch
from jetproof.targets.reference_client.ordered import Ordered
from jetproof.targets.reference_client.publishing import Outgoing, Publisher
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
        part = requests.line.conduct.part
        self.requests = requests
        self._publisher = part(Publisher)(requests)
        self._reads = part(Reads)(requests)
        self._direct = direct
        self.stream = f"KV_{name}"
        self.prefix = f"$KV.{name}."

    @classmethod
    async def open(cls, requests: Requests, name: str) -> Self:
        info = await requests.api(f"STREAM.INFO.KV_{name}")
        return cls(requests, name, direct=bool(info["config"].get("allow_direct")))

    async def get(
        self, key: str, *, revision: int | None = None, minimum: int | None = None
    ) -> Entry | None:
        """The entry, or None if there is none or it was deleted."""
        entry = await self.entry(key, revision=revision, minimum=minimum)
        return None if entry is None or entry.operation != "put" else entry

    async def put(self, key: str, data: bytes) -> int:
        return await self._store(key, data)

    async def update(self, key: str, data: bytes, revision: int) -> int:
        """Stores a value only if the key's last revision is this one."""
        items = (("Nats-Expected-Last-Subject-Sequence", str(revision)),)
        return await self._store(key, data, *items)

    async def create(self, key: str, data: bytes) -> int:
        """Stores a value only if there is none, or the key was deleted or purged before."""
        try:
            return await self.update(key, data, 0)
        except ClientError as error:
            if error.err_code not in WRONG_LAST_SEQUENCE:
                raise
            refused = error
        entry = await self.entry(key, minimum=self.sequence_in(refused))
        if entry is None or not self.can_replace(entry):
            raise ClientError(
                "KeyExists",
                f"the key {key} exists: {refused.text}",
                code=refused.code,
                err_code=refused.err_code,
                description=refused.description,
            )
        return await self.replace(entry, data)

    def sequence_in(self, error: ClientError) -> int | None:
        """The number in `wrong last sequence: N`, if the error has one."""
        found = _NUMBER.search(error.description or "")
        return None if found is None else int(found[1])

    def can_replace(self, entry: Entry) -> bool:
        """Whether a key with this last entry can be created."""
        return entry.operation != "put"

    async def replace(self, entry: Entry, data: bytes) -> int:
        """Stores a value in the place of an entry, if it is still the last one."""
        return await self.update(entry.key, data, entry.revision)

    async def delete(self, key: str) -> None:
        """A new message says that the key is gone: nothing is removed from the stream."""
        await self._store(key, b"", ("KV-Operation", "DEL"))

    async def purge(self, key: str) -> None:
        """A message that replaces all others of the key says that it is gone."""
        await self._store(key, b"", ("KV-Operation", "PURGE"), ("Nats-Rollup", "sub"))

    async def list(self, *, minimum: int | None = None) -> list[str]:
        """The keys that have a value, by an ordered consumer of each key's last message."""
        config: dict[str, Any] = {
            "deliver_policy": "last_per_subject",
            "filter_subject": f"{self.prefix}>",
            "headers_only": True,
        }
        if minimum is not None:
            config["min_last_seq"] = minimum
        deliveries = await gather(self.requests, self.stream, config)
        return [
            delivery.msg.subject.removeprefix(self.prefix)
            for delivery in deliveries
            if self.has_value(delivery)
        ]

    def has_value(self, delivery: Delivery) -> bool:
        headers = delivery.msg.headers
        return headers is None or _operation(headers.get("KV-Operation")) == "put"

    async def entry(
        self, key: str, *, revision: int | None = None, minimum: int | None = None
    ) -> Entry | None:
        """The entry, a deleted one too, or None if there is none."""
        subject = self._subject(key)
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
        if stored.subject != subject:
            return None
        return Entry(key, stored.payload, stored.seq, self.operation(stored))

    def operation(self, stored: Stored) -> str:
        """put, delete or purge: what the message says, and nothing else."""
        return _operation(stored.header("KV-Operation"))

    async def _store(self, key: str, data: bytes, *items: tuple[str, str]) -> int:
        message = Outgoing(self._subject(key), data, items)
        return int((await self._publisher.publish(message))["seq"])

    def _subject(self, key: str) -> str:
        if not _KEY.fullmatch(key) or key.startswith(".") or key.endswith("."):
            raise invalid(f"{key!r} is not a key")
        return self.prefix + key


async def gather(requests: Requests, stream: str, config: dict[str, Any]) -> list[Delivery]:
    """All messages that an ordered consumer has when it is made, and no later ones."""
    source = requests.line.conduct.part(Ordered)(requests, stream, config)
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
