"""One case file, from plain data to cases: what is given, the clauses, the steps, the hash."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace

from jetproof.load.features import FeatureUses
from jetproof.load.mistakes import Mistake, choices
from jetproof.load.reader import FileSource, Raw, Reader, as_map, seconds
from jetproof.load.scope import Known, Scope
from jetproof.load.servers import ServerHead
from jetproof.load.steps.reading import CaseSteps
from jetproof.load.structure import Flaw
from jetproof.load.yaml_source import Document, Keys
from jetproof.model.case import Case, ConnectionGiven, Given, is_client_suite, silence_of
from jetproof.model.clause import Actor, Clause
from jetproof.model.fingerprint import fingerprint
from jetproof.model.template import Value

BUDGET = 15.0

Places = MutableMapping[str, str]


@dataclass(frozen=True, slots=True)
class _Merged:
    """What a case is given: its own keys over the file's, each with where it stands."""

    raw: Mapping[str, object]
    keys: Mapping[str, Keys]

    def get(self, name: str) -> object:
        return self.raw.get(name)

    def at(self, name: str, *inner: str) -> Keys:
        return (*self.keys.get(name, ()), *inner)


class SuiteFile:
    """Reads one case file. `places` holds where each case id of this and other files stands."""

    def __init__(
        self,
        document: Document,
        flaws: Sequence[Flaw],
        known: Known,
        mistakes: list[Mistake],
        places: Places,
    ) -> None:
        self._document = document
        self._flawed = [flaw.keys for flaw in flaws]
        self._harmful = [flaw.keys for flaw in flaws if not flaw.harmless]
        self._known = known
        self._mistakes = mistakes
        self._places = places
        self._raw = as_map(document.data)
        suite = self._raw.get("suite")
        self.suite = suite if isinstance(suite, str) and self._sound(("suite",)) else ""
        self._spec = known.specs.get(self.suite.split("/")[0])
        self._uses = FeatureUses(document, known.features, self._tell)

    def cases(self, expected_suite: str | None) -> Iterator[Case]:
        """The cases that can be read. The suite must be `expected_suite`, if that is given."""
        if expected_suite is not None and self.suite and self.suite != expected_suite:
            self._report(
                ("suite",), f"suite is {self.suite}, but the file is {expected_suite}.yaml"
            )
        if self.suite and self._spec is None:
            spec = self.suite.split("/")[0]
            known = choices(spec, sorted(self._known.specs))
            self._report(("suite",), f"no clause catalogue for specification {spec}; {known}")
        revision = self._revision()
        raw = self._raw.get("cases")
        if self._sound(("feature",)):
            self._uses.of_file(self._raw.get("feature"), for_client=is_client_suite(self.suite))
        for index, inner in enumerate(raw if isinstance(raw, list) else ()):
            if isinstance(inner, Mapping):
                yield from self._case(("cases", index), inner, revision)
        self._uses.finish()

    def _revision(self) -> int:
        asked = self._raw.get("revision")
        if self._spec is None:
            return 0
        if not isinstance(asked, int):
            return self._spec.revision
        if asked not in self._spec.revisions:
            there = ", ".join(map(str, self._spec.revisions))
            self._report(
                ("revision",), f"{self._spec.id} has no revision {asked}; there are: {there}"
            )
        return asked

    def _case(self, keys: Keys, raw: Raw, revision: int) -> Iterator[Case]:
        name = raw.get("case")
        name = name if isinstance(name, str) and self._sound((*keys, "case")) else ""
        case_id = f"{self.suite}::{name}"
        if name and self.suite:
            self._unique(keys, case_id)
        complete = self._complete(keys)
        scope = Scope(self._known, self._tell)
        reader = Reader(FileSource(self._document, self._tell), scope)
        clauses = self._clauses(keys, raw, scope, revision)
        merged = self._merge(keys, raw)
        given = self._given(merged, reader, scope)
        certain = self._sound(("given",)) and self._sound((*keys, "given"))
        steps = CaseSteps(
            reader,
            scope,
            given if certain else None,
            self._sound,
            for_client=is_client_suite(self.suite),
        )
        given = replace(given, client=steps.client_given(merged.at("client"), merged.get("client")))
        steps.check_given({name: merged.at(name) for name in ("connections", "release")})
        at_first = steps.first_rules((*keys, "tap"), raw.get("tap"))
        read = (*at_first, *steps.steps((*keys, "steps"), raw.get("steps")))
        if not complete:
            return
        scope.finish()
        budget = seconds(raw["budget"]) if "budget" in raw else BUDGET
        spec = self.suite.split("/")[0]
        case = Case(
            id=case_id,
            suite=self.suite,
            name=name,
            spec=spec,
            revision=revision,
            about=str(raw.get("about", "")),
            clauses=clauses,
            given=given,
            steps=read,
            budget=budget,
            file=self._document.file,
            line=self._document.line_of(keys),
            hash=fingerprint(given, read, self._tested(clauses), spec, revision),
        )
        case = replace(case, features=self._uses.of(case, keys, raw.get("feature")))
        self._check_budget(keys, case)
        yield case

    # -- clauses --------------------------------------------------------------------------------

    def _clauses(self, keys: Keys, raw: Raw, scope: Scope, revision: int) -> tuple[str, ...]:
        names = raw.get("clauses")
        found: list[str] = []
        for index, name in enumerate(names if isinstance(names, list) else ()):
            if not isinstance(name, str):
                continue
            found.append(name)
            place = (*keys, "clauses", index)
            clause = scope.clause(name, self._document.line_of(place))
            if clause is not None:
                self._check_clause(place, clause, revision)
        return tuple(found)

    def _tested(self, names: Sequence[str]) -> list[Clause]:
        """The clauses that there are; one that is not is a mistake already."""
        return [self._known.clauses[name] for name in names if name in self._known.clauses]

    def _check_clause(self, keys: Keys, clause: Clause, revision: int) -> None:
        for_client = is_client_suite(self.suite)
        if clause.actor is (Actor.SERVER if for_client else Actor.CLIENT):
            bound, mine = ("servers", "clients") if for_client else ("clients", "servers")
            self._report(keys, f"clause {clause.id} binds {bound}, and this is a case for {mine}")
        if (
            self._spec is not None
            and clause.spec == self._spec.id
            and not clause.holds_in(revision)
        ):
            held = (
                f"from revision {clause.revision_from}"
                if clause.revision_from is not None
                else "from the first"
            )
            if clause.revision_to is not None:
                held += f" to {clause.revision_to}"
            self._report(
                keys, f"clause {clause.id} holds {held}, and the case is about revision {revision}"
            )

    # -- what is given --------------------------------------------------------------------------

    def _merge(self, keys: Keys, raw: Raw) -> _Merged:
        merged: dict[str, object] = {}
        places: dict[str, Keys] = {}
        for source, given in (
            (("given",), self._raw.get("given")),
            ((*keys, "given"), raw.get("given")),
        ):
            for name, value in as_map(given).items():
                if self._sound((*source, name)):
                    merged[name] = value
                    places[name] = (*source, name)
        if merged.get("stream", ...) is None:
            del merged["stream"]
        return _Merged(merged, places)

    def _given(self, merged: _Merged, reader: Reader, scope: Scope) -> Given:
        configuration = str(merged.get("server") or "default")
        head = self._known.configurations.get(configuration)
        if head is None:
            known = choices(configuration, sorted(self._known.configurations))
            reader.mistake(merged.at("server"), f"unknown configuration {configuration!r}; {known}")
        raw_streams = [("stream", merged.get("stream"), merged.at("stream"))]
        for name, config in as_map(merged.get("streams")).items():
            if name == "stream":
                reader.mistake(merged.at("streams", name), "the stream $stream is given by stream")
            raw_streams.append((name, config, merged.at("streams", name)))
        wanted = [(name, config, keys) for name, config, keys in raw_streams if config is not None]
        connections = as_map(merged.get("connections"))
        scope.given([(name, reader.line(keys)) for name, _, keys in wanted], list(connections))
        streams: list[tuple[str, Value]] = []
        for name, config, keys in wanted:
            if "name" in as_map(config):
                reader.mistake((*keys, "name"), f"a stream's name is ${name}, it cannot be chosen")
            streams.append((name, reader.value(keys, config)))
        return Given(
            configuration=configuration,
            topology=str(merged.get("topology") or "single"),
            isolation=str(merged.get("isolation") or "shared"),
            release=release if isinstance(release := merged.get("release"), str) else None,
            streams=tuple(streams),
            connections=self._connections(merged, head, reader),
        )

    def _connections(
        self, merged: _Merged, head: ServerHead | None, reader: Reader
    ) -> dict[str, ConnectionGiven]:
        """Connections, each in an account and as a user that the configuration has."""
        if head is not None and head.accounts and merged.get("isolation") == "account":
            reader.mistake(
                merged.at("isolation"), f"{head.name} has accounts of its own, and no others"
            )
        found: dict[str, ConnectionGiven] = {}
        for name, raw in as_map(merged.get("connections")).items():
            given = _connection(as_map(raw))
            place = merged.at("connections", name)
            if head is not None and given.user is not None:
                if given.user not in head.users:
                    known = choices(given.user, head.users)
                    reader.mistake(
                        (*place, "user"), f"no user {given.user!r} in {head.name}; {known}"
                    )
                if given.account is not None:
                    reader.mistake(
                        (*place, "account"), "user and account exclude each other: a user has one"
                    )
                given = replace(given, account=head.users.get(given.user))
            elif head is not None and head.accounts and given.account not in (None, *head.accounts):
                known = choices(str(given.account), head.accounts)
                reader.mistake(
                    (*place, "account"), f"no account {given.account!r} in {head.name}; {known}"
                )
            found[name] = given
        return found

    # -- the case as a whole --------------------------------------------------------------------

    def _unique(self, keys: Keys, case_id: str) -> None:
        here = f"{self._document.file}:{self._document.line_of(keys)}"
        first = self._places.setdefault(case_id, here)
        if first != here:
            self._report((*keys, "case"), f"duplicate case {case_id}: it is at {first} already")

    def _check_budget(self, keys: Keys, case: Case) -> None:
        """Stated silences alone must fit into the budget, or no verdict is possible."""
        silent = silence_of(case.steps)
        if silent >= case.budget:
            self._report(
                (*keys, "budget"),
                f"the silences take {silent:g} s, and the budget is {case.budget:g} s",
            )

    def _complete(self, keys: Keys) -> bool:
        """Whether nothing that belongs to the case has a structural mistake."""
        outer = [flaw for flaw in self._flawed if flaw[:1] != ("cases",)]
        return (
            bool(self.suite) and not outer and not any(_within(flaw, keys) for flaw in self._flawed)
        )

    def _sound(self, keys: Keys) -> bool:
        return not any(_within(flaw, keys) for flaw in self._harmful)

    def _report(self, keys: Keys, message: str) -> None:
        self._tell(self._document.line_of(keys), message)

    def _tell(self, line: int, message: str) -> None:
        self._mistakes.append(Mistake(self._document.file, line, message))


def _connection(raw: Raw) -> ConnectionGiven:
    node, account, user = raw.get("node"), raw.get("account"), raw.get("user")
    return ConnectionGiven(
        node=node if isinstance(node, str) else None,
        account=account if isinstance(account, str) else None,
        user=user if isinstance(user, str) else None,
        options=dict(as_map(raw.get("options"))),
    )


def _within(keys: Keys, outer: Keys) -> bool:
    return keys[: len(outer)] == outer
