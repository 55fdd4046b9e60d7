//! The lines between Jetproof and an adapter: parameters, answers, events and values.

use std::error::Error as StdError;
use std::fmt::{Debug, Display};
use std::io::Write;
use std::time::Duration;

use async_nats::jetstream::{context, stream};
use base64::prelude::{Engine, BASE64_STANDARD};
use bytes::Bytes;
use serde_json::{json, Map, Value};
use time::format_description::well_known::Rfc3339;
use time::OffsetDateTime;

/// The id, the operation and its parameters.
pub fn parse(line: &str) -> (Value, String, Params) {
    let mut call: Map<String, Value> = serde_json::from_str(line).unwrap_or_default();
    let id = call.remove("id").unwrap_or_default();
    let op = call.remove("op").and_then(|op| op.as_str().map(String::from)).unwrap_or_default();
    (id, op, Params(call))
}

/// What a call came to, if not to something that it returned.
pub enum Failure {
    Error(Value),
    Unsupported(String),
}

pub fn unsupported<T>(what: impl Display) -> Result<T, Failure> {
    Err(Failure::Unsupported(format!("async-nats has no API for {what}")))
}

/// There is nothing that the library could be called on.
pub fn not_open<T>(what: impl Display) -> Result<T, Failure> {
    Err(Failure::Error(json!({"type": "NotOpen", "text": format!("{what} is not open")})))
}

macro_rules! from_error_of {
    ($($nats:ident)*) => {$(
        impl<K: Clone + Debug + Display + PartialEq + 'static> From<$nats::error::Error<K>> for Failure {
            fn from(error: $nats::error::Error<K>) -> Self {
                Failure::Error(describe(kind(&error.kind()), &error))
            }
        }
    )*};
}
from_error_of!(async_nats extra_nats);

impl From<async_nats::Error> for Failure {
    fn from(error: async_nats::Error) -> Self {
        Failure::Error(describe("Error".into(), &*error))
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Failure::Error(describe("serde_json::Error".into(), &error))
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::Error(describe("io::Error".into(), &error))
    }
}

impl From<Failure> for Value {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Error(error) => error,
            Failure::Unsupported(reason) => json!({"type": "unsupported", "text": reason}),
        }
    }
}

/// The variant under its own name, such as `PublishErrorKind::WrongLastSequence`.
fn kind<K: Debug>(kind: &K) -> String {
    let variant = format!("{kind:?}");
    let variant = variant.split(['(', '{', ' ']).next().unwrap_or_default();
    let name = std::any::type_name::<K>().rsplit("::").next().unwrap_or_default();
    format!("{name}::{variant}")
}

/// The answer of the server is a field of the error, or of one of its sources.
fn describe(kind: String, error: &(dyn StdError + 'static)) -> Value {
    let mut described = json!({"type": kind, "text": error.to_string()});
    let mut at = Some(error);
    while let Some(error) = at {
        if let Some(fields) = answered(error) {
            described.as_object_mut().unwrap().extend(fields);
            break;
        }
        at = error.source();
    }
    described
}

fn answered(error: &(dyn StdError + 'static)) -> Option<Map<String, Value>> {
    use async_nats::error::Error;
    macro_rules! look {
        ($($kind:path),*) => {$(
            if let Some($kind(answer)) = error.downcast_ref().map(Error::kind) {
                return fields(&answer);
            }
        )*};
    }
    look!(
        stream::ConsumerErrorKind::JetStream,
        stream::LastRawMessageErrorKind::JetStream,
        context::ConsumerInfoErrorKind::JetStream,
        context::GetStreamErrorKind::JetStream
    );
    if let Some(stream::DirectGetErrorKind::ErrorResponse(status, description)) =
        error.downcast_ref().map(Error::kind)
    {
        return fields(&json!({"status": status.as_u16(), "description": description}));
    }
    let answer = error.downcast_ref::<async_nats::jetstream::Error>().map(fields);
    let extra = || error.downcast_ref::<extra_nats::jetstream::Error>().map(fields);
    answer.or_else(extra).flatten()
}

fn fields<T: serde::Serialize>(answer: &T) -> Option<Map<String, Value>> {
    match serde_json::to_value(answer) {
        Ok(Value::Object(fields)) => Some(fields),
        _ => None,
    }
}

/// Standard output, a whole line at a time.
pub fn say(line: Value) {
    let mut out = std::io::stdout().lock();
    // Nobody reads any more: the end of standard input follows.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

#[derive(Clone)]
pub struct Params(pub Map<String, Value>);

impl Params {
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).and_then(Value::as_str).map(String::from)
    }

    pub fn need(&self, name: &str) -> Result<String, Failure> {
        self.text(name).map_or_else(|| not_open(name), Ok)
    }

    /// A number, or 64 bits of one as digits.
    pub fn number(&self, name: &str) -> Option<u64> {
        let value = self.0.get(name)?;
        value.as_u64().or_else(|| value.as_str()?.parse().ok())
    }

    pub fn size(&self, name: &str) -> Option<usize> {
        self.number(name).map(|number| number as usize)
    }

    /// A number that the library takes 16 bits of.
    pub fn short(&self, name: &str) -> Result<Option<u16>, Failure> {
        let short = self.number(name).map(u16::try_from).transpose();
        short.or_else(|_| unsupported(format!("{name} above {}", u16::MAX)))
    }

    pub fn millis(&self, name: &str) -> Option<Duration> {
        self.number(name).map(Duration::from_millis)
    }

    pub fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }

    pub fn time(&self, name: &str) -> Option<OffsetDateTime> {
        OffsetDateTime::parse(&self.text(name)?, &Rfc3339).ok()
    }

    pub fn data(&self) -> Bytes {
        let text = self.text("data").unwrap_or_default();
        BASE64_STANDARD.decode(text).unwrap_or_default().into()
    }

    pub fn list(&self, name: &str) -> Vec<Value> {
        self.0.get(name).and_then(Value::as_array).cloned().unwrap_or_default()
    }

    pub fn pairs(&self, name: &str) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        self.list(name).iter().map(|pair| (text(&pair[0]), text(&pair[1]))).collect()
    }

    pub fn object(&self, name: &str) -> Map<String, Value> {
        self.0.get(name).and_then(Value::as_object).cloned().unwrap_or_default()
    }

    /// The messages of a whole batch.
    pub fn messages(&self) -> Vec<Params> {
        self.list("messages")
            .into_iter()
            .filter_map(|m| Some(Params(m.as_object()?.clone())))
            .collect()
    }

    pub fn texts(&self, name: &str) -> Vec<String> {
        self.list(name).iter().filter_map(Value::as_str).map(String::from).collect()
    }
}

pub fn encode(data: &[u8]) -> String {
    BASE64_STANDARD.encode(data)
}

pub fn rfc3339(time: OffsetDateTime) -> Option<String> {
    time.format(&Rfc3339).ok()
}
