"""Operations on consumers and the messages they deliver."""

from __future__ import annotations

from dataclasses import replace

from jetproof.targets.reference_client.acks import Acks
from jetproof.targets.reference_client.consumers import ConsumerRef, Consumers, Delivery
from jetproof.targets.reference_client.consuming import Consuming
from jetproof.targets.reference_client.errors import ClientError
from jetproof.targets.reference_client.fetching import GAP, Fetched, fetch
from jetproof.targets.reference_client.ordered import Named, Ordered
from jetproof.targets.reference_client.settings import FetchSettings, Settings
from jetproof.targets.reference_client.state import Params, Result, State, seconds
from jetproof.targets.reference_client.values import not_open, number, text


class ConsumingCalls:
    """Consumers, ordered ones, fetch, next, consume, and acknowledgements."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._part = state.conduct.part
        self._settings = self._part(Settings)(state.conduct)

    @property
    def _consumers(self) -> Consumers:
        return self._part(Consumers)(self.state.requests)

    def source(self, params: Params) -> Named | Ordered:
        thing = self.state.thing(params, object)
        if not isinstance(thing, Named | Ordered):
            raise not_open(params["of"])
        return thing

    async def do_consumer__get(self, params: Params) -> Result:
        ref = ConsumerRef(text(params, "stream"), text(params, "consumer"))
        consumers = self._consumers
        await consumers.get(ref)
        self.state.name(params, Named(consumers, ref))
        return {}

    async def do_consumer__create(self, params: Params) -> Result:
        stream, consumers = text(params, "stream"), self._consumers
        made = await consumers.create(stream, params.get("config") or {})
        self.state.name(params, Named(consumers, ConsumerRef(stream, str(made["name"]))))
        return {}

    async def do_consumer__info(self, params: Params) -> Result:
        source = self.source(params)
        return {"info": _as_digits(await self._consumers.info(source.ref))}

    async def do_consumer__delete(self, params: Params) -> Result:
        await self._consumers.delete(self.source(params).ref)
        return {}

    async def do_ordered__get(self, params: Params) -> Result:
        asked = {
            "filter_subjects": params.get("filter_subjects"),
            "deliver_policy": params.get("deliver_policy"),
            "opt_start_seq": number(params, "start_seq"),
            "min_last_seq": number(params, "min_last_seq"),
        }
        config = {name: value for name, value in asked.items() if value is not None}
        if "opt_start_seq" in config:
            config.setdefault("deliver_policy", "by_start_sequence")
        source = self._part(Ordered)(self.state.requests, text(params, "stream"), config)
        await source.renew()
        self.state.name(params, source)
        return {}

    async def do_fetch(self, params: Params) -> Result:
        settings = self._settings.fetch(params)
        fetched = await self.fetch(self.source(params), settings)
        told: Result = {"messages": [self.state.handed_over(one) for one in fetched.deliveries]}
        if fetched.error is not None:
            told["error"] = fetched.error.body()
        return told

    async def do_next(self, params: Params) -> Result:
        settings = self._settings.next(params)
        fetched = await self.fetch(self.source(params), settings)
        if fetched.deliveries:
            return {"message": self.state.handed_over(fetched.deliveries[0])}
        if fetched.error is not None:
            raise fetched.error
        return {"message": None}

    async def fetch(self, source: Named | Ordered, settings: FetchSettings) -> Fetched:
        line = self.state.requests.line
        fetched = await fetch(line, source.ref, settings, source.accept)
        if fetched.error is None or not source.renewable:
            return fetched
        await source.renew()
        if fetched.error.kind != GAP:
            return fetched
        rest = replace(settings, messages=settings.messages - len(fetched.deliveries))
        further = await fetch(line, source.ref, rest, source.accept)
        return Fetched([*fetched.deliveries, *further.deliveries], further.error)

    async def do_consume(self, params: Params) -> Result:
        source = self.source(params)
        settings = self._settings.consume(params)
        teller = self._part(Events)(self.state, text(params, "as"))
        consuming = self._part(Consuming)(self.state.requests.line, source, settings, teller)
        self.state.name(params, consuming)
        consuming.start()
        return {}

    async def do_consume__stop(self, params: Params) -> Result:
        self.state.thing(params, Consuming).stop()
        return {}

    async def do_consume__drain(self, params: Params) -> Result:
        await self.state.thing(params, Consuming).drain()
        return {}

    async def do_ack(self, params: Params) -> Result:
        for name in params.get("messages") or []:
            await self.acknowledge(name, params)
        return {}

    async def acknowledge(self, name: str, params: Params) -> None:
        """Any message, as often as the caller likes."""
        await self._part(Acks)(self.state.requests).acknowledge(
            self.state.reply_of(name),
            text(params, "kind"),
            delay_ms=number(params, "delay_ms"),
            reason=params.get("reason"),
            timeout=seconds(params),
        )


class Events:
    """The application of a consume: everything becomes an event, in the order it was told."""

    def __init__(self, state: State, name: str) -> None:
        self.state = state
        self._name = name

    def message(self, delivery: Delivery) -> None:
        self.state.writer.event("message", self._name, **self.body(delivery))

    def body(self, delivery: Delivery) -> Result:
        return self.state.handed_over(delivery)

    def notice(self, error: ClientError) -> None:
        self.state.writer.event("notice", self._name, error=error.body())

    def end(self, error: ClientError | None) -> None:
        more = {} if error is None else {"error": error.body()}
        self.state.writer.event("end", self._name, **more)


def _as_digits(info: Result) -> Result:
    """The info as the server gave it, its counters and sequences as digits."""
    told: Result = {}
    for name, value in info.items():
        if isinstance(value, dict) and name in ("delivered", "ack_floor"):
            told[name] = _as_digits(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            told[name] = str(value)
        else:
            told[name] = value
    return told
