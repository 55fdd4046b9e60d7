"""Operations on consumers and the messages they deliver."""

from __future__ import annotations

from dataclasses import replace

from jetproof.targets.reference_client.consumers import (
    ConsumerRef,
    Delivery,
    acknowledge,
    consumer_info,
    create_consumer,
    delete_consumer,
    get_consumer,
)
from jetproof.targets.reference_client.consuming import Consuming
from jetproof.targets.reference_client.errors import ClientError, invalid
from jetproof.targets.reference_client.fetching import GAP, Fetched, fetch
from jetproof.targets.reference_client.ordered import Named, Ordered
from jetproof.targets.reference_client.rounding import rounded
from jetproof.targets.reference_client.settings import (
    FetchSettings,
    consume_settings,
    fetch_settings,
    next_settings,
)
from jetproof.targets.reference_client.state import Params, State, Told, seconds
from jetproof.targets.reference_client.values import not_open, number, text


class ConsumingCalls:
    """Consumers, ordered ones, fetch, next, consume, and acknowledgements."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._acked: set[str] = set()

    def _source(self, params: Params) -> Named | Ordered:
        thing = self._state.thing(params, object)
        if not isinstance(thing, Named | Ordered):
            raise not_open(params["of"])
        return thing

    async def do_consumer__get(self, params: Params) -> Told:
        ref = ConsumerRef(text(params, "stream"), text(params, "consumer"))
        await get_consumer(self._state.requests, ref)
        self._state.name(params, Named(self._state.requests, ref))
        return {}

    async def do_consumer__create(self, params: Params) -> Told:
        stream = text(params, "stream")
        made = await create_consumer(self._state.requests, stream, params.get("config") or {})
        self._state.name(
            params, Named(self._state.requests, ConsumerRef(stream, str(made["name"])))
        )
        return {}

    async def do_consumer__info(self, params: Params) -> Told:
        source = self._source(params)
        if self._state.conduct.wrong("info-made-up"):
            return {"info": {"name": source.ref.name}}
        return {"info": _as_digits(await consumer_info(self._state.requests, source.ref))}

    async def do_consumer__delete(self, params: Params) -> Told:
        await delete_consumer(self._state.requests, self._source(params).ref)
        return {}

    async def do_ordered__get(self, params: Params) -> Told:
        asked = {
            "filter_subjects": params.get("filter_subjects"),
            "deliver_policy": params.get("deliver_policy"),
            "opt_start_seq": number(params, "start_seq"),
            "min_last_seq": number(params, "min_last_seq"),
        }
        config = {name: value for name, value in asked.items() if value is not None}
        if "opt_start_seq" in config:
            config.setdefault("deliver_policy", "by_start_sequence")
        source = Ordered(self._state.requests, text(params, "stream"), config)
        await source.renew()
        self._state.name(params, source)
        return {}

    async def do_fetch(self, params: Params) -> Told:
        fetched = await self._fetch(params, fetch_settings(params, self._state.conduct))
        told: Told = {"messages": [self._state.handed_over(one) for one in fetched.deliveries]}
        if fetched.error is not None:
            told["error"] = fetched.error.body()
        return told

    async def do_next(self, params: Params) -> Told:
        fetched = await self._fetch(params, next_settings(params, self._state.conduct))
        if fetched.deliveries:
            return {"message": self._state.handed_over(fetched.deliveries[0])}
        if fetched.error is not None:
            raise fetched.error
        return {"message": None}

    async def _fetch(self, params: Params, settings: FetchSettings) -> Fetched:
        source = self._source(params)
        line = self._state.requests.line
        if source.renewable and self._state.conduct.wrong("ordered-starts-over"):
            await source.renew()
        fetched = await fetch(line, source.ref, settings, source.accept)
        if fetched.error is None or not source.renewable:
            return fetched
        await source.renew()
        if fetched.error.kind != GAP:
            return fetched
        rest = replace(settings, messages=settings.messages - len(fetched.deliveries))
        further = await fetch(line, source.ref, rest, source.accept)
        return Fetched([*fetched.deliveries, *further.deliveries], further.error)

    async def do_consume(self, params: Params) -> Told:
        source = self._source(params)
        settings = consume_settings(params, self._state.conduct)
        teller = Events(self._state, text(params, "as"))
        consuming = Consuming(self._state.requests.line, source, settings, teller)
        self._state.name(params, consuming)
        consuming.start()
        return {}

    async def do_consume__stop(self, params: Params) -> Told:
        self._state.thing(params, Consuming).stop()
        return {}

    async def do_consume__drain(self, params: Params) -> Told:
        await self._state.thing(params, Consuming).drain()
        return {}

    async def do_ack(self, params: Params) -> Told:
        for name in params.get("messages") or []:
            if name in self._acked and self._state.conduct.wrong("second-ack-refused"):
                raise invalid(f"{name} is acknowledged already")
            if params.get("kind") != "progress":
                self._acked.add(name)
            await acknowledge(
                self._state.requests,
                self._state.reply_of(name),
                text(params, "kind"),
                delay_ms=number(params, "delay_ms"),
                reason=params.get("reason"),
                timeout=seconds(params),
            )
        return {}


class Events:
    """The application of a consume: everything becomes an event, in the order it was told."""

    def __init__(self, state: State, name: str) -> None:
        self._state = state
        self._name = name

    def message(self, delivery: Delivery) -> None:
        message = rounded(self._state.handed_over(delivery), self._state.conduct)
        self._state.writer.event("message", self._name, **message)

    def notice(self, error: ClientError) -> None:
        self._state.writer.event("notice", self._name, error=error.body())

    def end(self, error: ClientError | None) -> None:
        more = {} if error is None else {"error": error.body()}
        self._state.writer.event("end", self._name, **more)


def _as_digits(info: Told) -> Told:
    """The info as the server gave it, its counters and sequences as digits."""
    told: Told = {}
    for name, value in info.items():
        if isinstance(value, dict) and name in ("delivered", "ack_floor"):
            told[name] = _as_digits(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            told[name] = str(value)
        else:
            told[name] = value
    return told
