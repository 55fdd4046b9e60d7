"""Knobs of consume: refills, counts, statuses, heartbeats, reconnects."""

from __future__ import annotations

from typing import Final

from jetproof.targets.reference_client.knob import Knob, table

CONSUMING: Final[tuple[Knob, ...]] = table(
    # The consumer
    ("consume-creates-the-consumer", "Consume sends CONSUMER.CREATE.", "A37-001"),
    ("get-changes-the-consumer", "Looking a consumer up updates its description.", "A37-001"),
    ("get-makes-the-consumer", "A consumer that is not there is made.", "A37-001"),
    ("makes-a-push-consumer", "Consumers are created with a delivery subject.", "A37-058"),
    (
        "look-up-asks-for-the-stream",
        "Looking a consumer up asks for its stream instead.",
        "A37-092 A37-250 A37-251",
    ),
    ("delete-does-nothing", "Deleting a consumer sends nothing.", "A37-002 A37-057"),
    ("info-made-up", "The info of a consumer is not asked of the server.", "A37-056 A37-090"),
    (
        "ordered-gap-unnoticed",
        "A missing message of an ordered consumer is overlooked.",
        "PRM-022",
    ),
    (
        "ordered-never-made-anew",
        "An ordered consumer that is gone is not created again.",
        "PRM-022",
    ),
    (
        "ordered-starts-over",
        "An ordered consumer made anew starts at its first start.",
        "PRM-022",
    ),
    (
        "ordered-options-dropped",
        "Filters and start of an ordered consumer are dropped.",
        "PRM-022",
    ),
    ("ordered-acknowledges", "An ordered consumer wants acknowledgements.", "A37-004"),
    # Life
    ("stop-goes-on", "A stop is told as done, and messages go on.", "A37-005"),
    ("drain-drops-the-buffer", "A drain drops what is buffered.", "A37-005 A37-021"),
    ("drain-goes-on", "A drain is told as done, and messages go on.", "A37-005"),
    ("drain-pulls-more", "A drain publishes one more pull request.", "A37-021"),
    ("first-pull-late", "The first pull request waits for five seconds.", "A37-054"),
    # Options and defaults
    ("both-limits-taken", "max_messages and max_bytes are accepted together.", "A37-023"),
    ("max-bytes-always-sent", "Every pull request carries max_bytes.", "A37-024 A37-033"),
    ("size-limit-ignored", "max_bytes of a consume is ignored.", "A37-022 A37-036 A37-207"),
    ("default-ten-messages", "max_messages is 10 by default.", "A37-024 A37-025 A37-098"),
    ("default-expires-ten-seconds", "expires is 10 s by default.", "A37-026 A37-064"),
    ("default-heartbeat-one-second", "The heartbeat is 1 s by default.", "A37-027 A37-065"),
    (
        "default-threshold-tenth",
        "The default threshold is a tenth (under the draft nine tenths).",
        "A37-028 A37-029 A37-066 A37-097",
    ),
    ("thresholds-ignored", "A given threshold is not used.", "A37-022 A37-202 A37-203"),
    (
        "threshold-means-processed",
        "A threshold counts what was processed, not what is left.",
        "A37-022 A37-225",
    ),
    ("high-threshold-taken", "A threshold above its limit raises it.", "A37-034 A37-082"),
    ("odd-times-taken", "Any expires and heartbeat are accepted.", "A37-030 A37-064 A37-065"),
    ("consume-expires-ignored", "expires of a consume is always 30 s.", "A37-022 A37-210"),
    ("consume-heartbeat-ignored", "The heartbeat is always half of expires.", "A37-022"),
    # Subscription
    (
        "a-subscription-for-each-pull",
        "Every pull request has an inbox of its own.",
        "A37-031 A37-032",
    ),
    ("reply-subject-varies", "One wildcard inbox, another reply subject a pull.", "A37-032"),
    # Refills
    (
        "consume-never-refills",
        "There is a first pull request, and no other.",
        "A37-020 A37-037 A37-052 A37-074 A37-205 PRM-030",
    ),
    ("threshold-overlooked", "Refills come only when nothing is left.", "A37-037 A37-066"),
    ("refill-asks-for-one", "Refills ask for one message or byte.", "A37-035 A37-096"),
    ("refill-overfills", "Every refill asks for the whole limit.", "A37-035 A37-036 A37-096"),
    ("stuck-at-one", "With a limit of one there is no second pull request.", "A37-067"),
    ("max-bytes-without-batch", "With max_bytes no batch is sent.", "A37-063 A37-207 A37-256"),
    ("order-reversed", "Messages that came together are handed over backwards.", "A37-055 PRM-024"),
    ("third-message-dropped", "The message of sequence 3 is not handed over.", "PRM-024"),
    # Counts
    ("pull-not-counted", "A further pull request is not added to the counts.", "A37-036 A37-039"),
    ("message-not-counted", "Messages are not taken off the counts.", "A37-020 A37-040"),
    (
        "header-size-misjudged",
        "Headers are left out of sizes (under the draft: counted).",
        "A37-041 A37-068",
    ),
    ("only-payload-counted", "Subject and reply do not count as size.", "A37-040 A37-041 A37-068"),
    (
        "pending-headers-ignored",
        "The pending headers of a status are ignored.",
        "A37-042 A37-074",
    ),
    ("unknown-pending-ignored", "Only those of 408 and 409 too big count.", "A37-080"),
    ("wrong-pin-uncounted", "The pending headers of 423 are ignored.", "A37-079"),
    ("interest-expired-uncounted", "Those of 408 Interest Expired are ignored.", "A37-209"),
    ("batch-completed-uncounted", "Those of 409 Batch Completed are ignored.", "A37-212"),
    (
        "a-status-forgets-the-counts",
        "Any status sets all counts to zero.",
        "A37-036 A37-213",
    ),
    # Statuses
    ("timeout-told", "408 Request Timeout is told as an error.", "A37-043 A37-074 A37-241 A37-252"),
    ("timeout-ends-consume", "408 Request Timeout ends the consume.", "A37-074"),
    ("too-big-told", "409 Message Size Exceeds MaxBytes is told.", "A37-043 A37-074"),
    ("no-messages-told", "404 No Messages is told.", "A37-073"),
    ("no-messages-ends-consume", "404 No Messages ends the consume.", "A37-073"),
    ("interest-expired-told", "408 Interest Expired is told.", "A37-209"),
    ("wrong-pin-told", "423 is told.", "A37-079"),
    ("pin-kept", "The pin id is sent again after 423.", "A37-079"),
    ("bad-request-untold", "400 is not told.", "A37-071"),
    ("deleted-survived", "409 Consumer Deleted does not end the consume.", "A37-069"),
    ("deleted-untold", "409 Consumer Deleted ends the consume without a word.", "A37-069"),
    ("push-based-survived", "409 Consumer is push based does not end it.", "A37-070"),
    ("push-based-untold", "409 Consumer is push based ends it without a word.", "A37-070"),
    ("warnings-end-consume", "409 Exceeded Max... ends the consume.", "A37-072"),
    (
        "no-pull-after-a-status",
        "No pull request follows a status.",
        "A37-071 A37-072 A37-073 A37-074 A37-213",
    ),
    ("counted-errors-told", "Errors with pending headers are told.", "A37-043", "adr-37@0"),
    ("errors-survived", "No error ends a consume.", "A37-044 A37-211", "adr-37@0"),
    # Heartbeats
    ("no-heartbeats-asked", "Pull requests ask for no heartbeats.", "A37-045"),
    ("heartbeats-handed-over", "Heartbeats are handed over as messages.", "A37-053"),
    (
        "silence-untold",
        "Missing heartbeats are not told.",
        "A37-046 A37-201 A37-204 A37-243",
    ),
    ("consume-reports-no-errors", "A consume reports no errors while it lasts.", "PRM-030"),
    ("silence-told-late", "Silence is told after eight heartbeats.", "A37-046 A37-201"),
    ("silence-ends-consume", "Missing heartbeats end the consume.", "A37-076"),
    ("silence-survived", "Missing heartbeats do not end it.", "A37-049", "adr-37@0"),
    ("heartbeats-unheard", "Heartbeats do not restart the timer.", "A37-047"),
    ("statuses-unheard", "Statuses do not restart the timer.", "A37-047"),
    ("messages-unheard", "Messages do not restart the timer.", "A37-047"),
    # Reconnects
    ("disconnect-untold", "The loss of the connection is not told.", "A37-050"),
    ("reconnect-untold", "The return of the connection is not told.", "A37-050 A37-244"),
    (
        "timer-runs-while-disconnected",
        "The heartbeat timer runs on without a connection.",
        "A37-048 A37-083 A37-085 A37-087",
    ),
    (
        "timer-not-reset-at-reconnect",
        "After a reconnect the timer has only its rest.",
        "A37-083 A37-084 A37-086",
    ),
    (
        "timer-stays-paused",
        "After a reconnect the timer does not run.",
        "A37-084 A37-086 A37-087",
    ),
    ("pulls-while-disconnected", "Pull requests are made and kept while cut off.", "A37-077"),
    ("no-pull-after-reconnect", "No pull request follows a reconnect.", "A37-052"),
    (
        "consumers-forgotten-at-reconnect",
        "Consumers that were looked up before a reconnect are gone after it.",
        "PRM-023",
    ),
    ("no-info-after-reconnect", "The consumer is not asked for.", "A37-051", "adr-37@0"),
    (
        "missing-consumer-survived",
        "A consumer that is not there does not end the consume.",
        "A37-051",
        "adr-37@0",
    ),
    ("info-after-reconnect", "The consumer is asked for, and its absence ends it.", "A37-078"),
    (
        "reconnect-ends-consume",
        "The loss of the connection ends the consume.",
        "A37-078 PRM-022 PRM-023",
    ),
)
