//! Consumers: fetching and consuming, and acknowledging what came.

use std::sync::atomic::Ordering;
use std::sync::Arc;

use async_nats::jetstream::consumer::pull::{Config, OrderedConfig};
use async_nats::jetstream::consumer::{self, DeliverPolicy, FromConsumer, Info};
use async_nats::jetstream::{AckKind, Message};
use futures_util::{Stream, StreamExt};
use serde_json::{json, Value};

use crate::both::{given, pairs};
use crate::protocol::{encode, not_open, rfc3339, say, unsupported, Failure, Params};
use crate::{thing, Adapter, Answer, Thing};

/// The options that fetch and consume share.
macro_rules! pull {
    ($builder:expr, $p:ident, $max_messages:ident, $max_bytes:ident) => {{
        let mut builder = $builder;
        given!(
            builder,
            $max_messages($p.size("max_messages")),
            $max_bytes($p.size("max_bytes")),
            expires($p.millis("expires_ms")),
            heartbeat($p.millis("heartbeat_ms")),
            group($p.text("group")),
            min_pending($p.size("min_pending")),
        );
        builder.messages().await?
    }};
}

impl Adapter {
    pub async fn get_consumer(&self, p: &Params) -> Answer {
        let (consumer, stream) = (p.need("consumer")?, p.need("stream")?);
        let consumer = self.js().await?.get_consumer_from_stream(consumer, stream).await?;
        self.keep(p, Thing::Pull(consumer))
    }

    pub async fn create_consumer(&self, p: &Params) -> Answer {
        let asked = p.object("config");
        let mut config = json!(consumer::Config::default());
        config.as_object_mut().unwrap().extend(asked.clone());
        let config: consumer::Config = serde_json::from_value(config)?;
        let kept = json!(config);
        for (name, value) in asked {
            let default = [json!(null), json!(false), json!(0), json!("")].contains(&value);
            if kept.get(&name).is_none() && !default {
                return unsupported(format!("{name} of a consumer"));
            }
        }
        let config = Config::try_from_consumer_config(config)?;
        let js = self.js().await?;
        let consumer = js.create_consumer_on_stream(config, p.need("stream")?).await?;
        self.keep(p, Thing::Pull(consumer))
    }

    pub async fn get_ordered(&self, p: &Params) -> Answer {
        let mut policy = json!({"deliver_policy": "all"});
        if let Some(name) = p.text("deliver_policy") {
            policy["deliver_policy"] = json!(name);
        }
        if let Some(seq) = p.number("start_seq") {
            policy["opt_start_seq"] = json!(seq);
        }
        let deliver_policy: DeliverPolicy = serde_json::from_value(policy)?;
        let filter_subjects = p.texts("filter_subjects");
        let config = OrderedConfig { deliver_policy, filter_subjects, ..Default::default() };
        let js = self.js().await?;
        let consumer = js.create_consumer_on_stream(config, p.need("stream")?).await?;
        self.keep(p, Thing::Ordered(consumer))
    }

    pub async fn consumer_info(&self, p: &Params) -> Answer {
        let info = if self.is_ordered(p)? {
            thing!(self, p.need("of")?, Ordered => consumer);
            consumer.get_info().await?
        } else {
            thing!(self, p.need("of")?, Pull => consumer);
            consumer.get_info().await?
        };
        Ok(json!({"info": describe(&info)}))
    }

    pub async fn delete_consumer(&self, p: &Params) -> Answer {
        thing!(self, p.need("of")?, Pull => consumer);
        let Info { name, stream_name, .. } = consumer.cached_info();
        self.js().await?.delete_consumer_from_stream(name, stream_name).await?;
        Ok(json!({}))
    }

    pub async fn fetch(&self, p: &Params) -> Answer {
        if self.is_ordered(p)? {
            return unsupported("fetch of an ordered consumer");
        }
        thing!(self, p.need("of")?, Pull => consumer);
        let mut batch = if p.flag("no_wait") == Some(true) {
            pull!(consumer.fetch(), p, max_messages, max_bytes)
        } else {
            pull!(consumer.batch(), p, max_messages, max_bytes)
        };
        let mut messages = Vec::new();
        while let Some(next) = batch.next().await {
            match next {
                Ok(message) => messages.push(self.take(message)?),
                Err(error) => {
                    let error: Value = Failure::from(error).into();
                    return Ok(json!({"messages": messages, "error": error}));
                }
            }
        }
        Ok(json!({"messages": messages}))
    }

