"""Operations on key-value buckets and object stores."""

from __future__ import annotations

from jetproof.targets.reference_client.buckets import Bucket
from jetproof.targets.reference_client.objects import ObjectStore
from jetproof.targets.reference_client.state import Params, Result, State
from jetproof.targets.reference_client.values import (
    bad_call,
    digits,
    encoded,
    number,
    payload,
    text,
)


class StoreCalls:
    """Buckets and objects."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def do_kv__open(self, params: Params) -> Result:
        part = self._state.conduct.part(Bucket)
        self._state.name(params, await part.open(self._state.requests, text(params, "bucket")))
        return {}

    async def do_kv__get(self, params: Params) -> Result:
        entry = await self._state.thing(params, Bucket).get(
            text(params, "key"),
            revision=number(params, "revision"),
            minimum=number(params, "min_last_revision"),
        )
        return {"entry": None if entry is None else entry.body()}

    async def do_kv__put(self, params: Params) -> Result:
        bucket = self._state.thing(params, Bucket)
        return digits({"revision": await bucket.put(text(params, "key"), payload(params))})

    async def do_kv__create(self, params: Params) -> Result:
        bucket = self._state.thing(params, Bucket)
        return digits({"revision": await bucket.create(text(params, "key"), payload(params))})

    async def do_kv__update(self, params: Params) -> Result:
        bucket = self._state.thing(params, Bucket)
        last = number(params, "revision")
        if last is None:
            raise bad_call("revision: a number is needed")
        revision = await bucket.update(text(params, "key"), payload(params), last)
        return digits({"revision": revision})

    async def do_kv__delete(self, params: Params) -> Result:
        await self._state.thing(params, Bucket).delete(text(params, "key"))
        return {}

    async def do_kv__purge(self, params: Params) -> Result:
        await self._state.thing(params, Bucket).purge(text(params, "key"))
        return {}

    async def do_kv__list(self, params: Params) -> Result:
        bucket = self._state.thing(params, Bucket)
        return {"keys": await bucket.list(minimum=number(params, "min_last_revision"))}

    async def do_object__open(self, params: Params) -> Result:
        part = self._state.conduct.part(ObjectStore)
        self._state.name(params, await part.open(self._state.requests, text(params, "bucket")))
        return {}

    async def do_object__put(self, params: Params) -> Result:
        store = self._state.thing(params, ObjectStore)
        return {"info": await store.put(text(params, "name"), payload(params))}

    async def do_object__get(self, params: Params) -> Result:
        store = self._state.thing(params, ObjectStore)
        data = await store.get(text(params, "name"), minimum=number(params, "min_last_seq"))
        return {"data": encoded(data)}
