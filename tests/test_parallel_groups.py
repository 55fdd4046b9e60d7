"""What one worker of pytest-xdist plays together."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("xdist", reason="parallel runs are not covered: pytest-xdist is not installed")

from support.parallel import LONGEST, TOGETHER, group_of, longest_first

TESTS = Path(__file__).parent


@pytest.mark.parametrize(
    ("test", "group"),
    [
        ("tests/wire/test_codec.py::test_a", "wire/test_codec.py"),
        ("tests/wire/test_codec.py::TestA::test_a[b::c]", "wire/test_codec.py"),
        ("tests/reports/test_tables.py::test_a", "reports"),
        ("tests/reports/page/test_render.py::test_a", "reports/page"),
    ],
)
def test_tests_of_a_file_stay_together_and_so_does_what_shares_more(test: str, group: str) -> None:
    assert group_of(test) == group


@pytest.mark.parametrize("group", [*TOGETHER, *LONGEST])
def test_what_is_listed_exists(group: str) -> None:
    assert (TESTS / group).exists()


def test_the_longest_start_first_and_others_keep_their_order() -> None:
    assert longest_first(["b", LONGEST[1], "a", LONGEST[0]]) == [LONGEST[0], LONGEST[1], "b", "a"]
