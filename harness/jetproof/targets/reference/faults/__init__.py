"""Ways for the reference layer to be wrong on purpose, beside it: see `targets.faults`."""
