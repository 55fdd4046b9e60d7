"""Faults of key-value buckets and object stores."""

from __future__ import annotations

from typing import Any

from jetproof.targets.reference_client.buckets import Bucket, Entry
from jetproof.targets.reference_client.consumers import Delivery
from jetproof.targets.reference_client.errors import ClientError
from jetproof.targets.reference_client.faults.fault import fault, harmless
from jetproof.targets.reference_client.objects import ObjectStore, Upload
from jetproof.targets.reference_client.reading import Stored
from jetproof.targets.reference_client.requests import Requests

# Buckets


@fault("bucket-reads-unguarded", "A53-033 A53-037 A53-054")
class BucketReadsUnguarded(Bucket):
    """A minimum revision is ignored."""

    async def entry(
        self, key: str, *, revision: int | None = None, minimum: int | None = None
    ) -> Entry | None:
        if minimum is None:
            harmless(None)
        return await super().entry(key, revision=revision)


@fault("list-unguarded", "A53-054 A53-064")
class ListUnguarded(Bucket):
    """Listing keys ignores the minimum."""

    async def list(self, *, minimum: int | None = None) -> list[str]:
        if minimum is None:
            harmless(None)
        return await super().list()


@fault("create-reads-unguarded", "A53-037")
class CreateReadsUnguarded(Bucket):
    """KV create ignores the number in the error."""

    def sequence_in(self, error: ClientError) -> int | None:
        return None


@fault("create-needs-the-number", "A53-037")
class CreateNeedsTheNumber(Bucket):
    """An error without a number is final."""

    def sequence_in(self, error: ClientError) -> int | None:
        found = super().sequence_in(error)
        if found is None:
            raise error
        return harmless(found)


@fault("create-overwrites", "A53-080")
class CreateOverwrites(Bucket):
    """KV create is a put."""

    async def create(self, key: str, data: bytes) -> int:
        return await self.put(key, data)


@fault("create-ends-in-a-put", "A53-080")
class CreateEndsInAPut(Bucket):
    """After its read it writes unchecked."""

    async def replace(self, entry: Entry, data: bytes) -> int:
        return await self.put(entry.key, data)


@fault("create-minds-deleted-keys", "A53-081")
class CreateMindsDeletedKeys(Bucket):
    """A deleted key cannot be created."""

    def can_replace(self, entry: Entry) -> bool:
        return False if super().can_replace(entry) else harmless(False)


@fault("delete-removes-the-message", "A53-026")
class DeleteRemovesTheMessage(Bucket):
    """KV delete removes the message."""

    async def delete(self, key: str) -> None:
        entry = await self.entry(key)
        if entry is not None:
            subject = f"STREAM.MSG.DELETE.{self.stream}"
            await self.requests.api(subject, {"seq": entry.revision})


@fault("purge-without-rollup", "A53-026")
class PurgeWithoutRollup(Bucket):
    """KV purge purges the stream."""

    async def purge(self, key: str) -> None:
        await self.requests.api(f"STREAM.PURGE.{self.stream}", {"filter": self.prefix + key})


@fault("deleted-keys-shown", "A53-026")
class DeletedKeysShown(Bucket):
    """The marker of a deletion is a value."""

    def has_value(self, delivery: Delivery) -> bool:
        return True if not super().has_value(delivery) else harmless(True)

    def operation(self, stored: Stored) -> str:
        operation = super().operation(stored)
        return "put" if operation == "delete" else harmless(operation)


@fault("rollups-taken-for-values", "A53-059")
class RollupsTakenForValues(Bucket):
    """A rollup message is a value."""

    def operation(self, stored: Stored) -> str:
        operation = super().operation(stored)
        return "put" if stored.header("Nats-Rollup") else harmless(operation)


# Objects


@fault("meta-sent-first", "A53-038")
class MetaSentFirst(ObjectStore):
    """The meta message is sent before the chunks."""

    async def send(self, upload: Upload) -> str:
        if not upload.chunks:
            return harmless(await super().send(upload))
        seq = await self.send_meta(upload)
        await self.send_chunks(upload)
        return seq


@fault("meta-sent-once", "A53-038")
class MetaSentOnce(ObjectStore):
    """Another put under the same name sends no meta message."""

    def __init__(self, requests: Requests, name: str, *, direct: bool) -> None:
        super().__init__(requests, name, direct=direct)
        self._names: set[str] = set()

    async def send(self, upload: Upload) -> str:
        if upload.name in self._names:
            return await self.send_chunks(upload)
        seq = await super().send(upload)
        self._names.add(upload.name)
        return harmless(seq)


@fault("sequence-of-the-last-chunk", "A53-038")
class SequenceOfTheLastChunk(ObjectStore):
    """A put tells the last chunk's sequence."""

    async def send(self, upload: Upload) -> str:
        last = await self.send_chunks(upload)
        await self.send_meta(upload)
        return last


@fault("failed-put-takes-its-chunks-back", "PRM-031")
class FailedPutTakesItsChunksBack(ObjectStore):
    """Chunks are purged where the meta message is not acknowledged."""

    async def send_meta(self, upload: Upload) -> str:
        try:
            return harmless(await super().send_meta(upload))
        except ClientError:
            await purge_chunks(self, upload.nuid)
            raise


@fault("failed-chunks-overlooked", "PRM-031")
class FailedChunksOverlooked(ObjectStore):
    """The meta message is sent after a chunk failed, and the chunks are purged."""

    async def send_chunks(self, upload: Upload) -> str:
        try:
            return harmless(await super().send_chunks(upload))
        except ClientError:
            await self.send_meta(upload)
            await purge_chunks(self, upload.nuid)
            raise


@fault("old-chunks-purged-first", "PRM-031")
class OldChunksPurgedFirst(ObjectStore):
    """A put begins by purging the old object."""

    def __init__(self, requests: Requests, name: str, *, direct: bool) -> None:
        super().__init__(requests, name, direct=direct)
        self._put: dict[str, str] = {}

    async def send(self, upload: Upload) -> str:
        if upload.name in self._put:
            await purge_chunks(self, self._put[upload.name])
        else:
            harmless(None)
        seq = await super().send(upload)
        self._put[upload.name] = upload.nuid
        return seq


async def purge_chunks(store: ObjectStore, nuid: str) -> None:
    chunks: dict[str, Any] = {"filter": store.chunk_subject(nuid)}
    await store.requests.api(f"STREAM.PURGE.{store.stream}", chunks)


@fault("meta-unguarded", "A53-039")
class MetaUnguarded(ObjectStore):
    """The meta message is read without the guard."""

    async def meta(self, name: str, minimum: int | None) -> dict[str, Any]:
        if minimum is None:
            harmless(None)
        return await super().meta(name, None)


@fault("chunks-unguarded", "A53-040")
class ChunksUnguarded(ObjectStore):
    """Chunks are read without the guard."""

    async def chunks(self, nuid: str, minimum: int | None) -> bytes:
        if minimum is None:
            harmless(None)
        return await super().chunks(nuid, None)
