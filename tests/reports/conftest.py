"""One Spark session for all of these tests; machines without Java or PySpark skip them and say so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jetproof.errors import JetproofError

from .samples import run_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from jetproof_reports.history import History, KeptRun


@pytest.fixture(scope="session")
def java() -> None:
    """Skips where Spark cannot run, with what is missing as the reason."""
    pytest.importorskip(
        "pyspark", reason="PySpark is not installed: pip install 'jetproof[reports]'"
    )
    from jetproof_reports.java import find_java

    try:
        find_java()
    except JetproofError as error:
        pytest.skip(error.message)


@pytest.fixture(scope="session")
def spark(java: None) -> Iterator[SparkSession]:
    from jetproof_reports.session import open_session

    with open_session("local[2]") as session:
        yield session


@pytest.fixture(scope="session")
def three_runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Every sample case on every sample server, three times."""
    pytest.importorskip(
        "pyarrow", reason="pyarrow is not installed: pip install 'jetproof[reports]'"
    )
    folder = tmp_path_factory.mktemp("runs")
    return [run_of(folder / f"run{number}", number) for number in (1, 2, 3)]


@pytest.fixture(scope="session")
def kept(
    tmp_path_factory: pytest.TempPathFactory, three_runs: Sequence[Path]
) -> tuple[History, list[KeptRun]]:
    from jetproof_reports.history import History

    history = History(tmp_path_factory.mktemp("history"))
    for run in three_runs:
        history.add(run)
    return history, history.runs()


Rows = list[dict[str, Any]]


@pytest.fixture(scope="session")
def tables(spark: SparkSession, kept: tuple[History, list[KeptRun]]) -> dict[str, Rows]:
    """Every table of a report on the three runs, as rows."""
    from jetproof_reports.build import collect
    from jetproof_reports.questions import rows_of
    from jetproof_reports.report_tables import report_tables

    with report_tables(spark, kept[1], exact=True) as made:
        return {name: rows_of(table) for name, table in collect(made, kept[1]).items()}
