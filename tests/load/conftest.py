"""A small data root of its own: the real file schemas, and little else for cases to refer to.

Messages list what there is, so the tests of messages must not depend on catalogues that grow.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from jetproof.data import fixtures_dir
from jetproof.load.library import Library, load_library
from support import demo

CLAUSES = f"""\
{demo.CLAUSES}\
  - {{id: DEMO-003, section: Two, level: must, actor: both, revisions: {{from: 2}}, clause: It waits.}}
  - {{id: DEMO-004, section: Two, level: must, actor: server, status: silent, clause: Who knows.}}
"""
ERRORS = """\
errors:
  - {err_code: 10071, http: 400, name: A, description: "wrong last sequence: {seq}"}
  - {err_code: 10176, http: 400, name: B, description: batch publish is incomplete}
"""
FEATURES = """\
features:
  - name: expected-last-sequence
    about: A message is refused if the stream has gone on
    headers: [Nats-Expected-Last-Sequence]
  - name: min_last_seq
    about: A read waits
    fields:
      - {subjects: [$JS.API.DIRECT.GET.>], json: [min_last_seq]}
    calls:
      - {ops: [direct.get], parameters: [min_last_seq]}
    servers: "<2.12.0"
"""


def make_root(root: Path) -> Path:
    """Writes the data root and returns it."""
    real = fixtures_dir()
    wire = root / "fixtures" / "schemas" / "wire"
    wire.mkdir(parents=True)
    for path in (real / "schemas").glob("*-file.json"):
        shutil.copy(path, wire.parent)
    for name in ("common", "error-reply", "pub-ack-plain"):
        shutil.copy(real / "schemas" / "wire" / f"{name}.json", wire)
    servers = root / "fixtures" / "servers"
    servers.mkdir()
    (servers / "default.conf").write_text("# about: Nothing special.\n")
    (servers / "low-limits.conf").write_text("# about: Less of everything.\n")
    (servers / "guests.conf").write_text(
        "# about: Guests.\n# accounts: JP, B, SYS\n# users: guest@B, owner@JP\n"
    )
    (servers / "speaks.yaml").write_text("demo:\n  - {from: 2.12.0, revision: 1}\n")
    (root / "fixtures" / "errors.yaml").write_text(ERRORS)
    (root / "fixtures" / "features.yaml").write_text(FEATURES)
    suite = root / "suites" / "demo"
    suite.mkdir(parents=True)
    (suite / "clauses.yaml").write_text(CLAUSES)
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A data root that a test may add files to."""
    return make_root(tmp_path / "root")


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The library of a data root without cases."""
    return load_library(make_root(tmp_path_factory.mktemp("library")))
