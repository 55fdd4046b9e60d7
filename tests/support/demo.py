"""A specification with a clause for servers and one for clients, for libraries of tests."""

from __future__ import annotations

CLAUSES = """\
spec: demo
title: A demonstration
revision: 1
revisions: [{revision: 1}, {revision: 2}]
clauses:
  - {id: DEMO-001, section: One, level: must, actor: server, clause: It answers.}
  - {id: DEMO-002, section: One, level: must, actor: client, clause: It asks.}
"""
