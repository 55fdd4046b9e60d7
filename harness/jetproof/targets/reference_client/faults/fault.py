"""What a fault of the reference client is: a class that is wrong, and the clauses that it breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Final, TypeVar

from jetproof.targets.faults import Faults, FaultyParts, harmless
from jetproof.targets.reference_client.conduct import NEWEST, Conduct

__all__ = ["Faulty", "Knob", "also", "fault", "harmless", "knobs_of"]

C = TypeVar("C", bound=type)


@dataclass(frozen=True, slots=True)
class Knob:
    """One way to be wrong: what the client then does, and the clauses that such a client breaks."""

    name: str
    does: str
    breaks: tuple[str, ...]
    revision: str | None = None
    """The only revision under which it makes a difference, if there is one."""


_FAULTS: Final = Faults("the reference client")
_KNOBS: Final[dict[str, Knob]] = {}
also = _FAULTS.also


def fault(name: str, breaks: str, *, revision: str | None = None) -> Callable[[C], C]:
    """Makes a knob of a class. Its docstring says what the client does, `breaks` lists clauses."""

    def register(made: C) -> C:
        _FAULTS.add(name, made)
        _KNOBS[name] = Knob(name, str(made.__doc__), tuple(breaks.split()), revision)
        return made

    return register


def knobs_of(*modules: ModuleType) -> tuple[Knob, ...]:
    """The knobs of the faults in these modules, in that order."""
    return tuple(_KNOBS[name] for name in _FAULTS.names_of(*modules))


class Faulty(FaultyParts, Conduct):
    """The conduct of a client with these knobs."""

    def __init__(
        self,
        names: Iterable[str] = (),
        *,
        adr37: int = NEWEST["adr-37"],
        adr50: int = NEWEST["adr-50"],
    ) -> None:
        Conduct.__init__(self, adr37=adr37, adr50=adr50)
        FaultyParts.__init__(self, _FAULTS, names)

    @property
    def parts(self) -> dict[str, str]:
        return {f"knob {name}": "on" for name in sorted(self.knobs)}
