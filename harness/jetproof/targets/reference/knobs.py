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

SPEAKS: Final = ("adr-53",)
"""The specifications that the layer answers for."""

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
