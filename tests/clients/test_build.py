"""Adapters are built on demand, once, whole or not at all; what is missing is told."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jetproof.errors import JetproofError
from jetproof.targets.clients.build import BuildFailed, is_built, prepare_client
from jetproof.targets.clients.process import start_adapter
from jetproof.targets.clients.spec import ClientSpec, parse_client
from jetproof.targets.clients.toolchain import NotBuildable

PROGRAM = """\
import json, pathlib, sys
version = pathlib.Path("version").read_text().strip()
for line in sys.stdin:
    call = json.loads(line)
    hello = {
        "protocol": 1, "library": "thing", "version": version, "language": "toy",
        "runtime": sys.version.split()[0], "parts": {}, "capabilities": [], "claims": {},
    }
    print(json.dumps({"id": call["id"], "ok": hello}), flush=True)
"""
TOY = """\
adapter: toy:thing
about: A toy
version: 1.0.0
python: {atleast: "3.11"}
prepare:
  - [cp, "other-$version", version]
build:
  - [sh, -c, "echo built >> $cache/builds; echo made by the build > made"]
run: [$python, adapter.py]
"""
Toy = Callable[..., ClientSpec]


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    """An adapter in Python, or what another adapter.yaml says."""

    def write(text: str = TOY, version: str | None = None) -> ClientSpec:
        folder = tmp_path / "adapters" / "toy-thing"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "adapter.yaml").write_text(text)
        (folder / "adapter.py").write_text(PROGRAM)
        (folder / "version").write_text("1.0.0\n")
        (folder / "other-2.0.0").write_text("2.0.0\n")
        asked = "toy:thing" if version is None else f"toy:thing@{version}"
        return parse_client(asked, adapters=folder.parent)

    return write


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def builds(cache: Path) -> int:
    log = cache / "clients" / "kept" / "toy-thing" / "builds"
    return len(log.read_text().splitlines()) if log.exists() else 0


def scraps(cache: Path) -> list[str]:
    return [path.name for path in (cache / "clients").iterdir() if path.name.startswith(".build")]


def version_of(spec: ClientSpec, cache: Path) -> str:
    client = prepare_client(spec, cache_dir=cache)

    async def asked() -> str:
        async with start_adapter(client.command, name=client.name, cwd=client.cwd) as adapter:
            return adapter.hello.version

    return asyncio.run(asked())


def test_an_adapter_is_built_once_and_runs(toy: Toy, cache: Path) -> None:
    spec = toy()
    told: list[str] = []
    client = prepare_client(spec, cache_dir=cache, notify=told.append)
    assert told == ["building toy:thing@1.0.0"]
    assert client.label == "toy:thing@1.0.0"
    assert client.cwd is not None
    assert (client.cwd / "made").read_text() == "made by the build\n"
    assert prepare_client(spec, cache_dir=cache, notify=told.append) == client
    assert len(told) == builds(cache) == 1
    assert version_of(spec, cache) == "1.0.0"
    assert scraps(cache) == []


def test_another_version_is_prepared_and_built_beside_it(toy: Toy, cache: Path) -> None:
    assert version_of(toy(), cache) == "1.0.0"
    assert version_of(toy(version="2.0.0"), cache) == "2.0.0"
    assert version_of(toy(), cache) == "1.0.0"
    assert builds(cache) == 2


def test_an_edited_adapter_is_built_anew_a_ledger_is_no_part_of_it(toy: Toy, cache: Path) -> None:
    spec = toy()
    assert spec.folder is not None
    prepare_client(spec, cache_dir=cache)
    for name in ("ledger.yaml", "__pycache__/x.pyc", "node_modules/x/y.js"):
        place = spec.folder.folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("anything")
    prepare_client(spec, cache_dir=cache)
    assert builds(cache) == 1
    (spec.folder.folder / "more.py").write_text("")
    client = prepare_client(spec, cache_dir=cache)
    assert builds(cache) == 2
    assert client.cwd is not None
    assert not (client.cwd / "node_modules").exists()


def test_a_kit_is_put_beside_the_adapter_and_an_edited_one_builds_anew(
    toy: Toy, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jetproof.targets.clients.spec.adapters_dir", lambda: tmp_path / "adapters")
    kit = tmp_path / "adapters" / "kits" / "toy" / "kit" / "version"
    kit.parent.mkdir(parents=True)
    text = TOY.replace("echo made by the build > made", "cp kit/kit/version version")
    for number, version in enumerate(("7.0.0", "8.0.0"), start=1):
        kit.write_text(version)
        spec = toy(f"{text}kit: toy\n")
        assert version_of(spec, cache) == version
        assert builds(cache) == number
    # An author may have a link to it in the folder, for an editor: it is not the one that is built.
    (tmp_path / "adapters" / "toy-thing" / "kit").symlink_to(tmp_path)
    assert version_of(spec, cache) == "8.0.0"
    assert builds(cache) == 2
    kit.write_text("9.0.0")
    assert version_of(spec, cache) == "9.0.0"


def test_runs_at_once_build_once(toy: Toy, cache: Path) -> None:
    spec = toy()
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: prepare_client(spec, cache_dir=cache), range(4)))
    assert len(set(map(str, made))) == 1
    assert builds(cache) == 1


@pytest.mark.parametrize(
    ("build", "words"),
    [
        ('[sh, -c, "echo no such function: \\e[31mpublish; exit 4"]', "ended with 4"),
        ("[no-such-program-at-all]", "cannot be run"),
    ],
)
def test_a_build_that_fails_says_what_it_said(
    toy: Toy, cache: Path, build: str, words: str
) -> None:
    spec = toy(f"adapter: toy:thing\nabout: A toy\nversion: 1.0.0\nbuild: [{build}]\nrun: [./a]\n")
    assert spec.folder is not None
    with pytest.raises(BuildFailed) as caught:
        prepare_client(spec, cache_dir=cache)
    assert words in caught.value.message
    assert caught.value.phase == "start"
    assert caught.value.log.is_file()
    if "echo" in build:
        assert "no such function" in caught.value.message
    assert not is_built(spec.folder, "1.0.0", cache_dir=cache)
    assert scraps(cache) == []


@pytest.mark.parametrize(
    ("need", "words"),
    [
        ("needs: [{program: no-such-program-at-all, hint: look}]", "is not installed"),
        ('needs: [{program: sh, atleast: "1.0", ask: [-c, "echo nothing"]}]', "does not tell"),
        ('needs: [{program: sh, atleast: "9.10", ask: [-c, "echo sh 9.9.1"]}]', "sh is 9.9.1"),
        ('python: {atleast: "4.0"}', "there is no Python 4.0 or newer"),
    ],
)
def test_what_this_machine_lacks_is_a_reason_and_no_failure(
    toy: Toy, cache: Path, need: str, words: str
) -> None:
    spec = toy(f"adapter: toy:thing\nabout: A toy\nversion: 1.0.0\n{need}\nrun: [./a]\n")
    with pytest.raises(NotBuildable) as caught:
        prepare_client(spec, cache_dir=cache)
    assert words in caught.value.reason
    assert "install" in caught.value.hint
    assert not cache.exists()


@pytest.mark.parametrize(
    "says",
    ["echo sh version v9.10.2", "printf '\\\\033[1mThe 1 shell 9.10.2\\\\033[0m'", "echo sh10 >&2"],
)
def test_a_program_that_is_new_enough_will_do(toy: Toy, cache: Path, says: str) -> None:
    need = f'needs: [{{program: sh, atleast: "9.10", ask: [-c, "{says}"]}}]'
    spec = toy(f"adapter: toy:thing\nabout: A toy\nversion: 1.0.0\n{need}\nrun: [./adapter.py]\n")
    client = prepare_client(spec, cache_dir=cache)
    assert client.cwd is not None
    assert client.command == (str(client.cwd / "./adapter.py"),)


def test_a_python_that_only_pyenv_has_is_found(
    toy: Toy, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in that says it is 3.99, and passes on what it is asked to run."""
    python = tmp_path / "pyenv" / "versions" / "3.99.1" / "bin" / "python3"
    python.parent.mkdir(parents=True)
    python.write_text(
        textwrap.dedent(f"""\
        #!/bin/sh
        case "$2" in *version_info*) echo 3.99.1; exit;; esac
        exec {sys.executable} "$@"
        """)
    )
    python.chmod(0o755)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    spec = toy(TOY.replace("3.11", "3.99"))
    assert version_of(spec, cache) == "1.0.0"


