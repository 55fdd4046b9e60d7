//! Jetproof's adapter of async-nats and jetstream-extra: their public API, call by call.

mod both;
mod consume;
mod operations;
mod protocol;
mod publish;
mod store;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::jetstream::consumer::pull::OrderedConfig;
use async_nats::jetstream::consumer::{Consumer, PullConsumer};
use async_nats::jetstream::{kv, object_store::ObjectStore, Context, Message};
use both::{connect, given};
use jetstream_extra::batch_publish::BatchPublish;
use jetstream_extra::batch_publish_fast::FastPublisher;
use protocol::{not_open, say, Failure, Params};
use serde_json::{json, Value};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::{Mutex as AsyncMutex, Notify, OnceCell, RwLock};
use tokio::task::JoinHandle;

type Answer = Result<Value, Failure>;
type Extra = extra_nats::jetstream::Context;

/// A thing that lasts, under the name that Jetproof gave it.
enum Thing {
    Pull(PullConsumer),
    Ordered(Consumer<OrderedConfig>),
    Message(Message),
    Consume(AsyncMutex<JoinHandle<()>>),
    Batch(AsyncMutex<Option<BatchPublish<Extra>>>),
    Ingest(AsyncMutex<Option<FastPublisher>>),
    Bucket(kv::Store),
    Objects(ObjectStore),
}

/// Binds the thing that a call refers to: `thing!(self, p, Pull => consumer)`.
macro_rules! thing {
    ($self:ident, $name:expr, $kind:ident => $bound:ident) => {
        let name: String = $name;
        let thing = $self.things.lock().unwrap().get(&name).cloned();
        let Some(Thing::$kind($bound)) = thing.as_deref() else {
            return not_open(name);
        };
    };
}
pub(crate) use thing;

struct Connection {
    params: Params,
    js: Context,
    client: async_nats::Client,
    closed: Arc<Notify>,
    extra: OnceCell<(Extra, extra_nats::Client, Arc<Notify>)>,
}

#[derive(Default)]
struct Adapter {
    connection: RwLock<Option<Arc<Connection>>>,
    things: Mutex<HashMap<String, Arc<Thing>>>,
    messages: AtomicU64,
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let adapter = Arc::new(Adapter::default());
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        let adapter = adapter.clone();
        tokio::spawn(async move {
            let (id, op, p) = protocol::parse(&line);
            let answer = match operations::check(&op, &p) {
                Ok(()) => adapter.call(&op, &p).await,
                Err(failure) => Err(failure),
            };
            say(match answer {
                Ok(ok) => json!({"id": id, "ok": ok}),
                Err(Failure::Error(error)) => json!({"id": id, "error": error}),
                Err(Failure::Unsupported(why)) => json!({"id": id, "unsupported": why}),
            });
        });
    }
    adapter.close().await.ok();
    std::process::exit(0)
}

impl Adapter {
    async fn call(self: &Arc<Self>, op: &str, p: &Params) -> Answer {
        match op {
            "hello" => Ok(operations::hello()),
            "connect" => self.connect(p).await,
            "close" => self.close().await,
            "publish" => self.publish(p).await,
            "batch.open" => self.open_batch(p).await,
            "batch.publish" => self.publish_batch(p).await,
            "batch.add" | "batch.commit" | "batch.discard" => self.batch(op, p).await,
            "ingest.open" => self.open_ingest(p).await,
            "ingest.add" | "ingest.commit" | "ingest.close" => self.ingest(op, p).await,
            "direct.get" | "message.get" => self.get_message(op, p).await,
            "direct.batch" => self.get_batch(p).await,
            "direct.multi" => self.get_last(p).await,
            "consumer.get" => self.get_consumer(p).await,
            "consumer.create" => self.create_consumer(p).await,
            "consumer.info" => self.consumer_info(p).await,
            "consumer.delete" => self.delete_consumer(p).await,
            "ordered.get" => self.get_ordered(p).await,
            "fetch" => self.fetch(p).await,
            "consume" => self.consume(p).await,
            "consume.stop" => self.stop(p).await,
            "ack" => self.ack(p).await,
            "kv.open" => {
                let bucket = self.js().await?.get_key_value(p.need("bucket")?).await?;
                self.keep(p, Thing::Bucket(bucket))
            }
            "object.open" => {
                let objects = self.js().await?.get_object_store(p.need("bucket")?).await?;
                self.keep(p, Thing::Objects(objects))
            }
            _ if op.starts_with("kv.") => self.key_value(op, p).await,
            _ => self.object(op, p).await,
        }
    }

    fn keep(&self, p: &Params, thing: Thing) -> Answer {
        self.things.lock().unwrap().insert(p.need("as")?, Arc::new(thing));
        Ok(json!({}))
    }

    async fn connect(&self, p: &Params) -> Answer {
        let (js, client, closed) = connect!(async_nats, p, "");
        let (params, extra) = (p.clone(), OnceCell::new());
        let connection = Connection { params, js, client, closed, extra };
        *self.connection.write().await = Some(Arc::new(connection));
        Ok(json!({}))
    }

    /// Neither version has a call that closes at once: draining, with nothing left, closes.
    async fn close(&self) -> Answer {
        let things = std::mem::take(&mut *self.things.lock().unwrap());
        for thing in things.values() {
            if let Thing::Consume(task) = &**thing {
                task.lock().await.abort();
            }
        }
        if let Some(connection) = self.connection.write().await.take() {
            let a_while = Duration::from_secs(1);
            connection.client.drain().await.ok();
            tokio::time::timeout(a_while, connection.closed.notified()).await.ok();
            if let Some((_, client, closed)) = connection.extra.get() {
                client.drain().await.ok();
                tokio::time::timeout(a_while, closed.notified()).await.ok();
            }
        }
        Ok(json!({}))
    }

    async fn connection(&self) -> Result<Arc<Connection>, Failure> {
        match &*self.connection.read().await {
            Some(connection) => Ok(connection.clone()),
            None => not_open("the connection"),
        }
    }

    async fn js(&self) -> Result<Context, Failure> {
        Ok(self.connection().await?.js.clone())
    }

    /// The context of jetstream-extra, connected when it is first needed.
    async fn extra(&self) -> Result<Extra, Failure> {
        let connection = self.connection().await?;
        let open = || async { Ok(connect!(extra_nats, &connection.params, "jetstream_extra: ")) };
        let (context, ..) = connection.extra.get_or_try_init(open).await.map_err(|e: Failure| e)?;
        Ok(context.clone())
    }
}
