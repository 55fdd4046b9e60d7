"""The changed frame, the made-up message: pure functions from rules and frames to frames.

What cannot be done to a frame (adding to a text, a status without a block that can be rewritten) is
a `CannotChange`; an edit of something that is not there leaves the frame as it is.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from jetproof.model.matching import MISSING, parse_path
from jetproof.model.template import Env, render, render_text, text_of
from jetproof.wire.codec import encode
from jetproof.wire.frames import Connect, Err, Frame, Info, Msg, Pub, Sub
from jetproof.wire.headers import Headers, to_bytes
from jetproof.wire.rules.model import Add, Change, Edit, Plus, Put, Remove, Rename, Reply, Strip
from jetproof.wire.rules.selecting import document_of

_Frame = TypeVar("_Frame", bound=Frame)
_WithSubject = TypeVar("_WithSubject", bound=Msg | Pub | Sub)


class CannotChange(ValueError):
    """The rule asks for something that this frame does not allow."""


def changed(change: Change, frame: Frame, env: Env) -> Frame:
    """The frame with the change made; the same object if nothing is different."""
    match frame:
        case Info() | Connect():
            data = edited(frame.data, change.json, env)
            if not isinstance(data, Mapping):
                raise CannotChange(f"{frame.op} must stay a JSON object")
            result: Frame = replace(frame, data=data)
        case Sub():
            result = _subject(change, frame, env)
        case Msg() | Pub():
            frame_ = _subject(change, frame, env)
            result = replace(
                frame_,
                reply=_reply(change, frame.reply, env),
                headers=_headers(change, frame.headers, env),
                payload=_payload(change, frame_, env),
            )
        case _:
            return frame
    return frame if result == frame else _sendable(result)


def stripped(strip: Strip, frame: Frame) -> Frame:
    """The frame without the parts; the same object if it has none of them.

    A block that loses its last header goes with it: an empty one is another message."""
    if not isinstance(frame, (Msg, Pub)):
        return frame
    headers, reply, end = frame.headers, frame.reply, strip.reply_end
    if headers is not None:
        kept = tuple(item for item in headers.items_list if item[0] not in strip.headers)
        if len(kept) < len(headers.items_list):
            bare = not kept and headers.status is None
            headers = None if bare else _block(kept, headers.status, headers.description)
    if end is not None and reply is not None and reply.endswith(end) and reply != end:
        reply = reply[: -len(end)]
    edits = Change(json=tuple((path, Remove()) for path in strip.json))
    result = replace(frame, headers=headers, reply=reply, payload=_payload(edits, frame, {}))
    return frame if result == frame else _sendable(result)


def made(reply: Reply, subject: str, sid: str, env: Env) -> Msg | Err:
    """A message (or `-ERR`) that no server sent."""
    if reply.error is not None:
        return _sendable(Err(render_text(reply.error, env)))
    headers = None
    if reply.headers or reply.status is not None:
        status = None if reply.status is None else _status(render(reply.status, env))
        headers = _block(
            tuple((name, render_text(value, env)) for name, value in reply.headers),
            status,
            "" if reply.description is None else render_text(reply.description, env),
        )
    payload = render(reply.payload, env)
    data = _json_bytes(payload) if reply.is_json else to_bytes(text_of(payload))
    answer_to = None if reply.reply is None else render_text(reply.reply, env)
    return _sendable(Msg(subject, sid, answer_to, headers, data))


def _sendable(frame: _Frame) -> _Frame:
    try:
        encode(frame)
    except ValueError as error:
        raise CannotChange(str(error)) from None
    return frame


def edited(document: object, edits: tuple[tuple[str, Edit], ...], env: Env) -> object:
    """A copy of a document with the edits made, in order."""
    if not edits:
        return document
    document = copy.deepcopy(document)
    for path, edit in edits:
        *way, last = parse_path(path)
        place: Any = document
        for number, step in enumerate(way):
            if isinstance(place, dict) and isinstance(step, str) and isinstance(edit, Put):
                # Only a value that is to be there makes the way to it.
                follows = (*way, last)[number + 1]
                place = place.setdefault(step, {} if isinstance(follows, str) else [])
            else:
                place = _at(place, step)
        _edit(place, last, edit, env)
    return document


def _at(place: Any, step: str | int) -> Any:
    if isinstance(place, dict) and isinstance(step, str):
        return place.get(step, MISSING)
    if isinstance(place, list) and isinstance(step, int) and -len(place) <= step < len(place):
        return place[step]
    return MISSING


def _edit(place: Any, step: str | int, edit: Edit, env: Env) -> None:
    present = _at(place, step) is not MISSING
    match edit:
        case Put(value):
            if present or (isinstance(place, dict) and isinstance(step, str)):
                place[step] = render(value, env)
        case Remove() if present:
            del place[step]
        case Rename(name) if present and isinstance(place, dict):
            # In its old place: only the name is to differ.
            items = [(name if key == step else key, value) for key, value in place.items()]
            place.clear()
            place.update(items)
        case Add(value) | Plus(value) if present:
            place[step] = _sum(place[step], render(value, env))
        case _:
            pass


def _sum(old: object, more: object) -> object:
    if isinstance(old, list):
        return [*old, more]
    numbers = (int, float)
    if isinstance(old, numbers) and isinstance(more, numbers) and not isinstance(old, bool):
        return old + more
    raise CannotChange(f"{more!r} cannot be added to {old!r}")


def _subject(change: Change, frame: _WithSubject, env: Env) -> _WithSubject:
    if change.subject is None:
        return frame
    return replace(frame, subject=render_text(change.subject.value, env))


def _reply(change: Change, reply: str | None, env: Env) -> str | None:
    match change.reply:
        case Put(value):
            return render_text(value, env)
        case Remove():
            return None
        case _:
            return reply


def _headers(change: Change, headers: Headers | None, env: Env) -> Headers | None:
    if change.no_headers:
        return None
    if not (change.headers or change.status is not None or change.description is not None):
        return headers
    old = headers or Headers()
    items = list(old.items_list)
    for name, edit in change.headers:
        items = _edit_header(items, name, edit, env)
    status, description = old.status, old.description
    match change.status:
        case Put(value):
            status = _status(render(value, env))
        case Remove():
            status, description = None, ""
        case _:
            pass
    if change.description is not None:
        description = render_text(change.description.value, env)
    if tuple(items) == old.items_list and (status, description) == (old.status, old.description):
        return headers
    return _block(tuple(items), status, description)


def _edit_header(
    items: list[tuple[str, str]], name: str, edit: Edit, env: Env
) -> list[tuple[str, str]]:
    present = any(key == name for key, _ in items)
    match edit:
        case Remove():
            return [item for item in items if item[0] != name]
        case Rename(new):
            return [(new if key == name else key, value) for key, value in items]
        case Add(value):
            return [*items, (name, render_text(value, env))]
        case Plus(value) if present:
            return [
                (key, _plus(text, render(value, env)) if key == name else text)
                for key, text in items
            ]
        case Put(value):
            rendered = render(value, env)
            values = rendered if isinstance(rendered, list) else [rendered]
            lines = [(name, text_of(item)) for item in values]
            place = next((i for i, item in enumerate(items) if item[0] == name), len(items))
            rest = [item for item in items[place:] if item[0] != name]
            return [*items[:place], *lines, *rest]
        case _:
            return items


def _plus(text: str, more: object) -> str:
    try:
        return str(int(text) + int(text_of(more)))
    except ValueError:
        raise CannotChange(f"{more!r} cannot be added to the header value {text!r}") from None


def _payload(change: Change, frame: Msg | Pub, env: Env) -> bytes:
    if change.payload is not None:
        frame = replace(frame, payload=to_bytes(render_text(change.payload.value, env)))
    if not change.json:
        return frame.payload
    document = document_of(frame)
    if document is MISSING:
        return frame.payload
    new = edited(document, change.json, env)
    return frame.payload if new == document and _alike(new, document) else _json_bytes(new)


def _alike(new: object, old: object) -> bool:
    # 1 == True == 1.0 in Python, and the order of keys does not count; on the wire they do.
    return _json_bytes(new) == _json_bytes(old)


def _status(value: object) -> int:
    try:
        return int(text_of(value))
    except ValueError:
        raise CannotChange(f"{value!r} is not a status") from None


def _block(items: tuple[tuple[str, str], ...], status: int | None, description: str) -> Headers:
    try:
        return Headers(items, status=status, description=description)
    except ValueError as error:
        raise CannotChange(str(error)) from None


def _json_bytes(document: Any) -> bytes:
    return to_bytes(json.dumps(document, separators=(",", ":"), ensure_ascii=False))
