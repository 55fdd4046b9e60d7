"""Faults of guarded reads: the rule, and how it is carried out."""

from __future__ import annotations

from collections.abc import Sequence

from jetproof.targets.faults import harmless
from jetproof.targets.reference.faults.fault import fault
from jetproof.targets.reference.guard import Copy, Guard, Ruling
from jetproof.targets.reference.reads import Read, Reads


@fault("ignore-min-last-seq")
class IgnoreMinLastSeq(Reads):
    """Every read is served as if it carried no min_last_seq, as releases do."""

    def guarded(self, read: Read) -> bool:
        return False if super().guarded(read) else harmless(False)


@fault("ignore-in-subject-form")
class IgnoreInSubjectForm(Reads):
    """Only the form of direct get with the subject appended ignores it."""

    def guarded(self, read: Read) -> bool:
        guarded = super().guarded(read)
        return False if guarded and read.subject is not None else harmless(guarded)


@fault("ignore-in-batch-form")
class IgnoreInBatchForm(Reads):
    """Only direct gets with `batch` or `multi_last` ignore it."""

    def guarded(self, read: Read) -> bool:
        guarded = super().guarded(read)
        return False if guarded and read.several else harmless(guarded)


@fault("ignore-in-message-get")
class IgnoreInMessageGet(Reads):
    """Only message get ignores it."""

    def guarded(self, read: Read) -> bool:
        guarded = super().guarded(read)
        return False if guarded and read.message_get else harmless(guarded)


@fault("refuse-at-once")
class RefuseAtOnce(Reads):
    """Refusals are not delayed."""

    async def wait_to_refuse(self, read: Read) -> None:
        pass


@fault("refuse-when-met")
class RefuseWhenMet(Guard):
    """Reads are refused although the stream is far enough."""

    def all_reached(self, copies: Sequence[Copy]) -> Ruling:
        return Ruling.REFUSE

    def leader_serves(self, minimum: int, leader: Copy) -> bool:
        return False if super().leader_serves(minimum, leader) else harmless(False)


@fault("want-more-than-asked")
class WantMoreThanAsked(Guard):
    """A last sequence equal to min_last_seq is not enough."""

    def reached(self, minimum: int, copy: Copy) -> bool:
        return False if copy.last_seq == minimum else harmless(super().reached(minimum, copy))


@fault("compare-number-of-messages")
class CompareNumberOfMessages(Guard):
    """Compares with how many messages the stream holds, not with its last sequence."""

    def reached(self, minimum: int, copy: Copy) -> bool:
        enough = copy.messages >= minimum
        return harmless(enough) if enough == super().reached(minimum, copy) else enough


@fault("compare-message-read")
class CompareMessageRead(Reads):
    """Compares with the sequence of the message that is read, not with the stream's last one."""

    async def serve(self, read: Read) -> None:
        found = None if read.several else await self.leaders_message(read, read.stream)
        if found is not None and found["seq"] < read.minimum:
            await self.refuse(read)
        else:
            await super().serve(read)
            harmless(None)


@fault("answer-twice")
class AnswerTwice(Reads):
    """A read that is served is answered two times."""

    async def serve(self, read: Read) -> None:
        await super().serve(read)
        self.pass_on(read)


@fault("leader-answers-behind")
class LeaderAnswersBehind(Guard):
    """A leader that is not far enough answers all the same, but not in place of a follower."""

    def leader_behind(self, leader: Copy) -> Ruling:
        return Ruling.SERVE if leader.answers else harmless(super().leader_behind(leader))

    def leader_serves(self, minimum: int, leader: Copy) -> bool:
        serves = super().leader_serves(minimum, leader)
        return harmless(serves) if serves or not leader.answers else True


@fault("followers-refuse")
class FollowersRefuse(Guard):
    """A follower that is not far enough refuses instead of passing the read to the leader."""

    def follower_behind(self) -> Ruling:
        return Ruling.REFUSE


@fault("followers-answer")
class FollowersAnswer(Guard):
    """A follower that is not far enough answers all the same."""

    def follower_behind(self) -> Ruling:
        return Ruling.SERVE


@fault("reads-need-quorum")
class ReadsNeedQuorum(Guard):
    """A read is served only while a majority of the stream's servers answers."""

    def all_reached(self, copies: Sequence[Copy]) -> Ruling:
        majority = sum(copy.answers for copy in copies) > len(copies) // 2
        return harmless(super().all_reached(copies)) if majority else Ruling.REFUSE


@fault("mirrors-answer-behind")
class MirrorsAnswerBehind(Guard):
    """A mirror that is not far enough answers all the same."""

    def behind_without_leader(self, copies: Sequence[Copy]) -> Ruling:
        mirrored = any(copy.mirror for copy in copies)
        return Ruling.SERVE if mirrored else harmless(super().behind_without_leader(copies))


@fault("mirrors-refuse")
class MirrorsRefuse(Guard):
    """A mirror refuses every guarded read, far enough or not."""

    def all_reached(self, copies: Sequence[Copy]) -> Ruling:
        mirrored = any(copy.mirror for copy in copies)
        return Ruling.REFUSE if mirrored else harmless(super().all_reached(copies))


@fault("mirrors-redirect")
class MirrorsRedirect(Guard):
    """A mirror that is not far enough passes the read to the stream it mirrors."""

    def behind_without_leader(self, copies: Sequence[Copy]) -> Ruling:
        mirrored = any(copy.mirror for copy in copies)
        return Ruling.REDIRECT if mirrored else harmless(super().behind_without_leader(copies))
