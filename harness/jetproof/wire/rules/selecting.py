"""Is this frame meant? Pure functions over selectors and frames."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jetproof.model.matcher import Matcher
from jetproof.model.matching import MISSING, WireText, at_path, mismatch
from jetproof.model.template import Env, Scalar, UnknownVariable, render_text
from jetproof.wire.frames import Connect, Frame, Info, Msg, Pub
from jetproof.wire.headers import Headers, to_text
from jetproof.wire.rules.model import Selector, Sender, Wildcard


def subject_matches(pattern: str, subject: str) -> bool:
    """Whether a subject is covered by a pattern with `*` (one token) and `>` (one or more)."""
    if pattern == subject:
        return True
    wanted = pattern.split(".")
    tokens = subject.split(".")
    if wanted[-1] == ">":
        if len(tokens) < len(wanted):
            return False
        wanted = wanted[:-1]
        tokens = tokens[: len(wanted)]
    return len(wanted) == len(tokens) and all(
        want in ("*", token) for want, token in zip(wanted, tokens, strict=True)
    )


class FrameView:
    """A frame and what can be asked of it; its JSON is read once, and only if asked for."""

    __slots__ = ("_document", "frame", "sender")

    def __init__(self, sender: Sender, frame: Frame) -> None:
        self.sender = sender
        self.frame = frame
        self._document: object = _UNREAD

    @property
    def headers(self) -> Headers | None:
        return self.frame.headers if isinstance(self.frame, (Msg, Pub)) else None

    @property
    def document(self) -> object:
        """The frame's JSON, or MISSING if it has none."""
        if self._document is _UNREAD:
            self._document = document_of(self.frame)
        return self._document

    def source(self, name: str) -> object:
        """What stands at a source such as `subject`, `header.Name` or `json.path`."""
        if name.startswith("json."):
            document = self.document
            return MISSING if document is MISSING else at_path(document, name[5:])
        if name.startswith("header."):
            value = None if self.headers is None else self.headers.get(name[7:])
            return MISSING if value is None else WireText(value)
        if name == "payload":
            payload = getattr(self.frame, "payload", None)
            return MISSING if payload is None else to_text(payload)
        value = getattr(self.frame, name, None)
        return MISSING if value is None else value


def document_of(frame: Frame) -> object:
    """The JSON that a frame carries, or MISSING."""
    if isinstance(frame, (Info, Connect)):
        return frame.data
    if isinstance(frame, (Msg, Pub)) and frame.payload[:1] not in (b"", b"\x00"):
        try:
            document: Any = json.loads(to_text(frame.payload))
        except (ValueError, RecursionError):
            return MISSING
        return document
    return MISSING


def selects(selector: Selector, view: FrameView, env: Env) -> bool:
    """Whether the frame is meant, `answers` aside: that needs what went before."""
    if selector.sender != view.sender:
        return False
    if selector.ops and view.frame.op not in selector.ops:
        return False
    try:
        for name in ("subject", "reply", "status", "description", "payload"):
            wanted = getattr(selector, name)
            if wanted is not None and not _fits(wanted, view.source(name), env):
                return False
        return all(_header_fits(view.headers, *item, env) for item in selector.headers) and all(
            _json_fits(view, *item, env) for item in selector.json
        )
    except UnknownVariable:
        return False  # nothing was remembered yet that the frame could be compared with


def remembered(sources: tuple[tuple[str, str], ...], view: FrameView) -> Mapping[str, Scalar]:
    """The variables that a frame sets; a source that is not there sets none."""
    found: dict[str, Scalar] = {}
    for name, source in sources:
        value = view.source(source)
        if value is None or isinstance(value, (str, int, float, bool)):
            found[name] = str(value) if isinstance(value, WireText) else value
    return found


def _fits(wanted: Wildcard | Matcher, actual: object, env: Env) -> bool:
    if isinstance(wanted, Wildcard):
        return isinstance(actual, str) and subject_matches(render_text(wanted.pattern, env), actual)
    return mismatch(wanted, actual, env) is None


def _header_fits(headers: Headers | None, name: str, matcher: Matcher, env: Env) -> bool:
    values = () if headers is None else headers.get_all(name)
    if any(test == "values" for test, _ in matcher.tests):
        return _fits(matcher, list(values), env)
    return _fits(matcher, WireText(values[0]) if values else MISSING, env)


def _json_fits(view: FrameView, path: str, matcher: Matcher, env: Env) -> bool:
    document = view.document
    return document is not MISSING and _fits(matcher, at_path(document, path), env)


_UNREAD = object()
