"""The protocol of Jetproof for adapters in Python: calls in, answers and events out. It knows no library."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import inspect
import itertools
import json
import platform
import sys
from collections.abc import Callable, Coroutine, Iterable, Mapping
from importlib import metadata
from typing import Any


class Unsupported(Exception):
    """The library has no call for it, or not with that parameter."""


class NotOpen(Exception):
    """The library gave nothing that could be called."""


# Values


def given(**values: Any) -> dict[str, Any]:
    """What was given, or what the library gave; the rest is left out, so that defaults act."""
    return {name: value for name, value in values.items() if value is not None}


def seconds(**milliseconds: float | None) -> dict[str, float]:
    return {name: value / 1000 for name, value in given(**milliseconds).items()}


def digits(**values: int | None) -> dict[str, str]:
    """64-bit numbers as the protocol has them."""
    return {name: str(value) for name, value in given(**values).items()}


def decoded(data: str) -> bytes:
    return base64.b64decode(data)


def encoded(data: bytes | None) -> str:
    return base64.b64encode(data or b"").decode()


def pairs(headers: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Headers, of a mapping from names to values or to lists of values."""
    return [
        (name, value)
        for name, values in (headers or {}).items()
        for value in ([values] if isinstance(values, str) else values)
    ]


def one_value_each(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Headers for a library that takes one value for each name."""
    items = list(headers)
    if len(dict(items)) < len(items):
        raise Unsupported("headers with one name twice")
    return dict(items)


# Calls into the library


def called(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Calls the library; what it has no parameter for, perhaps in an older release, is unsupported."""
    known = inspect.signature(function).parameters if options else {}
    open_end = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    if not open_end and (unknown := options.keys() - known.keys()):
        raise Unsupported(f"{function.__name__} with {min(unknown)}")
    return function(*arguments, **options)


def check_fields(what: str, config: Mapping[str, Any], kind: Any) -> None:
    """A configuration for a dataclass of the library; a field that it lacks is unsupported."""
    if unknown := config.keys() - {field.name for field in dataclasses.fields(kind)}:
        raise Unsupported(f"{what} with {min(unknown)}")


# The adapter


class _Named(dict[str, Any]):
    def __missing__(self, name: str) -> Any:
        raise NotOpen(f"nothing was opened under the name {name}")


class Adapter:
    """A public coroutine method of a subclass is an operation: `kv_put` is `kv.put`.

    Its arguments are the parameters that the library can express (`as_` stands for `as`); any other
    is unsupported. What it returns is the `ok` of the answer, what it raises the `error`.
    """

    library = ""
    """The distribution that is tested."""
    parts: tuple[str, ...] = ()
    """Other distributions that take part."""
    claims: Mapping[str, int] = {}
    """The revision of each text that the library claims."""

    def __init__(self) -> None:
        self.opened = _Named()
        """What operations opened, by the name `as`."""
        self._messages = _Named()
        self._names = (f"m{number}" for number in itertools.count(1))
        self._tasks: set[asyncio.Task[Any]] = set()
        self._out, sys.stdout = sys.stdout, sys.stderr  # standard output is for the protocol alone
        methods = inspect.getmembers(type(self), inspect.iscoroutinefunction)
        self._operations = {
            name.replace("_", ".", 1): method for name, method in methods if name[0] != "_"
        }

    # What a subclass says of its library

    async def _disconnect(self) -> None:
        """Ends the connection, if there is one."""

    def _fields(self, error: BaseException) -> dict[str, Any]:
        """What its errors offer beside type and text: code, err_code, status, description."""
        return {}

    # What a subclass uses

    def keep(self, message: Any) -> str:
        """Gives a name to a message that can be acknowledged."""
        name = next(self._names)
        self._messages[name] = message
        return name

    def kept(self, name: str) -> Any:
        return self._messages[name]

    def beside(self, work: Coroutine[Any, Any, Any]) -> None:
        """Runs something beside the calls, until it ends or the adapter is closed."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def event(self, event: str, of: str | None = None, /, **more: Any) -> None:
        head = given(event=event, of=of)
        error = more.pop("error", None)
        self._say(head | more | ({} if error is None else {"error": self.failure(error)}))

    def failure(self, error: BaseException) -> dict[str, Any]:
        """An error as the protocol has it."""
        return {"type": type(error).__name__, "text": str(error), **self._fields(error)}

    # Operations of every adapter

    async def hello(self, protocol: int) -> dict[str, Any]:
        return {
            "protocol": 1,
            "library": self.library,
            "version": metadata.version(self.library),
            "language": "python",
            "runtime": f"{platform.python_implementation()} {platform.python_version()}",
            "parts": {name: metadata.version(name) for name in (self.library, *self.parts)},
            "capabilities": [name for name in self._operations if name != "hello"],
            "claims": dict(self.claims),
        }

    async def close(self) -> None:
        await self._disconnect()
        for task in self._tasks:
            task.cancel()
        self.opened.clear()
        self._messages.clear()

    # The protocol

    def serve(self) -> None:
        """Answers calls until there are no more: the last line of the program."""
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        lines = asyncio.StreamReader(limit=2**30)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        calls: set[asyncio.Task[None]] = set()
        while line := await lines.readline():
            call = asyncio.create_task(self._answer(**json.loads(line)))
            calls.add(call)
            call.add_done_callback(calls.discard)
        await self.close()

    async def _answer(self, id: int, op: str, **parameters: Any) -> None:
        if "as" in parameters:
            parameters["as_"] = parameters.pop("as")
        try:
            if op not in self._operations:
                raise Unsupported(f"no API for {op}")
            result = await called(self._operations[op], self, **parameters)
            self._say({"id": id, "ok": result or {}})
        except Unsupported as reason:
            self._say({"id": id, "unsupported": str(reason)})
        except (Exception, asyncio.CancelledError) as error:
            # A library may cancel the requests that are under way when it is closed.
            self._say({"id": id, "error": self.failure(error)})

    def _say(self, line: Mapping[str, Any]) -> None:
        self._out.write(json.dumps(line, default=str) + "\n")
        self._out.flush()
