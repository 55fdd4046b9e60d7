"""Object stores: an object is chunks of its own subject, and a meta message that comes last."""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from dataclasses import dataclass
from typing import Any, Final, Self

from jetproof.targets.reference_client.buckets import gather
from jetproof.targets.reference_client.errors import ClientError
from jetproof.targets.reference_client.publishing import Outgoing, Publisher
from jetproof.targets.reference_client.reading import Reads
from jetproof.targets.reference_client.requests import Requests
from jetproof.targets.reference_client.values import digits

CHUNK: Final = 128 * 1024
_ROLLUP: Final = (("Nats-Rollup", "sub"),)


@dataclass(frozen=True, slots=True)
class Upload:
    """An object on its way: its chunks, and the meta message that makes it one."""

    name: str
    nuid: str
    chunks: tuple[Outgoing, ...]
    meta: Outgoing


class ObjectStore:
    """A store that exists, opened with `ObjectStore.open`."""

    def __init__(self, requests: Requests, name: str, *, direct: bool) -> None:
        part = requests.line.conduct.part
        self.requests = requests
        self.publisher = part(Publisher)(requests)
        self._reads = part(Reads)(requests)
        self._direct = direct
        self.bucket = name
        self.stream = f"OBJ_{name}"

    @classmethod
    async def open(cls, requests: Requests, name: str) -> Self:
        info = await requests.api(f"STREAM.INFO.OBJ_{name}")
        return cls(requests, name, direct=bool(info["config"].get("allow_direct")))

    # Put

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
        seq = await self.send(
            Upload(
                name,
                nuid,
                tuple(Outgoing(self.chunk_subject(nuid), piece) for piece in pieces),
                Outgoing(self._meta_subject(name), json.dumps(meta).encode(), _ROLLUP),
            )
        )
        told = {"name": name, "nuid": nuid, "digest": meta["digest"], "seq": seq}
        return told | digits({"size": len(data), "chunks": len(pieces)})

    async def send(self, upload: Upload) -> str:
        """The chunks, then the meta message; an error of either is the caller's to act on."""
        await self.send_chunks(upload)
        return await self.send_meta(upload)

    async def send_chunks(self, upload: Upload) -> str:
        """Returns the sequence of the last."""
        last = "0"
        for chunk in upload.chunks:
            last = (await self.publisher.publish(chunk))["seq"]
        return last

    async def send_meta(self, upload: Upload) -> str:
        """Returns its sequence."""
        return str((await self.publisher.publish(upload.meta))["seq"])

    # Get

    async def get(self, name: str, *, minimum: int | None = None) -> bytes:
        """The bytes of an object; both the meta message and its chunks are read with the guard."""
        meta = await self.meta(name, minimum)
        if meta.get("deleted"):
            raise ClientError("NotFound", f"the object {name} was deleted")
        if not meta.get("chunks"):
            return b""
        data = await self.chunks(meta["nuid"], minimum)
        if len(data) != int(meta["size"]) or _digest(data) != meta["digest"]:
            raise ClientError("DigestMismatch", f"the object {name} is not as it was stored")
        return data

    async def meta(self, name: str, minimum: int | None) -> dict[str, Any]:
        read = self._reads.direct if self._direct else self._reads.message
        subject = self._meta_subject(name)
        stored = await read(self.stream, last_by_subject=subject, min_last_seq=minimum)
        return dict(json.loads(stored.payload))

    async def chunks(self, nuid: str, minimum: int | None) -> bytes:
        config: dict[str, Any] = {"filter_subject": self.chunk_subject(nuid)}
        if minimum is not None:
            config["min_last_seq"] = minimum
        deliveries = await gather(self.requests, self.stream, config)
        return b"".join(delivery.msg.payload for delivery in deliveries)

    def chunk_subject(self, nuid: str) -> str:
        return f"$O.{self.bucket}.C.{nuid}"

    def _meta_subject(self, name: str) -> str:
        encoded = base64.urlsafe_b64encode(name.encode()).decode()
        return f"$O.{self.bucket}.M.{encoded}"


def _digest(data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()
    return f"SHA-256={digest}"
