"""What the reference layer speaks, and how it can be told to do otherwise: for mutants.

Each knob is one misreading. `Conduct` is asked at the very place where it would show, and counts how
often it did: a knob that never came to bear has proved nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final, Self

from jetproof.errors import JetproofError
from jetproof.model.versions import Version

SPEAKS: Final = ("adr-53", "adr-50/fast-ingest/rev-7")
"""The specifications, or parts of their suites, that the layer answers for."""

REVISIONS: Final[Mapping[str, int]] = {"adr-50": 7, "adr-53": 4}
"""The revision that the layer speaks, where it is another than that of the release behind it."""

FIRST_RELEASE: Final = Version(2, 12, 0)
"""The first release that the layer can stand before: these specifications begin with it."""


@dataclass(frozen=True, slots=True)
class Knobs:
    """Every knob; in files their names have hyphens."""

    ignore_min_last_seq: bool = False
    """Every read is served as if it carried no min_last_seq, as releases do."""
    ignore_in_subject_form: bool = False
    """Only the form of direct get with the subject appended ignores it."""
    ignore_in_batch_form: bool = False
    """Only direct gets with `batch` or `multi_last` ignore it."""
    ignore_in_message_get: bool = False
    """Only message get ignores it."""
    refuse_at_once: bool = False
    """Refusals are not delayed."""
    refuse_when_met: bool = False
    """Reads are refused although the stream is far enough."""
    want_more_than_asked: bool = False
    """A last sequence equal to min_last_seq is not enough."""
    compare_number_of_messages: bool = False
    """Compares with how many messages the stream holds, not with its last sequence."""
    compare_message_read: bool = False
    """Compares with the sequence of the message that is read, not with the stream's last one."""
    answer_twice: bool = False
    """A read that is served is answered two times."""
    leader_answers_behind: bool = False
    """A leader that is not far enough answers all the same, but not in place of a follower."""
    followers_refuse: bool = False
    """A follower that is not far enough refuses instead of passing the read to the leader."""
    followers_answer: bool = False
    """A follower that is not far enough answers all the same."""
    reads_need_quorum: bool = False
    """A read is served only while a majority of the stream's servers answers."""
    mirrors_answer_behind: bool = False
    """A mirror that is not far enough answers all the same."""
    mirrors_refuse: bool = False
    """A mirror refuses every guarded read, far enough or not."""
    mirrors_redirect: bool = False
    """A mirror that is not far enough passes the read to the stream it mirrors."""
    consumers_are_refused: bool = False
    """A consumer whose min_last_seq is not reached is not created."""
    consumers_never_wait: bool = False
    """A consumer delivers at once, whatever its min_last_seq."""
    consumers_never_start: bool = False
    """A consumer that waits goes on waiting when its min_last_seq is reached."""
    consumers_wait_for_one_more: bool = False
    """A consumer waits for a sequence beyond its min_last_seq."""
    consumers_always_wait: bool = False
    """A consumer waits although min_last_seq is reached, and starts with the next message."""
    consumers_forget: bool = False
    """The configuration of a consumer is reported without its min_last_seq."""
    fast_is_ignored: bool = False
    """Every message of fast ingest is a plain publish, as on releases."""
    fast_ingests_everywhere: bool = False
    """Streams that do not allow batches ingest all the same."""
    fast_takes_long_ids: bool = False
    """Ids of batches may have any length."""
    fast_numbers_messages_itself: bool = False
    """A message without a batch sequence is taken for the next one."""
    fast_starts_anywhere: bool = False
    """An unknown batch begins with any sequence."""
    fast_takes_any_gap_mode: bool = False
    """A gap mode that is neither ok nor fail is taken for fail."""
    fast_streams_have_no_limit: bool = False
    """A stream takes more than fifty batches."""
    fast_servers_have_no_limit: bool = False
    """A server takes more than a thousand batches."""
    fast_batches_have_a_limit: bool = False
    """A batch ends with its thousandth message, like an atomic one."""
    fast_takes_bytes_for_messages: bool = False
    """A flow of so many bytes is read as one of so many messages."""
    fast_gaps_are_fine_by_default: bool = False
    """Without a gap mode, gaps do not end a batch."""
    fast_gaps_always_end_it: bool = False
    """A gap ends a batch that allows gaps."""
    fast_gaps_never_end_it: bool = False
    """A gap does not end a batch that allows none."""
    fast_gaps_end_it_with_an_error: bool = False
    """A gap ends a batch with an error instead of the PubAck."""
    fast_gaps_are_not_told: bool = False
    """A batch that allows gaps goes on without a word about one."""
    fast_tells_what_it_expected: bool = False
    """last_seq of a gap is the sequence that was due, as in revision 9."""
    fast_stores_after_the_gap: bool = False
    """The message that shows a gap is stored although the gap ends its batch."""
    fast_counts_beyond_the_gap: bool = False
    """The PubAck after a gap counts the message that showed it."""
    fast_allows_last_msg_id: bool = False
    """Nats-Expected-Last-Msg-Id is no reason to refuse a message."""
    fast_expects_in_every_message: bool = False
    """Messages may expect what only the first, or a fresh subject, may."""
    fast_checks_nothing: bool = False
    """What a message expects of the stream is not looked at."""
    fast_skips_duplicates: bool = False
    """A duplicate is passed over, and the batch goes on."""
    fast_stores_eob: bool = False
    """The message that only ends a batch is stored."""
    fast_drops_the_commit: bool = False
    """The message that commits a batch with 1 is not stored."""
    fast_marks_messages: bool = False
    """Messages are stored with Nats-Batch-Commit: 1 although they have none."""
    fast_starts_in_silence: bool = False
    """The first message gets no BatchFlowAck of its own."""
    fast_starts_only_are_acked: bool = False
    """Only the first message gets a BatchFlowAck."""
    fast_acks_half_as_often: bool = False
    """A BatchFlowAck comes half as often as it says."""
    fast_acks_twice: bool = False
    """Every BatchFlowAck comes two times."""
    fast_acks_without_the_flow: bool = False
    """A BatchFlowAck does not say which flow is in force."""
    fast_raises_the_flow: bool = False
    """The flow is raised above what the client asked for."""
    fast_lowers_the_flow: bool = False
    """The flow is halved with the first acknowledgement: no misreading, the text allows it."""
    fast_gives_up_early: bool = False
    """A batch is abandoned after a second."""
    fast_never_gives_up: bool = False
    """A batch is never abandoned."""
    fast_tells_of_a_timeout: bool = False
    """The client is sent an error when its batch is abandoned."""
    fast_keeps_a_timeout_to_itself: bool = False
    """A batch is abandoned without an advisory."""
    fast_new_leaders_forget: bool = False
    """With its leader a batch is gone, and nobody says so."""
    fast_new_leaders_always_go_on: bool = False
    """A batch that allows no gaps goes on under another leader."""
    fast_new_leaders_say_nothing: bool = False
    """A new leader goes on without a word."""

    @classmethod
    def of(cls, named: Mapping[str, bool]) -> Self:
        """From the names that files use; the error lists those there are."""
        known = knob_names()
        for name in named:
            if name not in known:
                raise JetproofError(
                    f"the reference layer has no knob {name!r}",
                    phase="plan",
                    hint=f"there are: {', '.join(known)}",
                )
        return cls(**{name.replace("-", "_"): value for name, value in named.items()})


def knob_names() -> tuple[str, ...]:
    """The names of all knobs as files write them."""
    return tuple(item.name.replace("_", "-") for item in fields(Knobs))


class Conduct:
    """The knobs in force, and how often each made a difference (`fired`, by the files' names)."""

    def __init__(self, knobs: Knobs | None = None) -> None:
        self.knobs = knobs or Knobs()
        self.fired: Counter[str] = Counter()

    def wrong(self, knob: str) -> bool:
        """Whether to do the wrong thing here; asked only where it makes a difference."""
        if not getattr(self.knobs, knob):
            return False
        self.fired[knob.replace("_", "-")] += 1
        return True
