"""A real server from the Go module, and one from a checkout of its source.

They are built where Go is installed and its module cache has the source; nothing is downloaded.
The first build goes into the cache of this user, where later test runs find it. It takes minutes, so
that `tox` leaves it to `tox -e slow`.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from jetproof.cli import main
from jetproof.errors import JetproofError
from jetproof.model.versions import Version
from jetproof.targets.go_build import MODULE, Built, build_version
from jetproof.targets.go_tool import ask, find_go
from jetproof.targets.releases import binary_releases
from jetproof.targets.resolve import resolve
from jetproof.targets.sweep import Owner
from jetproof.targets.topology import start_target

from .conftest import Play
from .helpers import answered, api, make_stream

pytestmark = pytest.mark.slow  # `test_go_builds` and `test_checkout` have a Go that stands in

NEW = Version(2, 15, 2)
CASE = "adr-50/atomic/commit"


@pytest.fixture(scope="session")
def source() -> Path:
    """The source of the module, if Go has it."""
    try:
        go = find_go()
    except JetproofError as error:
        pytest.skip(error.message)
    code, said = ask(go.program, "mod", "download", "-json", f"{MODULE}@v{NEW}", offline=True)
    if code != 0:
        pytest.skip(f"run once with a network: go mod download {MODULE}@v{NEW}")
    return Path(json.loads(said)["Dir"])


@pytest.fixture(scope="session")
def built(source: Path) -> Built:
    try:
        return build_version(NEW, offline=True)
    except JetproofError as error:
        if "module lookup disabled" in error.message:
            pytest.skip(f"run once with a network: go install {MODULE}@v{NEW}")
        raise


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JETPROOF_OFFLINE", "1")


@pytest.mark.usefixtures("offline")
def test_a_built_server_is_a_cluster_whose_nodes_start_with_other_releases(
    built: Built, play: Play[None], owner: Owner
) -> None:
    async def scenario() -> None:
        async with start_target("go:2.15.2", topology="cluster-3", owner=owner) as target:
            assert (target.provider, target.version, target.build) == ("go", NEW, built.build)
            await make_stream(target, num_replicas=3)
            await target.restart("n2", release=binary_releases()[-1])
            versions = {name: str(node.version) for name, node in target.nodes.items()}
            assert versions == {"n1": "2.15.2", "n2": "2.15.1", "n3": "2.15.2"}
            await target.restart("n2", "own")
            assert target.nodes["n2"].version == NEW
            info = await answered(target, "$JS.API.STREAM.INFO.ORDERS", node="n2")
            assert info["config"]["num_replicas"] == 3

    play(scenario())


@pytest.mark.usefixtures("offline")
def test_a_run_names_the_build(built: Built, tmp_path: Path) -> None:
    out = tmp_path / "results"
    assert main(["run", CASE, "--server", "go:2.15.2", "--out", str(out)]) == 0
    (row,) = json.loads((out / "run.json").read_text())["targets"]
    found = {name: row[name] for name in ("target", "provider", "version", "build")}
    assert found == {
        "target": "go:2.15.2",
        "provider": "go",
        "version": "2.15.2",
        "build": built.build,
    }


@pytest.mark.usefixtures("offline", "source")
def test_a_real_server_records_which_of_its_code_cases_reach(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        build_version(NEW, covered=True, offline=True)
    except JetproofError as error:
        if "module lookup disabled" in error.message:
            pytest.skip(f"run once with a network: jetproof run --server cover:{NEW}")
        raise
    out = tmp_path / "results"
    assert main(["run", CASE, "--server", f"cover:{NEW}", "--out", str(out)]) == 0
    capsys.readouterr()
    asked = ["coverage", "--server-code", str(out), "--functions", "jetstream_batching.go"]
    assert main([*asked, "--json"]) == 0
    (server,) = json.loads(capsys.readouterr().out)["servers"]
    assert (server["version"], server["processes_without_data"]) == (str(NEW), 0)
    (file,) = server["files"]
    reached = {each["name"]: each["reached"] for each in file["functions"]}
    assert reached["*batching.newAtomicBatch"] > 0
    assert reached["*batching.newFastBatch"] == 0


@pytest.mark.usefixtures("offline", "built")
def test_a_checkout_is_built_and_its_commit_is_the_build(
    source: Path, tmp_path: Path, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "nats-server"
    shutil.copytree(source, folder)
    for path in (folder, *folder.rglob("*")):  # Go keeps its module cache read-only
        path.chmod(path.stat().st_mode | 0o200)
    monkeypatch.setenv("JETPROOF_CACHE", str(tmp_path / "cache"))
    name = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
        subprocess.run(["git", "-C", str(folder), *name, *command], check=True)
    head = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    commit = subprocess.run(head, check=True, capture_output=True, text=True).stdout.strip()

    async def scenario() -> None:
        (target,) = await resolve([f"path:{folder}"])
        assert (target.version, target.build, target.provider) == (NEW, commit, "path")
        (folder / "main.go").write_text("not Go any more")
        assert target.binary is not None
        built = Built(target.binary, target.build)
        async with start_target(target.name, owner=owner, built=built) as running:
            assert running.build == commit
            assert "memory" in await api(running, "$JS.API.INFO")
        with pytest.raises(JetproofError, match=r"main\.go"):
            await resolve([target.name])

    asyncio.run(scenario())
