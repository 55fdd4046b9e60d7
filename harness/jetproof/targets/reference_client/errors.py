"""What the reference client raises: a name, a text, and the numbers that the server gave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ClientError(Exception):
    """An error as the application is told it; `body` is its form in the protocol of adapters."""

    def __init__(
        self,
        kind: str,
        text: str,
        *,
        code: int | None = None,
        err_code: int | None = None,
        status: int | None = None,
        description: str | None = None,
    ) -> None:
        super().__init__(text)
        self.kind = kind
        self.text = text
        self.code = code
        self.err_code = err_code
        self.status = status
        self.description = description

    def body(self) -> dict[str, Any]:
        told = {
            "code": self.code,
            "err_code": self.err_code,
            "status": self.status,
            "description": self.description,
        }
        given = {name: value for name, value in told.items() if value is not None}
        return {"type": self.kind, "text": self.text, **given}


class Unsupported(Exception):
    """The operation, or a parameter of it, is one that this client does not have."""


def api_error(error: Mapping[str, Any]) -> ClientError:
    """The error of a JetStream reply, nothing of it lost."""
    description = str(error.get("description", ""))
    return ClientError(
        "APIError",
        f"{description} ({error.get('err_code', error.get('code'))})",
        code=error.get("code"),
        err_code=error.get("err_code"),
        description=description,
    )


def status_error(kind: str, status: int | None, description: str) -> ClientError:
    """A status that is told to the application."""
    text = f"{status} {description}".strip()
    return ClientError(kind, text, status=status, description=description)


def invalid(text: str) -> ClientError:
    """An option that is refused before anything is sent."""
    return ClientError("InvalidOption", text)


def timed_out(what: str, seconds: float) -> ClientError:
    return ClientError("Timeout", f"{what}: nothing within {seconds:g} s")
