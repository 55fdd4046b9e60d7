//! A call: an operation and its parameters, by name and type.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base64::prelude::{Engine, BASE64_STANDARD};
use serde_json::{Map, Value};
use time::format_description::well_known::Rfc3339;
use time::OffsetDateTime;

use crate::failure::{unsupported, Failure};
use crate::names::Names;

pub struct Call {
    pub(crate) id: Value,
    pub op: String,
    /// The row of the table that it goes by.
    pub row: &'static str,
    pub params: Params,
    pub names: Arc<Names>,
}

impl Call {
    pub(crate) fn read(line: &str, names: &Arc<Names>) -> Option<Self> {
        let mut params: Map<String, Value> = serde_json::from_str(line).ok()?;
        let id = params.remove("id")?;
        let op = params.remove("op")?.as_str()?.to_owned();
        Some(Self { id, op, row: "", params: Params(params), names: names.clone() })
    }

    /// Keeps a thing under the name that `as` gives.
    pub fn keep<T: Send + Sync + 'static>(&self, thing: T) -> Result<(), Failure> {
        self.names.keep(self.text("as")?, thing);
        Ok(())
    }

    /// The thing that `of` refers to.
    pub fn of<T: Send + Sync + 'static>(&self) -> Result<Arc<T>, Failure> {
        self.names.get(&self.text("of")?)
    }

    /// The messages of a whole batch; names of messages are none.
    pub(crate) fn get_messages(&self) -> Result<Vec<Params>, Failure> {
        match self.op.as_str() {
            "batch.publish" => self.need("messages"),
            _ => Ok(Vec::new()),
        }
    }
}

impl Deref for Call {
    type Target = Params;

    fn deref(&self) -> &Params {
        &self.params
    }
}

/// The parameters of a call, or of a message of one.
#[derive(Clone)]
pub struct Params(pub(crate) Map<String, Value>);

impl Params {
    /// A parameter, if it is given. One that the type cannot hold is unsupported: -1 as a `u64`.
    pub fn get<T: Parameter>(&self, name: &str) -> Result<Option<T>, Failure> {
        match self.0.get(name).map(|value| (value, T::read(value))) {
            None => Ok(None),
            Some((_, Some(read))) => Ok(Some(read)),
            Some((value, None)) => unsupported(format!("{name} of {value}")),
        }
    }

    /// A parameter that the library cannot do without.
    pub fn need<T: Parameter>(&self, name: &str) -> Result<T, Failure> {
        self.get(name)?.map_or_else(|| unsupported(format!("a call without {name}")), Ok)
    }

    /// The first one that is none of these.
    pub fn other_than(&self, names: &[&str]) -> Option<&String> {
        self.0.keys().find(|name| !names.contains(&name.as_str()))
    }

    pub fn text(&self, name: &str) -> Result<String, Failure> {
        self.need(name)
    }

    /// The payload: empty if it is absent.
    pub fn data(&self) -> Result<Vec<u8>, Failure> {
        let text: String = self.get("data")?.unwrap_or_default();
        BASE64_STANDARD.decode(text).or_else(|error| unsupported(format!("data: {error}")))
    }
}

/// What a parameter can be read as.
pub trait Parameter: Sized {
    fn read(value: &Value) -> Option<Self>;
}

macro_rules! plain {
    ($($kind:ty)*) => {$(
        impl Parameter for $kind {
            fn read(value: &Value) -> Option<Self> {
                serde_json::from_value(value.clone()).ok()
            }
        }
    )*};
}
plain!(String PathBuf bool Vec<String> Vec<(String, String)> Value);

/// Numbers come as they are, or as the digits of one.
macro_rules! numbers {
    ($($kind:ty)*) => {$(
        impl Parameter for $kind {
            fn read(value: &Value) -> Option<Self> {
                value.as_str().map_or_else(|| value.to_string(), str::to_owned).parse().ok()
            }
        }
    )*};
}
numbers!(i64 u64 u32 u16 usize);

/// A limit, or -1 for none.
impl Parameter for Option<usize> {
    fn read(value: &Value) -> Option<Self> {
        if value.as_i64() == Some(-1) {
            return Some(None);
        }
        usize::read(value).map(Some)
    }
}

impl Parameter for Duration {
    fn read(value: &Value) -> Option<Self> {
        u64::read(value).map(Self::from_millis)
    }
}

impl Parameter for OffsetDateTime {
    fn read(value: &Value) -> Option<Self> {
        Self::parse(value.as_str()?, &Rfc3339).ok()
    }
}

impl Parameter for Vec<Params> {
    fn read(value: &Value) -> Option<Self> {
        let object = |item: &Value| item.as_object().cloned().map(Params);
        value.as_array()?.iter().map(object).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> Call {
        Call::read(line, &Arc::default()).expect("a call")
    }

    #[test]
    fn a_parameter_is_read_as_what_it_is_asked_for() {
        let p = call(r#"{"id": 1, "op": "x", "seq": "9007199254740993", "batch": 3, "expires_ms": 20, "most": -1}"#);
        assert_eq!(p.get("seq").ok(), Some(Some(9_007_199_254_740_993_u64)));
        assert_eq!(p.get("batch").ok(), Some(Some(3_usize)));
        assert_eq!(p.get("expires_ms").ok(), Some(Some(Duration::from_millis(20))));
        assert_eq!(p.get::<Option<usize>>("most").ok(), Some(Some(None)));
        assert_eq!(p.get::<u64>("other").ok(), Some(None));
    }

    #[test]
    fn what_a_type_cannot_hold_is_unsupported_and_so_is_what_is_missing() {
        let p = call(r#"{"id": 1, "op": "x", "flow": 70000, "batch": -1, "data": "%"}"#);
        let told = |failure: Failure| Value::from(failure)["text"].clone();
        assert_eq!(p.get::<u16>("flow").map_err(told).err(), Some("no API for flow of 70000".into()));
        assert_eq!(p.get::<usize>("batch").map_err(told).err(), Some("no API for batch of -1".into()));
        assert_eq!(p.text("subject").map_err(told).err(), Some("no API for a call without subject".into()));
        assert!(p.data().is_err());
    }

    #[test]
    fn a_thing_is_found_under_its_name_and_type() {
        let opened = call(r#"{"id": 1, "op": "x.open", "as": "a"}"#);
        assert!(opened.keep(7_u8).is_ok());
        let line = r#"{"id": 2, "op": "x", "of": "a"}"#;
        let found = Call::read(line, &opened.names).expect("a call");
        assert_eq!(found.of::<u8>().ok().as_deref(), Some(&7));
        assert!(matches!(found.of::<u16>(), Err(Failure::Unsupported(_))));
        assert!(matches!(call(line).of::<u8>(), Err(Failure::Error(error)) if error["type"] == "NotOpen"));
    }
}
