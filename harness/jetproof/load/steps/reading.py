"""The steps of one case, from plain data to the model, read in the order in which they are played."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from jetproof.load.expectations import Expectations
from jetproof.load.reader import Raw, Reader, as_text
from jetproof.load.scope import Scope
from jetproof.load.steps import KINDS
from jetproof.load.steps.calls import Calls
from jetproof.load.steps.client import read_client_given
from jetproof.load.steps.kind import Readers, StepKind, Written
from jetproof.load.steps.servers import Servers
from jetproof.load.steps.tap import read_first_rules
from jetproof.load.yaml_source import Keys
from jetproof.model.case import ClientGiven, Given, Step


class CaseSteps:
    """Reads the steps of one case, and what is given that its steps depend on.

    `given` is None if what is given has mistakes of its own: then nothing is held against it.
    `sound` says whether a part follows the schema; steps that do not are left out.
    """

    def __init__(
        self,
        reader: Reader,
        scope: Scope,
        given: Given | None,
        sound: Callable[[Keys], bool],
        *,
        for_client: bool = False,
        kinds: Mapping[str, StepKind] = KINDS,
    ) -> None:
        self._sound = sound
        self._kinds = kinds
        self._read = Readers(
            reader=reader,
            scope=scope,
            expectations=Expectations(reader, scope),
            servers=Servers(reader, scope, given),
            calls=Calls(reader, scope, for_client=for_client),
            steps=self.steps,
        )

    def client_given(self, keys: Keys, raw: object) -> ClientGiven:
        return read_client_given(self._read, keys, raw)

    def check_given(self, at: Mapping[str, Keys]) -> None:
        self._read.servers.check_given(at)

    def first_rules(self, keys: Keys, raw: object) -> tuple[Step, ...]:
        """The rules of the case as a whole, as a step before the first."""
        if not self._sound(keys):
            self._read.calls.complete = False
            return ()
        return read_first_rules(self._read, keys, raw)

    def steps(self, keys: Keys, raw: object, prefix: str = "") -> tuple[Step, ...]:
        """Every step that can be read; `prefix` is the address of the step around them."""
        found: list[Step] = []
        for index, inner in enumerate(raw if isinstance(raw, list) else ()):
            here = (*keys, index)
            if self._sound(here) and isinstance(inner, Mapping):
                found.append(self._step(here, inner, f"{prefix}{index + 1}"))
            else:
                self._read.calls.complete = False
        return tuple(found)

    def _step(self, keys: Keys, raw: Raw, address: str) -> Step:
        read = self._read
        label, mark = as_text(raw.get("label")), as_text(raw.get("mark"))
        if label is not None:
            read.scope.label(label, read.reader.line((*keys, "label")))
        if mark is not None:
            read.scope.marks(mark, read.reader.line((*keys, "mark")))
        kind = next(kind for key, kind in self._kinds.items() if key in raw)
        if kind.for_client:
            read.calls.check_kind((*keys, kind.key), kind.key)
        step = kind.read(read, Written(kind.key, keys, raw, address))
        read.expectations.take_captures()
        line = read.reader.line(keys)
        return replace(step, line=line, address=address, label=label, mark=mark)
