"""Object stores: an object is chunks of its own subject, and a meta message that comes last."""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from typing import Any, Final

from jetproof.targets.reference_client.buckets import gather
from jetproof.targets.reference_client.errors import ClientError
from jetproof.targets.reference_client.publishing import Outgoing, publish
from jetproof.targets.reference_client.reading import Reads
from jetproof.targets.reference_client.requests import Requests
from jetproof.targets.reference_client.values import digits

CHUNK: Final = 128 * 1024


class ObjectStore:
    """A store that exists, opened with `ObjectStore.open`."""

    def __init__(self, requests: Requests, name: str, *, direct: bool) -> None:
        self._requests = requests
        self._reads = Reads(requests)
        self._wrong = requests.line.conduct.wrong
        self._direct = direct
        self.bucket = name
        self.stream = f"OBJ_{name}"
        self._put: dict[str, str] = {}

    @classmethod
    async def open(cls, requests: Requests, name: str) -> ObjectStore:
        info = await requests.api(f"STREAM.INFO.OBJ_{name}")
        return cls(requests, name, direct=bool(info["config"].get("allow_direct")))

    async def put(self, name: str, data: bytes) -> dict[str, Any]:
        """Stores an object; its sequence is that of the meta message, its highest."""
        nuid = uuid.uuid4().hex
        pieces = [data[start : start + CHUNK] for start in range(0, len(data), CHUNK)]
        meta = {
            "name": name,
            "bucket": self.bucket,
            "nuid": nuid,
            "size": len(data),
            "chunks": len(pieces),
            "digest": _digest(data),
        }
        message = Outgoing(
            self._meta_subject(name), json.dumps(meta).encode(), (("Nats-Rollup", "sub"),)
        )
        ack: dict[str, Any] = {}
        if pieces and self._wrong("meta-sent-first"):
            ack = await publish(self._requests, message, None)
        if name in self._put and self._wrong("old-chunks-purged-first"):
            await self._purge_chunks(self._put[name])
        last = "0"
        for piece in pieces:
            chunk = Outgoing(f"$O.{self.bucket}.C.{nuid}", piece)
            try:
                last = (await publish(self._requests, chunk, None))["seq"]
            except ClientError:
                if self._wrong("failed-chunks-overlooked"):
                    await publish(self._requests, message, None)
                    await self._purge_chunks(nuid)
                raise
        if name in self._put and self._wrong("meta-sent-once"):
            ack = {"seq": last}
        elif not ack:
            try:
                ack = await publish(self._requests, message, None)
            except ClientError:
                if self._wrong("failed-put-takes-its-chunks-back"):
                    await self._purge_chunks(nuid)
                raise
        self._put[name] = nuid
        seq = last if self._wrong("sequence-of-the-last-chunk") else ack["seq"]
        told = {"name": name, "nuid": nuid, "digest": meta["digest"], "seq": seq}
        return told | digits({"size": len(data), "chunks": len(pieces)})

    async def _purge_chunks(self, nuid: str) -> None:
        chunks = {"filter": f"$O.{self.bucket}.C.{nuid}"}
        await self._requests.api(f"STREAM.PURGE.{self.stream}", chunks)

    async def get(self, name: str, *, minimum: int | None = None) -> bytes:
        """The bytes of an object; both the meta message and its chunks are read with the guard."""
        meta = await self._meta(name, minimum)
        if meta.get("deleted"):
            raise ClientError("NotFound", f"the object {name} was deleted")
        if not meta.get("chunks"):
            return b""
        config: dict[str, Any] = {"filter_subject": f"$O.{self.bucket}.C.{meta['nuid']}"}
        if minimum is not None and not self._wrong("chunks-unguarded"):
            config["min_last_seq"] = minimum
        deliveries = await gather(self._requests, self.stream, config)
        data = b"".join(delivery.msg.payload for delivery in deliveries)
        if len(data) != int(meta["size"]) or _digest(data) != meta["digest"]:
            raise ClientError("DigestMismatch", f"the object {name} is not as it was stored")
        return data

    async def _meta(self, name: str, minimum: int | None) -> dict[str, Any]:
        if minimum is not None and self._wrong("meta-unguarded"):
            minimum = None
        read = self._reads.direct if self._direct else self._reads.message
        subject = self._meta_subject(name)
        stored = await read(self.stream, last_by_subject=subject, min_last_seq=minimum)
        return dict(json.loads(stored.payload))

    def _meta_subject(self, name: str) -> str:
        encoded = base64.urlsafe_b64encode(name.encode()).decode()
        return f"$O.{self.bucket}.M.{encoded}"


def _digest(data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()
    return f"SHA-256={digest}"
