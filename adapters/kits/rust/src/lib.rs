//! What adapters in Rust have in common: the protocol between Jetproof and an adapter, and nothing of any
//! library. An adapter is a connection of its library with a table of calls ([`Adapter`]), and is [`run`].

mod adapter;
mod call;
mod events;
mod failure;
mod macros;
mod names;
mod values;

pub use adapter::{run, Adapter};
pub use call::{Call, Parameter, Params};
pub use events::{say, ConnectionEvents};
pub use failure::{not_open, unsupported, variant_name, Failure};
pub use names::{Names, Owned};
pub use serde_json::{json, Value};
pub use values::{base64, filled, locked_version, present, rfc3339};
