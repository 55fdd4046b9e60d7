"""Which revision of a text a client library is held to."""

from __future__ import annotations

import pytest

from jetproof.model.claims import held_revision, is_held_to


def test_a_library_is_held_to_the_revision_that_it_claims() -> None:
    assert held_revision({"adr-50": 7}, "adr-50", 10) == 7
    assert is_held_to({"adr-50": 7}, "adr-50", 10, 7)
    assert not is_held_to({"adr-50": 7}, "adr-50", 10, 10)


@pytest.mark.parametrize("claims", [{}, {"adr-31": 2}])
def test_without_a_claim_it_is_held_to_the_text_in_force(claims: dict[str, int]) -> None:
    assert held_revision(claims, "adr-50", 10) == 10
    assert not is_held_to(claims, "adr-50", 10, 7)


def test_where_no_revision_is_known_every_cell_counts() -> None:
    assert held_revision({}, "adr-50", None) is None
    assert is_held_to({}, "adr-50", None, 7)
