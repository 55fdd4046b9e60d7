"""Operations that read a stream without a consumer."""

from __future__ import annotations

from jetproof.targets.reference_client.reading import Gathered, Reads
from jetproof.targets.reference_client.state import Params, Result, State
from jetproof.targets.reference_client.values import number, text


class ReadingCalls:
    """Message get and direct get."""

    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def _reads(self) -> Reads:
        return self._state.conduct.part(Reads)(self._state.requests)

    async def do_direct__get(self, params: Params) -> Result:
        stored = await self._reads.direct(
            text(params, "stream"),
            seq=number(params, "seq"),
            last_by_subject=params.get("last_by_subject"),
            next_by_subject=params.get("next_by_subject"),
            min_last_seq=number(params, "min_last_seq"),
        )
        return {"message": stored.body()}

    async def do_direct__batch(self, params: Params) -> Result:
        gathered = await self._reads.batch(
            text(params, "stream"),
            number(params, "batch"),
            max_bytes=number(params, "max_bytes"),
            seq=number(params, "seq"),
            start_time=params.get("start_time"),
            next_by_subject=params.get("next_by_subject"),
            min_last_seq=number(params, "min_last_seq"),
        )
        return _gathered(gathered)

    async def do_direct__multi(self, params: Params) -> Result:
        gathered = await self._reads.multi(
            text(params, "stream"),
            params.get("subjects") or [],
            batch=number(params, "batch"),
            max_bytes=number(params, "max_bytes"),
            seq=number(params, "seq"),
            up_to_seq=number(params, "up_to_seq"),
            up_to_time=params.get("up_to_time"),
            min_last_seq=number(params, "min_last_seq"),
        )
        return _gathered(gathered)

    async def do_message__get(self, params: Params) -> Result:
        stored = await self._reads.message(
            text(params, "stream"),
            seq=number(params, "seq"),
            last_by_subject=params.get("last_by_subject"),
            min_last_seq=number(params, "min_last_seq"),
        )
        return {"message": stored.body()}


def _gathered(gathered: Gathered) -> Result:
    told: Result = {"messages": [stored.body() for stored in gathered.messages]}
    if gathered.error is not None:
        told["error"] = gathered.error.body()
    return told
