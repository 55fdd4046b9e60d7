"""The commands that start nothing, and what all commands have in common."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from jetproof import __version__, campaigns
from jetproof.data import fixtures_dir, suites_dir
from jetproof.errors import JetproofError, Phase
from jetproof.load.published_schemas import published_schemas
from support.case_files import FAILS, PASSES
from support.commands import Command
from support.documents import Validate

RUN_NEEDS = (
    "__init__",
    "campaign",
    "interrupts",
    "planning",
    "request",
    "resume",
    "run",
    "selecting",
)
"""The modules of campaigns that `jetproof run` is made of."""
COMMANDS = (
    "run",
    "list",
    "clauses",
    "coverage",
    "positions",
    "validate",
    "replay",
    "mutate",
    "controls",
    "soak",
    "releases",
    "doctor",
    "smoke",
    "gate",
    "editions",
    "ledger",
    "schema",
)


def test_help_names_every_command_the_exit_codes_and_the_targets(jetproof: Command) -> None:
    done = jetproof("--help")
    assert done.code == 0
    assert all(re.search(rf"^    {command}( |$)", done.out, re.MULTILINE) for command in COMMANDS)
    assert "no verdict could be given" in done.out
    assert "container:2.14.6" in done.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_json(jetproof: Command, command: str) -> None:
    done = jetproof(command, "--help")
    assert done.code == 0
    assert "--json" in done.out


def test_help_loads_nothing_heavy() -> None:
    heavy = ["yaml", "jsonschema", "jsonschema_rs", "testcontainers", "docker", "pytest", "asyncio"]
    heavy += ["rich", "msgspec", "jetproof.campaigns", "jetproof.engine", "jetproof.sinks"]
    code = (
        "import contextlib, sys\n"
        "from jetproof.cli import main\n"
        "with contextlib.suppress(SystemExit): main(['--help'])\n"
        f"sys.stderr.write(' '.join(name for name in {heavy!r} if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "usage: jetproof" in done.stdout
    assert done.stderr == ""


def test_a_run_loads_no_other_campaign_and_no_spark() -> None:
    others = [
        path.stem
        for path in Path(campaigns.__file__).parent.glob("*.py")
        if path.stem not in RUN_NEEDS
    ]
    assert {"matrix", "gate", "soak", "compare", "controls", "replay"} <= set(others)
    code = (
        "import sys\n"
        "from jetproof.cli import main\n"
        "assert main(['run', 'no-such-suite']) == 2\n"
        f"names = [f'jetproof.campaigns.{{name}}' for name in {others!r}]\n"
        "names += ['pyspark', 'duckdb', 'jetproof_reports']\n"
        "print([name for name in names if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "no case matches 'no-such-suite'" in done.stderr
    assert done.stdout == "[]\n"


def test_version(jetproof: Command) -> None:
    assert jetproof("--version").out == f"jetproof {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("fly",),
        ("run", "--shard", "3/2"),
        ("run", "--shard", "0/2"),
        ("run", "--shard", "half"),
        ("run", "-j", "0"),
        ("run", "--spec", "adr-50@new"),
        ("replay",),
    ],
)
def test_a_wrong_command_line_exits_with_2(jetproof: Command, arguments: tuple[str, ...]) -> None:
    done = jetproof(*arguments)
    assert done.code == 2
    assert "usage: jetproof" in done.err


# Errors


@pytest.mark.parametrize(
    ("phase", "code"),
    [("load", 2), ("plan", 2), ("write", 2), ("start", 3), ("play", 3), ("adapter", 3)],
)
def test_the_phase_of_an_error_decides_the_exit_code(
    jetproof: Command,
    monkeypatch: pytest.MonkeyPatch,
    conforms: Validate,
    phase: Phase,
    code: int,
) -> None:
    def refuse() -> None:
        raise JetproofError("it cannot be\x1b[2J", phase=phase, hint="do something else")

    monkeypatch.setattr("jetproof.load.library.load_library", refuse)
    done = jetproof("list")
    assert (done.code, done.out) == (code, "")
    assert done.err == "jetproof: it cannot be\\x1b[2J\n  do something else\n"
    told = jetproof("list", "--json")
    assert told.code == code
    conforms("cli/error", told.document)


def test_an_unexpected_exception_is_called_a_bug_and_shows_its_place_on_request(
    jetproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble() -> None:
        raise RuntimeError("ouch")

    monkeypatch.setattr("jetproof.load.library.load_library", stumble)
    done = jetproof("list")
    assert done.code == 3
    assert "RuntimeError: ouch" in done.err
    assert "this is a bug in jetproof" in done.err
    assert "Traceback" not in done.err
    assert "Traceback" in jetproof("list", "-v").err
    monkeypatch.setenv("JETPROOF_DEBUG", "1")
    assert "Traceback" in jetproof("list").err


@pytest.mark.parametrize("command", [("list",), ("clauses",), ("schema", "case-file")])
def test_a_reader_that_goes_away_is_no_error(command: tuple[str, ...]) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "jetproof.cli", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdout is not None
    child.stdout.close()
    child.stdout = None
    _, err = child.communicate()
    assert err == b""


# list


def test_list_groups_the_cases_by_suite(jetproof: Command) -> None:
    done = jetproof("list", "adr-50/atomic/commit")
    assert done.code == 0
    assert done.out.startswith("adr-50/atomic/commit\n  ::")
    assert "::commit-1-stores-every-message" in done.out
    assert " cases in 1 suite" in done.out


def test_list_json_has_every_case(jetproof: Command, conforms: Validate) -> None:
    document = jetproof("list", "--json").document
    conforms("cli/list", document)
    assert len(document["cases"]) >= 30  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "pattern",
    [
        "adr-50/atomic/commit::commit-1-stores-every-message",
        "adr-50/atomic/comm*::commit-1*",
        "*::commit-1-stores-every-message",
    ],
)
def test_a_pattern_is_an_id_or_a_glob(jetproof: Command, pattern: str) -> None:
    cases = jetproof("list", "--json", pattern).document["cases"]
    ids = [case["case"] for case in cases]  # type: ignore[attr-defined]
    assert ids == ["adr-50/atomic/commit::commit-1-stores-every-message"]


def test_a_pattern_may_be_the_path_of_a_suite_or_of_a_folder_of_suites(jetproof: Command) -> None:
    by_name = jetproof("list", "--json", "adr-50/atomic/commit").out
    assert jetproof("list", "--json", suites_dir() / "adr-50" / "atomic" / "commit.yaml").out == (
        by_name
    )
    assert jetproof("list", "--json", suites_dir() / "adr-50").out == (
        jetproof("list", "--json", "adr-50").out
    )
    one = suites_dir() / "adr-50" / "atomic" / "commit.yaml"
    assert "1 case in 1 suite" in jetproof("list", f"{one}::commit-1-stores-every-message").out


def test_a_pattern_may_be_a_case_file_elsewhere(jetproof: Command, case_file: object) -> None:
    path: Path = case_file(PASSES, FAILS)  # type: ignore[operator]
    assert "2 cases in 1 suite" in jetproof("list", path).out
    assert "::fails\n\n1 case in 1 suite" in jetproof("list", f"{path}::fa*").out
    assert "2 cases in 1 suite" in jetproof("list", path.parent).out


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("adr-99", "no case matches 'adr-99'"),
        ("nowhere.yaml", "no such case file: nowhere.yaml"),
    ],
)
def test_a_pattern_that_names_nothing_is_a_mistake(
    jetproof: Command, pattern: str, message: str
) -> None:
    done = jetproof("list", pattern)
    assert done.code == 2
    assert message in done.err


def test_a_case_that_a_file_does_not_have_is_a_mistake(
    jetproof: Command, case_file: object
) -> None:
    done = jetproof("list", f"{case_file(PASSES)}::other")  # type: ignore[operator]
    assert done.code == 2
    assert "no case 'other' in" in done.err


def test_cases_can_be_chosen_by_clause_and_specification(jetproof: Command) -> None:
    cases = jetproof("list", "--json", "--clause", "A50-ATOMIC-042").document["cases"]
    assert cases
    assert all("A50-ATOMIC-042" in case["clauses"] for case in cases)  # type: ignore[attr-defined]
    assert jetproof("list", "--clause", "A50-NONE").code == 2
    assert jetproof("list", "--spec", "adr-50").code == 0
    assert jetproof("list", "--spec", "adr-99").code == 2


# clauses


def test_clauses_shows_each_sentence_with_its_cases(jetproof: Command) -> None:
    done = jetproof("clauses", "A50-ATOMIC-042")
    assert done.code == 0
    assert "A50-ATOMIC-042" in done.out
    assert "tested by adr-50/atomic/" in done.out
    assert "1 clause, 1 tested, 0 not" in done.out


def test_clauses_says_which_are_untested(jetproof: Command) -> None:
    listed = jetproof("clauses", "--json").document["clauses"]
    bare = [row["clause"] for row in listed if not row["cases"]]  # type: ignore[index]
    told = jetproof("clauses", "--untested").out
    assert [line.split()[0] for line in told.splitlines() if re.match("  [A-Z]", line)] == bare
    assert told.count("      untested\n") == len(bare)
    assert "tested by" not in told


def test_clauses_says_that_none_is_untested(jetproof: Command) -> None:
    done = jetproof("clauses", "--untested", "A50-ATOMIC-042")
    assert done.out == "no clause of these is untested\n"


def test_clauses_json(jetproof: Command, conforms: Validate) -> None:
    document = jetproof("clauses", "--json").document
    conforms("cli/clauses", document)
    tested = {row["clause"]: row["cases"] for row in document["clauses"]}  # type: ignore[attr-defined]
    assert tested["A50-ATOMIC-042"]


def test_an_unknown_clause_is_a_mistake(jetproof: Command) -> None:
    done = jetproof("clauses", "A99-*")
    assert done.code == 2
    assert "no clause matches 'A99-*'" in done.err


# validate


def test_validate_finds_the_suites_valid(jetproof: Command, conforms: Validate) -> None:
    done = jetproof("validate")
    assert done.code == 0, done.out
    assert done.out.startswith("valid: ")
    conforms("cli/validate", jetproof("validate", "--json").document)


def test_validate_lists_every_mistake_with_its_place(
    jetproof: Command, conforms: Validate, case_file: object
) -> None:
    broken = PASSES.replace("empty", "emtpy").replace("A50-ATOMIC-001", "A50-ATOMIC-999")
    path: Path = case_file(broken, FAILS)  # type: ignore[operator]
    done = jetproof("validate", path)
    assert done.code == 2
    lines = done.out.splitlines()
    assert lines[-1] == "2 mistakes"
    assert lines[0].startswith(f"{path}:7: unknown clause A50-ATOMIC-999")
    assert lines[1].startswith(f"{path}:10: unknown key 'emtpy'")
    document = jetproof("validate", "--json", path).document
    conforms("cli/validate", document)
    assert [row["line"] for row in document["mistakes"]] == [7, 10]  # type: ignore[attr-defined]


def test_validate_of_a_path_that_leads_nowhere_is_a_mistake(jetproof: Command) -> None:
    done = jetproof("validate", "nowhere")
    assert done.code == 2
    assert "no such file or folder: nowhere" in done.err


# schema


def test_schema_lists_what_is_published(jetproof: Command, conforms: Validate) -> None:
    document = jetproof("schema", "--json").document
    conforms("cli/schema", document)
    names = {row["name"] for row in document["schemas"]}  # type: ignore[attr-defined]
    assert {"case-file", "cli/run", "results/cell", "wire/pub-ack"} <= names


def test_schema_prints_one_by_its_name_or_the_end_of_it(jetproof: Command) -> None:
    assert jetproof("schema", "results/cell").document["title"] == "A line of cells.jsonl"
    assert jetproof("schema", "cell").out == jetproof("schema", "results/cell.json").out


def test_a_schema_that_does_not_exist_or_is_not_the_only_one_is_a_mistake(
    jetproof: Command,
) -> None:
    assert "no schema 'nothing'" in jetproof("schema", "nothing").err
    done = jetproof("schema", "run")
    assert done.code == 2
    assert "cli/run, results/run" in done.err


def test_every_command_has_a_published_schema_for_its_document() -> None:
    published = published_schemas()
    assert {f"cli/{command}" for command in COMMANDS} | {"cli/error"} <= set(published)


def test_every_published_schema_says_what_it_is_and_which_version() -> None:
    for folder in ("cli", "results"):
        paths = list((fixtures_dir() / "schemas" / folder).glob("*.json"))
        assert paths
        for path in paths:
            schema = json.loads(path.read_text(encoding="utf-8"))
            assert schema["$id"] == f"urn:jetproof:{folder}:{path.stem}:1"
            assert schema["title"]
            assert schema["description"]
