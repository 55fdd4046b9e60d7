"""Versions order as releases follow each other; ranges say which of them are meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jetproof.model.versions import Version, VersionError, VersionRange

IN_ORDER = [
    "2.9.25",
    "2.10.25",
    "2.11.0-dev",
    "2.11.0-preview.1",
    "2.11.0-preview.2",
    "2.11.0-RC.1",
    "2.11.0-RC.2",
    "2.11.0-RC.10",
    "2.11.0",
    "2.11.9",
    "2.11.11",
    "2.12.0-RC.1",
    "2.12.0",
    "3.0.0",
]

versions = st.builds(
    Version,
    st.integers(0, 3),
    st.integers(0, 20),
    st.integers(0, 20),
    st.sampled_from(["", "dev", "preview.1", "RC.1", "RC.2", "RC.10", "beta-3"]),
)


def test_releases_and_pre_releases_sort_as_they_follow_each_other() -> None:
    parsed = [Version.parse(text) for text in IN_ORDER]

    assert sorted(set(parsed)) == parsed
    assert [str(version) for version in parsed] == IN_ORDER


@pytest.mark.parametrize(
    ("one", "other"),
    [("2.15.1", "v2.15.1"), ("2.12.0-RC.2", "2.12.0-rc2"), ("2.12.0", "2.12.0+build.7")],
)
def test_spellings_of_one_version_are_equal(one: str, other: str) -> None:
    assert Version.parse(one) == Version.parse(other)
    assert hash(Version.parse(one)) == hash(Version.parse(other))


@pytest.mark.parametrize(
    "text", ["", "2", "2.15", "2.15.1.0", "2.15.x", "two", "2.15.1-", "-1.0.0"]
)
def test_what_is_not_a_version_is_refused_by_name(text: str) -> None:
    with pytest.raises(VersionError, match=r"is not a version such as 2\.15\.1"):
        Version.parse(text)


@given(versions)
def test_a_version_survives_being_printed(version: Version) -> None:
    assert Version.parse(str(version)) == version


@given(versions, versions)
def test_any_two_versions_are_ordered_or_equal(one: Version, other: Version) -> None:
    assert (one < other) + (one == other) + (one > other) == 1


@given(versions, versions)
def test_a_bound_and_its_opposite_split_all_versions(one: Version, bound: Version) -> None:
    assert VersionRange.parse(f">={bound}").contains(one) != VersionRange.parse(
        f"<{bound}"
    ).contains(one)


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("*", ["2.10.25", "2.16.0-dev"], []),
        ("2.12.*", ["2.12.0", "2.12.8", "2.12.0-RC.1"], ["2.11.11", "2.14.0", "3.12.0"]),
        ("2.12", ["2.12.0", "2.12.8"], ["2.13.0"]),
        ("2.14.6", ["2.14.6"], ["2.14.5", "2.14.6-RC.1"]),
        (">=2.12.0 <2.14.0", ["2.12.0", "2.12.8"], ["2.11.11", "2.14.0"]),
        (">=2.12.0, <2.14", ["2.12.8"], ["2.14.0"]),
        ("> 2.12.0 <= 2.12.8", ["2.12.1", "2.12.8"], ["2.12.0", "2.12.9"]),
        ("=2.12.1", ["2.12.1"], ["2.12.2"]),
        ("2.12.0 - 2.12.8", ["2.12.0", "2.12.4", "2.12.8"], ["2.11.11", "2.12.9"]),
    ],
)
def test_ranges(text: str, inside: list[str], outside: list[str]) -> None:
    wanted = VersionRange.parse(text)

    assert [version for version in inside if version not in wanted] == []
    assert [version for version in outside if version in wanted] == []


def test_a_pre_release_counts_as_the_release_it_leads_to() -> None:
    assert "2.16.0-dev" in VersionRange.parse(">=2.16.0")
    assert "2.16.0-dev" not in VersionRange.parse("<2.16.0")
    assert "2.16.0-dev" not in VersionRange.parse(">2.16.0")


def test_a_bound_that_names_a_pre_release_is_exact() -> None:
    later = VersionRange.parse(">=2.12.0-RC.2")

    assert "2.12.0-RC.1" not in later
    assert "2.12.0-RC.3" in later
    assert "2.12.0" in later


def test_a_single_version_is_known_as_such() -> None:
    assert VersionRange.parse("2.14.6").exact == Version(2, 14, 6)
    assert VersionRange.parse("2.14.*").exact is None
    assert VersionRange.parse(">=2.14.6").exact is None


@pytest.mark.parametrize("text", ["", "latest", ">=", ">=2.12.0 foo", "~2.12", "2.12.0 2.12.1"])
def test_what_is_not_a_range_is_refused_with_examples(text: str) -> None:
    with pytest.raises(VersionError, match="such as"):
        VersionRange.parse(text)


def test_a_range_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(VersionError, match="ends before it begins"):
        VersionRange.parse("2.14.0 - 2.12.0")
