"""Configurations: named templates, completed for the place where a server runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from jetproof.errors import JetproofError
from jetproof.model.versions import Version
from jetproof.targets.config import (
    Accounts,
    ClusterPlace,
    NodePlace,
    configuration_names,
    load_configuration,
    parse_configuration,
    render,
)


def test_the_configurations_that_cases_may_name() -> None:
    assert set(configuration_names()) >= {"default", "low-batch-limits"}


@pytest.mark.parametrize("name", configuration_names())
def test_every_configuration_says_what_it_is_for(name: str) -> None:
    assert load_configuration(name).about.endswith(".")


def test_a_configuration_knows_which_releases_refuse_it() -> None:
    lowered = load_configuration("low-batch-limits")

    assert lowered.applies_from == Version(2, 12, 0)
    assert lowered.refused_by(Version(2, 12, 0)) is None
    assert lowered.refused_by(Version.parse("2.12.0-RC.1")) is None
    assert lowered.refused_by(Version(2, 11, 11)) == (
        "the configuration low-batch-limits applies from 2.12.0, this server is 2.11.11"
    )
    assert load_configuration("default").refused_by(Version(2, 10, 25)) is None


def test_an_unknown_configuration_names_the_ones_there_are() -> None:
    with pytest.raises(JetproofError, match="no server configuration 'tuned'") as raised:
        load_configuration("tuned")
    assert all(name in raised.value.hint for name in ("default", "low-batch-limits"))


@pytest.mark.parametrize(
    "text", ["jetstream { store_dir: $JETPROOF_STORE }", "# about: Nothing.\njetstream: enabled\n"]
)
def test_an_incomplete_template_is_refused(text: str) -> None:
    with pytest.raises(JetproofError, match="is incomplete"):
        parse_configuration("mine", text)


@pytest.mark.parametrize("name", configuration_names())
def test_the_server_accepts_what_is_rendered(name: str, tmp_path: Path, binary: Path) -> None:
    place = NodePlace(
        name="n1",
        listen="127.0.0.1:4222",
        store=str(tmp_path / 'a "quoted" folder'),
        ports_dir=str(tmp_path),
        cluster=ClusterPlace("c", "127.0.0.1:6222", ("nats://127.0.0.1:6222",)),
    )
    file = tmp_path / "server.conf"
    file.write_text(render(load_configuration(name), place, Accounts.of(["OWN_1"])))

    done = subprocess.run([binary, "-t", "-c", file], capture_output=True, text=True, check=False)
    assert "is valid" in done.stderr, done.stderr
    assert done.returncode == 0


def test_standing_accounts_and_those_asked_for() -> None:
    accounts = Accounts.of(["OWN_1", "B", "SYS"])

    assert accounts.names == ("JP", "B", "OWN_1")
    assert accounts.credentials() == accounts.credentials("JP")
    assert accounts.credentials("OWN_1") == {"user": "OWN_1", "pass": "OWN_1"}
    assert accounts.credentials("$SYS") == accounts.credentials("SYS")


def test_an_account_that_was_not_asked_for() -> None:
    with pytest.raises(JetproofError, match="no account 'C'") as raised:
        Accounts.of(["OWN_1"]).credentials("C")
    assert "JP, B, OWN_1, SYS" in raised.value.hint


@pytest.mark.parametrize("name", ["", "a b", "}", "1st", "x" * 200])
def test_a_name_that_is_none_for_an_account(name: str) -> None:
    with pytest.raises(JetproofError, match="cannot be the name of an account"):
        Accounts.of([name])
