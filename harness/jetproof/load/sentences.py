"""The fingerprint of a sentence of a specification, and the way to find that sentence again.

A catalogue of clauses does not copy the specification. It keeps, for each clause, an *anchor* that
says where the sentence stands and a *hash* of the sentence, so that anybody who has the text can
check that the clause still rests on the same words:

    sentence_hash(sentence_at(text, clause.anchor)) == clause.hash

An anchor is the path of headings, a colon, and the place inside that section:

    Atomic Batched Publishes > Client Design: bullet 1, sentence 2
    Publish Acknowledgements: code 1, line 3
    Atomic Batched Publishes > Server Errors: row 10174
    Stream Configuration: paragraph 2, sentence 1

Headings of the first level are not part of a path, except for what stands before all others.
Bullets, paragraphs and code blocks are counted within their section from one; a row is named by its
first cell. Without a `sentence` or `line` the whole element is meant.

A fingerprint does not see white space and inline markup: a text that is wrapped anew, or that says
`_this_` where it said `*this*`, is the same text. A block quote is read as if it were none.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

HASH_LENGTH = 16

_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*")
_QUOTE = re.compile(r"^ {0,3}> ?")
_BULLET = re.compile(r"\s*(?:[*+-]|\d+\.)\s+(.*)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'])")
_ANCHOR = re.compile(
    r"(?P<path>.+): (?P<kind>bullet|paragraph|code|row) (?P<which>\S+?)"
    r"(?:, (?P<unit>sentence|line) (?P<number>\d+))?"
)


_CODE_SPAN = re.compile(r"(`+)(.+?)\1(?!`)")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
_STRONG = re.compile(r"(?<!\\)(\*\*|__)(?=\S)(.+?)(?<=[^\s\\])\1")
_EMPHASIS = re.compile(r"(?<![\w*\\])([*_])(?=[^\s*_])(.+?)(?<=[^\s\\])\1(?![\w*])")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_HELD = re.compile("\0(\\d+)\0")


def is_anchor(text: str) -> bool:
    """Whether a text has the form of an anchor."""
    return _ANCHOR.fullmatch(text) is not None


class AnchorError(ValueError):
    """An anchor that cannot be read, or that names nothing in the text."""


def normalise(text: str) -> str:
    """Collapse every run of white space to one blank, and drop what surrounds the text."""
    return " ".join(text.split())


def plain(text: str) -> str:
    """Normalise, and drop inline markup: emphasis, code spans, the address of a link, escapes."""
    spans: list[str] = []

    def hold(span: re.Match[str]) -> str:
        # What stands in a code span is no markup, whatever it looks like.
        spans.append(span[2].strip())
        return f"\0{len(spans) - 1}\0"

    text = _CODE_SPAN.sub(hold, normalise(text).replace("\0", ""))
    text = _LINK.sub(r"\1", text)
    text = _EMPHASIS.sub(r"\2", _STRONG.sub(r"\2", text))
    text = _ESCAPE.sub(r"\1", text)
    return _HELD.sub(lambda held: spans[int(held[1])], text)


def sentence_hash(text: str) -> str:
    """Return the first sixteen hexadecimal digits of the SHA-256 of the plain text."""
    return hashlib.sha256(plain(text).encode("utf-8")).hexdigest()[:HASH_LENGTH]


def sentences(text: str) -> list[str]:
    """Split running text into sentences: a full stop, a blank, and a capital, quote or backtick."""
    return _SENTENCE_END.split(normalise(text))


def sentence_at(markdown: str, anchor: str) -> str:
    """Return the sentence that an anchor names, or say what the text has instead."""
    asked = _ANCHOR.fullmatch(anchor)
    if asked is None:
        raise AnchorError(
            f"{anchor!r} is not an anchor such as `Heading > Heading: bullet 1, sentence 2`"
        )
    section = _sections(markdown).get(asked["path"])
    if section is None:
        raise AnchorError(f"the text has no section {asked['path']!r}, which {anchor!r} names")
    element = section.element(asked["kind"], asked["which"])
    if element is None:
        raise AnchorError(f"section {asked['path']!r} has no {asked['kind']} {asked['which']}")
    if asked["unit"] is None:
        return normalise(element)
    parts = element.splitlines() if asked["unit"] == "line" else sentences(element)
    number = int(asked["number"])
    if not 1 <= number <= len(parts):
        raise AnchorError(f"{anchor!r} asks for {asked['unit']} {number} of {len(parts)}")
    return normalise(parts[number - 1])


@dataclass(frozen=True, slots=True)
class Element:
    """A paragraph, bullet, row or code block; its parts are its sentences, or lines of code."""

    anchor: str
    kind: str
    text: str
    parts: tuple[str, ...]

    def places(self) -> Iterator[tuple[str, str]]:
        """Every anchor into it and the text that the anchor names: the whole, then the parts."""
        yield self.anchor, normalise(self.text)
        unit = "line" if self.kind == "code" else "sentence"
        for number, part in enumerate(self.parts, 1):
            yield f"{self.anchor}, {unit} {number}", normalise(part)


def title_of(markdown: str) -> str | None:
    """The first heading of the first level, without markup; None if there is none."""
    lines = iter(markdown.splitlines())
    for quoted in lines:
        line = _QUOTE.sub("", quoted)
        heading = _HEADING.fullmatch(line)
        if heading is not None and len(heading[1]) == 1:
            return plain(heading[2])
        if line.lstrip().startswith("```"):
            for _ in _code(lines):
                pass
    return None


def elements(markdown: str) -> Iterator[Element]:
    """Every element of a text, section by section in the order of the text."""
    for path, section in _sections(markdown).items():
        numbered = (
            ("paragraph", section.paragraphs),
            ("bullet", section.bullets),
            ("code", section.codes),
        )
        named = [
            (kind, str(number), text)
            for kind, texts in numbered
            for number, text in enumerate(texts, 1)
        ]
        named += [("row", which, text) for which, text in section.rows.items()]
        for kind, which, text in named:
            parts = text.splitlines() if kind == "code" else sentences(text)
            yield Element(f"{path}: {kind} {which}", kind, text, tuple(parts))


@dataclass(slots=True)
class _Section:
    bullets: list[str] = field(default_factory=list)
    paragraphs: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    rows: dict[str, str] = field(default_factory=dict)

    def element(self, kind: str, which: str) -> str | None:
        if kind == "row":
            return self.rows.get(which)
        elements = {"bullet": self.bullets, "paragraph": self.paragraphs, "code": self.codes}[kind]
        if not which.isdigit() or not 1 <= int(which) <= len(elements):
            return None
        return elements[int(which) - 1]


def _sections(markdown: str) -> dict[str, _Section]:
    found: dict[str, _Section] = {}
    path: list[str] = []
    lines = iter(markdown.splitlines())
    open_bullet = open_paragraph = False
    for quoted in lines:
        line = _QUOTE.sub("", quoted)
        section = found.setdefault(_name(path), _Section())
        if heading := _HEADING.fullmatch(line):
            level = len(heading[1])
            path = [*path[: level - 1], *[""] * (level - 1 - len(path)), heading[2].strip()]
            open_bullet = open_paragraph = False
        elif line.lstrip().startswith("```"):
            section.codes.append("\n".join(_code(lines)))
            open_bullet = open_paragraph = False
        elif not line.strip():
            open_bullet = open_paragraph = False
        elif line.lstrip().startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            section.rows.setdefault(cells[0].strip("`"), " | ".join(cells))
            open_bullet = open_paragraph = False
        elif bullet := _BULLET.fullmatch(line):
            section.bullets.append(bullet[1])
            open_bullet, open_paragraph = True, False
        elif open_bullet:
            section.bullets[-1] += "\n" + line
        elif open_paragraph:
            section.paragraphs[-1] += "\n" + line
        else:
            section.paragraphs.append(line)
            open_paragraph = True
    return found


def _code(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if line.lstrip().startswith("```"):
            return
        yield line


def _name(path: list[str]) -> str:
    return " > ".join(part for part in (path[1:] or path) if part)
