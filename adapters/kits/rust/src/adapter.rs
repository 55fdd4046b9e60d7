//! Answers calls: who an adapter is, what it has, and its one connection.

use std::future::Future;
use std::sync::{Arc, Mutex};

use serde_json::{json, Value};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::call::{Call, Params};
use crate::events::say;
use crate::failure::{not_open, unsupported, Failure};
use crate::names::Names;
use crate::values::with_digits;

/// An adapter: a connection of its library.
pub trait Adapter: Sized + Send + Sync + 'static {
    /// What its calls fail with, see [`own_failure`](crate::own_failure).
    type Failure: Into<Failure> + Send;

    /// The parameters of `connect` that the library can express.
    const CONNECT: &'static str;

    /// The parameters of a message to send that the library can express.
    const MESSAGE: &'static str;

    /// The rows of the table: [`operations`](crate::operations) writes them, and `call`.
    const OPERATIONS: &'static [&'static str];

    /// What `hello` tells of the library: `library`, `version`, `parts`, `claims`.
    fn about() -> Value;

    fn connect(p: &Params) -> impl Future<Output = Result<Self, Self::Failure>> + Send;

    /// Does one call, which has no parameters but those of its row. Several may be under way.
    fn call(&self, call: &Call) -> impl Future<Output = Result<Value, Self::Failure>> + Send;

    fn close(&self) -> impl Future<Output = ()> + Send;
}

/// Answers calls until standard input ends, and then closes and exits.
pub fn run<A: Adapter>() -> ! {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(Arc::new(Server::<A>::default()).serve());
    std::process::exit(0)
}

struct Server<A> {
    connection: Mutex<Option<Arc<A>>>,
    names: Arc<Names>,
}

impl<A> Default for Server<A> {
    fn default() -> Self {
        Self { connection: Mutex::default(), names: Arc::default() }
    }
}

impl<A: Adapter> Server<A> {
    async fn serve(self: Arc<Self>) {
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        while let Some(line) = lines.next_line().await.expect("lines of UTF-8") {
            let Some(call) = Call::read(&line, &self.names) else {
                eprintln!("not a call: {line}");
                continue;
            };
            let (id, server) = (call.id.clone(), self.clone());
            // In a task of its own, so that a library that panics is an answer too.
            let task = tokio::spawn(async move { server.answer(call).await });
            tokio::spawn(async move {
                say(match task.await.unwrap_or_else(|panic| Err(Failure::new("panic", panic))) {
                    Ok(Value::Null) => json!({"id": id, "ok": {}}),
                    Ok(ok) => json!({"id": id, "ok": with_digits(ok)}),
                    Err(Failure::Error(error)) => json!({"id": id, "error": error}),
                    Err(Failure::Unsupported(why)) => json!({"id": id, "unsupported": why}),
                });
            });
        }
        self.close().await;
    }

    async fn answer(&self, mut call: Call) -> Result<Value, Failure> {
        match call.op.as_str() {
            "hello" => Ok(hello::<A>()),
            "close" => Ok(self.close().await.into()),
            "connect" => {
                refuse_unknown(&call.params, A::CONNECT, "connect")?;
                let connection = A::connect(&call.params).await.map_err(Into::into)?;
                *self.connection.lock().unwrap() = Some(Arc::new(connection));
                Ok(Value::Null)
            },
            op => {
                let row = A::OPERATIONS.iter().find(|row| row.split(' ').next() == Some(op));
                let Some(row) = row else { return unsupported(op) };
                refuse_unknown(&call.params, &row[op.len()..].replace('+', A::MESSAGE), op)?;
                for message in call.get_messages()? {
                    refuse_unknown(&message, A::MESSAGE, "a message of a batch")?;
                }
                call.row = row;
                let connection = self.connection.lock().unwrap().clone();
                let Some(connection) = connection else { return not_open("the connection") };
                connection.call(&call).await.map_err(Into::into)
            },
        }
    }

    /// What has a name outlives the connection, so that letting go of it sends nothing.
    async fn close(&self) {
        let _named = self.names.take();
        let connection = self.connection.lock().unwrap().take();
        if let Some(connection) = connection {
            connection.close().await;
        }
    }
}

/// Nothing that was asked for may be left out silently.
fn refuse_unknown(Params(params): &Params, known: &str, what: &str) -> Result<(), Failure> {
    if let Some(name) = params.keys().find(|name| !known.split([' ', '|']).any(|known| known == *name)) {
        return unsupported(format!("{name} of {what}"));
    }
    let at_once = |choice: &&str| choice.split('|').filter(|name| params.contains_key(*name)).count() > 1;
    match known.split(' ').find(at_once) {
        Some(choice) => unsupported(format!("{} at once", choice.replace('|', " and "))),
        None => Ok(()),
    }
}

fn hello<A: Adapter>() -> Value {
    let operations = A::OPERATIONS.iter().filter_map(|row| row.split(' ').next());
    let capabilities: Vec<_> = ["connect", "close"].into_iter().chain(operations).collect();
    let mut told = A::about();
    told["protocol"] = json!(1);
    told["language"] = json!("rust");
    told["runtime"] = json!(concat!("rustc ", env!("RUSTC_VERSION")));
    told["capabilities"] = json!(capabilities);
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_row_does_not_know_is_refused_and_so_are_two_at_once() {
        let refused = |line, known| {
            let call = Call::read(line, &Arc::default()).expect("a call");
            refuse_unknown(&call.params, known, "x").map_err(|failure| Value::from(failure)["text"].clone()).err()
        };
        let line = r#"{"id": 1, "op": "x", "seq": "1", "time": "now"}"#;
        assert_eq!(refused(line, " seq time"), None);
        assert_eq!(refused(line, " seq"), Some("no API for time of x".into()));
        assert_eq!(refused(line, " of seq|time"), Some("no API for seq and time at once".into()));
    }
}
