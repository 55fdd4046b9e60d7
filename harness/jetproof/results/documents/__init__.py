"""The documents that commands print with `--json`, and `run.json`: each a type, with its fields described.

`results.schemas` generates the published JSON Schemas from them."""
