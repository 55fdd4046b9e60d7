"""Builds Jetproof for real and installs it in every way that is supported.

The builds use the hatchling of the test environment, and the installs take no dependencies: nothing
here needs a network. Each virtual environment borrows the dependencies of the test environment
through a path file, and sees its own `jetproof` first.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    """Run a command to its end and return what it printed; a failure shows all of its output."""
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=clean | (env or {}),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, f"{command} gave {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def call_backend(hook: str, source: Path, out: Path) -> Path:
    """Call one of the build hooks that pip calls, and return the file that it made."""
    code = f"from hatchling.build import {hook} as hook; import sys; print(hook(sys.argv[1]))"
    return out / run(sys.executable, "-c", code, out, cwd=source).splitlines()[-1]


@dataclass(frozen=True, slots=True)
class Installation:
    """One way to have Jetproof: where its code and its data are expected, and how to run it."""

    python: Path
    package: Path
    data_root: Path
    site_packages: Path | None
    cwd: Path
    env: dict[str, str]

    def run_python(self, code: str) -> str:
        return run(self.python, "-c", code, cwd=self.cwd, env=self.env).strip()

    def run_jetproof(self, *arguments: str) -> str:
        """Run the console script, or its target where a plain checkout has none."""
        script = self.python.parent / "jetproof"
        if self.site_packages is not None:
            return run(script, *arguments, cwd=self.cwd, env=self.env)
        code = "import sys; from jetproof.cli import main; sys.exit(main())"
        return run(self.python, "-c", code, *arguments, cwd=self.cwd, env=self.env)


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return call_backend("build_sdist", CHECKOUT, tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return call_backend("build_wheel", CHECKOUT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def editable_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return call_backend("build_editable", CHECKOUT, tmp_path_factory.mktemp("editable"))


@pytest.fixture(scope="session")
def wheel_from_sdist(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("from-sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (unpacked,) = folder.iterdir()
    return call_backend("build_wheel", unpacked, tmp_path_factory.mktemp("wheel-from-sdist"))


@pytest.fixture(scope="session")
def checkout_use(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """No installation at all: the source roots on the path."""
    roots = os.pathsep.join(str(CHECKOUT / name) for name in ("harness", "reports"))
    return Installation(
        python=Path(sys.executable),
        package=CHECKOUT / "harness" / "jetproof",
        data_root=CHECKOUT,
        site_packages=None,
        cwd=tmp_path_factory.mktemp("elsewhere"),
        env={"PYTHONPATH": roots},
    )


@pytest.fixture(scope="session")
def editable_install(
    editable_wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Installation:
    python, site_packages = install(editable_wheel, tmp_path_factory.mktemp("venv-editable"))
    return Installation(
        python=python,
        package=CHECKOUT / "harness" / "jetproof",
        data_root=CHECKOUT,
        site_packages=site_packages,
        cwd=tmp_path_factory.mktemp("elsewhere"),
        env={},
    )


@pytest.fixture(scope="session")
def wheel_install(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    python, site_packages = install(wheel, tmp_path_factory.mktemp("venv-wheel"))
    return Installation(
        python=python,
        package=site_packages / "jetproof",
        data_root=site_packages / "jetproof" / "_data",
        site_packages=site_packages,
        cwd=tmp_path_factory.mktemp("elsewhere"),
        env={},
    )


@pytest.fixture(params=["checkout_use", "editable_install", "wheel_install"])
def installation(request: pytest.FixtureRequest) -> Installation:
    """Each way to have Jetproof in turn."""
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Installation)
    return found


def install(wheel: Path, folder: Path) -> tuple[Path, Path]:
    """Install one wheel into a new virtual environment; return its Python and its site-packages."""
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=folder)
    (site_packages,) = (folder / "lib").glob("python*/site-packages")
    # After the install, so that pip never sees (or touches) what the test environment holds.
    borrowed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site_packages / "zz-borrowed.pth").write_text("\n".join(sorted(borrowed)) + "\n")
    return python, site_packages
