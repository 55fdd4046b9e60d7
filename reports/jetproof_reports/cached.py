"""A table that several others are made of: computed once, and forgotten when they are there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@contextmanager
def cached(table: DataFrame) -> Iterator[DataFrame]:
    """Spark keeps what it computes of the table, until the end of the block."""
    table.persist()
    try:
        yield table
    finally:
        table.unpersist()
