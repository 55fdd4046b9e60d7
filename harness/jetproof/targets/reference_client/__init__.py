"""The reference client: what the specifications demand of clients, as a program that does it.

It speaks the protocol of adapters (docs/adapters.md) on standard input and output, and stands on
the raw driver alone. Its cells show that a case can be passed, and, beside the red cell of a
library, what was to be seen on the same server.

Read in this order. Without any I/O: `pulls` (what a consume has asked for and not yet processed),
`statuses` (what each status means), `timers` (heartbeats, and the pace of going on), `settings`
(defaults and bounds), `flow` and `channel` (fast ingest). On the wire: `connection`, `requests`,
`publishing`, `batches`, `ingest`, `consumers`, `acks`, `fetching`, `roles`, `consuming`, `ordered`,
`reading`, `buckets`, `objects`. Around it: `conduct`; `state`, `operations` and `calls_*`, which are
the operations of the protocol; `protocol` and `__main__`.

Beside it, `faults`: one subclass of a part of the client per way to be wrong, so that a case can be
seen to fail. `Conduct.part` is the one place where they come in. `knobs` lists them.
"""
