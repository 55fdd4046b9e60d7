"""What the reference layer speaks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jetproof.model.versions import Version

SPEAKS: Final = ("adr-53", "adr-50/fast-ingest/rev-7")
"""The specifications, or parts of their suites, that the layer answers for."""

REVISIONS: Final[Mapping[str, int]] = {"adr-50": 7, "adr-53": 4}
"""The revision that the layer speaks, where it is another than that of the release behind it."""

FIRST_RELEASE: Final = Version(2, 12, 0)
"""The first release that the layer can stand before: these specifications begin with it."""
