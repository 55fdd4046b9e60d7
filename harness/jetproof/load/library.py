"""The library: every case, clause, deviation and mutant there is, and what cases refer to.

`load_library` reads all of it and raises one `LoadError` with every mistake. `load_cases` reads
case files from elsewhere against a library that is already there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jetproof.data import data_root
from jetproof.errors import JetproofError
from jetproof.load.cache import remembered
from jetproof.load.catalogue import check_catalogues, read_catalogue
from jetproof.load.catalogue_rules import check_covered, check_rules
from jetproof.load.deviations import read_deviations
from jetproof.load.editions import FOLDER, RENAMED, SUFFIX, read_edition, read_renamed
from jetproof.load.error_cases import check_error_cases
from jetproof.load.error_table import read_error_table
from jetproof.load.features import read_features
from jetproof.load.mistakes import LoadError, Mistake, choices
from jetproof.load.mutants import read_mutants
from jetproof.load.scope import Known
from jetproof.load.servers import ServerHead, read_heads
from jetproof.load.structure import FileSchema
from jetproof.load.suite_file import SuiteFile
from jetproof.load.tables import expand_tables
from jetproof.load.wire_forms import read_forms
from jetproof.load.wire_schemas import read_schema_set
from jetproof.load.yaml_source import Document, read_yaml
from jetproof.model.case import Case
from jetproof.model.clause import Clause, Spec
from jetproof.model.edition import Edition, in_order
from jetproof.model.error_table import ErrorTable
from jetproof.model.feature import Feature
from jetproof.model.ledger import Deviation
from jetproof.model.mutant import Mutant
from jetproof.model.wire_form import WireForm
from jetproof.model.wire_schema import SchemaSet

CATALOGUE = "clauses.yaml"
LEDGER = "deviations.yaml"
SPECS = "specs.yaml"
FORMS = "forms.yaml"
PROMISES = "promises"
FEATURES = "features.yaml"


@dataclass(frozen=True, slots=True)
class Library:
    """Everything that runs draw on. `root` holds the fixtures; cases are sorted by id.

    `cases` judge servers, `client_cases` client libraries."""

    root: Path
    specs: Mapping[str, Spec]
    cases: tuple[Case, ...]
    client_cases: tuple[Case, ...]
    deviations: tuple[Deviation, ...]
    mutants: tuple[Mutant, ...]
    schemas: SchemaSet
    errors: ErrorTable
    configurations: Mapping[str, ServerHead]
    suite_hash: str
    forms: tuple[WireForm, ...] = ()
    features: Mapping[str, Feature] = field(default_factory=dict)
    editions: Mapping[str, Edition] = field(default_factory=dict)
    """By name, the oldest first."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Today's name of a case by each that it had."""
    ids: frozenset[str] = field(init=False, repr=False, compare=False)
    """Of every case that it has, of both kinds."""

    def __post_init__(self) -> None:
        ids = frozenset(case.id for case in self.cases_for(clients=None))
        object.__setattr__(self, "ids", ids)

    def cases_for(self, *, clients: bool | None) -> tuple[Case, ...]:
        """The cases that judge client libraries, those that judge servers, or both (None)."""
        if clients is None:
            return (*self.cases, *self.client_cases)
        return self.client_cases if clients else self.cases

    def clause(self, name: str) -> Clause:
        """A clause by its id; the error says that there is none."""
        for spec in self.specs.values():
            if name in spec.clauses:
                return spec.clauses[name]
        raise JetproofError(f"no clause {name}", phase="load", hint="jetproof clauses lists them")

    @property
    def promises(self) -> frozenset[str]:
        """The clauses that every case is held to when it has ended."""
        spec = self.specs.get(PROMISES)
        return frozenset() if spec is None else frozenset(spec.clauses)

    def clauses_of(self, case: Case) -> tuple[Clause, ...]:
        return tuple(map(self.clause, case.clauses))

    @property
    def known(self) -> Known:
        """What a case may refer to."""
        return Known(
            self.specs,
            self.schemas.names(),
            self.errors.codes,
            self.configurations,
            self.features,
        )


def load_library(root: Path | None = None, suites: Path | None = None) -> Library:
    """Reads everything below `root` (by default what Jetproof carries), or raises a LoadError."""
    base = root or data_root()
    folders = (base / "fixtures", suites or base / "suites")
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    return remembered(Library, files, (base, suites), lambda: _Loading(base, suites).library())


