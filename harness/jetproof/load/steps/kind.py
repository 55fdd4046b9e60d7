"""What a step kind is to the reader of files, and what the reader of a step is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from jetproof.load.expectations import Expectations
from jetproof.load.reader import Raw, Reader, as_map
from jetproof.load.schema_parts import Schema
from jetproof.load.scope import STREAM, Scope
from jetproof.load.steps.calls import Calls
from jetproof.load.steps.servers import Servers
from jetproof.load.yaml_source import Keys
from jetproof.model.case import Step
from jetproof.model.template import Value


@dataclass(frozen=True, slots=True)
class Written:
    """One step as it stands in the file: `body` is the value of its kind's key."""

    kind: str
    keys: Keys
    raw: Raw
    address: str

    @property
    def here(self) -> Keys:
        return (*self.keys, self.kind)

    @property
    def body(self) -> Raw:
        return as_map(self.raw[self.kind])


@dataclass(frozen=True, slots=True)
class Readers:
    """What the reader of a step may use. `steps` reads the steps inside it."""

    reader: Reader
    scope: Scope
    expectations: Expectations
    servers: Servers
    calls: Calls
    steps: Callable[[Keys, object, str], tuple[Step, ...]]

    def optional(self, keys: Keys, raw: Raw, key: str) -> Value | None:
        """The value at a key, if it is given."""
        return self.reader.value((*keys, key), raw[key]) if key in raw else None

    def stream(self, keys: Keys, raw: Raw) -> Value:
        """The stream that a step is about: $stream unless it says another."""
        place = (*keys, "of") if "of" in raw else keys
        return self.reader.value(place, raw.get("of", f"${STREAM}"))

    def connection(self, keys: Keys, raw: Raw) -> str:
        name = str(raw.get("connection", "main"))
        self.scope.connection(name, self.reader.line((*keys, "connection")))
        return name


@dataclass(frozen=True, slots=True)
class StepKind:
    """Everything that files know of a step kind. Its key is that of its model.

    `about` is what the schema says of it, `summary` its line in the table of the documentation.
    `body` is the schema of the value at its key, `beside` those of further keys of the step, `rules`
    says which of them belong together.
    """

    model: type[Step]
    about: str
    summary: str
    body: Schema
    read: Callable[[Readers, Written], Step]
    beside: Mapping[str, Schema] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    rules: Schema = field(default_factory=dict)
    for_client: bool = False

    @property
    def key(self) -> str:
        return self.model.kind
