"""What kind of message a server sent: a reply to a publish, an API reply, an advisory, a metric.

The kinds are the names of the schemas of `fixtures/schemas/wire`.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping

from jetproof.engine.ingest_subjects import is_fast

_API_REQUEST = re.compile(r"\$JS\.(?:[^.]+\.)?API\.(?P<call>.+)")
_API_TYPE = re.compile(r"io\.nats\.jetstream\.api\.v1\.(?P<reply>[a-z_]+)")
_BY_CALL = (
    ("STREAM.INFO.", "stream-info"),
    ("STREAM.CREATE.", "stream-create"),
    ("STREAM.UPDATE.", "stream-update"),
    ("STREAM.MSG.GET.", "msg-get"),
    ("STREAM.MSG.DELETE.", "msg-delete"),
    ("STREAM.DELETE.", "stream-delete"),
    ("STREAM.PURGE.", "stream-purge"),
    ("STREAM.NAMES", "stream-names"),
    ("STREAM.LIST", "stream-list"),
    ("CONSUMER.CREATE.", "consumer-create"),
    ("CONSUMER.DURABLE.CREATE.", "consumer-create"),
    ("CONSUMER.INFO.", "consumer-info"),
    ("CONSUMER.LIST.", "consumer-list"),
    ("CONSUMER.NAMES.", "consumer-names"),
    ("CONSUMER.DELETE.", "consumer-delete"),
    ("CONSUMER.LEADER.STEPDOWN.", "consumer-stepdown"),
    ("STREAM.LEADER.STEPDOWN.", "stream-stepdown"),
    ("CONSUMER.UNPIN.", "consumer-unpin"),
    ("CONSUMER.PAUSE.", "consumer-pause"),
    ("CONSUMER.RESET.", "consumer-reset"),
    ("STREAM.SNAPSHOT.", "stream-snapshot"),
    ("STREAM.RESTORE.", "stream-restore"),
    ("ACCOUNT.PURGE.", "account-purge"),
    ("META.LEADER.STEPDOWN", "meta-stepdown"),
    ("SERVER.REMOVE", "server-remove"),
    ("INFO", "account-info"),
)
_BY_TYPE = {
    "stream_info_response": "stream-info",
    "stream_create_response": "stream-create",
    "stream_update_response": "stream-update",
    "stream_msg_get_response": "msg-get",
    "stream_msg_delete_response": "msg-delete",
    "stream_delete_response": "stream-delete",
    "stream_purge_response": "stream-purge",
    "stream_names_response": "stream-names",
    "stream_list_response": "stream-list",
    "consumer_create_response": "consumer-create",
    "consumer_info_response": "consumer-info",
    "consumer_list_response": "consumer-list",
    "consumer_names_response": "consumer-names",
    "consumer_delete_response": "consumer-delete",
    "consumer_leader_stepdown_response": "consumer-stepdown",
    "stream_leader_stepdown_response": "stream-stepdown",
    "consumer_unpin_response": "consumer-unpin",
    "consumer_pause_response": "consumer-pause",
    "consumer_reset_response": "consumer-reset",
    "stream_snapshot_response": "stream-snapshot",
    "stream_restore_response": "stream-restore",
    "account_purge_response": "account-purge",
    "meta_leader_stepdown_response": "meta-stepdown",
    "meta_server_remove_response": "server-remove",
    "account_info_response": "account-info",
}
_BY_FLOW = {"ack": "batch-flow-ack", "gap": "batch-flow-gap", "err": "batch-flow-err"}
# What tells a flow acknowledgement from a PubAck in revision 7 of ADR-50, where it has no type.
_FLOW_ACK_ONLY = {"last_seq", "messages", "bytes"}
_PUB_ACK_ONLY = {"type", "stream", "batch"}
_EVENT = re.compile(r"\$JS\.EVENT\.(?:ADVISORY|METRIC)\.(?P<event>.+)")
_BY_EVENT_SUBJECT = (
    ("API.LIMIT_REACHED", "api-limit-reached"),
    ("API", "api-audit"),
    ("SERVER.OUT_OF_STORAGE", "server-out-of-space"),
    ("STREAM.BATCH_ABANDONED.", "batch-abandoned"),
    ("STREAM.CREATED.", "stream-action"),
    ("STREAM.UPDATED.", "stream-action"),
    ("STREAM.DELETED.", "stream-action"),
    ("STREAM.SNAPSHOT_CREATE.", "stream-snapshot-started"),
    ("STREAM.SNAPSHOT_COMPLETE.", "stream-snapshot-completed"),
    ("STREAM.RESTORE_CREATE.", "stream-restore-started"),
    ("STREAM.RESTORE_COMPLETE.", "stream-restore-completed"),
    ("STREAM.LEADER_ELECTED.", "stream-leader-elected"),
    ("STREAM.QUORUM_LOST.", "stream-quorum-lost"),
    ("CONSUMER.CREATED.", "consumer-action"),
    ("CONSUMER.DELETED.", "consumer-action"),
    ("CONSUMER.LEADER_ELECTED.", "consumer-leader-elected"),
    ("CONSUMER.QUORUM_LOST.", "consumer-quorum-lost"),
    ("CONSUMER.PAUSE.", "consumer-paused"),
    ("CONSUMER.PINNED.", "consumer-pinned"),
    ("CONSUMER.UNPINNED.", "consumer-unpinned"),
    ("CONSUMER.MSG_NAKED.", "msg-naked"),
    ("CONSUMER.MSG_TERMINATED.", "msg-terminated"),
    ("CONSUMER.MAX_DELIVERIES.", "max-deliveries"),
    ("CONSUMER.ACK.", "consumer-ack"),
)
_BY_EVENT_TYPE = {
    "io.nats.jetstream.advisory.v1.api_audit": "api-audit",
    "io.nats.jetstream.advisory.v1.api_limit_reached": "api-limit-reached",
    "io.nats.jetstream.advisory.v1.server_out_of_space": "server-out-of-space",
    "io.nats.jetstream.advisory.v1.batch_abandoned": "batch-abandoned",
    "io.nats.jetstream.advisory.v1.stream_batch_abandoned": "batch-abandoned",
    "io.nats.jetstream.advisory.v1.stream_action": "stream-action",
    "io.nats.jetstream.advisory.v1.snapshot_create": "stream-snapshot-started",
    "io.nats.jetstream.advisory.v1.snapshot_complete": "stream-snapshot-completed",
    "io.nats.jetstream.advisory.v1.restore_create": "stream-restore-started",
    "io.nats.jetstream.advisory.v1.restore_complete": "stream-restore-completed",
    "io.nats.jetstream.advisory.v1.stream_leader_elected": "stream-leader-elected",
    "io.nats.jetstream.advisory.v1.stream_quorum_lost": "stream-quorum-lost",
    "io.nats.jetstream.advisory.v1.consumer_action": "consumer-action",
    "io.nats.jetstream.advisory.v1.consumer_leader_elected": "consumer-leader-elected",
    "io.nats.jetstream.advisory.v1.consumer_quorum_lost": "consumer-quorum-lost",
    "io.nats.jetstream.advisory.v1.consumer_pause": "consumer-paused",
    "io.nats.jetstream.advisory.v1.consumer_group_pinned": "consumer-pinned",
    "io.nats.jetstream.advisory.v1.consumer_group_unpinned": "consumer-unpinned",
    "io.nats.jetstream.advisory.v1.nak": "msg-naked",
    "io.nats.jetstream.advisory.v1.terminated": "msg-terminated",
    "io.nats.jetstream.advisory.v1.max_deliver": "max-deliveries",
    "io.nats.jetstream.metric.v1.consumer_ack": "consumer-ack",
}


def message_kind(
    subject: str, reply_to_subject: str | None, document: object, known: Container[str]
) -> str | None:
    """Name the schema, one of `known`, that a message has to fit, or None if there is none for it.

    `subject` is where the message arrived and `reply_to_subject` the subject of the request
    that it answers. What was asked decides before what the message says of itself, so that a
    reply without its `type` is still found wanting. A message that answers nothing is judged
    only if it is an advisory or a metric, or says that it is an API reply: a stored payload
    may look like anything.
    """
    if not isinstance(document, Mapping):
        return None
    kind = document.get("type")
    by_type = _BY_EVENT_TYPE.get(kind) if isinstance(kind, str) else None
    if event := _EVENT.fullmatch(subject):
        by_subject = _starting(_BY_EVENT_SUBJECT, event["event"])
        return _among(known, by_subject) or _among(known, by_type)
    asked = _API_REQUEST.fullmatch(reply_to_subject or "")
    said = _API_TYPE.fullmatch(kind) if isinstance(kind, str) else None
    if asked or said:
        if "error" in document:
            return _among(known, "js-api-error")
        if asked:
            return _among(known, _starting(_BY_CALL, asked["call"]))
        return _among(known, _BY_TYPE.get(said["reply"])) if said else None
    if reply_to_subject is None:
        return _among(known, by_type)
    return _among(known, _reply_to_a_publish(subject, kind, document))


def _reply_to_a_publish(subject: str, kind: object, document: Mapping[str, object]) -> str | None:
    if is_fast(subject) and ("type" in document or "batch" in document):
        # Whatever says of itself that it is no PubAck has to be one of the three.
        return _BY_FLOW.get(str(kind), "batch-flow-ack") if kind else "pub-ack-fast"
    if "error" in document and "type" not in document:
        return "error-reply"
    if not document.keys() & _PUB_ACK_ONLY and document.keys() & _FLOW_ACK_ONLY:
        return "batch-flow-ack"
    if "type" not in document and ("stream" in document or "seq" in document):
        return "pub-ack"
    return None


def _among(known: Container[str], name: str | None) -> str | None:
    return name if name in known else None


def _starting(table: Iterable[tuple[str, str]], text: str) -> str | None:
    return next((name for start, name in table if text.startswith(start)), None)
