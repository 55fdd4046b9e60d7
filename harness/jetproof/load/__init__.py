"""From files to the model. Every mistake is found before anything starts, and all of them are told.

Read in this order: `mistakes` (how a mistake is told), `nodes` (YAML with lines), `structure` (a
file against its schema), `scope` (what a name may refer to), `reader`, `expectations` and `steps`
(plain data to the model), `suite_file`, `catalogue`, `deviations`, `mutants` (one kind of file
each), `library` (all of it). Besides: `wire_schemas` and `error_table`, which are what servers are
judged by, `sentences`, which ties a clause to its sentence, and `standing`, which looks for it in a text.
"""
