//! Standard output, and what happens without being asked for.

use std::fmt::{Debug, Display};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{pin_mut, Stream, StreamExt};
use serde_json::{json, Value};
use tokio::sync::{Mutex, Notify};
use tokio::task::JoinHandle;

use crate::call::Call;
use crate::failure::{variant_name, Failure};
use crate::names::Names;
use crate::values::with_digits;

/// A whole line at a time.
pub fn say(line: Value) {
    let mut out = std::io::stdout().lock();
    // Nobody reads any more: the end of standard input follows.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Tells what a library says of its connection, and knows when it has closed.
#[derive(Clone)]
pub struct ConnectionEvents(Arc<Told>);

struct Told {
    of: &'static str,
    before: AtomicBool,
    closed: Notify,
}

impl ConnectionEvents {
    /// `of` stands before the names of the events, where there are several connections.
    pub fn new(of: &'static str) -> Self {
        Self(Arc::new(Told { of, before: AtomicBool::new(false), closed: Notify::new() }))
    }

    /// An event that is a variant of the library's: `connected` (which is told from the second time on, as
    /// `reconnected`), `disconnected`, `closed`, `error`, or none of these, which the protocol has no word for.
    pub fn tell(&self, kind: &str, event: &(impl Debug + Display)) {
        let kind = match kind {
            "connected" if !self.0.before.swap(true, Ordering::SeqCst) => return,
            "connected" => "reconnected",
            "disconnected" | "closed" | "error" => kind,
            _ => return,
        };
        let name = variant_name(event);
        let mut line = json!({"event": "connection", "kind": kind, "name": format!("{}{name}", self.0.of)});
        if kind == "error" {
            line["error"] = Failure::new(name, event).into();
        }
        say(line);
        if kind == "closed" {
            self.0.closed.notify_one();
        }
    }

    /// Waits until `closed` was told, for a second at most.
    pub async fn closed(&self) {
        tokio::time::timeout(Duration::from_secs(1), self.0.closed.notified()).await.ok();
    }
}

/// A consume that is told by events.
pub(crate) struct Consume(Mutex<Option<JoinHandle<()>>>, tokio::task::AbortHandle);

impl Consume {
    pub(crate) fn abandon(&self) {
        self.1.abort();
    }
}

impl Call {
    /// Gathers messages up to the first error, as an application does that stops at one.
    pub async fn gather<T, E: Into<F>, F: Into<Failure>>(
        &self,
        messages: impl Stream<Item = Result<T, E>>,
        show: impl Fn(&Names, T) -> Result<Value, F>,
    ) -> Value {
        pin_mut!(messages);
        let mut shown = Vec::new();
        while let Some(next) = messages.next().await {
            match next.map_err(Into::into).and_then(|message| show(&self.names, message)) {
                Ok(message) => shown.push(message),
                Err(error) => return json!({"messages": shown, "error": Value::from(error.into())}),
            }
        }
        json!({"messages": shown})
    }

    /// Tells what comes by events, under the name that `as` gives, until it ends or is stopped.
    pub fn consume<T: Send + 'static, E: Into<F> + Send + 'static, F: Into<Failure> + Send + 'static>(
        &self,
        messages: impl Stream<Item = Result<T, E>> + Send + 'static,
        show: impl Fn(&Names, T) -> Result<Value, F> + Send + 'static,
    ) -> Result<(), Failure> {
        let task = tokio::spawn(tell(self.text("as")?, self.names.clone(), messages, show));
        let abort = task.abort_handle();
        self.keep(Consume(Mutex::new(Some(task)), abort))
    }

    /// Ends a consume by letting go of it, for a library that has no other way.
    pub async fn stop_consume(&self) -> Result<(), Failure> {
        let consume = self.of::<Consume>()?;
        consume.abandon();
        let task = consume.0.lock().await.take();
        if let Some(task) = task {
            if task.await.is_err() {
                say(json!({"event": "end", "of": self.text("of")?}));
            }
        }
        Ok(())
    }
}

async fn tell<T, E: Into<F>, F: Into<Failure>>(
    of: String,
    names: Arc<Names>,
    messages: impl Stream<Item = Result<T, E>>,
    show: impl Fn(&Names, T) -> Result<Value, F>,
) {
    pin_mut!(messages);
    while let Some(next) = messages.next().await {
        let told = match next.map_err(Into::into).and_then(|message| show(&names, message)) {
            Ok(mut message) => {
                message["event"] = json!("message");
                message["of"] = json!(of);
                with_digits(message)
            },
            Err(error) => json!({"event": "notice", "of": of, "error": Value::from(error.into())}),
        };
        say(told);
    }
    say(json!({"event": "end", "of": of}));
}
