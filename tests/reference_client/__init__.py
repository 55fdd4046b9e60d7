"""Tests of the reference client. Scenarios tell what they saw when they fail, as tests do."""

import pytest

pytest.register_assert_rewrite(
    *(
        f"{__name__}.scenarios_{part}"
        for part in ("batches", "consume", "fetch", "ingest", "reads", "statuses", "stores")
    )
)
