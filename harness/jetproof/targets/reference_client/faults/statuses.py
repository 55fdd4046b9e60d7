"""Faults about statuses: what they mean to a consume, and what their pending headers count."""

from __future__ import annotations

from jetproof.targets.reference_client.faults.consuming import MissingConsumerSurvived
from jetproof.targets.reference_client.faults.fault import also, fault, harmless
from jetproof.targets.reference_client.statuses import Consequence, Left, Notify, Statuses
from jetproof.wire.frames import Msg

NOTHING_LEFT = Left(0, 0)


def says(msg: Msg, status: int, *words: str) -> bool:
    """Whether it is that status, with all these words in its description."""
    return msg.status == status and all(word in msg.description.lower() for word in words)


def is_timeout(msg: Msg) -> bool:
    return msg.status == 408 and not says(msg, 408, "interest")


def made_an_error(meant: Consequence) -> Consequence:
    """The same, told as an error where it should not be told at all."""
    return meant._replace(notify=Notify.ERROR) if meant.notify is Notify.NOT else harmless(meant)


# Pending headers


@fault("pending-headers-ignored", "A37-042 A37-074")
class PendingHeadersIgnored(Statuses):
    """The pending headers of a status are ignored."""

    def left(self, msg: Msg) -> Left | None:
        return NOTHING_LEFT if super().left(msg) else harmless(None)


@fault("unknown-pending-ignored", "A37-080")
class UnknownPendingIgnored(Statuses):
    """Only those of 408 and 409 too big count."""

    def left(self, msg: Msg) -> Left | None:
        left = super().left(msg)
        known = msg.status in (408, 423) or "exceeds maxbytes" in msg.description.lower()
        return harmless(left) if left is None or known else NOTHING_LEFT


@fault("wrong-pin-uncounted", "A37-079")
class WrongPinUncounted(Statuses):
    """The pending headers of 423 are ignored."""

    def left(self, msg: Msg) -> Left | None:
        left = super().left(msg)
        return NOTHING_LEFT if left and msg.status == 423 else harmless(left)


@fault("interest-expired-uncounted", "A37-209")
class InterestExpiredUncounted(Statuses):
    """Those of 408 Interest Expired are ignored."""

    def left(self, msg: Msg) -> Left | None:
        left = super().left(msg)
        return NOTHING_LEFT if left and msg.description == "Interest Expired" else harmless(left)


@fault("batch-completed-uncounted", "A37-212")
class BatchCompletedUncounted(Statuses):
    """Those of 409 Batch Completed are ignored."""

    def left(self, msg: Msg) -> Left | None:
        left = super().left(msg)
        completed = msg.description.lower().startswith("batch")
        return NOTHING_LEFT if left and completed else harmless(left)


# What is told that should not be


@fault("timeout-told", "A37-043 A37-074 A37-241 A37-252")
class TimeoutTold(Statuses):
    """408 Request Timeout is told as an error."""

    def consequence(self, msg: Msg, left: Left | None) -> Consequence:
        meant = super().consequence(msg, left)
        return made_an_error(meant) if is_timeout(msg) else harmless(meant)


@fault("too-big-told", "A37-043 A37-074")
class TooBigTold(Statuses):
    """409 Message Size Exceeds MaxBytes is told."""

    def consequence(self, msg: Msg, left: Left | None) -> Consequence:
        meant = super().consequence(msg, left)
        too_big = says(msg, 409, "message size", "maxbytes")
        return made_an_error(meant) if too_big else harmless(meant)


@fault("no-messages-told", "A37-073")
class NoMessagesTold(Statuses):
    """404 No Messages is told."""

    def consequence(self, msg: Msg, left: Left | None) -> Consequence:
        meant = super().consequence(msg, left)
        return made_an_error(meant) if says(msg, 404) else harmless(meant)


@fault("interest-expired-told", "A37-209")
class InterestExpiredTold(Statuses):
    """408 Interest Expired is told."""

    def consequence(self, msg: Msg, left: Left | None) -> Consequence:
        meant = super().consequence(msg, left)
        return made_an_error(meant) if says(msg, 408, "interest") else harmless(meant)