def load_cases(files: Sequence[Path], base: Library) -> tuple[Case, ...]:
    """The cases of files that lie anywhere; their names for people are the paths as given."""
    mistakes: list[Mistake] = []
    places: dict[str, str] = {}
    schema = _schema(base.root, "case-file")
    cases: list[Case] = []
    for path in files:
        document = read_yaml(path, str(path), mistakes)
        if document is not None:
            document = expand_tables(document, mistakes)
            flaws = schema.check(document, mistakes)
            suite = SuiteFile(document, flaws, base.known, mistakes, places)
            cases.extend(suite.cases(None))
    if mistakes:
        raise LoadError(mistakes)
    return tuple(sorted(cases, key=lambda case: case.id))


class _Loading:
    """One pass over all files."""

    def __init__(self, root: Path, suites: Path | None) -> None:
        self._root = root
        self._suites = suites or root / "suites"
        self._mistakes: list[Mistake] = []
        self._read: list[Path] = []
        self._catalogues: list[tuple[Document, Spec]] = []
        """Those of public texts, in which no clause may be forgotten."""

    def library(self) -> Library:
        fixtures = self._root / "fixtures"
        try:
            schemas = read_schema_set(
                fixtures / "schemas" / "wire", fixtures / "servers" / "speaks.yaml"
            )
        except LoadError as error:
            # Without its schemas every case that names one would be reported as invalid.
            raise LoadError([*self._mistakes, *error.mistakes]) from None
        errors = read_error_table(fixtures / "errors.yaml", self._name(fixtures / "errors.yaml"))
        configurations = read_heads(fixtures / "servers")
        specs = self._specs()
        forms = self._forms(specs, schemas)
        features = self._features()
        known = Known(specs, schemas.names(), errors.codes, configurations, features)
        cases, whole = self._cases(known)
        for_servers = tuple(case for case in cases if not case.for_client)
        by_id = {case.id: case for case in for_servers} if whole else None
        deviations = self._deviations(by_id, known, forms)
        if by_id is not None:
            check_error_cases(errors, by_id, specs, self._mistakes)
            tested = {clause for case in for_servers for clause in case.clauses}
            for document, spec in self._catalogues:
                check_covered(document, spec, tested, self._mistakes)
        mutants = self._mutants(known)
        renamed = self._renamed({case.id for case in cases} if whole else None)
        editions = self._editions(renamed)
        if self._mistakes:
            raise LoadError(self._mistakes)
        return Library(
            root=self._root,
            specs=specs,
            cases=for_servers,
            client_cases=tuple(case for case in cases if case.for_client),
            deviations=deviations,
            mutants=mutants,
            schemas=schemas,
            errors=errors,
            configurations=configurations,
            suite_hash=self._hash(fixtures),
            forms=forms,
            features=features,
            editions=editions,
            renamed=renamed,
        )

    def _specs(self) -> dict[str, Spec]:
        schema = _schema(self._root, "clauses-file")
        documents: list[Document] = []
        specs: dict[str, Spec] = {}
        for folder, listed in self._folders():
            document = self._document(folder / CATALOGUE)
            if document is None:
                continue
            spec = read_catalogue(document, folder, schema, self._mistakes)
            if spec is not None:
                documents.append(document)
                check_rules(document, spec, listed, self._mistakes)
                if "source" in listed:
                    self._catalogues.append((document, spec))
                titles, note = tuple(listed.get("titles", ())), listed.get("note", "")
                specs[folder.name] = replace(spec, titles=titles, note=note)
        clauses = {name: clause for spec in specs.values() for name, clause in spec.clauses.items()}
        check_catalogues(documents, clauses, self._mistakes)
        return specs

    def _forms(self, specs: Mapping[str, Spec], schemas: SchemaSet) -> tuple[WireForm, ...]:
        path = self._root / "fixtures" / "servers" / FORMS
        document = self._document(path) if path.exists() else None
        if document is None:
            return ()
        schema = _schema(self._root, "forms-file")
        carried = (folder.name for folder in (data_root() / "suites").glob("*/"))
        elsewhere = schemas.spoken_specs.union(carried)
        return read_forms(document, schema, specs, elsewhere, self._mistakes)

    def _features(self) -> dict[str, Feature]:
        path = self._root / "fixtures" / FEATURES
        document = self._document(path) if path.exists() else None
        if document is None:
            return {}
        return read_features(document, _schema(self._root, "features-file"), self._mistakes)

    def _folders(self) -> list[tuple[Path, Mapping[str, Any]]]:
        """The folders of specifications, in the order in which reports show them, with their entries."""
        inside = [path for path in sorted(self._suites.iterdir()) if path.is_dir()]
        folders = {path.name: path for path in inside if path.name != FOLDER}
        document = self._document(self._suites / SPECS) if (self._suites / SPECS).exists() else None
        if document is None or _schema(self._root, "specs-file").check(document, self._mistakes):
            return [(folder, {}) for folder in folders.values()]
        entries: dict[str, Any] = {entry["id"]: entry for entry in document.data["specs"]}  # type: ignore[index]
        listed = list(entries)
        for index, name in enumerate(listed):
            if name not in folders:
                message = f"no folder for specification {name}; {choices(name, folders)}"
                self._tell(document, ("specs", index, "id"), message)
        for name in folders.keys() - set(listed):
            self._tell(document, ("specs",), f"the folder {name} is not listed")
        ordered = sorted(
            folders.values(),
            key=lambda path: listed.index(path.name) if path.name in listed else len(listed),
        )
        return [(folder, entries.get(folder.name, {})) for folder in ordered]

    def _cases(self, known: Known) -> tuple[tuple[Case, ...], bool]:
        """The cases, and whether all of them could be read."""
        schema = _schema(self._root, "case-file")
        before = len(self._mistakes)
        places: dict[str, str] = {}
        cases: list[Case] = []
        for path in self._case_files():
            document = self._document(path)
            if document is not None:
                document = expand_tables(document, self._mistakes)
                flaws = schema.check(document, self._mistakes)
                suite = SuiteFile(document, flaws, known, self._mistakes, places)
                name = path.relative_to(self._suites).with_suffix("").as_posix()
                cases.extend(suite.cases(name))
        whole = len(self._mistakes) == before
        return tuple(sorted(cases, key=lambda case: case.id)), whole

    def _case_files(self) -> Iterator[Path]:
        for path in sorted(self._suites.glob("*/**/*")):
            if path.relative_to(self._suites).parts[0] == FOLDER:
                continue
            if path.suffix == ".yml":
                self._mistakes.append(Mistake(self._name(path), 1, "call it .yaml"))
            elif path.suffix == ".yaml" and path.relative_to(self._suites).parts[1:] != (
                CATALOGUE,
            ):
                yield path

    def _deviations(
        self, cases: Mapping[str, Case] | None, known: Known, forms: tuple[WireForm, ...]
    ) -> tuple[Deviation, ...]:
        path = self._suites / LEDGER
        document = self._document(path) if path.exists() else None
        if document is None:
            return ()
        schema = _schema(self._root, "deviations-file")
        return read_deviations(document, schema, cases, known.schemas, self._mistakes, forms)

    def _renamed(self, cases: Collection[str] | None) -> dict[str, str]:
        path = self._suites / RENAMED
        document = read_yaml(path, self._name(path), self._mistakes) if path.exists() else None
        if document is None:
            return {}
        return read_renamed(document, _schema(self._root, "renamed-file"), cases, self._mistakes)

    def _editions(self, renamed: Mapping[str, str]) -> dict[str, Edition]:
        """Every edition. None of them changes a verdict, so that none is in the suites' hash."""
        found: dict[str, Edition] = {}
        for path in sorted((self._suites / FOLDER).glob("*")):
            file = self._name(path)
            if path.suffix != SUFFIX:
                what = f"an edition is a file such as 2026.11{SUFFIX}"
                self._mistakes.append(Mistake(file, 1, what))
            elif edition := read_edition(path, file, renamed, self._mistakes):
                found[edition.name] = edition
        return {name: found[name] for name in in_order(found)}

    def _mutants(self, known: Known) -> tuple[Mutant, ...]:
        schema = _schema(self._root, "mutants-file")
        places: dict[str, str] = {}
        mutants: list[Mutant] = []
        for path in sorted((self._root / "fixtures" / "mutants").glob("*.yaml")):
            document = self._document(path)
            if document is not None:
                mutants += read_mutants(document, schema, known.clauses, places, self._mistakes)
        return tuple(sorted(mutants, key=lambda mutant: mutant.id))

    def _document(self, path: Path) -> Document | None:
        self._read.append(path)
        return read_yaml(path, self._name(path), self._mistakes)

    def _name(self, path: Path) -> str:
        return (
            path.relative_to(self._root) if path.is_relative_to(self._root) else path
        ).as_posix()

    def _tell(self, document: Document, keys: tuple[str | int, ...], message: str) -> None:
        self._mistakes.append(Mistake(document.file, document.line_of(keys), message))

    def _hash(self, fixtures: Path) -> str:
        """Of every file that can change a verdict: two runs with one hash judged alike."""
        judged = [
            fixtures / "errors.yaml",
            fixtures / "servers" / "speaks.yaml",
            *sorted((fixtures / "schemas" / "wire").glob("*.json")),
            *sorted((fixtures / "servers").glob("*.conf")),
        ]
        digest = hashlib.sha256()
        for path in (*self._read, *judged):
            inside = path.is_relative_to(self._suites)
            name = path.relative_to(self._suites if inside else self._root).as_posix()
            digest.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()[:16]


def _schema(root: Path, name: str) -> FileSchema:
    return FileSchema(root / "fixtures" / "schemas" / f"{name}.json")
