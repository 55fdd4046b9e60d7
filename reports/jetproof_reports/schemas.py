"""Every table and its columns: the one place of column names and types.

Tables of journals have the fields of their rows (`jetproof.results.rows`). Others are written down
once, in the small type language that Spark prints (`array<string>`, `map<string,bigint>`).
`columns.spark_schema` and `columns.arrow_schema` turn either into what both sides need. Columns are
only ever added: a file that lacks one is read with nulls.

Source tables are what a run folder holds. Derived tables of one run (`DERIVED`) are computed once a
run and kept in a history. Everything in `REPORT` is computed for one report.
"""

from __future__ import annotations

from jetproof.results.rows import CellRow, CheckRow, ClauseRow, FrameRow
from jetproof_reports.columns import Columns, columns, columns_of

VERSION = 1
"""Raised when a reader of older files would misread newer ones; new columns do not raise it."""

HEADERS = "array<struct<name:string,value:string>>"
LINE = (
    "struct<step:string,dir:string,connection:string,op:string,subject:string,reply:string,"
    f"status:int,description:string,headers:{HEADERS},payload:string,note:string>"
)

# -- what identifies a cell, and with what it is compared ----------------------------------------
CELL_KEY = ("run_id", "cell_no")
CONTENT = (
    "case", "case_hash", "spec_hash", "server", "provider", "build", "topology", "client",
)  # fmt: skip

RUNS = columns("""
    run_id string
    started_at string
    finished_at string
    jetproof string
    python string
    platform string
    cores int
    time_factor double
    suite_hash string
    partial string
    interrupted boolean
    wall_ms double
    targets array<string>
    command string
    folder string
    cells bigint
    checks bigint
    frames bigint
    clauses bigint
    schema_version int
    source string
    libraries array<struct<name:string,parts:string,runtime:string,claims:map<string,int>>>
""")

_OF_RUN = {"run_id": "string"}
_OF_CELL = {
    **_OF_RUN,
    "cell_no": "int",
    "case": "string",
    "server": "string",
    "client": "string",
}
"""What rows of a cell know of it, in the place of its name."""
_NAMES_CELL = ("run", "cell", "spec_revision", "target", "attempt")

CELLS = {
    **_OF_RUN,
    "cell_no": "int",
    **columns_of(CellRow, without=("run",)),
    "schema": "string",
    "release_key": "bigint",
    "library": "string",
    "client_key": "bigint",
    "spec_hash": "string",
    "harness": "string",
    "build": "string",
    "run_at": "string",
}
"""Everything that has a verdict. `schema` is null for cells, and names the wire schema of a row
that is about all messages of one kind."""

CHECKS = {**_OF_CELL, **columns_of(CheckRow, without=_NAMES_CELL)}

FRAMES = {**_OF_CELL, **columns_of(FrameRow, without=_NAMES_CELL), "headers": HEADERS}

CLAUSES = {**_OF_RUN, **columns_of(ClauseRow, without=("run",))}

SOURCES: dict[str, Columns] = {
    "runs": RUNS,
    "cells": CELLS,
    "checks": CHECKS,
    "frames": FRAMES,
    "clauses": CLAUSES,
}


# -- derived from one run, once --------------------------------------------------------------------
MARKED_CELLS = {**CELLS, "fingerprint": "string"}

TRANSCRIPTS = columns(f"""
    run_id string
    fingerprint string
    transcript array<{LINE}>
""")

LATENCY_HIST = columns("""
    run_id string
    measure string
    case string
    step string
    server string
    client string
    buckets array<int>
    max double
""")

ERRORS_SEEN = columns("""
    run_id string
    err_code int
    case string
    server string
    count bigint
""")

FIELDS_SEEN = columns("""
    run_id string
    where string
    name string
    server string
    count bigint
""")

EVIDENCE = CHECKS

