#!/usr/bin/env python3
"""Assembles the root file system of Jetproof's image from what is installed here.

    python rootfs.py dist/jetproof-*.whl container/root

The wheel is unpacked into it. Everything that the wheel needs is copied from the environment of the
Python that runs this: the interpreter with its standard library, the packages that the wheel requires
(and what those require), the server's binary among them, and the shared libraries of all of these. A shell
and `env` are there so that an adapter may be a script. Linux only, as the image is.
"""

from __future__ import annotations

import argparse
import compileall
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterable, Iterator
from email.parser import Parser
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ELF = b"\x7fELF"
LIBRARY = re.compile(r"(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)")
PREFIX = Path("usr/local")
SERIES = f"python{sys.version_info.major}.{sys.version_info.minor}"
STANDARD = PREFIX / "lib" / SERIES
PACKAGES = STANDARD / "site-packages"
# Large, and of no use to a command that is called by machines.
LEFT_OUT = (
    "__pycache__",
    "site-packages",
    "test",
    "tests",
    "idlelib",
    "turtledemo",
    "tkinter",
    "config-*",
)
LAUNCHER = """\
#!/usr/local/bin/python3
import sys
from jetproof.cli import main
sys.exit(main())
"""
ACCOUNTS = {
    "etc/passwd": "root:x:0:0:root:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path, help="Jetproof's wheel")
    parser.add_argument("root", type=Path, help="a folder that does not exist yet")
    args = parser.parse_args()
    if sys.platform != "linux":
        parser.error("the image is one of Linux: assemble it there")
    if args.root.exists():
        parser.error(f"{args.root} exists: remove it first")
    assemble(args.wheel, args.root)
    size = sum(path.stat().st_size for path in args.root.rglob("*") if path.is_file())
    print(f"{args.root}: {size / 2**20:.0f} MiB")
    return 0


def assemble(wheel: Path, root: Path) -> None:
    """Everything, in an order in which later parts can look at earlier ones."""
    put_python(root)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(root / PACKAGES)
    for distribution in required(wheel_requires(wheel)):
        put_distribution(distribution, root)
    put_tools(root)
    put_places(root)
    put_libraries(root)
    compileall.compile_dir(
        root / STANDARD,
        maxlevels=20,
        quiet=2,
        stripdir=str(root),
        prependdir="/",
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )


def put_python(root: Path) -> None:
    """The interpreter itself: not the link to it in a virtual environment."""
    program = root / PREFIX / "bin" / SERIES
    copy(Path(sys.executable).resolve(), program)
    for name in ("python3", "python"):
        (program.parent / name).symlink_to(SERIES)
    standard = Path(sysconfig.get_path("stdlib"))
    shutil.copytree(standard, root / STANDARD, ignore=shutil.ignore_patterns(*LEFT_OUT))
    (root / PACKAGES).mkdir()


def wheel_requires(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        headers = Parser().parsestr(archive.read(name).decode())
    return headers.get_all("Requires-Dist") or []


def required(requirements: Iterable[str]) -> Iterator[metadata.Distribution]:
    """What is installed here of the requirements, and of their own, each once."""
    waiting, known = [(Requirement(text), "") for text in requirements], set()
    while waiting:
        wanted, extra = waiting.pop()
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": extra}):
            continue
        for part in ("", *sorted(wanted.extras)):
            if (wanted.name.lower(), part) in known:
                continue
            known.add((wanted.name.lower(), part))
            found = metadata.distribution(wanted.name)
            waiting += [(Requirement(text), part) for text in found.requires or []]
            if not part:
                yield found


def put_distribution(distribution: metadata.Distribution, root: Path) -> None:
    """Its packages, and its programs where they are no scripts: those name an interpreter of here."""
    home = Path(str(distribution.locate_file(""))).resolve()
    for file in distribution.files or []:
        source = Path(str(distribution.locate_file(file))).resolve()
        if not source.is_file() or source.suffix == ".pyc":
            continue
        if source.is_relative_to(home):
            copy(source, root / PACKAGES / source.relative_to(home))
        elif is_elf(source):
            copy(source, root / PREFIX / "bin" / source.name)


def put_tools(root: Path) -> None:
    launcher = root / PREFIX / "bin" / "jetproof"
    launcher.write_text(LAUNCHER)
    launcher.chmod(0o755)
    for tool, place in (("sh", "bin/sh"), ("env", "usr/bin/env")):
        found = shutil.which(tool)
        if found is None:
            raise SystemExit(f"there is no {tool} here")
        copy(Path(found).resolve(), root / place)


def put_places(root: Path) -> None:
    for place in ("tmp", "var/cache/jetproof", "work"):
        folder = root / place
        folder.mkdir(parents=True)
        folder.chmod(0o1777)
    for name, text in ACCOUNTS.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)


def put_libraries(root: Path) -> None:
    """What the programs and modules are linked with, where the loader of this machine looks for it."""
    needed: set[Path] = set()
    for path in [path for path in root.rglob("*") if path.is_file() and is_elf(path)]:
        # ldd fails for a program that is linked with nothing: then there is nothing to copy.
        told = subprocess.run(["ldd", path], capture_output=True, text=True, check=False)
        needed |= {Path(found) for found in LIBRARY.findall(told.stdout)}
    beside = next((path.parent for path in needed if path.name.startswith("libc.")), Path("/lib"))
    for library in needed:
        if library.is_relative_to(root.resolve()):
            continue
        usual = library.parts[1] in ("lib", "lib64", "usr") and "local" not in library.parts
        place = library if usual else beside / library.name
        copy(library.resolve(), root / place.relative_to("/"))


def is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(ELF)) == ELF


def copy(source: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, place)


if __name__ == "__main__":
    sys.exit(main())
