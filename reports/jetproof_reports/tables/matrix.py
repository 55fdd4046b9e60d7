"""`matrix`: case by target, the newest verdict of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jetproof_reports.schemas import MATRIX

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def matrix(latest: DataFrame) -> DataFrame:
    return latest.select(*MATRIX)