def test_an_executable_needs_no_build(tmp_path: Path) -> None:
    program = tmp_path / "my-adapter"
    program.write_text("#!/bin/sh\n")
    with pytest.raises(JetproofError, match="cannot be executed"):
        prepare_client(parse_client(str(program)))
    program.chmod(0o755)
    client = prepare_client(parse_client(str(program)))
    assert client.command == (str(program),)
    assert client.label == str(program)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_build_that_is_ended_leaves_nothing_whole(
    toy: Toy, cache: Path, number: signal.Signals
) -> None:
    slow = f"echo $$$$ > {cache}/begun; mv {cache}/begun {cache}/pid; exec sleep 600"
    head = "adapter: toy:thing\nabout: A toy\nversion: 1.0.0\nrun: [./a]\n"
    spec = toy(f'{head}build: [[sh, -c, "{slow}"]]\n')
    assert spec.folder is not None
    cache.mkdir()
    code = (
        "import pathlib, signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # ignored in background jobs
        "from jetproof.targets.clients.build import prepare_client\n"
        "from jetproof.targets.clients.spec import parse_client\n"
        f"prepare_client(parse_client({str(spec.folder.folder)!r}), "
        f"cache_dir=pathlib.Path({str(cache)!r}))\n"
    )
    builder = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    try:
        while not (cache / "pid").exists():
            assert builder.poll() is None
            time.sleep(0.01)
        step = int((cache / "pid").read_text())
        builder.send_signal(number)
        assert builder.wait(60) != 0
    finally:
        builder.kill()
        builder.wait()
    while Path(f"/proc/{step}").exists():
        if Path(f"/proc/{step}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            break
        time.sleep(0.01)
    assert not is_built(spec.folder, "1.0.0", cache_dir=cache)
    fresh = toy(f"{head}build: [[touch, done]]\n")
    prepare_client(fresh, cache_dir=cache)
    assert scraps(cache) == []
