"""What a connection says of itself in CONNECT."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from jetproof import __version__

CONNECT_OPTIONS: Final[Mapping[str, Any]] = {
    "verbose": False,
    "pedantic": False,
    "echo": True,
    "headers": True,
    "no_responders": True,
    "tls_required": False,
    "protocol": 1,
    "lang": "python",
    "version": __version__,
    "name": "jetproof",
}
"""The fields of CONNECT unless told otherwise."""


def connect_options(
    overrides: Mapping[str, Any] | None,
    *,
    user: str | None = None,
    password: str | None = None,
    token: str | None = None,
    name: str | None = None,
) -> dict[str, Any]:
    """The defaults with what is given; `overrides` win, and None in them removes a field."""
    given = {"user": user, "pass": password, "auth_token": token, "name": name}
    said = dict(CONNECT_OPTIONS)
    said.update({key: value for key, value in given.items() if value is not None})
    said.update(overrides or {})
    return {key: value for key, value in said.items() if value is not None}
