"""What is played once more: cases of a library share a server, cases of servers have one each."""

from __future__ import annotations

from typing import Any, cast

from jetproof.engine.retries import together
from jetproof.model.versions import Version
from jetproof.plan import Group, PlanClient, PlanTarget

GO, JS = PlanClient("go:nats.go@1.55.0", "nats.go"), PlanClient("js:nats.js@3.4.0", "nats.js")


def group(item: str, client: PlanClient | None, *, alone: bool = False) -> Group:
    target = PlanTarget("2.15.1", Version.parse("2.15.1"), "embedded")
    return Group(target, "default", "single", (cast(Any, item),), alone, client)


def test_cases_of_a_library_share_a_server() -> None:
    groups = [group("a", GO), group("b", JS), group("c", GO)]
    assert [one.items for one in together(groups)] == [("a", "c"), ("b",)]


def test_cases_of_servers_and_those_that_want_their_own_stay_alone() -> None:
    groups = [group("a", None), group("b", None), group("c", GO, alone=True), group("d", GO)]
    assert [one.items for one in together(groups)] == [("a",), ("b",), ("c",), ("d",)]
