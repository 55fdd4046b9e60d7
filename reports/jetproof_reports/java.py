"""Java for Spark: is there one, is it new enough, and how it starts quickly.

Half of what a small report costs is loading the same ten thousand classes again. The virtual machine
can keep them in an archive: the first session leaves one in the cache when it ends, later ones start
from it. An archive that does not fit (another Java, another Spark) is passed over by Java itself.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from jetproof.data import cache_root
from jetproof.errors import JetproofError

OLDEST = 17
INSTALL = (
    "install a Java runtime, 17 or newer (Debian, Ubuntu: `apt-get install openjdk-17-jre-headless`, "
    "macOS: `brew install openjdk@17`), and set JAVA_HOME if it is not on the PATH; "
    "`jetproof run`, JUnit and --json need no Java"
)
_MAGIC = b"\xa8\xab\x0b\xf0"  # of an archive that was written to its end, in this byte order
_SETTLED_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that runs."""

    path: str
    version: str


def find_java() -> Java:
    """The Java that Spark will use; without one, Spark would only say that a gateway exited."""
    home = os.environ.get("JAVA_HOME")
    path = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if path is None or not Path(path).is_file():
        where = f"JAVA_HOME is {home}, and has no bin/java" if home else "none is on the PATH"
        raise JetproofError(f"reports need Java: {where}", phase="start", hint=INSTALL)
    try:
        told = subprocess.run(
            [path, "-version"], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise JetproofError(
            f"reports need Java, and {path} does not run: {error}", phase="start", hint=INSTALL
        ) from error
    found = re.search(r'version "((?:1\.)?(\d+)[^"]*)"', told.stderr + told.stdout)
    if found is None or int(found[2]) < OLDEST:
        version = found[1] if found else "of an unknown version"
        raise JetproofError(
            f"reports need Java {OLDEST} or newer, and {path} is {version}",
            phase="start",
            hint=INSTALL,
        )
    return Java(path, found[1])


def archive_options(java: Java, spark: str, folder: Path | None = None) -> str:
    """Options that start from the archive, or that leave one behind."""
    place = folder or cache_root() / "spark"
    archive = place / f"spark-{spark}-java-{java.version}.jsa"
    with contextlib.suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        coming = _adopt(archive)
        if archive.is_file():
            return f"-XX:SharedArchiveFile={archive} -Xlog:cds=off -Xlog:cds+dynamic=off"
        if not coming and " " not in str(archive) and os.access(place, os.W_OK):
            new = f"{archive}.{os.getpid()}.new"
            return f"-XX:ArchiveClassesAtExit={new} -Xlog:cds=off -Xlog:cds+dynamic=off"
    return ""


def _adopt(archive: Path) -> bool:
    """Take what an earlier session left, once nobody writes it any more. Whether one is on its way."""
    coming = False
    for new in archive.parent.glob(f"{archive.name}.*.new"):
        if time.time() - new.stat().st_mtime < _SETTLED_SECONDS:
            coming = True
        elif _is_whole(new):
            new.replace(archive)
        else:
            new.unlink()
    return coming


def _is_whole(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(4) == _MAGIC
