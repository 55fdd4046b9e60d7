"""Judging one message against an expectation: every part gives a check, none hides another."""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from jetproof.engine.documents import cut, read_json
from jetproof.engine.error_texts import says
from jetproof.engine.position_words import listed, precise
from jetproof.engine.wire_schemas import WireSchemas
from jetproof.model.case import ErrorCode, Expectation
from jetproof.model.error_table import ErrorEntry, ErrorTable
from jetproof.model.matcher import Matcher
from jetproof.model.matching import MISSING, WireText, at_path, describe, mismatch
from jetproof.model.template import Env, Scalar
from jetproof.model.verdict import Fault
from jetproof.model.versions import Version
from jetproof.wire import Headers
from jetproof.wire.headers import to_bytes, to_text

NO_REPLY = "no reply"
TICK = 0.002  # seconds by which a timer of whole milliseconds may seem early
CLOCK = 0.05  # seconds by which one clock read late can make a timer seem early


@dataclass(frozen=True)
class Seen:
    """A message as it is judged: off the wire, or as message get returned it.

    What a client library told is judged alike: its JSON is the payload, `outcome` says whether a
    call succeeded, `words` is how it is summed up, and `effect` which messages it is about.
    """

    subject: str
    headers: Headers | None
    payload: bytes
    reply: str = ""
    at: float = 0.0
    outcome: str = ""
    words: str = ""
    effect: str = ""

    @property
    def status(self) -> int | None:
        return None if self.headers is None else self.headers.status

    @property
    def description(self) -> str:
        return "" if self.headers is None else self.headers.description

    @property
    def status_line(self) -> str:
        """What the header line says after its version: a status, or something never seen."""
        number = "" if self.status is None else str(self.status)
        return f"{number} {self.description}".strip()

    @cached_property
    def document(self) -> object:
        """The payload as JSON, or MISSING."""
        return read_json(self.payload)

    @property
    def text(self) -> str:
        """The payload as text that keeps every byte."""
        return to_text(self.payload)


@dataclass(frozen=True, slots=True)
class Finding:
    """One part of an expectation, judged."""

    path: str
    ok: bool
    expected: str
    actual: object = None
    fault: Fault = Fault.NEVER_RIGHT


@dataclass(slots=True)
class Judgement:
    """What judging one message gave."""

    findings: list[Finding] = field(default_factory=list)
    captures: dict[str, Scalar] = field(default_factory=dict)
    positions: dict[str, str] = field(default_factory=dict)
    marks: dict[str, float] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return all(finding.ok for finding in self.findings)

    def add(
        self,
        path: str,
        expected: str | None,
        actual: object,
        wanted: str,
        fault: Fault = Fault.NEVER_RIGHT,
    ) -> None:
        """`expected` is what was missed, or None if `wanted` holds."""
        if expected is None:
            self.findings.append(Finding(path, True, wanted))
        else:
            self.findings.append(Finding(path, False, expected, shown(actual), fault))

    def late(self) -> None:
        """What is missed here was seen a moment later: time is all that was wrong."""
        self.findings = [
            found if found.ok else replace(found, fault=Fault.TIMING) for found in self.findings
        ]


@dataclass(frozen=True, slots=True)
class Rules:
    """What judging needs to know of the release, and of the specification and revision in force."""

    version: Version
    spec: str
    revision: int
    errors: ErrorTable
    schemas: WireSchemas

    def error(self, code: int) -> ErrorEntry | None:
        """The error of this number, as the release or the revision says it."""
        return self.errors.lookup(code, self.version, (self.spec, self.revision))


