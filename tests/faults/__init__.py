"""Bad input and faults, as they reach somebody who types a command."""
