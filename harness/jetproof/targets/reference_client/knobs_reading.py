"""Knobs of reads: direct get, guarded reads, buckets, objects."""

from __future__ import annotations

from typing import Final

from jetproof.targets.reference_client.knob import Knob, table

READING: Final[tuple[Knob, ...]] = table(
    ("requests-never-time-out", "A request waits for its answer for ever.", "A31-017"),
    ("old-server-unnoticed", "A first reply without Nats-Num-Pending is taken.", "A31-045"),
    ("batch-without-its-number", "A batch call sends no batch.", "A31-046"),
    ("batch-without-a-start", "A batch call sends no start.", "A31-048 A31-049"),
    ("batch-with-two-starts", "A start time is sent with a sequence.", "A31-147"),
    ("paging-forgets-the-point-in-time", "up_to_seq is not sent.", "A31-068 A31-148"),
    ("paging-repeats-the-last", "A page starts at the last sequence.", "A31-148"),
    ("paging-stops-early", "Only the first page is read.", "A31-148"),
    # Guarded reads
    (
        "read-guard-dropped",
        "min_last_seq of a read is not sent.",
        "A53-028 A53-030 A53-031 A53-032 A53-033 A53-037 A53-039 A53-054",
    ),
    ("message-get-unguarded", "Message get does not send it.", "A53-030"),
    ("guarded-read-by-message-get", "Guarded reads are message gets.", "A53-031 A53-032"),
    ("guarded-last-by-body", "The subject is sent in the body.", "A53-032"),
    ("guard-status-as-not-found", "412 is told as 404.", "A53-028 A53-060"),
    ("guards-every-read", "Reads are guarded unasked.", "A53-044"),
    ("consumer-guard-dropped", "Consumers are created without it.", "A53-029 A53-034"),
    ("consumers-guarded-unasked", "Consumers are guarded unasked.", "A53-044"),
    ("ordered-guard-dropped", "Ordered consumers do not have it.", "A53-064 A53-054 A53-040"),
    # Buckets
    ("bucket-reads-unguarded", "A minimum revision is ignored.", "A53-033 A53-037 A53-054"),
    ("list-unguarded", "Listing keys ignores the minimum.", "A53-054 A53-064"),
    ("create-reads-unguarded", "KV create ignores the number in the error.", "A53-037"),
    ("create-needs-the-number", "An error without a number is final.", "A53-037"),
    ("create-overwrites", "KV create is a put.", "A53-080"),
    ("create-minds-deleted-keys", "A deleted key cannot be created.", "A53-081"),
    ("delete-removes-the-message", "KV delete removes the message.", "A53-026"),
    ("purge-without-rollup", "KV purge purges the stream.", "A53-026"),
    ("deleted-keys-shown", "Get shows entries of deleted keys.", "A53-026 A53-059"),
    ("rollups-taken-for-values", "A rollup message is a value.", "A53-059"),
    # Objects
    ("meta-sent-first", "The meta message is sent before the chunks.", "A53-038"),
    ("sequence-of-the-last-chunk", "A put tells the last chunk's sequence.", "A53-038"),
    ("meta-unguarded", "The meta message is read without the guard.", "A53-039"),
    ("chunks-unguarded", "Chunks are read without the guard.", "A53-040"),
)