    pub async fn consume(self: &Arc<Self>, p: &Params) -> Answer {
        let task = if self.is_ordered(p)? {
            if let Some(name) = p.0.keys().find(|name| *name != "of" && *name != "as") {
                return unsupported(format!("{name} of consume of an ordered consumer"));
            }
            thing!(self, p.need("of")?, Ordered => consumer);
            let messages = consumer.clone().messages().await?;
            tokio::spawn(self.clone().tell(p.need("as")?, messages))
        } else {
            thing!(self, p.need("of")?, Pull => consumer);
            let messages = if p.0.len() == 2 {
                consumer.messages().await? // has defaults of its own, a heartbeat among them
            } else {
                pull!(consumer.stream(), p, max_messages_per_batch, max_bytes_per_batch)
            };
            tokio::spawn(self.clone().tell(p.need("as")?, messages))
        };
        self.keep(p, Thing::Consume(task.into()))
    }

    async fn tell<E>(
        self: Arc<Self>,
        name: String,
        mut messages: impl Stream<Item = Result<Message, E>> + Unpin,
    ) where
        Failure: From<E>,
    {
        while let Some(next) = messages.next().await {
            match next.map_err(Failure::from).and_then(|message| self.take(message)) {
                Ok(mut event) => {
                    event["event"] = json!("message");
                    event["of"] = json!(name);
                    say(event);
                }
                Err(error) => {
                    say(json!({"event": "notice", "of": name, "error": Value::from(error)}));
                }
            }
        }
        say(json!({"event": "end", "of": name}));
    }

    /// The library has no call for it: an application lets go of the stream.
    pub async fn stop(&self, p: &Params) -> Answer {
        thing!(self, p.need("of")?, Consume => task);
        let mut task = task.lock().await;
        if !task.is_finished() {
            task.abort();
            if (&mut *task).await.is_err() {
                say(json!({"event": "end", "of": p.need("of")?}));
            }
        }
        Ok(json!({}))
    }

    pub async fn ack(&self, p: &Params) -> Answer {
        for name in p.texts("messages") {
            thing!(self, name, Message => message);
            match p.need("kind")?.as_str() {
                "ack" => message.ack().await?,
                "double" => message.double_ack().await?,
                "nak" => message.ack_with(AckKind::Nak(p.millis("delay_ms"))).await?,
                "progress" => message.ack_with(AckKind::Progress).await?,
                "term" => message.ack_with(AckKind::Term).await?,
                kind => return unsupported(format!("an ack {kind}")),
            }
        }
        Ok(json!({}))
    }

    fn is_ordered(&self, p: &Params) -> Result<bool, Failure> {
        let thing = self.things.lock().unwrap().get(&p.need("of")?).cloned();
        Ok(matches!(thing.as_deref(), Some(Thing::Ordered(_))))
    }

    fn take(&self, message: Message) -> Answer {
        let name = format!("m{}", self.messages.fetch_add(1, Ordering::SeqCst) + 1);
        let mut fields = json!({"msg": name, "subject": message.subject.as_str()});
        fields["data"] = json!(encode(&message.payload));
        if let Some(headers) = &message.headers {
            fields["headers"] = json!(pairs!(headers));
        }
        let info = message.info()?;
        fields["stream"] = json!(info.stream);
        fields["consumer"] = json!(info.consumer);
        fields["seq"] = json!(info.stream_sequence.to_string());
        fields["consumer_seq"] = json!(info.consumer_sequence.to_string());
        fields["delivered"] = json!(info.delivered.to_string());
        fields["pending"] = json!(info.pending.to_string());
        fields["time"] = json!(rfc3339(info.published));
        self.things.lock().unwrap().insert(name, Arc::new(Thing::Message(message)));
        Ok(fields)
    }
}

fn describe(info: &Info) -> Value {
    let at = |seq: &consumer::SequenceInfo| {
        let (consumer, stream) = (seq.consumer_sequence, seq.stream_sequence);
        json!({"consumer_seq": consumer.to_string(), "stream_seq": stream.to_string()})
    };
    json!({
        "name": info.name,
        "stream_name": info.stream_name,
        "delivered": at(&info.delivered),
        "ack_floor": at(&info.ack_floor),
        "num_pending": info.num_pending.to_string(),
        "num_waiting": info.num_waiting.to_string(),
        "num_ack_pending": info.num_ack_pending.to_string(),
        "num_redelivered": info.num_redelivered.to_string(),
    })
}
