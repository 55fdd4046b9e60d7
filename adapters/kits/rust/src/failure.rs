//! What a call came to, if not to something that it returned.

use std::any::type_name;
use std::error::Error;
use std::fmt::{Debug, Display};

use serde_json::{json, Map, Value};

use crate::values::present;

pub enum Failure {
    Error(Map<String, Value>),
    Unsupported(String),
}

impl Failure {
    /// An error under the library's own name of it.
    pub fn new(name: impl Into<String>, text: impl Display) -> Self {
        let (name, text) = (name.into(), text.to_string());
        Self::Error([("type".to_owned(), name.into()), ("text".to_owned(), text.into())].into_iter().collect())
    }

    /// With what `answer_of` finds in the error, or in one of its sources: fields as `code` and `err_code`.
    pub fn with_answer<F>(mut self, error: &(dyn Error + 'static), answer_of: F) -> Self
    where
        F: Fn(&(dyn Error + 'static)) -> Option<Value>,
    {
        let mut at = Some(error);
        while let (Some(error), Self::Error(told)) = (at, &mut self) {
            if let Some(Value::Object(fields)) = answer_of(error).map(present) {
                told.extend(fields);
                break;
            }
            at = error.source();
        }
        self
    }
}

impl From<Failure> for Value {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Error(error) => error.into(),
            Failure::Unsupported(why) => json!({"type": "unsupported", "text": why}),
        }
    }
}

/// The library has no call for it, or not with that parameter.
pub fn unsupported<T, F: From<Failure>>(what: impl Display) -> Result<T, F> {
    Err(Failure::Unsupported(format!("no API for {what}")).into())
}

/// There is nothing that the library could be called on.
pub fn not_open<T, F: From<Failure>>(what: impl Display) -> Result<T, F> {
    Err(Failure::new("NotOpen", format!("{what} is not open")).into())
}

/// The name of a variant with its enum, as `Event::Disconnected`.
pub fn variant_name<T: Debug>(value: &T) -> String {
    let debug = format!("{value:?}");
    let variant = debug.split(['(', '{', ' ']).next().unwrap_or_default();
    format!("{}::{variant}", short_name(type_name::<T>()))
}

/// The name of a type without its modules.
pub(crate) fn short_name(name: &str) -> String {
    name.split_inclusive(['<', ' ']).filter_map(|part| part.rsplit("::").next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_library() {
        assert_eq!(variant_name(&Some(std::io::ErrorKind::NotFound)), "Option<ErrorKind>::Some");
        assert_eq!(variant_name(&std::io::ErrorKind::NotFound), "ErrorKind::NotFound");
        assert_eq!(short_name("a::b::Map<c::Key, d::Value>"), "Map<Key, Value>");
    }

    #[test]
    fn the_answer_of_the_server_is_found_in_the_sources_of_an_error() {
        let source = std::io::Error::other("not found");
        let error = std::io::Error::new(std::io::ErrorKind::Other, Box::new(Outer(source)));
        let answer_of = |error: &(dyn Error + 'static)| {
            error.to_string().eq("not found").then(|| json!({"code": 404, "description": null}))
        };
        let told = Value::from(Failure::new("E", "text").with_answer(&error, answer_of));
        assert_eq!(told, json!({"type": "E", "text": "text", "code": 404}));
    }

    #[derive(Debug)]
    struct Outer(std::io::Error);

    impl Display for Outer {
        fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(out, "outer")
        }
    }

    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }
}
