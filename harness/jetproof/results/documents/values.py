"""Values that documents share."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

Moment = Annotated[
    str,
    Meta(
        description="UTC, ISO 8601.",
        pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$",
    ),
]
Amount = Annotated[float, Meta(ge=0)]
