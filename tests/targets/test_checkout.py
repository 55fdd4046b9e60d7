"""Checkouts of nats-server: built at their state, which names the build."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from pathlib import Path

import pytest

from jetproof.errors import JetproofError
from jetproof.targets.checkout import CheckoutError, look_at
from jetproof.targets.checkout_build import build_checkout, build_commit, prune
from jetproof.targets.go_tool import GoError
from jetproof.targets.kept import locked
from jetproof.targets.releases import this_platform
from jetproof.targets.resolve import resolve

from . import fake_go
from .fake_go import SERVER, FakeGo

MODULE = "module github.com/nats-io/nats-server/v2\n\ngo 1.25.0\n"


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeGo:
    monkeypatch.setenv("JETPROOF_CACHE", str(tmp_path / "cache"))
    return fake_go.install(tmp_path / "fake-go", monkeypatch)


def git(folder: Path, *arguments: str) -> str:
    name = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    command = ["git", "-C", str(folder), *name, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path) -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "nats-server"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "go.mod").write_text(MODULE)
    (folder / "main.go").write_text("package main\n")
    (folder / ".gitignore").write_text("*.log\n")
    commit(folder)
    return folder


def kept_places(tmp_path: Path) -> list[Path]:
    root = tmp_path / "cache" / "servers" / this_platform() / "checkout"
    return [path for path in root.iterdir() if path.is_dir()]


def kept(tmp_path: Path) -> list[str]:
    return [place.name for place in kept_places(tmp_path)]


def test_a_clean_checkout_is_its_commit(go: FakeGo, checkout: Path) -> None:
    head = git(checkout, "rev-parse", "HEAD")
    heard: list[str] = []
    built = build_checkout(checkout, notify=heard.append)

    assert built.build == head
    assert build_checkout(checkout) == built
    assert len(go.calls("build")) == 1
    assert heard[0].startswith(f"building {checkout} at {head[:12]} with go1.26.8")
    wanted = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=true"}
    assert wanted.items() <= go.env("build").items()


def test_changes_that_are_not_committed_make_another_build(go: FakeGo, checkout: Path) -> None:
    clean = look_at(checkout)
    seen = {clean.identity}
    for name, text in (("main.go", "a"), ("main.go", "b"), ("new.go", "a"), ("new.go", "b")):
        (checkout / name).write_text(text)
        found = look_at(checkout)
        assert found.identity.startswith(f"{clean.commit}-dirty-")
        seen.add(found.identity)
    assert len(seen) == 5
    git(checkout, "add", "-A")
    assert look_at(checkout).changes
    git(checkout, "reset", "-q", "--hard")
    assert look_at(checkout) == clean


def test_what_git_ignores_is_no_change(checkout: Path) -> None:
    clean = look_at(checkout)
    (checkout / "x.log").write_text("noise")
    assert look_at(checkout) == clean


@pytest.mark.parametrize(
    "line", ["replace example.org/x => ../x", "replace (\n\texample.org/x v1.0.0 => ../x\n)"]
)
def test_source_that_is_replaced_by_another_folder_counts(checkout: Path, line: str) -> None:
    other = checkout.parent / "x"
    other.mkdir()
    (other / "x.go").write_text("package x\n")
    (checkout / "go.mod").write_text(f"{MODULE}\n// replace a => ../b\n{line}\n")
    commit(checkout)
    first = look_at(checkout)
    assert first.changes
    assert look_at(checkout) == first
    (other / "x.go").write_text("package x // again\n")
    assert look_at(checkout) != first


def test_a_replacement_by_another_module_is_no_change(checkout: Path) -> None:
    (checkout / "go.mod").write_text(f"{MODULE}\nreplace example.org/x => example.org/y v1.0.0\n")
    commit(checkout)
    assert not look_at(checkout).changes


def test_another_commit_is_another_build(go: FakeGo, checkout: Path) -> None:
    first = build_checkout(checkout)
    (checkout / "main.go").write_text("package main // again\n")
    assert commit(checkout) == build_checkout(checkout).build != first.build


def test_a_checkout_that_changes_while_it_is_built_is_refused(
    go: FakeGo, checkout: Path, tmp_path: Path
) -> None:
    go.write(f"{SERVER}; echo x >> main.go")
    with pytest.raises(GoError, match="changed while it was built") as raised:
        build_checkout(checkout)
    assert "-dirty-" in raised.value.message
    assert kept(tmp_path) == []


def test_a_checkout_that_does_not_build_shows_the_compilers_errors(
    go: FakeGo, checkout: Path, tmp_path: Path
) -> None:
    go.write("echo './main.go:1:1: expected declaration' >&2; exit 1")
    with pytest.raises(GoError, match=r"\./main\.go:1:1: expected declaration"):
        build_checkout(checkout)
    assert kept(tmp_path) == []


def test_the_builds_that_were_used_last_stay(
    go: FakeGo, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jetproof.targets.checkout_build.KEEP", 2)
    heard: list[str] = []
    commits = []
    for number in range(3):
        (checkout / "main.go").write_text(f"package main // {number}\n")
        commits.append(commit(checkout))
        build_checkout(checkout, notify=heard.append)
        place = next(path for path in kept_places(tmp_path) if path.name.startswith(commits[-1]))
        os.utime(place, (number + 1, number + 1))
        build_commit(checkout, commits[0])  # it is used again, and stays
    assert {name[:40] for name in kept(tmp_path)} == {commits[0], commits[2]}
    assert heard[-1] == "removed old builds of checkouts from the cache (1): 2 stay"


def test_a_build_that_is_being_made_is_not_removed(
    go: FakeGo, checkout: Path, tmp_path: Path
) -> None:
    build_checkout(checkout)
    (place,) = kept_places(tmp_path)
    with locked(place.with_name(f"{place.name}.lock")):
        assert prune(0) == ()
    assert [removed.name for removed in prune(0)] == [place.name]
    assert kept(tmp_path) == []


def test_what_a_killed_run_left_is_removed_after_a_day(
    go: FakeGo, checkout: Path, tmp_path: Path
) -> None:
    build_checkout(checkout)
    (place,) = kept_places(tmp_path)
    for name, age in ((".source-old", 2 * 86400), (".source-new", 60)):
        place.with_name(name).mkdir()
        when = time.time() - age
        os.utime(place.with_name(name), (when, when))
    assert [removed.name for removed in prune(1)] == [".source-old"]


# Commits


def test_a_commit_is_a_target_whatever_the_work_tree_has(
    go: FakeGo, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = git(checkout, "rev-parse", "HEAD")
    (checkout / "main.go").write_text("package main // again\n")
    commit(checkout)
    (checkout / "main.go").write_text("not Go")
    go.write(f'grep -q "^package main$" main.go && {{ {SERVER}; }}')
    monkeypatch.chdir(checkout.parent)
    (target,) = asyncio.run(resolve(["path:./nats-server@HEAD~1"]))

    assert (target.name, target.build) == ("path:./nats-server@HEAD~1", first)
    assert (checkout / "main.go").read_text() == "not Go"
    assert build_commit(checkout, first).binary == target.binary
    assert len(go.calls("build")) == 1


def test_a_folder_with_an_at_sign_is_a_folder(
    go: FakeGo, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout.rename(checkout.parent / "v2@v2.15.2")
    monkeypatch.chdir(checkout.parent)
    (target,) = asyncio.run(resolve(["path:./v2@v2.15.2"]))
    assert target.build == git(checkout.parent / "v2@v2.15.2", "rev-parse", "HEAD")


def test_a_commit_that_is_not_there_is_refused(go: FakeGo, checkout: Path) -> None:
    for revision in ("nope", "--all", "HEAD~9"):
        with pytest.raises(CheckoutError, match="has no commit"):
            build_commit(checkout, revision)


def test_a_commit_of_something_else_is_refused(go: FakeGo, checkout: Path) -> None:
    (checkout / "go.mod").write_text("module example.org/other\n")
    other = commit(checkout)
    (checkout / "go.mod").write_text(MODULE)
    commit(checkout)
    with pytest.raises(CheckoutError, match="no checkout of nats-server"):
        build_commit(checkout, other)


def test_a_checkout_whose_server_crashes_is_named(
    go: FakeGo, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go.write('printf \'#!/bin/sh\\necho panic: boom; exit 2\\n\' > "$out"; chmod +x "$out"')
    monkeypatch.chdir(checkout.parent)
    with pytest.raises(JetproofError, match=r"^\./nats-server --version said 'panic: boom'"):
        asyncio.run(resolve(["path:./nats-server"]))


def test_a_checkout_is_a_target(
    go: FakeGo, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(checkout.parent)
    (target,) = asyncio.run(resolve(["path:./nats-server"]))

    assert target.name == "path:./nats-server"
    assert (str(target.version), target.provider) == ("2.15.2", "path")
    assert target.build == git(checkout, "rev-parse", "HEAD")


def test_a_hook_of_git_does_not_name_another_repository(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert len(look_at(checkout).commit) == 40


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckoutError, match="no checkout of nats-server"):
        look_at(tmp_path)
    (tmp_path / "go.mod").write_text("module example.org/other\n")
    with pytest.raises(CheckoutError, match="no checkout of nats-server"):
        look_at(tmp_path)


def test_source_without_git_is_refused(tmp_path: Path) -> None:
    (tmp_path / "go.mod").write_text(MODULE)
    with pytest.raises(CheckoutError, match="not a git repository") as raised:
        look_at(tmp_path)
    assert "path:./nats-server" in raised.value.hint


def test_source_inside_another_repository_is_refused(checkout: Path) -> None:
    inner = checkout / "vendored"
    inner.mkdir()
    (inner / "go.mod").write_text(MODULE)
    with pytest.raises(CheckoutError, match="not the top of a Git checkout"):
        look_at(inner)


def test_a_checkout_without_a_commit_is_refused(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "go.mod").write_text(MODULE)
    with pytest.raises(CheckoutError, match="cannot see which state"):
        look_at(tmp_path)


def test_without_git_the_error_says_so(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(checkout))
    with pytest.raises(CheckoutError, match="git is not installed"):
        look_at(checkout)
