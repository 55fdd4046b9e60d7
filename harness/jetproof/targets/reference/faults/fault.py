"""What a fault of the reference layer is: a class that is wrong, under the name of a knob."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from jetproof.targets.faults import Faults

C = TypeVar("C", bound=type)

FAULTS: Final = Faults("the reference layer")
also = FAULTS.also


def fault(name: str) -> Callable[[C], C]:
    """Makes a knob of a class. Its docstring says what the layer then does."""

    def register(made: C) -> C:
        FAULTS.add(name, made)
        return made

    return register
