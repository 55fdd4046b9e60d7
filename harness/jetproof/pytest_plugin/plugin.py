"""What `--jetproof` adds to a pytest session: collection, a loop of its own, reports.

session start   load the library, find out the targets' versions
collection      an item for each case on each target; every mistake in case files told at once
the loop        the items that are left make the plan; it is played as the command line would,
                all cases at the same time, and an item is reported when its case is finished
the end         cells of wire schemas, which are known only now, and the verdicts by suite
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text

from jetproof.campaigns.request import DEFAULT_TARGETS, Request, Settings
from jetproof.campaigns.run import PlainRun
from jetproof.errors import JetproofError
from jetproof.load.editions import difference, find_edition, standing_of
from jetproof.load.library import Library, load_library
from jetproof.load.mistakes import LoadError
from jetproof.model.clause import Clause
from jetproof.model.edition import Edition
from jetproof.model.law_modes import DEFAULT_LAWS, LAW_MODES
from jetproof.model.verdict import SchemaResult, Verdict
from jetproof.model.wording import plural
from jetproof.plan import Item, Plan, Selected, Selection, make_plan, scored_by, select
from jetproof.pytest_plugin.items import (
    OWN_EXCEPTIONS,
    CaseFile,
    CaseItem,
    Column,
    Evidence,
    layout_on,
    reason_of,
    written_by,
)
from jetproof.pytest_plugin.player import Player
from jetproof.pytest_plugin.shelf import Shelf
from jetproof.results.digest import digest, digests
from jetproof.sinks.console.evidence import explain
from jetproof.sinks.console.first_screen import first_screen
from jetproof.sinks.console.lines import bold, line
from jetproof.sinks.console.summary import NAMED_MOST, not_scored_lines, verdict_table
from jetproof.sinks.files import RunFolder
from jetproof.sinks.record import LAST_FRAMES, Outcome
from jetproof.sinks.text import visible, visible_lines
from jetproof.targets.resolve import resolve
from jetproof.targets.spec import redacted


class Plugin:
    """One session's share of Jetproof, registered as a plugin."""

    def __init__(self, config: pytest.Config) -> None:
        if config.getoption("numprocesses", None) or config.getoption("dist", "no") != "no":
            raise pytest.UsageError(
                "--jetproof plays all cases at the same time already: leave out -n and --dist"
            )
        self._config = config
        self._everything = config.args_source is not pytest.Config.ArgsSource.ARGS
        self._library: Library
        self._edition: Edition | None = None
        self._columns: tuple[Column, ...] = ()
        self._shelf: Shelf
        self._outcomes: list[Outcome] = []
        self._player: Player | None = None
        self._folder: Path | None = None

    # -- before anything is played ---------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        config = self._config
        try:
            self._library = load_library()
            self._edition = find_edition(self._library, config.getoption("jetproof_edition"))
            wanted = config.getoption("jetproof_servers") or DEFAULT_TARGETS
            self._columns = tuple(map(Column.of, asyncio.run(resolve(wanted, notify=self._notify))))
            if self._everything:
                config.args = [str(self._library.root / "suites")]
        except JetproofError as error:
            raise usage(error) from error
        self._shelf = Shelf(self._library, config.invocation_params.dir)
        config.args = [name for arg in config.args for name in self._on_all_targets(arg)]

    def _notify(self, line: str) -> None:
        """A server is being built: pytest has nothing to show meanwhile."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.write_line(visible(line))

    def pytest_report_header(self) -> str:
        targets = ", ".join(
            f"{column.label} ({column.target.provider})" for column in self._columns
        )
        suites = " every suite" if self._everything else ""
        edition = f", scored by edition {self._edition.name}" if self._edition else ""
        return f"jetproof:{suites} on {visible(targets)}{edition}"

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> CaseFile | None:
        asked = parent.session.isinitpath
        # pytest also walks over what lies beside and above a path that was asked for.
        if not any(map(asked, (file_path, *file_path.parents))):
            return None
        cases = self._shelf.cases(file_path, named=asked(file_path))
        if cases is None:
            return None
        made: CaseFile = CaseFile.from_parent(
            parent, path=file_path, cases=cases, columns=self._columns
        )
        return made

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        clauses = self._config.getoption("jetproof_clauses")
        if not clauses or self._shelf.mistakes:
            return
        cases = {item.case.id: item.case for item in items if isinstance(item, CaseItem)}
        try:
            chosen = select(
                self._library, Selection(clauses=tuple(clauses)), cases=tuple(cases.values())
            )
        except JetproofError as error:
            raise usage(error) from error
        wanted = {item.case.id for item in chosen.items}
        kept: list[pytest.Item] = []
        others: list[pytest.Item] = []
        for item in items:
            unwanted = isinstance(item, CaseItem) and item.case.id not in wanted
            (others if unwanted else kept).append(item)
        if others:
            self._config.hook.pytest_deselected(items=others)
            items[:] = kept

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self) -> None:
        # Called however collection ends: a name that is not found in a broken file is told as the
        # mistakes of that file.
        if self._shelf.mistakes:
            raise usage(LoadError(self._shelf.mistakes))

    # -- playing ---------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        cases = [item for item in session.items if isinstance(item, CaseItem)]
        broken = session.testsfailed and not session.config.option.continue_on_collection_errors
        if not cases or broken or session.config.option.collectonly:
            return None  # pytest's own loop knows what to do
        others = [item for item in session.items if not isinstance(item, CaseItem)]
        self._player = player = self._make_player(cases)
        with player:
            for index, item in enumerate(others):
                _report(session, item, others[index + 1] if index + 1 < len(others) else None)
            self._without_file_names(others)
            for item in self._finished(player, cases):
                _report(session, item, None)
        return True

    def _make_player(self, cases: Sequence[CaseItem]) -> Player:
        config = self._config
        try:
            campaign = self._campaign(cases)
            sinks = []
            if (folder := config.getoption("jetproof_out")) is not None:
                sinks.append(RunFolder.create(folder, campaign.request))
                self._folder = folder
        except JetproofError as error:
            raise usage(error) from error
        frames = None if config.get_verbosity() > 1 else LAST_FRAMES
        return Player(campaign, sinks=sinks, frames=frames)

    def _campaign(self, cases: Sequence[CaseItem]) -> PlainRun:
        """What `jetproof run` would play, but each target has the items that pytest left it."""
        config = self._config
        command = ("pytest", *map(redacted, config.invocation_params.args))
        options = Settings(command, laws=_laws(config.getoption("jetproof_laws"))).options()
        return PlainRun(
            library=self._library,
            request=self._request(cases).document(),
            cases=[item.case for item in cases],
            options=replace(
                options,
                # Who stops at a failure wants to see it at once.
                confirm=0 if config.getoption("maxfail") else options.confirm,
                editions=(self._edition,) if self._edition else (),
            ),
            plan=self._plan(cases),
        )

    def _plan(self, cases: Sequence[CaseItem]) -> Plan:
        plans = []
        partial = self._partial(cases)
        for column in self._columns:
            items = {
                item.case.id: Item(item.case, item.case.revision)
                for item in cases
                if item.column is column
            }
            scored = scored_by(self._library, items.values(), self._edition)
            selected = Selected(scored, partial)
            plans.append(make_plan(self._library, selected, [column.target], skip=frozenset()))
        groups = [group for plan in plans for group in plan.groups]
        groups.sort(key=lambda group: -max(item.case.budget for item in group.items))
        return Plan(
            tuple(column.target for column in self._columns),
            tuple(groups),
            tuple(dropped for plan in plans for dropped in plan.not_applicable),
            partial,
        )

    def _partial(self, cases: Iterable[CaseItem]) -> str:
        own = {item.key for item in cases if not self._shelf.elsewhere(item.case)}
        files = {item.case.file for item in cases if self._shelf.elsewhere(item.case)}
        every = len(self._library.cases) * len(self._columns)
        reasons = []
        if len(own) < every:
            reasons.append(f"{len(own)} of {every} cells were selected")
        if files:
            reasons.append(f"cases of {', '.join(sorted(files))}")
        return "; ".join(reasons)

    def _request(self, cases: Sequence[CaseItem]) -> Request:
        """What `jetproof run --resume` has to be asked for to finish this run."""
        own = {item.case.id for item in cases if not self._shelf.elsewhere(item.case)}
        names = {
            f"{item.case.file}::{item.case.name}"
            for item in cases
            if self._shelf.elsewhere(item.case)
        }
        whole = not names and len(own) == len(self._library.cases)
        return Request(
            patterns=() if whole else tuple(sorted(own | names)),
            servers=tuple(column.target.name for column in self._columns),
            laws=self._config.getoption("jetproof_laws"),
            edition=self._edition.name if self._edition else None,
        )

    def _finished(self, player: Player, cases: Sequence[CaseItem]) -> Iterable[CaseItem]:
        waiting: dict[tuple[str, str], list[CaseItem]] = {}
        for item in cases:
            waiting.setdefault(item.key, []).append(item)
        for key, outcome in player.cells():
            self._outcomes.append(outcome)
            for item in waiting.pop(key, ()):
                item.end(outcome)
                yield item
        if player.error is not None and not isinstance(player.error, JetproofError):
            raise player.error
        reason = str(player.error or "the run ended without a verdict for it")
        for item in (item for items in waiting.values() for item in items):
            item.end_without_verdict(reason)
            assert item.outcome is not None
            self._outcomes.append(item.outcome)
            yield item

    def _without_file_names(self, others: Sequence[pytest.Item]) -> None:
        """Cases of all files finish in any order: a file's name before each dot is only noise."""
        reporter: Any = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and getattr(reporter, "showfspath", False):
            if others:
                reporter.ensure_newline()
            reporter.showfspath = False

    # -- reporting -------------------------------------------------------------------------------

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if not isinstance(item, CaseItem) or item.outcome is None or report.when == "teardown":
            return report
        cell = item.cell
        if (report.when == "setup") == cell.undecided:
            # What took time was playing it, and that is over.
            report.duration = cell.ms / 1000
            report.start = report.stop - report.duration
        if call.excinfo is not None and isinstance(call.excinfo.value, OWN_EXCEPTIONS):
            if cell.verdict is Verdict.NOT_APPLICABLE or not cell.scored:
                report.longrepr = (str(item.path), item.case.line, f"Skipped: {reason_of(cell)}")
            else:
                whole = self._config.get_verbosity() > 1
                evidence: Any = Evidence(item, item.outcome, self._clauses, whole)
                report.longrepr = evidence
        if report.when == "call" and cell.position:
            lines = [f"{visible(key)}: {visible(text)}" for key, text in cell.position.items()]
            report.sections.append(("position", "\n".join(lines)))
        return report

    @cached_property
    def _clauses(self) -> dict[str, Clause]:
        specs = self._library.specs.values()
        return {name: clause for spec in specs for name, clause in spec.clauses.items()}

    @property
    def _broken_schemas(self) -> list[Outcome]:
        """Wire schemas have no item, since their verdict is known only when the run is over."""
        return [
            outcome
            for outcome in self._outcomes
            if isinstance(outcome.cell, SchemaResult) and outcome.cell.fails
        ]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            if self._player is not None and self._player.failures:
                session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
            elif self._broken_schemas:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        writer = self._config.get_terminal_writer()
        layout = layout_on(writer)
        lines: list[Text] = []
        if broken := self._broken_schemas:
            for outcome in broken:
                lines += [*explain(outcome, {}, layout), line()]
            lines += [line("the session fails: what a server sends does not fit a schema"), line()]
        verbosity = self._config.get_verbosity()
        if self._outcomes and verbosity > 0:
            lines += [*verdict_table(self._outcomes, layout), line()]
        if self._outcomes and verbosity >= 0:
            cells = [outcome.cell for outcome in self._outcomes]
            lines += first_screen(digest(cells), digests(cells), layout, verbose=verbosity > 0)
            lines += not_scored_lines(cells, layout, None if verbosity > 0 else NAMED_MOST)
            if self._edition:
                there = standing_of(self._library, self._edition, for_clients=False)
                lines += map(line, filter(None, [difference(there)]))
        if self._player is not None:
            lines += map(line, self._player.notices)
            for error in self._player.failures:
                lines += map(line, str(error).split("\n"))
            lines += self._results(self._player)
        if lines:
            terminalreporter.write_sep("=", "jetproof")
            for text in written_by(writer, lines):
                terminalreporter.write_line(text)

    def _results(self, player: Player) -> Iterable[Text]:
        if self._folder is not None:
            folder = shlex.quote(str(self._folder))
            yield line(f"results: {folder}")
            if player.cut_short:
                yield line("finish it: ", bold(f"jetproof run --resume {folder}"))

    def _on_all_targets(self, arg: str) -> list[str]:
        """`file.yaml::case` names the case on every target."""
        place, colons, name = arg.partition("::")
        if not colons or "@" in name or Path(place).suffix not in (".yaml", ".yml"):
            return [arg]
        return [f"{arg}@{column.label}" for column in self._columns]


def _report(session: pytest.Session, item: pytest.Item, following: pytest.Item | None) -> None:
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)


def usage(error: JetproofError) -> pytest.UsageError:
    """What was asked for cannot be done: pytest prints it and ends with exit code 4."""
    text = visible_lines(error.message)
    if isinstance(error, LoadError):
        text = f"{plural(len(error.mistakes), 'mistake')} in case files:\n{text}"
    hint = error.hint.replace("--out", "--jetproof-out")
    return pytest.UsageError(f"jetproof: {text}" + (f"\n  {visible_lines(hint)}" if hint else ""))


def _laws(asked: str | None) -> str:
    """What `--jetproof-laws` asks for."""
    if asked is not None and asked not in LAW_MODES:
        wanted = ", ".join(LAW_MODES)
        raise JetproofError(
            f"--jetproof-laws {asked!r} is no mode", phase="plan", hint=f"write one of {wanted}"
        )
    return asked or DEFAULT_LAWS
