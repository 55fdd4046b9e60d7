"""The history of specifications in a report, from catalogues that may be broken or gone."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'jetproof[reports]'")

from jetproof.errors import JetproofError
from jetproof.load.library import load_library
from jetproof_reports import revisions as module

HEAD = """\
spec: demo
revision: 1
revisions:
  - {revision: 0, note: A draft}
  - {revision: 1, date: "2026-01-02", server: 2.14.0, api_level: 4, note: "Two\\n  lines"}
clauses:
  - this is not read
"""


def test_it_is_what_the_catalogues_say() -> None:
    told = [
        (row["spec"], row["revision"], row["date"], row["server"], row["api_level"])
        for row in module.revisions().to_pylist()
    ]
    known = [
        (spec.id, one.number, one.date, one.server, one.api_level)
        for spec in load_library().specs.values()
        for one in spec.history
    ]
    assert sorted(told, key=str) == sorted(known, key=str)


def test_a_broken_catalogue_takes_only_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"demo": HEAD, "odd": "spec: [", "bare": "spec: bare\n", "text": "just text\n"}
    for name, text in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "clauses.yaml").write_text(text)
    (tmp_path / "demo" / "other.yaml").write_text("spec: other\n")
    monkeypatch.setattr(module, "suites_dir", lambda: tmp_path)
    assert module.revisions().to_pylist() == [
        {"spec": "demo", "revision": 0, "date": None, "server": None, "api_level": None,
         "note": "A draft", "in_force": False},
        {"spec": "demo", "revision": 1, "date": "2026-01-02", "server": "2.14.0", "api_level": 4,
         "note": "Two lines", "in_force": True},
    ]  # fmt: skip


def test_without_suites_there_is_no_history(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> Path:
        raise JetproofError("no suites", phase="load")

    monkeypatch.setattr(module, "suites_dir", gone)
    assert module.revisions().num_rows == 0
