"""From files to the model. Every mistake is found before anything starts, and all of them are listed.

Read in this order: `mistakes` (what a mistake is), `yaml_source` (YAML with lines), `structure` (a file
against its schema), `scope` (what a name may refer to), `reader` and `expectations` (parts that occur
everywhere), `steps` (one record per step kind), `rules` (rules of the tap), `suite_file`, `catalogue`,
`deviations`, `mutants` (one kind of file each), `library` (all of it). Besides: `wire_schemas` and
`error_table`, which servers are judged by, `case_schema`, which makes the schema of case files from the
step kinds, `sentences`, which ties a clause to its sentence, and `spec_text_check`, which looks for it in
a text.
"""