def judge(
    expectation: Expectation,
    seen: Seen | None,
    env: Env,
    rules: Rules,
    *,
    at: str,
    marks: Mapping[str, float],
) -> Judgement:
    """Judges a message, or the absence of one; `at` begins every path."""
    verdict = Judgement()
    if seen is None:
        if expectation.position is not None:
            verdict.positions[expectation.position] = NO_REPLY
        for name in expectation.positions:
            verdict.positions[name] = NO_REPLY
        if not is_position_only(expectation):
            words = describe_expectation(expectation, env)
            verdict.add(at, words, NO_REPLY, "", Fault.TIMING)
        return verdict
    if expectation.outcome is not None:
        right = seen.outcome == expectation.outcome
        verdict.add(at, None if right else expectation.outcome, seen.words, expectation.outcome)
        if not right:
            return verdict  # what is said of an error has no meaning for a success
    _judge_status(verdict, expectation, seen, env, at)
    if expectation.empty is not None:
        words = "an empty message" if expectation.empty else "a payload"
        holds = seen.payload if not expectation.empty else not (seen.payload or seen.status_line)
        verdict.add(f"{at}.empty", None if holds else words, summary(seen), words)
    if expectation.error is not None:
        _judge_error(verdict, expectation.error, seen, rules, at)
    if expectation.schema is not None:
        _judge_schema(verdict, expectation.schema, seen, rules, at)
    _judge_json(verdict, expectation.json, seen, env, at)
    for name, matcher in expectation.headers.items():
        actual = header_value(seen.headers, name, matcher)
        missed = mismatch(matcher, actual, env)
        verdict.add(f"{at}.headers.{name}", missed, actual, describe(matcher, env))
    if expectation.header_names is not None:
        names = header_names(seen.headers)
        missed = mismatch(expectation.header_names, names, env)
        verdict.add(f"{at}.header_names", missed, names, describe(expectation.header_names, env))
    if expectation.payload is not None:
        missed = mismatch(expectation.payload, WireText(seen.text), env)
        verdict.add(
            f"{at}.payload", missed, readable(seen.text), describe(expectation.payload, env)
        )
    if expectation.subject is not None:
        missed = mismatch(expectation.subject, seen.subject, env)
        verdict.add(f"{at}.subject", missed, seen.subject, describe(expectation.subject, env))
    if expectation.reply is not None:
        missed = mismatch(expectation.reply, seen.reply, env)
        verdict.add(f"{at}.reply", missed, seen.reply, describe(expectation.reply, env))
    if expectation.not_before is not None:
        _judge_time(verdict, expectation, seen, at, marks)
    if expectation.one_of:
        _judge_one_of(verdict, expectation, seen, env, rules, at, marks)
    if expectation.mark is not None:
        verdict.marks[expectation.mark] = seen.at
    for name, source in expectation.capture.items():
        value = read_source(seen, source)
        if isinstance(value, (str, int, float)):
            verdict.captures[name] = value
        else:
            verdict.add(f"{at}.{source}", f"a value to keep as ${name}", value, "")
    if expectation.position is not None:
        verdict.positions[expectation.position] = position_words(seen)
    for name, source in expectation.positions.items():
        verdict.positions[name] = position_text(read_source(seen, source))
    return verdict


def is_position_only(expectation: Expectation) -> bool:
    """Whether it only records, so that silence is an answer too."""
    recorded = expectation.position is not None or bool(expectation.positions)
    return recorded and expectation == Expectation(
        position=expectation.position, positions=expectation.positions
    )


def summary(seen: Seen) -> str:
    """A message in a word or two: what kind of answer it is."""
    if seen.words:
        return cut(readable(seen.words))
    if seen.status_line:
        return cut(f"status {readable(seen.status_line)}")
    if not seen.payload:
        return "empty"
    document = seen.document
    if not isinstance(document, Mapping):
        return "json" if document is not MISSING else f"payload of {len(seen.payload)} bytes"
    error = document.get("error")
    if isinstance(error, Mapping):
        return cut(f"error {error.get('err_code')} ({error.get('code')})")
    if "stream" in document and "seq" in document:
        kind = "batch pub-ack" if "batch" in document else "pub-ack"
        return f"duplicate {kind}" if document.get("duplicate") else kind
    if isinstance(document.get("type"), str):
        return cut(str(document["type"]).rsplit(".", 1)[-1])
    return "json"


def position_words(seen: Seen) -> str:
    """A message as a position records it: its kind, and which message or state it is about."""
    kind = summary(seen)
    if seen.words:
        told = readable(seen.effect)
        return kind if told in kind else cut(f"{kind} ({told})")
    if seen.status_line:
        return kind
    sequences = () if seen.headers is None else seen.headers.get_all("Nats-Sequence")
    return cut(precise(kind, seen.document, seen.text, seen.reply, sequences))


