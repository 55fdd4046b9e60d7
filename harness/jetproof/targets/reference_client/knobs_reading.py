"""Knobs of reads: direct get, guarded reads, buckets, objects."""

from __future__ import annotations

from typing import Final

from jetproof.targets.reference_client.knob import Knob, table

READING: Final[tuple[Knob, ...]] = table(
    ("requests-never-time-out", "A request waits for its answer for ever.", "A31-017 PRM-021"),
    ("direct-get-falls-back", "Where nobody answers, the stream's API is asked.", "A31-017"),
    ("old-server-unnoticed", "A first reply without Nats-Num-Pending is all.", "A31-045"),
    ("sequence-off-by-one", "The next sequence is asked for.", "A31-178 A31-181 A31-183 A31-186"),
    ("last-asked-for-as-next", "The first of a subject is asked for.", "A31-179"),
    ("next-asked-for-as-last", "The last of a subject is asked for.", "A31-180 A31-181"),
    ("appended-subject-with-a-payload", "It has a body as well.", "A31-155"),
    ("statuses-taken-for-messages", "A status is handed on as a message.", "A31-156 A53-060"),
    ("empty-messages-taken-for-none", "No payload is no message.", "A31-157"),
    ("payloads-read-as-answers", "An error in a payload is raised.", "A31-158"),
    ("batch-gaps-untold", "A batch may lack messages.", "A31-167 A31-168 A31-169 PRM-027"),
    ("unended-batch-in-peace", "A batch ends in peace without its end.", "A31-017 PRM-027"),
    ("one-value-per-header", "The last value of a header is kept.", "A31-165 PRM-028"),
    ("batches-never-time-out", "A batch waits for its end for ever.", "A31-017"),
    ("batch-errors-untold", "A status ends a batch in peace.", "A31-017 A31-156 A53-060 PRM-027"),
    ("end-of-a-batch-unknown", "204 is an error.", "A31-159"),
    ("batch-without-its-number", "A batch call sends no batch.", "A31-046 A31-182"),
    ("batch-number-unchecked", "A batch of 0, or below, is sent.", "A31-046"),
    ("batch-without-a-subject", "A batch call sends no subject.", "A31-154 A31-182 A31-183"),
    ("start-time-dropped", "A batch starts at the first message.", "A31-184 A31-187"),
    ("max-bytes-dropped", "max_bytes is not sent.", "A31-185 A31-186 A31-187"),
    ("only-the-first-subject", "Further subjects are not asked for.", "A31-188"),
    ("point-in-time-dropped", "up_to_seq, up_to_time are not sent.", "A31-189 A31-190 A31-068"),
    ("subjects-without-a-number", "batch is not sent.", "A31-191 A31-192 A31-193"),
    ("page-starts-over", "seq of a further page is not sent.", "A31-148"),
    ("batch-without-a-start", "A batch call sends no start.", "A31-048 A31-049"),
    ("batch-with-two-starts", "A start time is sent with a sequence.", "A31-147"),
    ("paging-forgets-the-point-in-time", "up_to_seq is not sent.", "A31-068 A31-148"),
    ("paging-repeats-the-last", "A page starts at the last sequence.", "A31-148"),
    ("paging-stops-early", "Paging ends with the second page.", "A31-148"),
    # Guarded reads
    (
        "read-guard-dropped",
        "min_last_seq of a read is not sent.",
        "A53-028 A53-030 A53-031 A53-032 A53-033 A53-037 A53-039 A53-054",
    ),
    ("message-get-unguarded", "Message get does not send it.", "A53-030"),
    ("message-get-loses-the-code", "An error has no code.", "A53-028 A53-082"),
    ("guarded-read-by-message-get", "Guarded reads are message gets.", "A53-031 A53-032"),
    ("guarded-last-by-body", "The subject is sent in the body.", "A53-032"),
    ("guard-status-as-not-found", "412 is told as 404.", "A53-028 A53-060"),
    ("guards-every-read", "Reads are guarded unasked.", "A53-044"),
    ("consumer-guard-dropped", "Consumers are created without it.", "A53-029 A53-034"),
    (
        "consumer-before-its-subscription",
        "A consumer that delivers is made beside an ordered one, and then subscribed to.",
        "JSM-139",
    ),
    ("consumers-guarded-unasked", "Consumers are guarded unasked.", "A53-044"),
    ("ordered-guard-dropped", "Ordered consumers do not have it.", "A53-064 A53-054 A53-040"),
    # Buckets
    ("bucket-reads-unguarded", "A minimum revision is ignored.", "A53-033 A53-037 A53-054"),
    ("list-unguarded", "Listing keys ignores the minimum.", "A53-054 A53-064"),
    ("create-reads-unguarded", "KV create ignores the number in the error.", "A53-037"),
    ("create-needs-the-number", "An error without a number is final.", "A53-037"),
    ("create-overwrites", "KV create is a put.", "A53-080"),
    ("create-ends-in-a-put", "After its read it writes unchecked.", "A53-080"),
    ("create-minds-deleted-keys", "A deleted key cannot be created.", "A53-081"),
    ("delete-removes-the-message", "KV delete removes the message.", "A53-026"),
    ("purge-without-rollup", "KV purge purges the stream.", "A53-026"),
    ("deleted-keys-shown", "The marker of a deletion is a value.", "A53-026"),
    ("rollups-taken-for-values", "A rollup message is a value.", "A53-059"),
    # Objects
    ("meta-sent-first", "The meta message is sent before the chunks.", "A53-038"),
    ("meta-sent-once", "Another put under the same name sends no meta message.", "A53-038"),
    ("sequence-of-the-last-chunk", "A put tells the last chunk's sequence.", "A53-038"),
    (
        "failed-put-takes-its-chunks-back",
        "Chunks are purged where the meta message is not acknowledged.",
        "PRM-031",
    ),
    (
        "failed-chunks-overlooked",
        "The meta message is sent after a chunk failed, and the chunks are purged.",
        "PRM-031",
    ),
    ("old-chunks-purged-first", "A put begins by purging the old object.", "PRM-031"),
    ("meta-unguarded", "The meta message is read without the guard.", "A53-039"),
    ("chunks-unguarded", "Chunks are read without the guard.", "A53-040"),
)
