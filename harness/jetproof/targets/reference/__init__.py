"""The reference layer: `reference:2.15.1` is a release behind it.

It does what a specification demands and no release has, in front of a real server, so that cases
of such sentences can be seen to pass, and with a knob turned to fail. It is our reading of the text
and nobody's conformance.

`layer` stands before the servers and hands messages to its parts: `reads` and `consumers` for
ADR-53, `fast_ingest_part` for revision 7 of ADR-50. `guard` and `fast_ingest` are the rules
themselves, `views` what the servers hold, `ground` what parts stand on, `knobs` how to do wrong on
purpose.
"""

from jetproof.targets.reference.knobs import FIRST_RELEASE, REVISIONS, SPEAKS, Knobs, knob_names
from jetproof.targets.reference.layer import ReferenceLayer

__all__ = ["FIRST_RELEASE", "REVISIONS", "SPEAKS", "Knobs", "ReferenceLayer", "knob_names"]
