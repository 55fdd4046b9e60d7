"""What a person asked a campaign for: which cases, on which targets, and how to play them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from jetproof.engine.calibrate import time_factor
from jetproof.engine.run import RunOptions, fresh_run_id
from jetproof.model.law_modes import DEFAULT_LAWS, LAW_MODES
from jetproof.plan import Selection
from jetproof.targets.spec import redacted

DEFAULT_TARGETS = ("latest",)


@dataclass(frozen=True, slots=True)
class Request:
    """Which cells. `run.json` keeps it, so that `--resume` need not repeat it."""

    patterns: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    specs: tuple[tuple[str, int | None], ...] = ()
    shard: tuple[int, int] | None = None
    per_case: bool = False
    edition: str | None = None
    laws: str | None = None

    @property
    def selection(self) -> Selection:
        return Selection(self.patterns, self.clauses, self.specs, self.shard)

    def document(self) -> dict[str, object]:
        return asdict(replace(self, servers=tuple(map(redacted, self.servers))))

    @classmethod
    def of(cls, stored: Mapping[str, object]) -> Request:
        """Reads what `document` gave."""

        def texts(name: str) -> tuple[str, ...]:
            value = stored.get(name)
            return tuple(map(str, value)) if isinstance(value, list) else ()

        specs, part = stored.get("specs"), stored.get("shard")
        return cls(
            patterns=texts("patterns"),
            servers=texts("servers"),
            clauses=texts("clauses"),
            specs=tuple((str(name), revision) for name, revision in specs)
            if isinstance(specs, list)
            else (),
            shard=(int(part[0]), int(part[1])) if isinstance(part, list) else None,
            per_case=stored.get("per_case") is True,
            edition=str(stored["edition"]) if stored.get("edition") else None,
            laws=str(stored["laws"]) if stored.get("laws") in LAW_MODES else None,
        )


@dataclass(frozen=True, slots=True)
class Settings:
    """How to play, whatever is played. `jobs` and `laws` are None if the person said nothing."""

    command: tuple[str, ...] = ()
    jobs: int | None = None
    laws: str | None = None

    def options(self) -> RunOptions:
        """The same for the engine, under a new id."""
        options = RunOptions(
            run=fresh_run_id(),
            time_factor=time_factor(),
            command=self.command,
            laws=self.laws or DEFAULT_LAWS,
        )
        return options if self.jobs is None else replace(options, servers_at_once=self.jobs)
