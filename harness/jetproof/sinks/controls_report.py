"""What controls came to: rows of a run folder, lines for people, the JSON document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.text import Text

from jetproof.model.case import Case, is_client_suite
from jetproof.model.feature import Feature
from jetproof.model.identity import case_id
from jetproof.model.wording import plural
from jetproof.results import Run
from jetproof.results.controls import JOURNAL, ControlResult, Outcome, read_controls
from jetproof.results.documents.playing import ControlsDocument, ControlsUndeclared
from jetproof.results.rows import encode
from jetproof.sinks.console.lines import ALARM, bold, dim, line
from jetproof.sinks.files import replace_file
from jetproof.sinks.text import visible

_TITLES = {
    Outcome.VACUOUS: "vacuous: these cases pass without the feature that they are about",
    Outcome.CONTRADICTED: "contradicted: these cases need the feature, and declare differs: false",
    Outcome.NO_VERDICT: "no verdict",
    Outcome.IMPOSSIBLE: "no control can be made, and nothing is proved",
}
_STYLES = {
    Outcome.VACUOUS: ALARM,
    Outcome.CONTRADICTED: ALARM,
    Outcome.NO_VERDICT: ALARM,
    Outcome.IMPOSSIBLE: "yellow",
}


def write_controls(run: Run, results: Sequence[ControlResult]) -> None:
    """Keep controls in the folder of the run; an earlier row of the same control goes."""
    rows = read_controls(run) | {one.key: one for one in results}
    replace_file(run.folder / f"{JOURNAL}.jsonl", b"".join(encode(one) for one in rows.values()))


def control_lines(results: Sequence[ControlResult], *, verbose: bool) -> Iterator[Text]:
    """What is wrong, by name, and the counts."""
    for outcome, title in _TITLES.items():
        them = [one for one in results if one.outcome is outcome and one.declared]
        if not them:
            continue
        yield line((title, _STYLES[outcome]))
        for one in them:
            yield line(f"  {one.cell}  ", dim(one.feature))
            if one.reason and (outcome is not Outcome.VACUOUS or _for_client(one)):
                yield line("      ", dim(visible(one.reason, 200)))
    only_sent = [one for one in results if not one.declared]
    if only_sent:
        yield line(bold("features that cases send and do not declare"))
        for one in only_sent:
            result = one.outcome.value if one.outcome is not Outcome.VACUOUS else "not needed"
            # What a library sends by itself matters only to a case that needs it.
            usual = Outcome.VACUOUS if _for_client(one) else Outcome.NEEDED
            if verbose or one.outcome is not usual:
                yield line(f"  {one.case}  ", dim(f"{one.feature}: {result}"))
    yield line(f"{plural(len(results), 'control')}: {counted(results)}")


def _for_client(one: ControlResult) -> bool:
    return is_client_suite(case_id(one.case).suite)


def counted(results: Sequence[ControlResult]) -> str:
    counts = Counter(one.outcome for one in results)
    return ", ".join(f"{counts[each]} {each}" for each in Outcome if counts[each]) or "none"


def undeclared_lines(found: Sequence[tuple[Case, Feature]]) -> Iterator[Text]:
    for case, feature in found:
        sends = f"{case.name} sends {feature.name} and does not declare it"
        yield line(f"{case.file}:{case.line}: {sends}")


def controls_document(
    run: Run | None,
    results: Sequence[ControlResult],
    found: Sequence[tuple[Case, Feature]],
    code: int,
) -> ControlsDocument:
    return ControlsDocument(
        schema=1,
        run=None if run is None else run.id,
        results=None if run is None else str(run.folder),
        controls=list(results),
        undeclared=[
            ControlsUndeclared(case=case.id, file=case.file, line=case.line, feature=feature.name)
            for case, feature in found
        ],
        exit_code=code,
    )
