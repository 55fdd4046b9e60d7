//! Values in the forms that the protocol has for them.

use std::any::type_name;

use base64::prelude::{Engine, BASE64_STANDARD};
use serde::de::DeserializeOwned;
use serde::Serialize;
use serde_json::{json, Value};
use time::format_description::well_known::Rfc3339;
use time::OffsetDateTime;

use crate::failure::{short_name, unsupported, Failure};

/// A payload.
pub fn base64(data: &[u8]) -> String {
    BASE64_STANDARD.encode(data)
}

pub fn rfc3339(time: OffsetDateTime) -> Option<String> {
    time.format(&Rfc3339).ok()
}

/// An object without the fields that have no value.
pub fn present(mut object: Value) -> Value {
    if let Value::Object(fields) = &mut object {
        fields.retain(|_, value| !value.is_null());
    }
    object
}

/// A default of the library with the fields that were asked for; one that its type does not keep is unsupported.
pub fn filled<T: Serialize + DeserializeOwned>(default: T, asked: Value) -> Result<T, Failure> {
    let asked = asked.as_object().cloned().unwrap_or_default();
    let mut fields = json!(default);
    fields.as_object_mut().expect("fields").extend(asked.clone());
    let filled: T = serde_json::from_value(fields).map_err(|error| Failure::new("serde_json::Error", error))?;
    let (kept, empty) = (json!(filled), [json!(null), json!(false), json!(0), json!("")]);
    match asked.iter().find(|(name, value)| kept.get(name).is_none() && !empty.contains(value)) {
        Some((name, _)) => unsupported(format!("{name} of a {}", short_name(type_name::<T>()))),
        None => Ok(filled),
    }
}

/// Numbers of 64 bits are digits, at any depth.
pub fn with_digits(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(with_digits).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| match value {
                Value::Number(number) if has_digits(&name) => (name, number.to_string().into()),
                value => (name, with_digits(value)),
            })
            .collect(),
        value => value,
    }
}

fn has_digits(name: &str) -> bool {
    let counted = ["seq", "revision", "count", "pending", "delivered", "size", "chunks"];
    let ends = ["_seq", "_revision"];
    counted.contains(&name) || name.starts_with("num_") || ends.iter().any(|end| name.ends_with(end))
}

/// The version of a package in a Cargo.lock, `include_str!("../Cargo.lock")`: of `nats` the newest one, of `nats of
/// extra` the one that `extra` uses.
pub fn locked_version<'a>(lock: &'a str, part: &str) -> Option<&'a str> {
    let packages = |name: &str| {
        let begin = format!("name = \"{name}\"\nversion = \"");
        lock.split("[[package]]\n").filter_map(move |package| package.strip_prefix(&begin)).last()
    };
    let (name, user) = part.split_once(" of ").unwrap_or((part, ""));
    // With a version only where there are several, and with a source only where that does not tell them apart.
    let used = packages(user).and_then(|user| user.split_once(&format!("\n \"{name} ")));
    used.map(|(_, rest)| rest).or_else(|| packages(name))?.split(['"', ' ']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_64_bits_become_digits_and_others_stay() {
        let told =
            json!({"messages": [{"seq": 9_007_199_254_740_993_u64}], "info": {"num_pending": 0, "delivered": {}}});
        let digits = json!({"messages": [{"seq": "9007199254740993"}], "info": {"num_pending": "0", "delivered": {}}});
        assert_eq!(with_digits(told), digits);
        assert_eq!(with_digits(json!({"error": {"code": 404}})), json!({"error": {"code": 404}}));
    }

    #[test]
    fn a_lock_tells_the_newest_version_and_the_one_that_a_package_uses() {
        let package = |name: &str, version: &str, uses: &str| {
            format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\ndependencies = [\n \"{uses}\",\n]\n\n")
        };
        let (older, newer) = (package("nats", "0.48.0", "bytes"), package("nats", "0.51.0", "bytes"));
        let lock = format!("{}{older}{newer}", package("extra", "0.3.0", "nats 0.48.0"));
        assert_eq!(locked_version(&lock, "nats"), Some("0.51.0"));
        assert_eq!(locked_version(&lock, "nats of extra"), Some("0.48.0"));
        let lock = format!("{}{newer}", package("extra", "0.3.0", "nats"));
        assert_eq!(locked_version(&lock, "nats of extra"), Some("0.51.0"));
        assert_eq!(locked_version(&lock, "other"), None);
    }
}
