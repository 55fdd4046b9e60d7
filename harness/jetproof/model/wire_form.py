"""Wire forms: parts of a specification that a release speaks by one revision, or not at all.

A release can keep one revision of a text and speak one part of it as another revision has it. Fast
ingest of ADR-50 is such a part. A case about a revision of the form that a release does not speak
shows nothing about that release.

A form can also be one that a release had and later ones have not, such as `min_last_seq` of ADR-53. Its
cases are played everywhere, and the ledger explains them where the form is not spoken (`in_ledger`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jetproof.model.clause import Clause
from jetproof.model.versions import Version


@dataclass(frozen=True, slots=True)
class WireForm:
    """A form, the beginning of the ids of its clauses, and who speaks which revision of it.

    `spoken` has the oldest release first; None is the revision of a release that no longer speaks the
    form. `reference` is the revision of the reference layer."""

    name: str
    spec: str
    clauses: str
    spoken: tuple[tuple[Version, int | None], ...]
    reference: int | None = None
    in_ledger: bool = False
    """Whether cases are played where the form is not spoken, and the ledger explains what they see."""

    def has(self, clause: Clause) -> bool:
        """Whether the clause is about this form."""
        return clause.spec == self.spec and clause.id.startswith(self.clauses)

    def spoken_by(self, version: Version) -> int | None:
        """The revision of the form that a release speaks; None: the release does not speak it."""
        spoken = [
            revision
            for start, revision in self.spoken
            if start <= (version if start.is_prerelease else version.base)
        ]
        return spoken[-1] if spoken else None

    def why_not(self, clauses: Iterable[Clause], revision: int, version: Version) -> str | None:
        """Why a release does not speak what a case with these clauses, of this revision, is about."""
        own = [clause for clause in clauses if self.has(clause)]
        if not own or self.in_ledger:
            return None
        name = self.name.replace("-", " ")
        spoken = self.spoken_by(version)
        if spoken is None:
            return f"{version} does not speak {name}: {self._speakers}"
        if all(clause.holds_in(spoken) for clause in own):
            return None
        play = f"--spec {self.spec}@{revision}"
        if revision == self.reference:
            play += f" or --server reference:{'latest' if version.is_prerelease else version}"
        return f"{version} speaks {name} of revision {spoken}, not {revision}: {play} plays it"

    @property
    def _speakers(self) -> str:
        """Which releases speak it, in words."""
        first, last = self.spoken[0][0], self.spoken[-1]
        return f"releases do from {first}" + (f", before {last[0]}" if last[1] is None else "")
