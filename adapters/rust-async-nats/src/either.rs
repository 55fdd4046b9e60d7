// What is the same for both versions of async-nats: `nats` is one of them, and this is a part of its module.

use super::*;
use nats::error::Error;
use nats::jetstream::context::{ConsumerInfoErrorKind, ContextBuilder, GetStreamErrorKind};
use nats::jetstream::message::{PublishMessage, StreamMessage};
use nats::jetstream::stream::{ConsumerErrorKind, DirectGetErrorKind, LastRawMessageErrorKind};

pub struct Connection {
    pub js: nats::jetstream::Context,
    events: ConnectionEvents,
}

impl Connection {
    pub async fn open(p: &Params, who: &'static str) -> Result<Self, Failed> {
        let events = ConnectionEvents::new(who);
        let told = events.clone();
        let mut options = nats::ConnectOptions::new().event_callback(move |event| {
            let kind = match &event {
                nats::Event::Connected => "connected",
                nats::Event::Disconnected => "disconnected",
                nats::Event::Closed => "closed",
                nats::Event::SlowConsumer(_) | nats::Event::ServerError(_) | nats::Event::ClientError(_) => "error",
                _ => "",
            };
            ready(told.tell(kind, &event))
        });
        if let Some(user) = p.get("user")? {
            options = options.user_and_password(user, p.need("password")?);
        }
        let options = given!(p, options, name: String, token, inbox_prefix: String => custom_inbox_prefix,
            tls_ca => add_root_certificates, max_reconnects: Option<usize>,
            reconnect_wait_ms => reconnect_delay_callback(|wait: std::time::Duration| move |_| wait));
        let client = options.connect(p.text("url")?).await?;
        let js = given!(p, ContextBuilder::new(), timeout_ms => timeout, timeout_ms => ack_timeout);
        Ok(Self { js: js.build(client), events })
    }

    /// Neither version has a call that closes at once: draining, with nothing left, closes.
    pub async fn close(&self) {
        self.js.client().drain().await.ok();
        self.events.closed().await;
    }
}

/// A message to send.
pub fn message(p: &Params) -> Result<PublishMessage, Failed> {
    let mut message = PublishMessage::build().payload(p.data()?.into());
    if let Some(pairs) = p.get::<Vec<(String, String)>>("headers")? {
        let mut headers = nats::HeaderMap::new();
        pairs.into_iter().for_each(|(name, value)| headers.append(name, value));
        message = message.headers(headers);
    }
    Ok(given!(p, message, msg_id: String => message_id, expect_stream: String => expected_stream,
        expect_last_seq => expected_last_sequence, expect_last_subject_seq => expected_last_subject_sequence,
        expect_last_msg_id: String => expected_last_message_id, ttl_ms => ttl))
}

/// A message as it is stored.
pub fn stored(message: StreamMessage) -> Value {
    fields!(message, sequence => seq; "subject": message.subject.as_str(), "data": base64(&message.payload),
        "headers": pairs(&message.headers), "time": rfc3339(message.time))
}

pub fn pairs(headers: &nats::HeaderMap) -> Vec<[&str; 2]> {
    let named = headers.iter().map(|(name, values)| (name.as_ref(), values));
    named.flat_map(|(name, values)| values.iter().map(move |value| [name, value.as_str()])).collect()
}

impl<K: Clone + Debug + Display + PartialEq + 'static> From<Error<K>> for Failed {
    fn from(error: Error<K>) -> Self {
        Failed::new(variant_name(&error.kind()), &error)
    }
}

/// The answer of the server, if the error has it as a field.
pub fn answer(error: &(dyn StdError + 'static)) -> Option<Value> {
    return_first!(error.downcast_ref().map(Error::kind);
        Some(ConsumerErrorKind::JetStream(answer)) => json!(answer),
        Some(ConsumerInfoErrorKind::JetStream(answer)) => json!(answer),
        Some(GetStreamErrorKind::JetStream(answer)) => json!(answer),
        Some(LastRawMessageErrorKind::JetStream(answer)) => json!(answer),
        Some(DirectGetErrorKind::ErrorResponse(code, text)) => json!({"status": code.as_u16(), "description": text}),
    );
    error.downcast_ref::<nats::jetstream::Error>().map(|answer| json!(answer))
}
