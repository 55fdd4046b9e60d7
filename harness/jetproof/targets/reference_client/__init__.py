"""The reference client: what the specifications demand of clients, as a program that does it.

It speaks the protocol of adapters (docs/adapters.md) on standard input and output, and stands on
the raw driver alone. Its cells show that a case can be passed, and, beside the red cell of a
library, what was to be seen on the same server. Knobs make it wrong in one way each, so that a case
can be seen to fail.

Read in this order. Without any I/O: `pulls` (what a consume has asked for and not yet processed),
`statuses` (what each status means), `timers` (heartbeats, and the pace of going on), `settings`
(defaults and bounds), `flow` and `channel` (fast ingest). On the wire: `connection`, `requests`,
`publishing`, `batches`, `ingest`, `consumers`, `fetching`, `roles`, `consuming`, `ordered`, `reading`,
`buckets`, `objects`. Around it: `conduct` and `knobs`; `state`, `operations` and `calls_*`, which are
the operations of the protocol; `protocol` and `__main__`.
"""
