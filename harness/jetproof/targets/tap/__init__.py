"""The tap: a proxy on the codec that records frames and applies rules to them.

`tap` listens, `session` joins one client to the server, `book` decides what becomes of a frame,
`lane` keeps frames in order, `subscriptions` knows who listens to what. What a rule is and how it
is written stands in `jetproof.wire.rules`.
"""

from jetproof.targets.tap.certificates import Certificate, make_certificate
from jetproof.targets.tap.events import ConnectionEvent, Event, TapEvent
from jetproof.targets.tap.session import Inline
from jetproof.targets.tap.tap import Tap
from jetproof.wire.rules import Rule, RuleError, parse_rule, parse_rules

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
