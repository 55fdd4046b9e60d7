"""Faults beside a reading: each is a subclass of one part of it, whose methods do one thing wrongly.

The reference client and the reference layer are readings of texts, and have no fault in them. A
method that a fault overrides is a hook. Each call of it counts: the fault has come to bear. Where a
fault makes no difference, its method returns `harmless(...)` with what the right method returned,
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
from typing import Any, TypeVar

from jetproof.errors import JetproofError
from jetproof.targets.parts import Parts

T = TypeVar("T")
C = TypeVar("C", bound=type)


class Faults:
    """The faults of one reading, by the names of their knobs."""

    def __init__(self, reading: str) -> None:
        self.reading = reading
        self._classes: dict[str, list[type]] = {}

    def names_of(self, *modules: ModuleType) -> tuple[str, ...]:
        """The knobs whose faults are in these modules, in that order."""
        return tuple(
            name
            for module in modules
            for name, classes in self._classes.items()
            if classes[0].__module__ == module.__name__
        )

    def add(self, name: str, made: type) -> None:
        """A fault under a new name; its docstring says what is then done."""
        if name in self._classes or not made.__doc__ or not hooks(made):
            raise TypeError(f"{made.__name__}: a fault has a new name, a docstring and a hook")
        self._classes[name] = [made]

    def also(self, first: type) -> Callable[[C], C]:
        """A further class of the knob of this fault, which changes more than one part."""

        def register(made: C) -> C:
            classes = next(one for one in self._classes.values() if one[0] is first)
            if not hooks(made):
                raise TypeError(f"{made.__name__}: a fault overrides a hook")
            classes.append(made)
            return made

        return register

    def of(self, name: str, role: type) -> list[type]:
        """The classes of a knob that change this part."""
        return [made for made in self._classes[name] if made.__bases__[0] is role]

    def check(self, names: Iterable[str]) -> None:
        for name in sorted(set(names) - self._classes.keys()):
            raise JetproofError(
                f"{self.reading} has no knob {name!r}",
                phase="plan",
                hint=f"there are: {', '.join(self._classes)}",
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


class FaultyParts(Parts):
    """The parts of a reading with these knobs on.

    `fired` counts how often each knob came to bear: one that never did has proved nothing.
    """

    def __init__(self, faults: Faults, names: Iterable[str]) -> None:
        self.knobs = frozenset(names)
        self.fired: Counter[str] = Counter()
        self._faults = faults
        self._parts: dict[type, type] = {}
        faults.check(self.knobs)

    def part(self, role: type[T]) -> type[T]:
        if role not in self._parts:
            faults = [
                self._counted(name, made)
                for name in sorted(self.knobs)
                for made in self._faults.of(name, role)
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
