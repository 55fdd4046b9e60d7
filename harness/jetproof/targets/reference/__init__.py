"""The reference layer: `reference:2.15.1` is a release behind it.

It does what a specification demands and no release has, in front of a real server, so that cases
of such sentences can be seen to pass, and with a knob turned to fail. It is our reading of the text
and nobody's conformance.

`layer` stands before the servers and hands messages to its parts: `reads` and `consumers` for
ADR-53, `fast_ingest_part` for revision 7 of ADR-50. `guard` and `fast_ingest` are the rules
themselves, `views` what the servers hold, `ground` what parts stand on. Beside it stand `faults`, one
subclass of a part per way to be wrong, and `knobs`, which lists them.
"""

from jetproof.targets.reference.knobs import knob_names, parts_with
from jetproof.targets.reference.layer import ReferenceLayer
from jetproof.targets.reference.spoken import FIRST_RELEASE, REVISIONS, SPEAKS

__all__ = ["FIRST_RELEASE", "REVISIONS", "SPEAKS", "ReferenceLayer", "knob_names", "parts_with"]
