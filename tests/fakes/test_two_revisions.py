"""Two revisions of one case in one run: both are played, told apart, and end on their own."""

from __future__ import annotations

from jetproof.engine.run import RunOptions, fresh_run_id, run
from jetproof.events import CaseFinished, Event
from jetproof.load.library import Library
from jetproof.plan import Selection, make_plan, select
from jetproof.targets.resolve import resolve

from .conftest import Cases
from .playing import bounded

OWN = """
  - case: owns
    clauses: [DEMO-MUST-001]
    given: {isolation: account, stream: {subjects: ["everything.>"]}}
    steps:
      - request: {subject: everything.a}
        reply: {json: {seq: 1}}
"""


def test_each_has_its_cell_and_its_account(library: Library, cases: Cases) -> None:
    events: list[Event] = []

    async def scenario() -> None:
        specs = (("demo", 1), ("demo", 2))
        selected = select(library, Selection(specs=specs), cases(OWN))
        plan = make_plan(library, selected, await resolve(["latest"]), skip=frozenset())
        options = RunOptions(run=fresh_run_id(), time_factor=2.0)
        await run(plan, library, events.append, options)

    bounded(scenario())
    told = {
        event.cell.name: (event.cell.spec_revision, event.cell.verdict.value)
        for event in events
        if isinstance(event, CaseFinished)
    }
    [usual, other] = sorted(told)
    assert (told[usual], told[other]) == ((1, "pass"), (2, "pass"))
    assert other == f"{usual} demo@2"
