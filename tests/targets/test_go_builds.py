"""Versions of the Go module: known by name, built once, never half, clear about what is missing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from jetproof.errors import JetproofError
from jetproof.model.versions import Version
from jetproof.targets import go_tool
from jetproof.targets.go_build import Built, build_version, kept_build, kept_versions, obtainable
from jetproof.targets.go_tool import GoError
from jetproof.targets.go_versions import fresh_listing, kept_listing, singles
from jetproof.targets.kept import digest_of
from jetproof.targets.own_build import own_build, release_binary
from jetproof.targets.releases import known_releases, this_platform
from jetproof.targets.resolve import resolve, resolve_one
from jetproof.targets.spec import parse

from . import fake_go
from .fake_go import SERVER, FakeGo

NEW = Version(2, 15, 2)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JETPROOF_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> FakeGo:
    return fake_go.install(tmp_path / "fake-go", monkeypatch)


def names(text: str) -> list[str]:
    return [str(single) for single in singles(parse(text))]


def left_behind(cache: Path) -> list[str]:
    """Everything in the cache but locks, which stay."""
    root = cache / "servers" / this_platform()
    return sorted(
        path.name for path in root.rglob("*") if path.is_file() and path.suffix != ".lock"
    )


# Which versions


@pytest.mark.parametrize("text", ["go:2.15.2", "go:2.15.0-RC.3", "go:2.12.*", "go:latest"])
def test_a_version_of_the_go_module_is_a_target(text: str) -> None:
    spec = parse(text)

    assert (spec.provider, spec.pinned, str(spec)) == ("go", True, text)


@pytest.mark.parametrize("text", ["go:", "go:main", "go:0123456789ab"])
def test_a_branch_or_a_commit_is_refused(text: str) -> None:
    with pytest.raises(JetproofError) as raised:
        parse(text)
    assert raised.value.phase == "plan"
    assert "go:2.15.2" in raised.value.hint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("go:2.15.2", ["go:2.15.2"]),
        ("go:v2.15.2", ["go:2.15.2"]),
        ("go:2.15.0-rc3", ["go:2.15.0-RC.3"]),
        ("go:2.15.*", ["go:2.15.0", "go:2.15.1", "go:2.15.2"]),
        ("go:>=2.15.0-RC.3 <2.15.1", ["go:2.15.0-RC.3", "go:2.15.0"]),
        ("go:latest", ["go:2.15.2"]),
        ("2.15.1", ["2.15.1"]),
    ],
)
def test_a_target_names_versions_of_the_module(go: FakeGo, text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_an_unknown_version_names_its_neighbours(go: FakeGo) -> None:
    with pytest.raises(JetproofError) as raised:
        names("go:2.15.9")
    assert raised.value.phase == "plan"
    assert "has no version 2.15.9" in raised.value.message
    assert "2.15.0, 2.15.1, 2.15.2;" in raised.value.hint


def test_a_version_that_is_not_listed_is_asked_for_by_name(go: FakeGo) -> None:
    go.write(named='echo "$3" | tr @ " "')
    assert names("go:2.12.13") == ["go:2.12.13"]
    assert go.calls("list")[-1] == "list -m github.com/nats-io/nats-server/v2@v2.12.13"


def test_a_range_without_versions_is_refused(go: FakeGo) -> None:
    with pytest.raises(JetproofError, match=r"no version 2\.9\.\*"):
        names("go:2.9.*")


def test_what_go_listed_is_kept_and_not_asked_again(
    go: FakeGo, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert names("go:2.15.2") + names("go:2.15.1") == ["go:2.15.2", "go:2.15.1"]
    assert len(go.calls("list")) == 1
    go.remove(monkeypatch)
    assert names("go:2.15.*") == ["go:2.15.0", "go:2.15.1", "go:2.15.2"]
    assert "not installed" in fresh_listing().problem


def test_a_version_that_came_since_is_found(go: FakeGo) -> None:
    names("go:2.15.2")
    go.write(listing="echo github.com/nats-io/nats-server/v2 v2.15.2 v2.15.3")
    assert names("go:2.15.3") == ["go:2.15.3"]


def test_a_listing_that_fails_keeps_the_old_one(go: FakeGo) -> None:
    before = fresh_listing()
    go.write(listing="echo no network >&2; exit 1")
    after = fresh_listing()
    assert after.versions == before.versions
    assert after.at == before.at
    assert "no network" in after.problem


def test_without_any_listing_go_itself_looks_for_a_version_and_a_range_is_refused(
    go: FakeGo,
) -> None:
    go.write(listing="echo no network >&2; exit 1")
    assert names("go:2.15.2") == ["go:2.15.2"]
    with pytest.raises(JetproofError, match="no network"):
        names("go:2.15.*")


def test_a_damaged_listing_counts_as_none(go: FakeGo, cache: Path) -> None:
    fresh_listing()
    (cache / "servers" / "go-versions.json").write_text('{"at": 7}')
    assert kept_listing().versions == ()
    assert names("go:2.15.2") == ["go:2.15.2"]


# Building


def test_a_version_is_built_once_and_its_hash_is_its_build(go: FakeGo, cache: Path) -> None:
    heard: list[str] = []
    first = build_version(NEW, notify=heard.append)
    second = build_version(NEW, notify=heard.append)

    assert first == second == kept_build(NEW)
    assert first.build == digest_of(first.binary)[:16]
    assert go.calls("install") == ["install -v -trimpath github.com/nats-io/nats-server/v2@v2.15.2"]
    assert heard == ["building nats-server 2.15.2 with go1.26.8; a first build takes some minutes"]
    assert kept_versions() == {NEW}
    assert left_behind(cache) == ["nats-server", "nats-server.sha256"]


def test_no_toolchain_is_downloaded_and_the_flags_are_ours(
    go: FakeGo, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"GOOS": "plan9", "GOFLAGS": "-race", "CGO_ENABLED": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GOPROXY", "file:///proxy")
    build_version(NEW)
    found = go.env("install")
    assert "GOOS" not in found
    wanted = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod", "GOWORK": "off"}
    assert wanted.items() <= found.items()
    assert found["GOPROXY"] == "file:///proxy"


def test_offline_go_may_not_use_the_network(go: FakeGo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JETPROOF_OFFLINE", "1")
    build_version(NEW)
    assert go.env("install")["GOPROXY"] == "off"


def test_another_go_makes_another_build(go: FakeGo) -> None:
    first = build_version(NEW)
    go.write(version="go1.27.0")
    assert build_version(NEW).binary != first.binary
    assert len(go.calls("install")) == 2


def test_a_damaged_build_is_made_again(go: FakeGo) -> None:
    first = build_version(NEW)
    first.binary.write_text("half")
    assert build_version(NEW) == first
    assert first.binary.read_text() != "half"


def test_a_covered_version_is_built_where_its_source_is(
    go: FakeGo, cache: Path, tmp_path: Path
) -> None:
    """`go install` of a version does not instrument its main package, and such a server is mute."""
    source = tmp_path / "source"
    source.mkdir()
    go.write(f'pwd > "{tmp_path}/where"\n{SERVER}', named=f"echo {source}")
    plain = build_version(NEW)
    covered = build_version(NEW, covered=True)
    assert covered.binary != plain.binary
    assert covered == build_version(NEW, covered=True) == kept_build(NEW, covered=True)
    assert go.calls("mod") == ["mod download github.com/nats-io/nats-server/v2@v2.15.2"]
    (command,) = go.calls("build")
    assert "-cover -covermode=set -coverpkg=.,./server/... ." in command
    assert (tmp_path / "where").read_text().strip() == str(source)
    assert kept_versions() == {NEW}


def test_without_go_a_covered_build_of_before_is_used_and_no_plain_one(
    go: FakeGo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go.write(named=f"echo {tmp_path}")
    covered = build_version(NEW, covered=True)
    build_version(Version(2, 15, 0))
    go.remove(monkeypatch)
    assert build_version(NEW, covered=True) == covered
    with pytest.raises(GoError, match="Go is not installed"):
        build_version(Version(2, 15, 0), covered=True)


def test_a_source_that_go_does_not_name_is_an_error(go: FakeGo) -> None:
    with pytest.raises(GoError, match="does not say where the source"):
        build_version(NEW, covered=True)


def test_an_unknown_version_cannot_be_covered(go: FakeGo) -> None:
    with pytest.raises(JetproofError, match=r"has no version 2\.15\.77"):
        names("cover:2.15.77")
    assert names("cover:2.15.0-rc3") == ["cover:2.15.0-RC.3"]


@pytest.mark.parametrize(("made", "said"), [(True, "is a file"), (False, "is not there")])
def test_only_a_folder_can_be_covered(go: FakeGo, tmp_path: Path, made: bool, said: str) -> None:
    path = tmp_path / "nats-server"
    if made:
        path.write_text("#!/bin/sh\necho nats-server: v2.15.2\n")
        path.chmod(0o755)
    with pytest.raises(JetproofError, match=f"{said}, and no checkout") as raised:
        asyncio.run(resolve([f"cover:{path}"]))
    assert "cover:2.15.1" in raised.value.hint


@pytest.mark.parametrize(
    ("script", "said", "hint"),
    [
        (
            "echo github.com/nats-io/nkeys; echo 'server/x.go:7:2: undefined: y' >&2; exit 2",
            r"ended with 2\nserver/x\.go:7:2: undefined: y\n",
            "nothing was kept",
        ),
        ("echo 'write x: no space left on device' >&2; exit 1", "no space left", "disk is full"),
        (
            "echo 'go: x@v2.15.2 requires go >= 1.27.0 (running go 1.26.8; GOTOOLCHAIN=local)' >&2;"
            " exit 1",
            r"needs Go 1\.27\.0 or newer, and go1\.26\.8 is installed",
            "install Go 1.27.0",
        ),
        ("echo 'link: file too large' >&2; exit 1", "file too large", "ulimit -f"),
        ("echo 'module lookup disabled by GOPROXY=off' >&2; exit 1", "lookup", "once with a net"),
        ("true", "made no nats-server", "is `go` the Go toolchain"),
    ],
)
def test_a_build_that_fails_says_why_and_leaves_nothing(
    go: FakeGo, cache: Path, script: str, said: str, hint: str
) -> None:
    go.write(f'touch "$GOTMPDIR/work"; {script}')
    with pytest.raises(GoError, match=said) as raised:
        build_version(NEW)
    assert raised.value.phase == "start"
    assert hint in raised.value.hint
    assert left_behind(cache) == []
    go.write()
    assert build_version(NEW).binary.exists()


def test_a_cache_that_cannot_be_written_is_named(
    go: FakeGo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(GoError) as raised:
        build_version(NEW, cache_dir=tmp_path / "file")
    assert "JETPROOF_CACHE" in raised.value.hint


def test_without_go_the_error_says_what_works(go: FakeGo, monkeypatch: pytest.MonkeyPatch) -> None:
    go.remove(monkeypatch)
    with pytest.raises(GoError, match="Go is not installed") as raised:
        build_version(NEW)
    assert "https://go.dev/doc/install" in raised.value.hint
    assert "work without it" in raised.value.hint


def test_without_go_a_build_of_before_is_used(go: FakeGo, monkeypatch: pytest.MonkeyPatch) -> None:
    first = build_version(NEW)
    go.remove(monkeypatch)
    assert build_version(NEW) == first


def test_a_go_that_does_not_work_is_named(go: FakeGo) -> None:
    (go.folder / "go").write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    with pytest.raises(GoError, match="ended with 3 and said 'broken'"):
        build_version(NEW)


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that another thread brings about; pytest's own clock ends a hang."""
    pause = threading.Event()
    while not holds():
        pause.wait(0.01)


