"""The tap: a proxy on the codec that records frames and applies rules to them.

`tap` is what others use; `session` joins one client to the server, `book` decides what becomes of a
frame, `lane` keeps frames in order, `subscriptions` knows who listens to what, `record` tells what
was seen. What a rule is stands in `jetproof.wire.rules`, how it is written in docs/tap.md.

Bytes pass in the pieces they came in. They are read as frames only as far as somebody wants that: an
observer, a rule, or the table of subscriptions.
"""

from jetproof.load.rules import RuleError, parse_rule, parse_rules
from jetproof.targets.tap.certificates import Certificate, make_certificate
from jetproof.targets.tap.events import ConnectionEvent, Event, TapEvent
from jetproof.targets.tap.owner import Inline
from jetproof.targets.tap.tap import Tap
from jetproof.wire.rules import Rule

__all__ = [
    "Certificate",
    "ConnectionEvent",
    "Event",
    "Inline",
    "Rule",
    "RuleError",
    "Tap",
    "TapEvent",
    "make_certificate",
    "parse_rule",
    "parse_rules",
]
