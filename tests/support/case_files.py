"""Cases whose verdicts are known, and files of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

HEAD = """\
suite: adr-50/trial
about: Cases for the tests of commands
given:
  stream: {subjects: ["$stream.>"], allow_atomic: true}
cases:
"""
PASSES = """\
  - case: passes
    clauses: [A50-ATOMIC-001]
    steps:
      - request: {subject: $stream.a, headers: {Nats-Batch-Id: $batch, Nats-Batch-Sequence: 1}}
        reply: {empty: true}
"""
FAILS = """\
  - case: fails
    clauses: [A50-ATOMIC-001]
    steps:
      - request: {subject: $stream.a, payload: hello}
        reply: {json: {seq: 7}}
      - stream: {messages: 9}
"""
CHANGED = """\
  - case: changed
    clauses: [A50-ATOMIC-001]
    steps:
      - publish:
          subject: $stream.a
          headers: {Nats-Batch-Id: $batch, Nats-Batch-Sequence: 1, Nats-Expected-Last-Msg-Id: x}
      - request:
          subject: $stream.b
          headers: {Nats-Batch-Id: $batch, Nats-Batch-Sequence: 2, Nats-Batch-Commit: 1}
        reply: {error: any}
"""
"""What releases answer differently."""
HOSTILE = """\
  - case: hostile
    clauses: [A50-ATOMIC-001]
    steps:
      - subscribe: {subject: $stream.>, to: box}
      - publish: {subject: $stream.a, payload: "\\e[2J\\e]0;owned\\a\\u202eback\\nforged"}
      - receive: {from: box}
        message: {payload: harmless}
"""
SLOW = """\
  - case: slow
    clauses: [A50-ATOMIC-001]
    budget: 120s
    steps:
      - silence: {on: replies, for: 60s}
"""

# For the fake servers of `tests/fakes`.
COUNTS = """\
  - case: counts
    clauses: [A50-ATOMIC-001]
    steps:
      - request: {subject: $stream.a, payload: one}
        reply: {json: {seq: 1}}
      - request: {subject: $stream.b, payload: two}
        reply: {json: {seq: 2}}
"""
ASKS = """\
  - case: asks
    clauses: [A50-ATOMIC-001]
    steps:
      - request: {subject: $JS.API.INFO}
        reply: {json: {memory: {gte: 0}}}
"""
CRASHES = """\
  - case: crashes
    clauses: [A50-ATOMIC-001]
    steps:
      - request: {subject: a.crash, within: 200ms}
        reply: {status: 503}
"""

# For client libraries; `{clause}` is one that binds them.
CLIENT_HEAD = """\
suite: {suite}
about: Cases for libraries
given:
  stream: {{subjects: ["$stream.>"], allow_atomic: true}}
cases:
"""
COMMITS = """\
  - case: commits
    clauses: [{clause}]
    steps:
      - call: {{op: batch.open, as: b}}
      - call: {{op: batch.add, of: b, subject: $stream.a, data: m1}}
      - call: {{op: batch.commit, of: b, subject: $stream.b, data: m2}}
        label: committed
        answer: any
      - wire: {{op: PUB, subject: $stream.b}}
        label: commit
        message: {{headers: {{Nats-Batch-Commit: 1}}}}
"""
CLOSES = """\
  - case: closes
    clauses: [{clause}]
    steps:
      - call: {{op: batch.open, as: b}}
      - call: {{op: batch.close, of: b}}
        answer: any
"""
WRONG_COMMIT = "commit-value-unknown"
"""The knob that makes the reference client fail `commits`: the commit header says yes."""

CaseFile = Callable[..., Path]


@pytest.fixture
def case_file(tmp_path: Path) -> CaseFile:
    """Writes a case file of the cases given."""

    def write(*cases: str, name: str = "trial.yaml") -> Path:
        path = tmp_path / name
        path.write_text(HEAD + "".join(cases))
        return path

    return write
