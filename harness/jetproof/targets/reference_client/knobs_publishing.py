"""Knobs of publishing: single messages, atomic batches, fast ingest."""

from __future__ import annotations

from typing import Final

from jetproof.targets.reference_client.knob import Knob, table

PUBLISHING: Final[tuple[Knob, ...]] = table(
    ("numbers-rounded", "Numbers above 2^53 are kept as doubles.", "PRM-020"),
    ("publish-without-reply", "A publish sends and asks for nothing.", "JSM-132"),
    ("publish-error-untold", "An error in the answer to a publish is dropped.", "JSM-132 PRM-025"),
    ("no-answer-taken-for-an-ack", "A publish without an answer succeeds.", "JSM-132 PRM-025"),
    (
        "answers-taken-in-turn",
        "Whatever comes to the inbox answers the oldest request, or the next.",
        "JSM-132",
    ),
    ("msg-id-dropped", "The message id is not sent.", "JSM-133"),
    # Atomic batches
    ("batch-start-without-reply", "The first message has no reply subject.", "A50-ATOMIC-002"),
    ("batch-sequence-skips", "From the second message on, numbers are off.", "A50-ATOMIC-004"),
    ("batch-id-changes", "Further messages have another id.", "A50-ATOMIC-004"),
    (
        "batch-starts-by-a-message-of-its-own",
        "An empty message opens the batch.",
        "A50-ATOMIC-150",
    ),
    ("batch-starts-at-zero", "The first message has number 0.", "A50-ATOMIC-151 A50-ATOMIC-004"),
    (
        "batch-id-too-long",
        "Ids that the client makes have 96 characters.",
        "A50-ATOMIC-152 A50-FAST10-196",
    ),
    ("batch-id-unchecked", "An id of the caller may be too long.", "A50-ATOMIC-262"),
    ("first-error-ignored", "An error in the first answer is ignored.", "A50-ATOMIC-153"),
    ("empty-first-answer-refused", "An empty first answer is an error.", "A50-ATOMIC-153"),
    ("commit-value-unknown", "The commit header says yes.", "A50-ATOMIC-154"),
    ("commit-repeats-the-sequence", "The commit repeats the number.", "A50-ATOMIC-154"),
    ("commit-without-id", "The commit has no batch id.", "A50-ATOMIC-154"),
    ("empty-ack-in-the-middle-refused", "An empty ack is an error.", "A50-ATOMIC-155"),
    (
        "commit-error-loses-its-code",
        "A rejected commit has no code.",
        "A50-ATOMIC-156 A50-ATOMIC-273",
    ),
    ("batch-count-untold", "Batch id and count are not handed on.", "A50-ATOMIC-157"),
    ("batch-size-unguarded", "More than 1000 messages are sent.", "A50-ATOMIC-158"),
    ("batch-size-guarded-early", "At most 999 messages are sent.", "A50-ATOMIC-158"),
    ("old-server-taken-for-new", "A pub ack opens a batch.", "A50-ATOMIC-159"),
    (
        "batch-goes-on-after-its-end",
        "Messages are sent after an error or a commit.",
        "A50-ATOMIC-264",
    ),
    ("members-kept-back", "Messages after the first are taken and not sent.", "PRM-026"),
    (
        "failed-commit-taken-for-one",
        "A commit that fails is reported as a commit.",
        "A50-ATOMIC-267 PRM-025",
    ),
    ("any-ack-taken-for-a-commit", "A plain pub ack is a commit.", "PRM-025"),
    ("headers-of-the-caller-dropped", "Messages go without the caller's headers.", "PRM-029"),
    ("headers-of-members-dropped", "Members go without their headers.", "PRM-029"),
    # Atomic batches, where the text leaves the choice
    ("first-answer-not-awaited", "The first answer is not awaited.", "A50-ATOMIC-260"),
    (
        "unasked-start-without-reply",
        "A first message that nobody wants acknowledged has no reply subject.",
        "A50-ATOMIC-260",
    ),
    ("member-acks-ignored", "Answers in the middle are not asked for.", "A50-ATOMIC-261"),
    ("every-member-acknowledged", "Every message is a request.", "A50-ATOMIC-005"),
    ("caller-id-ignored", "The id is always its own.", "A50-ATOMIC-262 A50-FAST10-214"),
    ("close-gives-up", "Closing a batch gives it up.", "A50-ATOMIC-263"),
    (
        "empty-batch-ends-quietly",
        "A batch without messages ends without an error.",
        "A50-ATOMIC-265 A50-FAST10-209",
    ),
    (
        "batch-headers-of-the-caller-sent",
        "Batch headers of the caller are sent.",
        "A50-ATOMIC-266",
    ),
    (
        "unanswered-commit-sent-again",
        "A commit that is not answered is sent again.",
        "A50-ATOMIC-267 A50-ATOMIC-274",
    ),
    (
        "no-responders-asked-again",
        "A first message answered with 503 is sent again.",
        "A50-ATOMIC-274",
    ),
    (
        "reconnects-end-batches",
        "A batch does not survive the connection.",
        "A50-ATOMIC-268 A50-ATOMIC-273 A50-FAST10-210 A50-FAST10-216",
    ),
    (
        "conditions-in-a-batch-refused",
        "Expectations and message ids are refused.",
        "A50-ATOMIC-269 A50-ATOMIC-270 A50-ATOMIC-271",
    ),
    (
        "first-error-loses-its-code",
        "The error of a first message has no code.",
        "A50-ATOMIC-272",
    ),
    # Fast ingest
    (
        "channel-closed-early",
        "The control channel is closed after the first answer.",
        "A50-FAST10-010 A50-FAST10-024 A50-FAST7-021",
    ),
    (
        "replies-not-unique",
        "All messages have the reply subject of the first.",
        "A50-FAST10-011 A50-FAST10-020 A50-FAST10-030",
    ),
    (
        "reply-outside-the-inbox",
        "Reply subjects lie in inboxes nobody subscribed to.",
        "A50-FAST10-011 A50-FAST10-025 A50-FAST7-021 A50-FAST7-026",
    ),
    ("waits-for-each-ack", "Every message waits for its ack.", "A50-FAST10-015 A50-FAST7-013"),
    ("channel-shared", "Answers come to the common inbox.", "A50-FAST10-018 A50-FAST10-024"),
    (
        "keeps-interest-after-the-end",
        "The subscription outlives the batch.",
        "A50-FAST10-018",
    ),
    ("reply-without-gap-mode", "The gap mode is left out.", "A50-FAST10-020 A50-FAST10-007"),
    ("channel-too-wide", "The subscription does not name the id.", "A50-FAST10-025"),
    ("channel-for-each-message", "Every message has a subscription.", "A50-FAST10-024"),
    (
        "pours-before-the-answer",
        "Messages are sent before the first answer.",
        "A50-FAST10-028 A50-FAST10-029 A50-FAST10-113 A50-FAST7-025",
    ),
    ("appends-as-start", "Further messages use operation 0.", "A50-FAST10-030"),
    ("ingest-sequence-skips", "Numbers are off from the third on.", "A50-FAST10-030 A50-FAST7-026"),
    (
        "flow-never-changes",
        "The flow of the first answer is kept.",
        "A50-FAST10-036 A50-FAST10-115 A50-FAST10-184 A50-FAST7-030 A50-FAST7-059",
    ),
    (
        "acks-counted-not-tracked",
        "An ack stands for one flow's worth, whatever it names.",
        "A50-FAST10-037 A50-FAST10-103 A50-FAST10-104 A50-FAST7-031 A50-FAST7-056 A50-FAST7-057",
    ),
    (
        "acks-in-order-only",
        "An ack counts only if the one before it came.",
        "A50-FAST10-037 A50-FAST10-103 A50-FAST10-104",
    ),
    ("doubled-acks-count-twice", "An ack counts each time it comes.", "A50-FAST10-103"),
    (
        "late-acks-take-back",
        "The last ack counts, not the highest.",
        "A50-FAST10-037 A50-FAST10-194",
    ),
    ("ping-takes-a-sequence", "A ping takes the next number.", "A50-FAST10-041"),
    ("ping-names-the-acknowledged", "A ping names what is acknowledged.", "A50-FAST10-041"),
    ("gap-taken-for-an-ack", "A gap counts as an ack.", "A50-FAST10-065"),
    (
        "gaps-and-errors-untold",
        "Gaps and errors are dropped.",
        "A50-FAST10-093 A50-FAST10-181 A50-FAST10-193",
    ),
    (
        "sends-on-after-a-gap",
        "In mode fail a gap does not stop it.",
        "A50-FAST10-093 A50-FAST10-191",
    ),
    (
        "a-gap-ends-every-batch",
        "In mode ok a gap stops it too.",
        "A50-FAST10-181 A50-FAST10-065 A50-FAST10-216",
    ),
    (
        "outstanding-unbounded",
        "Any number of acks may be outstanding.",
        "A50-FAST10-105 A50-FAST10-204",
    ),
    (
        "three-outstanding-by-default",
        "Three acks are outstanding by default.",
        "A50-FAST10-106 A50-FAST10-204",
    ),
    (
        "never-waits",
        "It never waits for acks.",
        "A50-FAST10-015 A50-FAST10-114 A50-FAST7-013 A50-FAST7-050 A50-FAST10-190",
    ),
    ("final-ack-unrecognised", "The final PubAck is overlooked.", "A50-FAST10-116"),
    ("ack-sequence-untold", "What is acknowledged is not told.", "A50-FAST10-117 A50-FAST10-194"),
    ("outstanding-not-settable", "max_outstanding is ignored.", "A50-FAST10-182 A50-FAST7-055"),
    ("ack-timeout-not-settable", "ack_timeout is ignored.", "A50-FAST10-182 A50-FAST7-055"),
    ("never-pings", "A lost ack is not asked for.", "A50-FAST10-187 A50-FAST10-203"),
    (
        "ingest-end-repeats-the-sequence",
        "What ends a batch repeats the number.",
        "A50-FAST10-192",
    ),
    (
        "reply-tells-the-flow-in-force",
        "Reply subjects tell the flow that the server told last.",
        "A50-FAST10-195",
    ),
    # Fast ingest, where the text leaves the choice
    (
        "pings-all-the-time",
        "It pings for as long as a batch lasts.",
        "A50-FAST10-200 A50-FAST10-203 A50-FAST10-207",
    ),
    ("no-responders-overlooked", "A status 503 is overlooked.", "A50-FAST10-201"),
    (
        "ingest-errors-lose-their-code",
        "Errors of fast ingest have no code.",
        "A50-FAST10-202",
    ),
    ("errors-told-once", "Only the first error of a message is told.", "A50-FAST10-205"),
    (
        "unanswered-messages-sent-again",
        "A first or last message that is not answered is sent again.",
        "A50-FAST10-206 A50-FAST10-207",
    ),
    (
        "ingest-goes-on-after-its-end",
        "Messages are sent after the end of a batch.",
        "A50-FAST10-208",
    ),
    ("batch-of-one-refused", "A batch has two messages at least.", "A50-FAST10-209"),
    (
        "unknown-messages-end-the-batch",
        "A message that is not understood ends the batch.",
        "A50-FAST10-211",
    ),
    (
        "acks-known-by-their-bytes",
        "An ack is known by its first bytes.",
        "A50-FAST10-211",
    ),
    ("unknown-messages-taken-for-acks", "What has a seq is an ack.", "PRM-025"),
    ("future-acks-ignored", "An ack of what was not sent is ignored.", "A50-FAST10-212"),
    (
        "end-by-the-server-untold",
        "The PubAck of a batch that the server ended is dropped.",
        "A50-FAST10-205 A50-FAST10-213 A50-FAST10-216",
    ),
    ("ingest-id-unchecked", "Any id of the caller is taken.", "A50-FAST10-214"),
    ("ingest-headers-refused", "Headers of JetStream are refused.", "A50-FAST10-215"),
    ("a-timeout-ends-nothing", "A batch survives that acks stay away.", "A50-FAST10-217"),
    ("other-defaults", "A flow of 10 and no gaps, by default.", "A50-FAST10-218"),
    (
        "final-ack-misplaced",
        "A final ack to the reply subject of an earlier message is an error.",
        "A50-FAST10-219",
    ),
    # Fast ingest of revision 7
    (
        "starts-without-flow",
        "The first message has no flow.",
        "A50-FAST7-022 A50-FAST7-020",
        "adr-50@7",
    ),
    ("gap-mode-unsent", "The gap mode is not sent.", "A50-FAST7-005 A50-FAST7-022", "adr-50@7"),
    (
        "later-expectations-sent",
        "Later messages may expect sequences.",
        "A50-FAST7-086 A50-FAST7-087",
        "adr-50@7",
    ),
)