def several_words(got: Sequence[Seen]) -> str:
    """How many there were, and which, where a client library told of them or sent them."""
    each = [_one_word(seen) for seen in got]
    return f"{len(got)} ({listed(each)})" if each and all(each) else str(len(got))


def _one_word(seen: Seen) -> str:
    """Which of several: what an event was about, else a payload that is no document."""
    if seen.words:
        return readable(seen.effect)
    if seen.status_line or isinstance(seen.document, (Mapping, list)):
        return ""
    known = precise("", MISSING, seen.text, "")
    return known.removeprefix("payload ")


def describe_expectation(expectation: Expectation, env: Env) -> str:
    """An expectation in words, for the line that says what was expected."""
    words: list[str] = []
    if expectation.outcome is not None:
        words.append(expectation.outcome)
    if expectation.empty is not None:
        words.append("an empty message" if expectation.empty else "a payload")
    if expectation.status is not None:
        words.append(f"status {describe(expectation.status, env)}")
    if expectation.description is not None:
        words.append(f"description {describe(expectation.description, env)}")
    if expectation.error is not None:
        words.append(_error_words(expectation.error, None))
    if expectation.schema is not None:
        words.append(f"a valid {expectation.schema}")
    words.extend(f"{path} {describe(matcher, env)}" for path, matcher in expectation.json.items())
    words.extend(
        f"header {name} {describe(matcher, env)}" for name, matcher in expectation.headers.items()
    )
    if expectation.header_names is not None:
        words.append(f"header names {describe(expectation.header_names, env)}")
    if expectation.payload is not None:
        words.append(f"payload {describe(expectation.payload, env)}")
    if expectation.one_of:
        words.append(
            " or ".join(describe_expectation(option, env) for option in expectation.one_of)
        )
    return ", ".join(words) or "a message"


def read_source(seen: Seen, source: str) -> object:
    """A value by its source: json.seq, header.Name, status, subject, payload and so on."""
    kind, _, rest = source.partition(".")
    match kind:
        case "json":
            return at_path(seen.document, rest)
        case "header":
            value = None if seen.headers is None else seen.headers.get(rest)
            return MISSING if value is None else _maybe_number(value)
        case "header_names":
            return ", ".join(header_names(seen.headers))
        case "status":
            return MISSING if seen.status is None else seen.status
        case "description":
            return seen.description
        case "subject":
            return seen.subject
        case "reply":
            return seen.reply
        case _:
            return seen.text


def header_names(headers: Headers | None) -> list[str]:
    """The name of every header line, in order: one that occurs twice is there twice."""
    return [] if headers is None else [name for name, _ in headers]


def header_value(headers: Headers | None, name: str, matcher: Matcher) -> object:
    values = () if headers is None else headers.get_all(name)
    if any(test == "values" for test, _ in matcher.tests):
        return list(values)
    return WireText(values[0]) if values else MISSING


def position_text(value: object) -> str:
    """A position is compared between releases as text."""
    if value is MISSING:
        return "absent"
    return cut(readable(value) if isinstance(value, str) else json.dumps(value, sort_keys=True))


def shown(actual: object) -> object:
    """The actual value as it goes into a check: plain JSON, and absence said as such."""
    if actual is MISSING:
        return {"absent": True}
    return str(actual) if isinstance(actual, WireText) else actual


def readable(text: str) -> str:
    """A text off the wire for people: bytes that are no text are written out."""
    try:
        return to_bytes(text).decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:
        return text  # half a character that JSON wrote as an escape


def merge(target: MutableMapping[str, str], found: Mapping[str, str]) -> None:
    """Positions of one case: a name seen again with another value keeps both."""
    for name, value in found.items():
        known = target.get(name)
        if known is None:
            target[name] = value
        elif value not in known.split(" | "):
            target[name] = f"{known} | {value}"


