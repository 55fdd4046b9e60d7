"""What a name in a case may refer to, and from which step on.

The steps of a case are read in order, so a variable, a subscription or a mark is known from the
step that makes it. What is used too early or never made is told at the end of the case, when it is
clear which of the two it is. A case with a step that cannot be read keeps quiet about them: it may
be that step which sets the variable.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jetproof.load.mistakes import choices, nearest
from jetproof.load.servers import ServerHead
from jetproof.model.clause import Clause, Spec
from jetproof.model.feature import Feature

VARIABLES = ("batch", "case", "id", "inbox")
STREAM = "stream"
MAIN = "main"
REPLIES = "replies"
ERRORS = "errors"

Report = Callable[[int, str], None]
Names = tuple[dict[str, int], ...]


@dataclass(frozen=True, slots=True)
class Known:
    """What cases may refer to outside themselves."""

    specs: Mapping[str, Spec]
    schemas: Collection[str]
    errors: Collection[int]
    configurations: Mapping[str, ServerHead]
    features: Mapping[str, Feature] = field(default_factory=dict)
    clauses: Mapping[str, Clause] = field(init=False)

    def __post_init__(self) -> None:
        clauses = {
            name: clause for spec in self.specs.values() for name, clause in spec.clauses.items()
        }
        object.__setattr__(self, "clauses", clauses)


@dataclass(slots=True)
class _Names:
    """Names of one kind: those there are by now, and those asked for in vain."""

    now: dict[str, int]
    later: dict[str, int] = field(default_factory=dict)
    missed: list[tuple[str, int, tuple[str, ...]]] = field(default_factory=list)

    def use(self, name: str, line: int) -> None:
        if name not in self.now:
            self.missed.append((name, line, tuple(self.now)))

    def add(self, name: str, line: int) -> None:
        self.now.setdefault(name, line)
        self.later.setdefault(name, line)


class Scope:
    """The names of one case."""

    def __init__(self, known: Known, report: Report) -> None:
        self.known = known
        self.report = report
        self._variables = _Names(dict.fromkeys(VARIABLES, 0))
        self._subscriptions = _Names({ERRORS: 0})
        self._marks = _Names({})
        self._labels = _Names({})
        self._ordered = (self._variables, self._subscriptions, self._marks)
        self._sometimes: dict[str, int] = {}
        self._connections: tuple[str, ...] = (MAIN,)
        self._given: tuple[str, ...] = VARIABLES

    def given(self, streams: Iterable[tuple[str, int]], connections: Iterable[str]) -> None:
        """Takes in what is there before the first step."""
        for name, line in streams:
            if name in VARIABLES:
                self.report(line, f"a stream cannot be called {name}: ${name} is always there")
            self._variables.add(name, line)
        self._given = tuple(self._variables.now)
        self._connections = tuple(dict.fromkeys((MAIN, *connections)))

    def knows(self, variable: str) -> bool:
        return variable in self._variables.now

    def variable(self, name: str, line: int) -> None:
        self._variables.use(name, line)

    def sets(self, name: str, line: int) -> None:
        """A variable gets a value here; those that are given keep theirs."""
        if name in self._given:
            self.report(line, f"${name} is given and cannot be set")
        self._variables.add(name, line)

    def may_set(self, name: str, line: int) -> None:
        """A variable that only some of the alternatives set."""
        self._sometimes.setdefault(name, line)

    def forget(self, name: str) -> None:
        """A counter ends with its steps."""
        if name not in self._given:
            self._variables.now.pop(name, None)

    def branch_point(self) -> Names:
        """What is known here: every branch that is played at the same time begins with this."""
        return tuple(dict(names.now) for names in self._ordered)

    def branch(self, point: Names) -> None:
        """Begins a branch: what other branches make is not known in it."""
        for names, now in zip(self._ordered, point, strict=True):
            names.now = dict(now)

    def join(self, ends: Sequence[Names]) -> None:
        """After all branches, what any of them made is known; none may set another's variable."""
        for position, names in enumerate(self._ordered):
            before = dict(names.now)
            for end in ends:
                for name, line in end[position].items():
                    first = before.setdefault(name, line)
                    if names is self._variables and first not in (line, 0):
                        self.report(line, f"${name} is set by another branch too, in line {first}")
            names.now = before

    def subscribes(self, name: str, line: int) -> None:
        if name in (REPLIES, ERRORS):
            self.report(line, f"a subscription cannot be called {name}: that is always there")
        else:
            self._subscriptions.add(name, line)

    def subscription(self, name: str, line: int, *, or_replies: bool = False) -> None:
        if not (or_replies and name == REPLIES):
            self._subscriptions.use(name, line)

    def marks(self, name: str, line: int) -> None:
        if first := self._marks.later.get(name):
            self.report(line, f"the mark {name!r} is in line {first} already")
        self._marks.add(name, line)

    def mark(self, name: str, line: int) -> None:
        self._marks.use(name, line)

    def label(self, name: str, line: int) -> None:
        if first := self._labels.now.get(name):
            self.report(line, f"the label {name!r} is in line {first} already")
        self._labels.add(name, line)

    def labelled(self, name: str, line: int) -> None:
        self._labels.use(name, line)

    def connection(self, name: str, line: int) -> None:
        if name not in self._connections:
            self.report(line, f"unknown connection {name!r}; {choices(name, self._connections)}")

    def schema(self, name: str, line: int) -> None:
        if name not in self.known.schemas:
            self.report(line, f"no schema {name!r}; {choices(name, sorted(self.known.schemas))}")

    def error_code(self, code: int, line: int) -> None:
        if code not in self.known.errors:
            self.report(line, f"error code {code} is not in fixtures/errors.yaml")

    def clause(self, name: str, line: int) -> Clause | None:
        clause = self.known.clauses.get(name)
        if clause is None:
            self.report(line, f"unknown clause {name}{like_clause(name, self.known.clauses)}")
        return clause

    def finish(self) -> None:
        """Tells what was asked for in vain, once the whole case has been read."""
        for name, line, there in self._variables.missed:
            if name == STREAM:
                self.report(line, "$stream is needed here, and no stream is given")
            elif name in self._variables.later:
                first = self._variables.later[name]
                self.report(line, _out_of_reach(f"${name}", "set", line, first))
            elif name in self._sometimes:
                first = self._sometimes[name]
                self.report(
                    line, f"${name} is set by only some of the alternatives in line {first}"
                )
            else:
                self.report(line, f"${name} is never set; {choices(name, there)}")
        for noun, names in (
            ("subscription", self._subscriptions),
            ("mark", self._marks),
            ("label", self._labels),
        ):
            for name, line, there in names.missed:
                if name in names.later:
                    what = f"the {noun} {name!r}"
                    self.report(line, _out_of_reach(what, "made", line, names.later[name]))
                else:
                    self.report(line, f"unknown {noun} {name!r}; {choices(name, there)}")


def like_clause(name: str, known: Iterable[str]) -> str:
    """What was probably meant: numbers are too much alike, so the number must be the same."""
    number = name.rpartition("-")[2]
    return nearest(name, [other for other in known if other.rpartition("-")[2] == number])


def _out_of_reach(what: str, made: str, line: int, first: int) -> str:
    if first >= line:
        return f"{what} is used before it is {made} in line {first}"
    return f"{what} is {made} in line {first}, for other steps only"
