"""`jetproof releases`: which versions there are, where from, and what is new."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from jetproof.model.versions import Version
from jetproof.targets.inventory import is_new
from jetproof.targets.releases import known_releases, this_platform
from support.commands import Command
from support.documents import Validate

MODULE = "github.com/nats-io/nats-server/v2"
VERSIONS = "v2.9.0 v2.12.99 v2.15.0-RC.3 v2.15.1 v2.15.2 v2.16.0-RC.1"


@pytest.fixture(autouse=True)
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Go that lists a few versions, and a cache of our own."""
    folder = tmp_path / "fake-go"
    folder.mkdir()
    script = folder / "go"
    script.write_text(
        "#!/bin/sh\n"
        f'if [ "$1" = list ]; then echo {MODULE} {VERSIONS}\n'
        "else printf 'go1.26.8\\nlinux\\namd64\\nv1\\n\\n\\n'; fi\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("JETPROOF_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("JETPROOF_OFFLINE", raising=False)
    return script


def rows(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["version"]: row for row in document["versions"]}


def test_releases_lists_the_table_and_the_go_module(jetproof: Command, conforms: Validate) -> None:
    done = jetproof("releases", "--json")
    assert done.code == 0
    conforms("cli/releases", done.document)
    found = rows(done.document)
    assert {str(version) for version in known_releases()} <= found.keys()
    assert found["2.15.1"] == {
        "version": "2.15.1",
        "target": "2.15.1",
        "table": True,
        "from": ["pypi", "go"],
        "here": ["installed"],
        "new": False,
    }
    assert (found["2.15.2"]["target"], found["2.15.2"]["from"]) == ("2.15.2", ["go"])
    assert (found["2.12.99"]["target"], found["2.12.99"]["table"]) == ("go:2.12.99", False)
    assert found["2.14.0"]["from"] == ["pypi"]
    new = [version for version, row in found.items() if row["new"]]
    assert new == ["2.12.99", "2.16.0-RC.1"]
    assert done.document["problem"] is None


def test_releases_prints_a_table_and_hides_what_is_older_than_it(jetproof: Command) -> None:
    done = jetproof("releases")
    lines = [line.split() for line in done.out.splitlines()]
    assert ["go:2.12.99", "Go", "module", "new"] in lines
    assert ["2.15.2", "Go", "module"] in lines
    assert "50 in the table of releases (18 of them without a release binary" in done.out
    assert ["2.15.1", "PyPI,", "Go", "module", "installed"] in lines
    assert "go:2.9.0" not in done.out
    assert "1 before 2.10.25 are shown with -v" in done.out
    assert "go:2.9.0" in jetproof("releases", "-v").out


def test_releases_works_without_go_with_what_is_known(
    jetproof: Command, conforms: Validate, go: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go.unlink()
    monkeypatch.setenv("PATH", str(go.parent))
    never = jetproof("releases")
    assert never.code == 0
    assert "the Go module was never listed: Go is not installed" in never.out
    assert len(jetproof("releases", "--json").document["versions"]) == len(known_releases())  # type: ignore[arg-type]


def test_releases_offline_says_of_when_the_list_is(
    jetproof: Command, conforms: Validate, monkeypatch: pytest.MonkeyPatch
) -> None:
    jetproof("releases")
    monkeypatch.setenv("JETPROOF_OFFLINE", "1")
    done = jetproof("releases", "--json")
    conforms("cli/releases", done.document)
    assert "2.15.2" in rows(done.document)
    assert done.document["problem"] == "JETPROOF_OFFLINE is set"
    assert done.document["listed_at"]
    assert "the Go module is as of 20" in jetproof("releases").out


def test_prune_removes_builds_of_checkouts_alone(
    jetproof: Command, conforms: Validate, tmp_path: Path
) -> None:
    root = tmp_path / "cache" / "servers" / this_platform()
    for number in range(4):
        place = root / "checkout" / f"{number}"
        place.mkdir(parents=True)
        (place / "nats-server").write_bytes(b"x" * 1000)
        os.utime(place, (number, number))
    (root / "go" / "2.15.2-x").mkdir(parents=True)
    done = jetproof("releases", "--prune", "--keep", "2", "--json")
    conforms("cli/releases", done.document)
    assert done.document["removed"] == [{"name": "1", "size": 1000}, {"name": "0", "size": 1000}]
    assert "removed 2  0.0 MB\n1 build of checkouts removed" in jetproof("releases", "--prune").out
    assert [path.name for path in (root / "checkout").iterdir() if path.is_dir()] == ["3"]
    assert (root / "go" / "2.15.2-x").is_dir()
    assert jetproof("releases", "--keep", "2").code == 2


@pytest.mark.parametrize(
    ("version", "new"),
    [
        ("2.15.3", True),
        ("2.12.99", True),
        ("2.15.2", False),
        ("2.12.13", False),
        ("2.16.0-RC.1", True),
        ("2.15.1", False),
        ("2.15.0-RC.3", False),
        ("2.10.24", False),
        ("2.9.25", False),
    ],
)
def test_new_is_what_came_after_the_table(version: str, new: bool) -> None:
    assert is_new(Version.parse(version), known_releases()) is new