@fault("wrong-pin-told", "A37-079")
class WrongPinTold(Statuses):
    """423 is told."""

    def consequence(self, msg: Msg, left: Left | None) -> Consequence:
        meant = super().consequence(msg, left)
        return made_an_error(meant) if says(msg, 423) else harmless(meant)


@fault("counted-errors-told", "A37-043", revision="adr-37@0")
class CountedErrorsTold(Statuses):
    """Errors with pending headers are told."""

    def consequence(self, msg: Msg, left: Left | None) -> Consequence:
        meant = super().consequence(msg, left)
        return made_an_error(meant) if self.draft else harmless(meant)


# What is not told, or ends a consume, or does not end it


@fault("bad-request-untold", "A37-071")
class BadRequestUntold(Statuses):
    """400 is not told."""

    def consequence(self, msg: Msg, left: Left | None) -> Consequence:
        meant = super().consequence(msg, left)
        return meant._replace(notify=Notify.NOT) if says(msg, 400) else harmless(meant)


@fault("timeout-ends-consume", "A37-074")
class TimeoutEndsConsume(Statuses):
    """408 Request Timeout ends the consume."""

    def consequence(self, msg: Msg, left: Left | None) -> Consequence:
        meant = super().consequence(msg, left)
        return meant._replace(ends=True) if is_timeout(msg) else harmless(meant)


@fault("no-messages-ends-consume", "A37-073")
class NoMessagesEndsConsume(Statuses):
    """404 No Messages ends the consume."""

    def consequence(self, msg: Msg, left: Left | None) -> Consequence:
        meant = super().consequence(msg, left)
        return meant._replace(ends=True) if says(msg, 404) else harmless(meant)


@fault("deleted-survived", "A37-069")
class DeletedSurvived(Statuses):
    """409 Consumer Deleted does not end the consume."""

    def consequence(self, msg: Msg, left: Left | None) -> Consequence:
        meant = super().consequence(msg, left)
        return meant._replace(ends=False) if says(msg, 409, "deleted") else harmless(meant)


@fault("deleted-untold", "A37-069")
class DeletedUntold(Statuses):
    """409 Consumer Deleted ends the consume without a word."""

    def consequence(self, msg: Msg, left: Left | None) -> Consequence:
        meant = super().consequence(msg, left)
        return meant._replace(notify=Notify.NOT) if says(msg, 409, "deleted") else harmless(meant)


@fault("push-based-survived", "A37-070")
class PushBasedSurvived(Statuses):
    """409 Consumer is push based does not end it."""

    def consequence(self, msg: Msg, left: Left | None) -> Consequence:
        meant = super().consequence(msg, left)
        return meant._replace(ends=False) if says(msg, 409, "push based") else harmless(meant)


@fault("push-based-untold", "A37-070")
class PushBasedUntold(Statuses):
    """409 Consumer is push based ends it without a word."""

    def consequence(self, msg: Msg, left: Left | None) -> Consequence:
        meant = super().consequence(msg, left)
        return (
            meant._replace(notify=Notify.NOT) if says(msg, 409, "push based") else harmless(meant)
        )


@fault("warnings-end-consume", "A37-072")
class WarningsEndConsume(Statuses):
    """409 Exceeded Max... ends the consume."""

    def consequence(self, msg: Msg, left: Left | None) -> Consequence:
        meant = super().consequence(msg, left)
        exceeded = msg.status == 409 and msg.description.lower().startswith("exceeded")
        return Consequence(Notify.ERROR, ends=True) if exceeded else harmless(meant)


@fault("errors-survived", "A37-044 A37-211", revision="adr-37@0")
class ErrorsSurvived(Statuses):
    """No error ends a consume."""

    def consequence(self, msg: Msg, left: Left | None) -> Consequence:
        meant = super().consequence(msg, left)
        survives = self.draft and meant.ends
        return meant._replace(ends=False) if survives else harmless(meant)


@also(MissingConsumerSurvived)
class MissingConsumerUntold(Statuses):
    """Nobody who answers a pull request is nothing to tell, either."""

    def consequence(self, msg: Msg, left: Left | None) -> Consequence:
        meant = super().consequence(msg, left)
        missing = self.draft and says(msg, 503)
        return Consequence(Notify.NOT, ends=False) if missing else harmless(meant)
