"""Rules about frames, as data: which frames, and what is to happen to them.

`model` says what a rule is, `selecting` whether a frame is meant, `changing` makes the changed frame.
All of it is pure; the tap (`jetproof.targets.tap`) carries the rules out. `jetproof.load.rules` makes
rules from plain data as it stands in YAML.

    id: lose-second-ack
    on: {answers: publish, nth: 2}
    do: drop
"""

from jetproof.wire.rules.model import Rule

__all__ = ["Rule"]
