"""Jetproof finds its data and runs, however it was installed and wherever it is started."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jetproof.data import _find_root
from jetproof.errors import JetproofError

SLOW_MODULES = ["docker", "jsonschema", "nats", "pyspark", "testcontainers", "yaml"]


def test_the_data_root_is_found_from_another_folder(installation) -> None:
    code = "import jetproof, jetproof.data as d; print(jetproof.__file__, d.data_root(), sep='\\n')"
    init, root = installation.run_python(code).splitlines()
    assert Path(init).parent.resolve() == installation.package.resolve()
    assert Path(root).resolve() == installation.data_root.resolve()


def test_suites_and_fixtures_are_below_the_data_root(installation) -> None:
    code = "import jetproof.data as d; print(d.suites_dir(), d.fixtures_dir(), sep='\\n')"
    suites, fixtures = (Path(line) for line in installation.run_python(code).splitlines())
    assert (suites / "adr-50" / "clauses.yaml").is_file()
    assert (fixtures / "schemas" / "case-file.json").is_file()
    assert (fixtures / "servers" / "releases.yaml").is_file()


def test_the_command_starts_from_another_folder(installation) -> None:
    assert "usage: jetproof" in installation.run_jetproof("--help").lower()


def test_the_bundled_cases_are_listed_from_another_folder(installation) -> None:
    listed = installation.run_jetproof("list")
    assert "adr-50/atomic/" in listed


def test_the_report_package_imports_without_its_extra(installation) -> None:
    assert installation.run_python("import jetproof_reports; print('ok')") == "ok"


@pytest.mark.parametrize("module", ["jetproof.cli", "jetproof.pytest_plugin"])
def test_a_front_imports_nothing_slow(checkout_use, module: str) -> None:
    code = f"import json, sys, {module}; print(json.dumps(sorted(sys.modules)))"
    loaded = set(json.loads(checkout_use.run_python(code)))
    assert module in loaded
    assert loaded.isdisjoint(SLOW_MODULES)


def test_an_incomplete_installation_says_so(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "lib" / "jetproof"
    (package / "_data" / "suites").mkdir(parents=True)
    with pytest.raises(JetproofError, match="no suites and fixtures found") as caught:
        _find_root(package)
    assert caught.value.phase == "load"
    assert "install jetproof again" in caught.value.hint
