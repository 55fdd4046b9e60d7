"""Rules about frames, as data: which frames, and what is to happen to them.

`model` says what a rule is, `reading` makes one from plain data as it stands in YAML, `selecting`
tells whether a frame is meant, `changing` makes the changed frame. All of it is pure; the tap
(`jetproof.targets.tap`) carries the rules out.

    id: lose-second-ack
    on: {answers: publish, nth: 2}
    do: drop
"""

from jetproof.wire.rules.basics import RuleError
from jetproof.wire.rules.model import Rule
from jetproof.wire.rules.reading import parse_message, parse_rule, parse_rules

__all__ = ["Rule", "RuleError", "parse_message", "parse_rule", "parse_rules"]
