"""From what is asked for to two sides of a comparison that can be played."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from jetproof.campaigns.compare import Compare, Side
from jetproof.campaigns.libraries import Judged, meet, named
from jetproof.campaigns.quick import quick
from jetproof.campaigns.request import DEFAULT_TARGETS, Request, Settings
from jetproof.campaigns.selecting import select_cases
from jetproof.engine.run import RunOptions
from jetproof.errors import JetproofError
from jetproof.load.library import Library
from jetproof.plan import Item, PlanTarget, client_items
from jetproof.targets.resolve import resolve_one
from jetproof.targets.spec import redacted

NAMES = ("base", "head")
JOBS = 4
"""Server processes of each side at the same time."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is compared: two targets, or two libraries on one target."""

    targets: tuple[str, str]
    clients: tuple[str, str] | None
    patterns: tuple[str, ...]


def asked(words: Sequence[str], servers: Sequence[str], clients: Sequence[str] | None) -> Asked:
    """Tell sides from patterns."""
    if clients is not None:
        if len(servers) > 1:
            raise JetproofError(
                f"two versions of a library are compared on one server, not on {len(servers)}",
                phase="plan",
                hint="name one --server, or compare once per server",
            )
        [one] = servers or DEFAULT_TARGETS
        base, head = clients
        return Asked((one, one), (base, head), tuple(words))
    if servers or len(words) < 2:
        raise JetproofError(
            "which two targets? Write base and head first: jetproof compare 2.14.5 2.14.6",
            phase="plan",
            hint="patterns follow them; --server goes with --client only",
        )
    return Asked((words[0], words[1]), None, tuple(words[2:]))


async def plan_compare(
    library: Library,
    request: Request,
    settings: Settings,
    *,
    clients: Sequence[str] | None = None,
    only_quick: bool = False,
    notify: Callable[[str], None],
) -> Compare:
    """Both sides of what a request asks for. Its patterns begin with the two targets, unless two
    libraries are compared. `notify` hears of builds."""
    wanted = asked(request.patterns, request.servers, clients)
    selection = replace(request.selection, patterns=wanted.patterns)
    chosen = select_cases(library, selection, for_clients=wanted.clients is not None)
    items, left_out = quick(chosen.items) if only_quick else (chosen.items, ())
    targets = [
        await _target(text, name, notify) for text, name in zip(wanted.targets, NAMES, strict=True)
    ]
    options = replace(settings, jobs=settings.jobs or JOBS).options()
    sides = await _sides(library, wanted, items, targets, replace(options, confirm=0))
    return Compare(
        library,
        sides,
        id=options.run,
        request={
            "patterns": list(wanted.patterns),
            "servers": list(map(redacted, wanted.targets)),
        },
        partial=chosen.partial,
        left_out=left_out,
        notes=_notes(sides),
    )


async def _target(text: str, name: str, notify: Callable[[str], None]) -> PlanTarget:
    """The one target of a side."""
    try:
        return await resolve_one(
            text,
            hint="jetproof matrix plays many releases",
            notify=lambda line: notify(f"{name}: {line}"),
        )
    except JetproofError as error:
        error.message = f"{name}: {error.message}"
        raise


async def _sides(
    library: Library,
    wanted: Asked,
    items: Sequence[Item],
    targets: Sequence[PlanTarget],
    options: RunOptions,
) -> tuple[Side, Side]:
    if wanted.clients is None:
        base, head = (
            Side(name, _label(target), target, tuple(items), options)
            for name, target in zip(NAMES, targets, strict=True)
        )
        return base, head
    cases = [item.case for item in items]
    both = []
    for name, text, target in zip(NAMES, wanted.clients, targets, strict=True):
        [one] = await meet(named([text], False), None, library, options.time_factor)
        _must_play(one, name)
        label = f"{one.plan.name} on {_label(target)}"
        its = client_items(library, cases, one.plan)
        both.append(Side(name, label, target, its, options, one))
    return both[0], both[1]


def _must_play(one: Judged, name: str) -> None:
    if reason := one.plan.missing or one.plan.broken:
        raise JetproofError(f"{name}: {one.plan.name} cannot be played: {reason}", phase="plan")


def _label(target: PlanTarget) -> str:
    """The target as it was written, with what it turned out to be."""
    name, more = redacted(target.name), []
    if str(target.version) not in name:
        more.append(str(target.version))
    if target.build:
        more.append(target.build[:12] + ("-dirty" if "-dirty-" in target.build else ""))
    return f"{name} ({', '.join(more)})" if more else name


def _notes(sides: tuple[Side, Side]) -> tuple[str, ...]:
    base, head = (side.target for side in sides)
    notes = []
    if base.version.line != head.version.line:
        notes.append(
            f"base is of line {_line(base)}, head of line {_line(head)}: a case that applies to "
            "one of them is not compared"
        )
    if sides[0].client is None and base.build and base.build == head.build:
        notes.append("base and head are the same build")
    return tuple(notes)


def _line(target: PlanTarget) -> str:
    return ".".join(map(str, target.version.line))
