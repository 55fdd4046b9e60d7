//! What is the same for both versions of async-nats in here: the library itself, and the older one
//! that jetstream-extra is tied to, which has types and a connection of its own.

use serde_json::json;

use crate::protocol::say;

/// Calls the methods of a builder for which there is a value.
macro_rules! given {
    ($builder:ident, $($method:ident($value:expr)),+ $(,)?) => {
        $(if let Some(value) = $value {
            $builder = $builder.$method(value);
        })+
    };
}

/// Connects: gives the context, the client, and what is notified when the connection has closed.
macro_rules! connect {
    ($nats:ident, $p:expr, $who:literal) => {{
        let p: &Params = $p;
        let closed = Arc::new(Notify::new());
        let (gone, before) = (closed.clone(), AtomicBool::new(false));
        let mut options = $nats::ConnectOptions::new().event_callback(move |event| {
            use $nats::Event::*;
            let kind = match &event {
                Disconnected => "disconnected",
                Connected if before.swap(true, Ordering::SeqCst) => "reconnected",
                Closed => "closed",
                SlowConsumer(_) | ServerError(_) | ClientError(_) => "error",
                _ => "", // nothing that the protocol has a word for
            };
            crate::both::tell(kind, concat!($who, "Event"), &event);
            if kind == "closed" {
                gone.notify_one();
            }
            async {}
        });
        let user = p.text("user").zip(p.text("password"));
        if let Some((user, password)) = user {
            options = options.user_and_password(user, password);
        }
        if p.has("max_reconnects") {
            options = options.max_reconnects(p.size("max_reconnects")); // -1 is no size: for ever
        }
        if let Some(wait) = p.millis("reconnect_wait_ms") {
            options = options.reconnect_delay_callback(move |_| wait);
        }
        given!(
            options,
            name(p.text("name")),
            token(p.text("token")),
            custom_inbox_prefix(p.text("inbox_prefix")),
            add_root_certificates(p.text("tls_ca").map(Into::into)),
        );
        let client = options.connect(p.need("url")?).await?;
        let mut context = $nats::jetstream::context::ContextBuilder::new();
        let timeout = p.millis("timeout_ms");
        given!(context, timeout(timeout), ack_timeout(timeout));
        (context.build(client.clone()), client, closed)
    }};
}

/// A message to send.
macro_rules! message {
    ($nats:ident, $p:expr) => {{
        let p: &Params = $p;
        let mut message = $nats::jetstream::message::PublishMessage::build().payload(p.data());
        if p.has("headers") {
            let mut headers = $nats::HeaderMap::new();
            for (name, value) in p.pairs("headers") {
                headers.append(name, value);
            }
            message = message.headers(headers);
        }
        given!(
            message,
            message_id(p.text("msg_id")),
            expected_stream(p.text("expect_stream")),
            expected_last_sequence(p.number("expect_last_seq")),
            expected_last_subject_sequence(p.number("expect_last_subject_seq")),
            expected_last_message_id(p.text("expect_last_msg_id")),
            ttl(p.millis("ttl_ms")),
        );
        message
    }};
}

/// A message as it is stored.
macro_rules! stored {
    ($message:expr) => {{
        let message = $message;
        json!({
            "subject": message.subject.as_str(),
            "data": encode(&message.payload),
            "headers": pairs!(message.headers),
            "seq": message.sequence.to_string(),
            "time": rfc3339(message.time),
        })
    }};
}

macro_rules! pairs {
    ($headers:expr) => {
        $headers
            .iter()
            .flat_map(|(name, values)| values.iter().map(move |v| [name.as_ref(), v.as_str()]))
            .collect::<Vec<_>>()
    };
}

pub(crate) use {connect, given, message, pairs, stored};

pub fn tell(kind: &str, name: &str, event: &(impl std::fmt::Debug + std::fmt::Display)) {
    let (text, debug) = (event.to_string(), format!("{event:?}"));
    let variant = debug.split('(').next().unwrap_or_default();
    let mut line =
        json!({"event": "connection", "kind": kind, "name": format!("{name}::{variant}")});
    if kind == "error" {
        line["error"] = json!({"type": variant, "text": text});
    }
    if !kind.is_empty() {
        say(line);
    }
}
