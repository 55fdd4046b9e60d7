"""What pytest sees: a collector for each case file, an item for each case on each target.

An item does nothing when it is run: its case has been played by then, and it only says how that
went, in pytest's terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text

from jetproof.model.case import Case
from jetproof.model.clause import Clause
from jetproof.model.verdict import Cell, Result, Verdict
from jetproof.plan import Item, PlanTarget, name_of
from jetproof.pytest_plugin import JetproofWarning
from jetproof.sinks.console.evidence import explain
from jetproof.sinks.console.lines import Layout, plain
from jetproof.sinks.console.screen import painted
from jetproof.sinks.record import Outcome
from jetproof.sinks.report_file import short_reason
from jetproof.sinks.text import visible
from jetproof.targets.spec import redacted

_REASON_CHARACTERS = 400
_WIDTH = 110


@dataclass(frozen=True, slots=True)
class Column:
    """A target, and what it is called in the names of items."""

    target: PlanTarget
    label: str

    @classmethod
    def of(cls, target: PlanTarget) -> Column:
        # pytest splits names at `::` and reads `[` as the beginning of parameters.
        label = redacted(target.name).replace("::", ":").replace("[", "(").replace("]", ")")
        return cls(target, label)


class NotConforming(Exception):
    """The verdict is `fail` or `stale`."""


class NoVerdict(Exception):
    """The verdict is `error`: the case was not played to its end."""


OWN_EXCEPTIONS = (
    NotConforming,
    NoVerdict,
    JetproofWarning,  # with -W error
    pytest.skip.Exception,
    pytest.xfail.Exception,
)


class CaseFile(pytest.File):
    """One case file."""

    def __init__(self, *, cases: Sequence[Case], columns: Sequence[Column], **more: Any) -> None:
        super().__init__(**more)
        self._cases = cases
        self._columns = columns

    def collect(self) -> Iterator[CaseItem]:
        for case in self._cases:
            for column in self._columns:
                name = f"{case.name}@{column.label}"
                yield CaseItem.from_parent(self, name=name, case=case, column=column)


class CaseItem(pytest.Item):
    """One case on one target. `outcome` is set when it has been played."""

    def __init__(self, *, case: Case, column: Column, **more: Any) -> None:
        super().__init__(**more)
        self.case = case
        self.column = column
        self.outcome: Outcome | None = None
        self.extra_keyword_matches.update(case.clauses)

    @property
    def key(self) -> tuple[str, str]:
        return self.case.id, self.column.target.name

    @property
    def cell(self) -> Cell:
        if self.outcome is None:
            raise RuntimeError(f"{self.nodeid} was run without having been played")
        assert isinstance(self.outcome.cell, Cell)
        return self.outcome.cell

    def reportinfo(self) -> tuple[Path, int, str]:
        item = Item(self.case, self.case.revision)
        return self.path, self.case.line - 1, name_of(item, self.column.target)

    def end(self, outcome: Outcome) -> None:
        """The case was played: keep how that went, and what JUnit XML shall say of it."""
        self.outcome = outcome
        cell = self.cell
        self.user_properties += [
            ("cell", visible(cell.name)),
            ("verdict", cell.verdict.value),
            ("target", visible(cell.target)),
            ("provider", cell.provider),
            ("spec_revision", cell.spec_revision),
            ("clauses", " ".join(cell.clauses)),
        ]
        if cell.edition:
            self.user_properties += [("edition", cell.edition), ("scored", cell.scored)]
        if cell.deviation:
            facts = ("deviation", "kind", "severity", "upstream")
            self.user_properties += [
                (name, visible(value)) for name in facts if (value := getattr(cell, name))
            ]
        if cell.plays:
            self.user_properties.append(("plays", ", ".join(cell.plays)))
        for name, text in cell.position.items():
            self.user_properties.append(
                (f"position:{visible(name)}", visible(text, _REASON_CHARACTERS))
            )

    def end_without_verdict(self, reason: str) -> None:
        """The run broke off before the case was played."""
        target = self.column.target
        cell = Cell(
            case=self.case.id,
            suite=self.case.suite,
            spec=self.case.spec,
            spec_revision=self.case.revision,
            server=str(target.version),
            provider=target.provider,
            topology=self.case.given.topology,
            configuration=self.case.given.configuration,
            verdict=Verdict.ERROR,
            clauses=self.case.clauses,
            reason=reason,
            target=redacted(target.name),
        )
        self.end(Outcome(cell))

    def setup(self) -> None:
        if self.cell.undecided:
            raise NoVerdict(reason_of(self.cell))

    def runtest(self) -> None:
        reason = reason_of(self.cell)
        if not self.cell.scored:
            pytest.skip(reason)
        match self.cell.verdict:
            case Verdict.NOT_APPLICABLE:
                pytest.skip(reason)
            case Verdict.KNOWN:
                pytest.xfail(reason)
                raise NotConforming(reason)  # with --runxfail
            case Verdict.FAIL | Verdict.STALE:
                raise NotConforming(reason)
            case Verdict.UNSTABLE if self.cell.fails:
                raise NotConforming(reason)
            case Verdict.UNSTABLE:
                self.warn(JetproofWarning(f"unstable: {reason}"))
            case Verdict.WARN:
                self.warn(JetproofWarning(f"{' '.join(self.case.clauses)}: {reason}"))
            case _:
                pass


def reason_of(cell: Result) -> str:
    """Why a cell has its verdict, in one line that cannot act on a terminal."""
    if cell.scored:
        return visible(cell.reason, _REASON_CHARACTERS) or cell.verdict.value
    return visible(short_reason(cell), _REASON_CHARACTERS)


@dataclass(frozen=True, slots=True)
class Crash:
    """What pytest's short summary, `--tb=line` and the message in JUnit XML are made of."""

    path: Path
    lineno: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.lineno}: {self.message}"


class Evidence:
    """A failure as pytest prints it: in colour on a terminal, plain in files."""

    def __init__(
        self, item: CaseItem, outcome: Outcome, clauses: Mapping[str, Clause], whole: bool
    ) -> None:
        cell = outcome.cell
        self.reprcrash = Crash(
            item.path, item.case.line, f"{cell.verdict.value}: {reason_of(cell)}"
        )
        self._outcome = outcome
        self._clauses = clauses
        self._whole = whole

    def toterminal(self, tw: Any) -> None:
        for text in written_by(tw, self._lines(layout_on(tw))):
            tw.line(text)

    def __str__(self) -> str:
        return "\n".join(plain(self._lines(Layout(width=_WIDTH))))

    def _lines(self, layout: Layout) -> Iterator[Text]:
        return explain(self._outcome, self._clauses, layout, whole=self._whole, log=self._whole)


def layout_on(writer: Any) -> Layout:
    """How to print with pytest's terminal writer; it escapes what the terminal cannot encode."""
    return Layout.of(writer.fullwidth, unicode=True, terminal=writer.hasmarkup)


def written_by(writer: Any, lines: Iterable[Text]) -> list[str]:
    """Lines as pytest's terminal writer takes them."""
    return [painted(one) if writer.hasmarkup else one.plain for one in lines]
