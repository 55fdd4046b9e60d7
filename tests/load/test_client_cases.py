"""Cases for client libraries: what a call passes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from jetproof.load.library import Library, load_cases
from jetproof.load.mistakes import LoadError
from jetproof.model.client import Call
from jetproof.model.template import render


def call(library: Library, folder: Path, data: str) -> Call:
    path = folder / "f.yaml"
    step = f"      - call: {{op: publish, subject: a, data: {data}}}"
    head = "suite: demo/client/f\nabout: Calls\ncases:\n  - case: c\n    clauses: [DEMO-002]\n"
    path.write_text(f"{head}    steps:\n{step}\n")
    [case] = load_cases([path], library)
    [only] = case.steps
    assert isinstance(only, Call)
    return only


@pytest.mark.parametrize(
    ("data", "sent"),
    [
        ("hello", b"hello"),
        ("{text: ab, times: 3}", b"ababab"),
        ('{hex: "00ff 24"}', b"\x00\xff$"),
    ],
)
def test_payloads_are_text_a_repeated_text_or_bytes(
    library: Library, tmp_path: Path, data: str, sent: bytes
) -> None:
    value = render(call(library, tmp_path, data).parameters["data"], {})
    assert isinstance(value, str)
    assert value.encode("utf-8", "surrogateescape") == sent


def test_bytes_that_are_none(library: Library, tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="hex must be bytes such as '00ff', not '0g'"):
        call(library, tmp_path, "{hex: 0g}")
