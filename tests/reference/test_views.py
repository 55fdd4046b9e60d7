"""What servers hold, as they tell it, and what is remembered of those that do not answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from jetproof.targets.reference.views import Copies, View, Views, read_streams
from jetproof.wire.errors import WireTimeout


def stream(name: str, last_seq: int, **more: Any) -> dict[str, Any]:
    config = {"name": name, "allow_direct": True, **more.pop("config", {})}
    return {
        "name": name,
        "created": more.pop("created", "then"),
        "cluster": {"leader": more.pop("leader", "n1"), "replicas": more.pop("replicas", [])},
        "config": config,
        "state": {"messages": last_seq, "last_seq": last_seq},
        **more,
    }


def jsz(*streams: dict[str, Any], account: str = "JP") -> dict[str, Any]:
    return {"data": {"account_details": [{"name": account, "stream_detail": list(streams)}]}}


class Server:
    """A server that tells what it was given, or nothing: a connection as far as views need one."""

    def __init__(self, told: dict[str, Any] | None) -> None:
        self.told = told
        self.asked = 0
        self.info = {"server_id": "ID"}

    async def connect(self) -> Any:
        return self

    async def request(self, subject: str, payload: bytes, timeout: float) -> Any:
        assert subject == "$SYS.REQ.SERVER.ID.JSZ"
        self.asked += 1
        if self.told is None:
            await asyncio.sleep(0.4)
            raise WireTimeout("it is paused")
        await asyncio.sleep(0)
        return type("Answer", (), {"payload": json.dumps(self.told).encode()})


def views(servers: Mapping[str, Server]) -> Views:
    return Views({name: View(name, server.connect) for name, server in servers.items()}, 0.05)


def copies(servers: Mapping[str, Server], name: str = "S", account: str = "JP") -> Copies:
    return asyncio.run(views(servers).copies(account, name))


def test_a_single_server_leads_its_streams() -> None:
    found = copies({"n1": Server(jsz(stream("S", 3)))})
    assert [(copy.node, copy.last_seq, copy.leads) for copy in found.own] == [("n1", 3, True)]
    assert found.direct
    assert found.leader == found.own[0]


def test_each_server_of_a_cluster_tells_of_its_own_copy() -> None:
    found = copies(
        {"n1": Server(jsz(stream("S", 3))), "n2": Server(jsz(stream("S", 1))), "n3": Server(jsz())}
    )
    assert [(copy.node, copy.last_seq, copy.leads) for copy in found.own] == [
        ("n1", 3, True),
        ("n2", 1, False),
    ]


def test_a_silent_server_is_known_by_its_peers_and_by_what_it_has_shown() -> None:
    peers = [{"name": "n2"}]
    servers = {
        "n1": Server(jsz(stream("S", 3, replicas=peers))),
        "n2": Server(jsz(stream("S", 2))),
    }

    async def main() -> tuple[Copies, Copies]:
        looking = views(servers)
        await looking.copies("JP", "S")
        servers["n2"].told = None
        seen = await looking.copies("JP", "S")
        servers["n1"].told = jsz(stream("S", 3, replicas=peers, created="later"))
        return seen, await looking.copies("JP", "S")

    remembered, made_anew = asyncio.run(main())
    assert [(copy.last_seq, copy.answers) for copy in remembered.own] == [(3, True), (2, False)]
    assert [(copy.last_seq, copy.answers) for copy in made_anew.own] == [(3, True), (0, False)]


def test_two_that_say_they_lead_are_no_leader() -> None:
    servers = {
        "n1": Server(jsz(stream("S", 3, leader="n1"))),
        "n2": Server(jsz(stream("S", 4, leader="n2"))),
    }
    assert copies(servers).leader is None


def test_the_leader_that_says_so_itself_counts() -> None:
    servers = {
        "n1": Server(jsz(stream("S", 3, leader="n3"))),
        "n2": Server(jsz(stream("S", 4, leader="n2"))),
    }
    leader = copies(servers).leader
    assert leader is not None
    assert leader.node == "n2"


def test_mirrors_answer_for_a_stream_also_when_it_is_gone() -> None:
    mirror = stream("M", 2, config={"mirror": {"name": "S"}, "mirror_direct": True})
    found = copies({"n1": Server(jsz(mirror))})
    assert (found.own, found.direct) == ((), True)
    assert [(copy.last_seq, copy.mirror) for copy in found.others] == [(2, True)]


def test_mirrors_that_do_not_answer_for_their_origin_do_not_count() -> None:
    off = stream("M", 2, config={"mirror": {"name": "S"}})
    elsewhere = stream(
        "E", 2, config={"mirror": {"name": "S", "external": {"api": "x"}}, "mirror_direct": True}
    )
    found = copies({"n1": Server(jsz(stream("S", 3), off, elsewhere))})
    assert found.others == []
    assert copies({"n1": Server(jsz(elsewhere))}, "E").own[0].mirror


def test_a_stream_is_found_in_another_account_if_it_is_not_in_the_clients_own() -> None:
    assert copies({"n1": Server(jsz(stream("S", 3), account="B"))}).own[0].last_seq == 3
    assert copies({"n1": Server(jsz(stream("T", 3), account="B"))}).own == ()


def test_questions_at_the_same_time_are_shared_but_never_older_than_asked() -> None:
    server = Server(jsz(stream("S", 1)))

    async def main() -> list[int]:
        view = View("n1", server.connect)
        first = asyncio.ensure_future(view.look())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        server.told = jsz(stream("S", 2))
        later = await asyncio.gather(view.look(), view.look(), view.look())
        await first
        return [snapshot["JP", "S"].last_seq for snapshot in later if snapshot]

    assert asyncio.run(main()) == [2, 2, 2]
    assert server.asked == 2


def test_what_is_no_answer_holds_nothing() -> None:
    nothing: list[object] = [None, [], {}, {"data": None}]
    for told in (*nothing, {"data": {"account_details": [{"name": "JP"}]}}):
        assert read_streams("n1", told) == {}
