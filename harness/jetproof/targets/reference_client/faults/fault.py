"""What a fault is: a subclass of a part of the client, whose methods do one thing wrongly.

A method that a fault overrides is a hook. Each call of it counts: the fault has come to bear. Where
a fault makes no difference, its method returns `harmless(...)` with what the right method returned,
and the call does not count.
"""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final, TypeVar

from jetproof.errors import JetproofError
from jetproof.targets.reference_client.conduct import NEWEST, Conduct

T = TypeVar("T")
C = TypeVar("C", bound=type)


@dataclass(frozen=True, slots=True)
class Knob:
    """One way to be wrong: what the client then does, and the clauses that such a client breaks."""

    name: str
    does: str
    breaks: tuple[str, ...]
    revision: str | None = None
    """The only revision under which it makes a difference, if there is one."""


_KNOBS: Final[dict[str, Knob]] = {}
_FAULTS: Final[dict[str, list[type]]] = {}


def fault(name: str, breaks: str, *, revision: str | None = None) -> Callable[[C], C]:
    """Makes a knob of a class. Its docstring says what the client does, `breaks` lists clauses."""

    def register(made: C) -> C:
        if name in _KNOBS or not made.__doc__ or not hooks(made):
            raise TypeError(f"{made.__name__}: a fault has a new name, a docstring and a hook")
        _KNOBS[name] = Knob(name, made.__doc__, tuple(breaks.split()), revision)
        _FAULTS[name] = [made]
        return made

    return register


def also(first: type) -> Callable[[C], C]:
    """A further class of the knob of this fault, which changes more than one part of the client."""

    def register(made: C) -> C:
        faults = next(faults for faults in _FAULTS.values() if faults[0] is first)
        if not hooks(made):
            raise TypeError(f"{made.__name__}: a fault overrides a hook")
        faults.append(made)
        return made

    return register


def knobs_of(*modules: ModuleType) -> tuple[Knob, ...]:
    """The knobs of the faults in these modules, in that order."""
    return tuple(
        knob
        for module in modules
        for name, knob in _KNOBS.items()
        if _FAULTS[name][0].__module__ == module.__name__
    )


def hooks(made: type) -> dict[str, Any]:
    """The methods and properties of its base class that a fault overrides."""
    return {
        name: value
        for name, value in vars(made).items()
        if not name.startswith("__")
        and hasattr(made.__bases__[0], name)
        and (inspect.isfunction(value) or isinstance(value, property))
    }


@dataclass(slots=True)
class _Call:
    """One call of a hook that a fault overrides."""

    harmless: bool = False


_call: ContextVar[_Call] = ContextVar("call")


def harmless(value: T) -> T:
    """What the right method returned: the fault makes no difference in this call."""
    _call.get().harmless = True
    return value


class Faulty(Conduct):
    """The conduct of a client with these knobs.

    `fired` counts how often each knob came to bear: one that never did has proved nothing.
    """

    def __init__(
        self,
        names: Iterable[str] = (),
        *,
        adr37: int = NEWEST["adr-37"],
        adr50: int = NEWEST["adr-50"],
    ) -> None:
        super().__init__(adr37=adr37, adr50=adr50)
        self.knobs = frozenset(names)
        self.fired: Counter[str] = Counter()
        self._parts: dict[type, type] = {}
        for name in sorted(self.knobs - _KNOBS.keys()):
            raise JetproofError(
                f"the reference client has no knob {name!r}",
                phase="plan",
                hint=f"there are: {', '.join(sorted(_KNOBS))}",
            )

    @property
    def parts(self) -> dict[str, str]:
        return {f"knob {name}": "on" for name in sorted(self.knobs)}

    def part(self, role: type[T]) -> type[T]:
        if role not in self._parts:
            faults = [
                self._counted(name, made)
                for name in sorted(self.knobs)
                for made in _FAULTS[name]
                if made.__bases__[0] is role
            ]
            self._parts[role] = type(role.__name__, tuple(faults), {}) if faults else role
        return self._parts[role]

    def _counted(self, name: str, made: type) -> type:
        """The fault as a class that counts the calls of its hooks."""
        return type(
            made.__name__,
            (made,),
            {hook: self._counting(name, value) for hook, value in hooks(made).items()},
        )

    def _counting(self, name: str, hook: Any) -> Any:
        if isinstance(hook, property):
            return property(self._counting(name, hook.fget))
        if inspect.iscoroutinefunction(hook):

            @functools.wraps(hook)
            async def awaited(*args: Any, **named: Any) -> Any:
                with self._call(name):
                    return await hook(*args, **named)

            return awaited

        @functools.wraps(hook)
        def called(*args: Any, **named: Any) -> Any:
            with self._call(name):
                return hook(*args, **named)

        return called

    @contextmanager
    def _call(self, name: str) -> Iterator[None]:
        """One call of a hook, which counts unless the fault was harmless."""
        token = _call.set(call := _Call())
        try:
            yield
        finally:
            _call.reset(token)
            if not call.harmless:
                self.fired[name] += 1
