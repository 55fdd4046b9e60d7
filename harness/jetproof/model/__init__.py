"""Clauses, cases, verdicts, ledger: frozen data and pure functions. No I/O."""