def test_two_builds_at_once_are_one(go: FakeGo, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    go.write(f"while [ ! -e {gate} ]; do sleep 0.02; done; {SERVER}")
    heard: list[str] = []
    made: list[Built] = []

    def build() -> None:
        made.append(build_version(NEW, notify=heard.append))

    threads = [threading.Thread(target=build) for _ in range(2)]
    for thread in threads:
        thread.start()
    until(lambda: any("waiting" in line for line in heard) or len(go.calls("install")) == 2)
    gate.touch()
    for thread in threads:
        thread.join()
    assert len(go.calls("install")) == 1
    assert made[0] == made[1]
    assert "waiting for another run that builds nats-server 2.15.2" in heard


def test_progress_is_shown(go: FakeGo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(go_tool, "_PROGRESS_SECONDS", 0.0)
    gate = tmp_path / "gate"
    wait = f"while [ ! -e {gate} ]; do sleep 0.02; done"
    go.write(f"echo github.com/nats-io/nkeys; echo server; {wait}; {SERVER}")
    heard: list[str] = []

    def hear(line: str) -> None:
        heard.append(line)
        if line.endswith("2 steps, now server"):
            gate.touch()

    build_version(NEW, notify=hear)
    assert heard[-1].startswith("building nats-server 2.15.2: ")


def test_a_cancelled_build_ends_and_leaves_nothing(go: FakeGo, cache: Path) -> None:
    go.write('echo $$ > "$GOTMPDIR/pid"; while :; do sleep 0.05; done')

    async def cancelled() -> None:
        task = asyncio.create_task(own_build(parse("go:2.15.2")))
        while not list((cache / "servers").rglob("pid")):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())  # which waits for the thread that builds
    assert left_behind(cache) == []


def test_what_a_killed_run_left_is_removed(go: FakeGo, cache: Path) -> None:
    place = build_version(NEW).binary.parent
    (place / "nats-server").unlink()
    abandoned = place.parent / f".build-{place.name}-x"
    abandoned.mkdir()
    build_version(NEW)
    assert not abandoned.exists()


# Releases of the table that have no wheel


def test_source_with_another_hash_is_refused(go: FakeGo, cache: Path) -> None:
    go.write(sum="h1:another=")
    with pytest.raises(
        GoError, match=r"built from source with the hash h1:another=, and"
    ) as raised:
        build_version(NEW)
    assert "nothing was kept" in raised.value.hint
    assert left_behind(cache) == []


def test_a_plain_version_without_a_wheel_is_built(go: FakeGo) -> None:
    (target,) = asyncio.run(resolve(["2.15.2"]))

    assert (target.name, target.provider, str(target.older)) == ("2.15.2", "embedded", "2.14.6")
    assert target.binary is not None
    assert target.build == digest_of(target.binary)[:16]
    assert len(go.calls("install")) == 1


def test_a_restart_with_a_release_without_a_wheel_builds_it(go: FakeGo) -> None:
    built = asyncio.run(release_binary(NEW))
    assert built == build_version(NEW)


def test_latest_is_built_nowhere(go: FakeGo) -> None:
    assert names("latest") == ["2.15.1"]
    assert names("reference:latest") == ["reference:2.15.1"]


def test_a_range_names_releases_that_go_builds(go: FakeGo) -> None:
    assert names("2.15.*") == ["2.15.0", "2.15.1", "2.15.2"]


def test_neighbours_have_a_binary(go: FakeGo) -> None:
    (target,) = asyncio.run(resolve(["2.14.6"]))
    assert (str(target.newer), str(target.older)) == ("2.15.1", "2.12.8")


def test_without_go_a_range_leaves_them_out_and_says_so(
    go: FakeGo, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_version(NEW)
    go.remove(monkeypatch)
    heard: list[str] = []
    found = singles(parse(">=2.14.6"), notify=heard.append)

    assert [str(single) for single in found] == ["2.14.6", "2.15.0", "2.15.1", "2.15.2"]
    assert len(heard) == 1
    assert heard[0].startswith("left out 3 releases (2.14.7 to 2.14.9) without a release binary")
    assert "https://go.dev/doc/install" in heard[0]


def test_a_range_of_nothing_else_is_refused_without_go(
    go: FakeGo, monkeypatch: pytest.MonkeyPatch
) -> None:
    go.remove(monkeypatch)
    with pytest.raises(JetproofError, match=r"none of the releases >2\.14\.6 <2\.15") as raised:
        names(">2.14.6 <2.15")
    assert "Go is not installed" in raised.value.message


def test_a_plain_version_without_a_wheel_needs_go(
    go: FakeGo, monkeypatch: pytest.MonkeyPatch
) -> None:
    go.remove(monkeypatch)
    with pytest.raises(
        GoError, match=r"2\.15\.2 has no release binary, so Go builds it\. Go is not"
    ):
        asyncio.run(resolve(["2.15.2"]))


@pytest.mark.parametrize(
    ("version", "left"), [("go1.25.4", 4), ("go1.26.0", 0), ("devel go1.27-1f", 0), ("go1.27", 0)]
)
def test_a_go_that_is_too_old_builds_what_it_can(go: FakeGo, version: str, left: int) -> None:
    go.write(version=version)
    kept, told = obtainable(known_releases()[-8:])
    assert len(kept) == 8 - left
    assert (f"Go 1.26.0 builds them, and {version} is too old" in told) is (left > 0)


def test_a_command_that_wants_one_target_builds_none_of_many(go: FakeGo) -> None:
    with pytest.raises(
        JetproofError, match=r"2\.15\.\* names 3 targets \(2\.15\.0, 2\.15\.1, 2\.15"
    ):
        asyncio.run(resolve_one("2.15.*", hint="name one"))
    assert go.calls("install") == []
    assert asyncio.run(resolve_one("2.15.2", hint="")).build


# Targets


def test_a_target_has_its_build_and_its_neighbours(go: FakeGo) -> None:
    (target,) = asyncio.run(resolve(["go:2.15.2", "go:v2.15.2"]))

    assert (target.name, target.version, target.provider) == ("go:2.15.2", NEW, "go")
    assert target.binary is not None
    assert target.build == digest_of(target.binary)[:16]
    assert (str(target.older), target.newer) == ("2.14.6", None)


def test_a_matrix_builds_a_version_when_its_turn_comes(go: FakeGo) -> None:
    targets = asyncio.run(resolve(["go:2.15.*"], ahead=False))

    assert [target.name for target in targets] == ["go:2.15.0", "go:2.15.1", "go:2.15.2"]
    assert go.calls("install") == []
