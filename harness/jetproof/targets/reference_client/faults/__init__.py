"""Ways for the reference client to be wrong on purpose, beside it.

Each fault is a subclass of a part of the client and says in its methods what is wrong; `targets.faults`
has the rules. A client with knobs (`Faulty`) is made of these subclasses, and counts how often each came
to bear. The client itself knows nothing of them.
"""
