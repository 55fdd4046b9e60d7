"""What controls came to: rows of a run folder, lines for people, the JSON document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from jetproof.model.case import Case, is_client_suite
from jetproof.model.feature import Feature
from jetproof.results import Run
from jetproof.results.controls import JOURNAL, ControlResult, Outcome, read_controls
from jetproof.results.rows import encode
from jetproof.sinks.files import replace_file
from jetproof.sinks.paint import Paint
from jetproof.sinks.text import visible

_TITLES = {
    Outcome.VACUOUS: "vacuous: these cases pass without the feature that they are about",
    Outcome.CONTRADICTED: "contradicted: these cases need the feature, and declare differs: false",
    Outcome.NO_VERDICT: "no verdict",
    Outcome.IMPOSSIBLE: "no control can be made, and nothing is proved",
}
_STYLES = {
    Outcome.VACUOUS: "alarm",
    Outcome.CONTRADICTED: "alarm",
    Outcome.NO_VERDICT: "alarm",
    Outcome.IMPOSSIBLE: "yellow",
}


def write_controls(run: Run, results: Sequence[ControlResult]) -> None:
    """Keep controls in the folder of the run; an earlier row of the same control goes."""
    rows = read_controls(run) | {one.key: one for one in results}
    replace_file(
        run.folder / f"{JOURNAL}.jsonl", b"".join(encode(one.row()) for one in rows.values())
    )


def control_lines(
    results: Sequence[ControlResult], paint: Paint, *, verbose: bool
) -> Iterator[str]:
    """What is wrong, by name, and the counts."""
    for outcome, title in _TITLES.items():
        them = [one for one in results if one.outcome is outcome and one.declared]
        if not them:
            continue
        yield paint.style(title, _STYLES[outcome])
        for one in them:
            yield f"  {visible(one.cell)}  {paint.dim(one.feature)}"
            if one.reason and (outcome is not Outcome.VACUOUS or _for_client(one)):
                yield paint.dim(f"      {visible(one.reason, 200)}")
    only_sent = [one for one in results if not one.declared]
    if only_sent:
        yield paint.bold("features that cases send and do not declare")
        for one in only_sent:
            said = one.outcome.value if one.outcome is not Outcome.VACUOUS else "not needed"
            # What a library sends by itself is no matter of a case, unless the case needs it.
            usual = Outcome.VACUOUS if _for_client(one) else Outcome.NEEDED
            if verbose or one.outcome is not usual:
                yield f"  {visible(one.case)}  {paint.dim(f'{one.feature}: {said}')}"
    noun = "control" if len(results) == 1 else "controls"
    yield f"{len(results)} {noun}: {counted(results)}"


def _for_client(one: ControlResult) -> bool:
    return is_client_suite(one.case.partition("::")[0])


def counted(results: Sequence[ControlResult]) -> str:
    counts = Counter(one.outcome for one in results)
    return ", ".join(f"{counts[each]} {each}" for each in Outcome if counts[each]) or "none"


def undeclared_lines(found: Sequence[tuple[Case, Feature]]) -> Iterator[str]:
    for case, feature in found:
        yield f"{case.file}:{case.line}: {case.name} sends {feature.name} and does not declare it"


def controls_document(
    run: Run | None,
    results: Sequence[ControlResult],
    found: Sequence[tuple[Case, Feature]],
    code: int,
) -> dict[str, object]:
    return {
        "schema": 1,
        "run": None if run is None else run.id,
        "results": None if run is None else str(run.folder),
        "controls": [one.row() for one in results],
        "undeclared": [
            {"case": case.id, "file": case.file, "line": case.line, "feature": feature.name}
            for case, feature in found
        ],
        "exit_code": code,
    }
