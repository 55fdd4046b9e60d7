"""Operations that publish."""

from __future__ import annotations

from jetproof.targets.reference_client.batches import Batch
from jetproof.targets.reference_client.errors import ClientError
from jetproof.targets.reference_client.ingest import Ingest
from jetproof.targets.reference_client.publishing import Messages, Publisher
from jetproof.targets.reference_client.state import Params, Result, State, seconds
from jetproof.targets.reference_client.values import digits, number, text


class PublishingCalls:
    """Single messages, atomic batches, fast ingest."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._part = state.conduct.part
        self._messages = self._part(Messages)()

    async def do_publish(self, params: Params) -> Result:
        message = self._messages.outgoing(params)
        publisher = self._part(Publisher)(self._state.requests)
        return {"ack": await publisher.publish(message, seconds(params))}

    async def do_batch__open(self, params: Params) -> Result:
        self._state.name(params, self._batch(params))
        return {}

    async def do_batch__add(self, params: Params) -> Result:
        batch = self._state.thing(params, Batch)
        acked = await batch.add(self._messages.outgoing(params), params.get("ack"))
        return {"acked": True} if acked else {}

    async def do_batch__commit(self, params: Params) -> Result:
        batch = self._state.thing(params, Batch)
        return {"ack": await batch.commit(self._messages.outgoing(params))}

    async def do_batch__close(self, params: Params) -> Result:
        ack = await self._state.thing(params, Batch).close()
        return {} if ack is None else {"ack": ack}

    async def do_batch__discard(self, params: Params) -> Result:
        await self._state.thing(params, Batch).discard()
        return {}

    async def do_batch__publish(self, params: Params) -> Result:
        messages = [self._messages.outgoing(one) for one in params.get("messages") or []]
        return {"ack": await self._batch(params, own_id=False).publish(messages)}

    def _batch(self, params: Params, *, own_id: bool = True) -> Batch:
        return self._part(Batch)(
            self._state.requests,
            batch_id=params.get("batch_id") if own_id else None,
            ack_first=params.get("ack_first"),
            ack_every=number(params, "ack_every"),
        )

    async def do_ingest__open(self, params: Params) -> Result:
        of = text(params, "as")

        def tell(kind: str, error: ClientError | None, acked: int | None) -> None:
            more = {} if error is None else {"error": error.body()}
            self._state.writer.event("ingest", of, kind=kind, **more, **digits({"ack_seq": acked}))

        timeout = number(params, "ack_timeout_ms")
        publisher = self._part(Ingest)(
            self._state.requests,
            tell,
            batch_id=params.get("batch_id"),
            flow=number(params, "flow"),
            outstanding=number(params, "max_outstanding"),
            gap=params.get("gap"),
            ack_timeout=None if timeout is None else timeout / 1000,
        )
        self._state.name(params, publisher)
        return {}

    async def do_ingest__add(self, params: Params) -> Result:
        publisher = self._state.thing(params, Ingest)
        sent, acked = await publisher.add(self._messages.outgoing(params))
        return digits({"batch_seq": sent, "ack_seq": acked})

    async def do_ingest__commit(self, params: Params) -> Result:
        publisher = self._state.thing(params, Ingest)
        return {"ack": await publisher.commit(self._messages.outgoing(params))}

    async def do_ingest__close(self, params: Params) -> Result:
        return {"ack": await self._state.thing(params, Ingest).close()}