def _judge_status(
    verdict: Judgement, expectation: Expectation, seen: Seen, env: Env, at: str
) -> None:
    if expectation.status is not None:
        actual = MISSING if seen.status is None else seen.status
        missed = mismatch(expectation.status, actual, env)
        verdict.add(
            f"{at}.status",
            missed and f"status {missed}",
            summary(seen) if seen.status is None else actual,
            f"status {describe(expectation.status, env)}",
        )
    if expectation.description is not None:
        missed = mismatch(expectation.description, seen.description, env)
        wanted = describe(expectation.description, env)
        verdict.add(f"{at}.description", missed, seen.description, wanted)


def _judge_error(verdict: Judgement, wanted: ErrorCode, seen: Seen, rules: Rules, at: str) -> None:
    words = _error_words(wanted, rules)
    error = at_path(seen.document, "error")
    got = summary(seen)
    if not isinstance(error, Mapping):
        verdict.add(f"{at}.error", words, got, words)
        return
    code = error.get("err_code")
    entry = rules.error(code) if isinstance(code, int) else None
    right = not wanted.codes or (
        code in wanted.codes and (entry is None or entry.http == error.get("code"))
    )
    verdict.add(f"{at}.error", None if right else words, got, words)
    text = error.get("description")
    if (
        isinstance(code, int)
        and isinstance(text, str)
        and entry is not None
        and not says(entry, text)
    ):
        verdict.positions[f"error-text-{code}"] = cut(text)


def _error_words(wanted: ErrorCode, rules: Rules | None) -> str:
    if not wanted.codes:
        return "an error"
    words = []
    for code in wanted.codes:
        entry = None if rules is None else rules.error(code)
        words.append(f"error {code}" if entry is None else f"error {code} ({entry.http})")
    return " or ".join(words)


def _judge_schema(verdict: Judgement, name: str, seen: Seen, rules: Rules, at: str) -> None:
    words = f"valid by {name}"
    if seen.document is MISSING:
        verdict.add(f"{at}.schema", words, summary(seen), words)
        return
    violations = rules.schemas.validate(name, seen.document, revision=rules.revision)
    told = "; ".join(cut(f"{found.path}: {found.message}") for found in violations[:5])
    verdict.add(f"{at}.schema", words if violations else None, told, words)


def _judge_json(
    verdict: Judgement, paths: Mapping[str, Matcher], seen: Seen, env: Env, at: str
) -> None:
    if paths and seen.document is MISSING:
        verdict.add(f"{at}.json", "a JSON payload", summary(seen), "a JSON payload")
        return
    for path, matcher in paths.items():
        actual = at_path(seen.document, path)
        missed = mismatch(matcher, actual, env)
        verdict.add(f"{at}.json.{path}", missed, actual, describe(matcher, env))


def _judge_time(
    verdict: Judgement,
    expectation: Expectation,
    seen: Seen,
    at: str,
    marks: Mapping[str, float],
) -> None:
    bound = expectation.not_before
    assert bound is not None
    words = f"not before {bound.by:g} s after {bound.mark}"
    passed = seen.at - marks[bound.mark]
    early = passed < bound.by - (TICK if bound.by else 0.0)
    fault = Fault.TIMING if passed >= bound.by - CLOCK else Fault.NEVER_RIGHT
    verdict.add(f"{at}.not_before", words if early else None, f"{passed:.3f} s", words, fault)


def _judge_one_of(
    verdict: Judgement,
    expectation: Expectation,
    seen: Seen,
    env: Env,
    rules: Rules,
    at: str,
    marks: Mapping[str, float],
) -> None:
    words = " or ".join(describe_expectation(option, env) for option in expectation.one_of)
    for option in expectation.one_of:
        tried = judge(option, seen, env, rules, at=at, marks=marks)
        if tried.ok:
            verdict.captures.update(tried.captures)
            merge(verdict.positions, tried.positions)
            verdict.add(f"{at}.one_of", None, None, words)
            return
    verdict.add(f"{at}.one_of", words, summary(seen), words)


def _maybe_number(text: str) -> str | int:
    """A header that is a whole number is captured as one, so that a case can count with it."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else text
