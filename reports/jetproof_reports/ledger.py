"""What the ledger says of a deviation: results name an entry, the suites explain it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from jetproof.data import suites_dir
from jetproof.errors import JetproofError

if TYPE_CHECKING:
    import pyarrow as pa

WORDS = ("text", "does")


def explained(deviations: pa.Table) -> pa.Table:
    """The table with two columns more: what the text says, and what servers do."""
    import pyarrow as pa

    ledger = _entries()
    ids = deviations["deviation"].to_pylist()
    for word in WORDS:
        words = [ledger.get(entry, {}).get(word) for entry in ids]
        deviations = deviations.append_column(word, pa.array(words, pa.string()))
    return deviations


def _entries() -> dict[str, dict[str, str]]:
    """By id. Suites that cannot be read take nothing from a report but these words."""
    try:
        text = (suites_dir() / "deviations.yaml").read_text(encoding="utf-8")
        entries = yaml.safe_load(text)["deviations"]
        return {
            str(entry["id"]): {word: " ".join(str(entry[word]).split()) for word in WORDS}
            for entry in entries
        }
    except (JetproofError, OSError, yaml.YAMLError, KeyError, TypeError):
        return {}