DERIVED: dict[str, Columns] = {
    "cells": MARKED_CELLS,
    "transcripts": TRANSCRIPTS,
    "latency_hist": LATENCY_HIST,
    "errors_seen": ERRORS_SEEN,
    "fields_seen": FIELDS_SEEN,
    "evidence": EVIDENCE,
    "frames": FRAMES,
}

# -- computed for a report ---------------------------------------------------------------------------
MATRIX = columns("""
    case string
    suite string
    spec string
    spec_revision int
    topology string
    client string
    server string
    release_key bigint
    provider string
    verdict string
    reason string
    position map<string,string>
    deviation string
    fingerprint string
    case_hash string
    run_id string
    attempt int
    ms double
    kind string
    severity string
    upstream string
    plays array<string>
    never_right boolean
    edition string
    scored boolean
""")

REGRESSIONS = columns("""
    case string
    topology string
    client string
    side_a string
    side_b string
    kind string
    verdict_a string
    verdict_b string
    reason_a string
    reason_b string
    position_a string
    position_b string
    what_moved array<string>
    server_a string
    server_b string
    provider_a string
    provider_b string
    run_id_a string
    run_id_b string
    fingerprint_a string
    fingerprint_b string
""")

COVERAGE = columns("""
    spec string
    clause string
    section string
    level string
    status string
    actor string
    text string
    applies_from string
    revision_from int
    revision_to int
    replaces string
    cases array<string>
    servers_run bigint
    clients array<string>
    verdicts map<string,bigint>
    covered boolean
    reference boolean
""")

COVERAGE_ERRORS = columns("""
    err_code int
    servers array<string>
    cases array<string>
    count bigint
""")

COVERAGE_SCHEMAS = columns("""
    schema string
    seen bigint
    invalid bigint
    servers array<string>
    verdicts map<string,bigint>
""")

COVERAGE_FIELDS = columns("""
    where string
    name string
    servers array<string>
    count bigint
""")

FLAKINESS = columns("""
    case string
    server string
    provider string
    topology string
    client string
    case_hash string
    runs bigint
    plays bigint
    verdicts map<string,bigint>
    flaky boolean
""")

LATENCY = columns("""
    measure string
    case string
    step string
    server string
    client string
    n bigint
    p50 double
    p90 double
    p99 double
    max double
    exact boolean
""")

FIRST_CHANGE = columns("""
    case string
    spec_revision int
    topology string
    client string
    provider string
    what string
    from_server string
    to_server string
    from_client string
    to_client string
    release_key bigint
    from_value string
    to_value string
""")

FINGERPRINTS = columns(f"""
    case string
    topology string
    client string
    server string
    release_key bigint
    provider string
    spec_revision int
    case_hash string
    fingerprint string
    runs bigint
    stable boolean
    transcript array<{LINE}>
""")

POSITIONS = columns("""
    spec string
    spec_revision int
    suite string
    case string
    topology string
    client string
    provider string
    name string
    value string
    clauses array<string>
    servers array<string>
""")

TRENDS = columns("""
    run_id string
    started_at string
    spec string
    server string
    provider string
    client string
    verdict string
    cells bigint
""")

DEVIATIONS = columns("""
    deviation string
    library string
    clients array<string>
    cases array<string>
    servers array<string>
    clauses array<string>
    reason string
    verdicts map<string,bigint>
    kind string
    severity string
    upstream string
    first_server string
    last_server string
""")

REPORT: dict[str, Columns] = {
    "matrix": MATRIX,
    "regressions": REGRESSIONS,
    "coverage": COVERAGE,
    "coverage_errors": COVERAGE_ERRORS,
    "coverage_schemas": COVERAGE_SCHEMAS,
    "coverage_fields": COVERAGE_FIELDS,
    "flakiness": FLAKINESS,
    "latency": LATENCY,
    "first_change": FIRST_CHANGE,
    "fingerprints": FINGERPRINTS,
    "positions": POSITIONS,
    "deviations": DEVIATIONS,
    "trends": TRENDS,
}
