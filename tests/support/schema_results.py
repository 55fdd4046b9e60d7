"""What was judged of a schema, made up."""

from __future__ import annotations

from typing import Any

from jetproof.model.verdict import SchemaResult, Verdict, Violation


def schema_result(
    schema: str = "pub-ack", verdict: Verdict = Verdict.PASS, **more: object
) -> SchemaResult:
    given: dict[str, Any] = {
        "server": "2.15.1",
        "provider": "embedded",
        "target": "2.15.1",
        "seen": 12,
        **more,
    }
    return SchemaResult(schema=schema, verdict=verdict, **given)


def broken_schema(*messages: str, **more: object) -> SchemaResult:
    """One that messages do not fit, in so many ways."""
    violations = tuple(Violation(f"p{n}", text, "s::c") for n, text in enumerate(messages))
    return schema_result(
        verdict=Verdict.FAIL,
        violations=violations,
        broken=len(violations),
        never_right=True,
        **more,
    )
