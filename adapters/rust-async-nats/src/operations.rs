//! What the adapter has, and who it is.

use serde_json::{json, Value};

use crate::protocol::{unsupported, Failure, Params};

/// What the libraries can do, and with which parameters. All else is unsupported.
const OPERATIONS: &str = "
    hello protocol
    connect url name user password token inbox_prefix tls_ca reconnect_wait_ms max_reconnects timeout_ms
    close
    publish +
    batch.open as ack_first ack_every
    batch.add of +
    batch.commit of +
    batch.discard of
    batch.publish messages ack_first ack_every
    ingest.open as flow max_outstanding gap ack_timeout_ms
    ingest.add of +
    ingest.commit of +
    ingest.close of
    direct.get stream seq last_by_subject next_by_subject
    direct.batch stream batch max_bytes seq start_time next_by_subject
    direct.multi stream subjects batch up_to_seq up_to_time
    message.get stream seq last_by_subject
    consumer.get as stream consumer
    consumer.create as stream config
    consumer.info of
    consumer.delete of
    ordered.get as stream filter_subjects deliver_policy start_seq
    fetch of max_messages max_bytes expires_ms heartbeat_ms no_wait group min_pending
    consume of as max_messages max_bytes expires_ms heartbeat_ms group min_pending
    consume.stop of
    ack messages kind delay_ms
    kv.open as bucket
    kv.get of key revision
    kv.put of key data
    kv.create of key data
    kv.update of key data revision
    kv.delete of key
    kv.purge of key
    kv.list of
    object.open as bucket
    object.put of name data
    object.get of name
";

/// The `+` above: a message to send.
const SEND: &str = "subject data headers msg_id expect_stream expect_last_seq \
    expect_last_subject_seq expect_last_msg_id ttl_ms";

fn operations() -> impl Iterator<Item = Vec<&'static str>> {
    OPERATIONS
        .lines()
        .map(|line| line.split_whitespace().collect())
        .filter(|w: &Vec<_>| !w.is_empty())
}

/// Nothing that was asked for may be left out silently.
pub fn check(op: &str, p: &Params) -> Result<(), Failure> {
    let Some(words) = operations().find(|words| words[0] == op) else {
        return unsupported(op);
    };
    let sent = |name: &&String| SEND.split(' ').any(|known| known == *name);
    let known =
        |name: &&String| words[1..].contains(&name.as_str()) || words.contains(&"+") && sent(name);
    if let Some(name) = p.0.keys().find(|name| !known(name)) {
        return unsupported(format!("{name} of {op}"));
    }
    let below = |value: &Value| value.as_i64().is_some_and(|number| number < 0);
    if let Some((name, _)) = p.0.iter().find(|(_, value)| op != "connect" && below(value)) {
        return unsupported(format!("{name} of {op} below 0: the library has no signs there"));
    }
    for message in p.messages() {
        if let Some(name) = message.0.keys().find(|name| !sent(name)) {
            return unsupported(format!("{name} of a message of {op}"));
        }
    }
    Ok(())
}

pub fn hello() -> Value {
    let versions = |name: &str| -> Vec<&str> {
        let package = format!("name = \"{name}\"\nversion = \"");
        let found = include_str!("../Cargo.lock").split(&package).skip(1);
        found.filter_map(|rest| rest.split('"').next()).collect()
    };
    let (nats, extra) = (versions("async-nats"), versions("jetstream-extra"));
    let capabilities: Vec<_> = operations().map(|words| words[0]).skip(1).collect();
    json!({
        "protocol": 1,
        "library": "async-nats",
        "version": nats.last(),
        "language": "rust",
        "runtime": concat!("rustc ", env!("RUSTC_VERSION")),
        "parts": {
            "async-nats": nats.last(),
            "jetstream-extra": extra.last(),
            "async-nats of jetstream-extra": nats.first(),
        },
        "capabilities": capabilities,
        "claims": {"adr-31": 2, "adr-37": 3, "adr-50": 10},
    })
}
