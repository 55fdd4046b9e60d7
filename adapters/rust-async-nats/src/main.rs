//! Jetproof's adapter of async-nats and jetstream-extra: their public API, call by call.

use std::error::Error as StdError;
use std::fmt::{Debug, Display};
use std::future::ready;

use async_nats::jetstream::consumer::{self, pull, FromConsumer, OrderedPullConsumer, PullConsumer};
use async_nats::jetstream::{kv::Store, object_store::ObjectStore, AckKind, Message};
use extra_nats::jetstream::{message::OutboundMessage, Context as ExtraContext};
use futures_util::{stream, TryStreamExt};
use jetstream_extra::batch_fetch::BatchFetchExt;
use jetstream_extra::batch_publish::{BatchPubAck, BatchPublish, BatchPublishExt};
use jetstream_extra::batch_publish_fast::{FastPublishErrorKind, FastPublishExt, FastPublisher, GapMode};
use kit::{
    base64, fields, filled, given, json, locked_version, present, return_first, rfc3339, say, unsupported, variant_name,
};
use kit::{ConnectionEvents, Names, Owned, Params, Value};
use tokio::io::AsyncReadExt;
use tokio::sync::OnceCell;

mod newer {
    use async_nats as nats;
    include!("either.rs");
}

/// The extra is tied to an older async-nats, with types and a connection of its own.
mod older {
    use extra_nats as nats;
    include!("either.rs");
}

type Batch = Owned<BatchPublish<ExtraContext>>;
type Ingest = Owned<FastPublisher>;

struct Connection {
    params: Params,
    newer: newer::Connection,
    older: OnceCell<older::Connection>,
}

fn main() {
    kit::run::<Connection>()
}

impl Connection {
    /// The context of jetstream-extra, connected when it is first needed.
    async fn extra(&self) -> Result<ExtraContext, Failed> {
        let open = || older::Connection::open(&self.params, "jetstream_extra: ");
        Ok(self.older.get_or_try_init(open).await?.js.clone())
    }
}

/// The messages of a pull, with the options that fetch and consume share.
macro_rules! pull {
    ($p:ident, $builder:expr, $max_messages:ident, $max_bytes:ident) => {
        given!($p, $builder, max_messages => $max_messages, max_bytes => $max_bytes, expires_ms => expires,
            heartbeat_ms => heartbeat, group: String, min_pending).messages().await?
    };
}

impl kit::Adapter for Connection {
    type Failure = Failed;

    const CONNECT: &str =
        "url name user password token inbox_prefix tls_ca reconnect_wait_ms max_reconnects timeout_ms";
    const MESSAGE: &str = "subject data headers msg_id expect_stream expect_last_seq expect_last_subject_seq \
        expect_last_msg_id ttl_ms";

    fn about() -> Value {
        let version = |part| locked_version(include_str!("../Cargo.lock"), part);
        let [newer, extra, older] = ["async-nats", "jetstream-extra", "async-nats of jetstream-extra"].map(version);
        let parts = json!({"async-nats": newer, "jetstream-extra": extra, "async-nats of jetstream-extra": older});
        let claims = json!({"adr-31": 2, "adr-37": 3, "adr-50": 10});
        json!({"library": "async-nats", "version": newer, "parts": parts, "claims": claims})
    }

    async fn connect(p: &Params) -> Result<Self, Failed> {
        Ok(Self { params: p.clone(), newer: newer::Connection::open(p, "").await?, older: OnceCell::new() })
    }

    async fn close(&self) {
        self.newer.close().await;
        if let Some(older) = self.older.get() {
            older.close().await;
        }
    }

    kit::operations!(match (self, p) {
        "publish +" => {
            let ack = self.newer.js.send_publish(p.text("subject")?, newer::message(p)?).await?.await?;
            let domain = Some(&ack.domain).filter(|domain| !domain.is_empty());
            json!({"ack": fields!(ack, stream, sequence => seq, duplicate; "domain": domain)})
        },
        "batch.open as ack_first ack_every" => {
            let batch = given!(p, self.extra().await?.batch_publish(), ack_first, ack_every).build();
            p.keep(Batch::new(batch))?
        },
        "batch.publish messages ack_first ack_every" => {
            let messages = p.need::<Vec<Params>>("messages")?.iter().map(outbound).collect::<Result<Vec<_>, _>>()?;
            let batch = given!(p, self.extra().await?.batch_publish_all(), ack_first, ack_every);
            acked(batch.publish(stream::iter(messages)).await?)
        },
        "batch.add of +" => p.of::<Batch>()?.borrow().await?.add_message(outbound(p)?).await?,
        "batch.commit of +" => acked(p.of::<Batch>()?.take().await?.commit_message(outbound(p)?).await?),
        "batch.discard of" => p.of::<Batch>()?.take().await?.discard(),
        "ingest.open as flow max_outstanding gap ack_timeout_ms" => {
            let of = p.text("as")?;
            let builder = self.extra().await?.fast_publish().on_error(move |error| {
                let kind = if error.kind() == FastPublishErrorKind::GapDetected { "gap" } else { "error" };
                say(json!({"event": "ingest", "of": of, "kind": kind, "error": Value::from(Failed::from(error))}));
            });
            let gap = |gap| if gap == "ok" { GapMode::Ok } else { GapMode::Fail };
            let builder = given!(p, builder, flow, max_outstanding => max_outstanding_acks,
                gap: String => gap_mode(gap), ack_timeout_ms => ack_timeout);
            p.keep(Ingest::new(builder.build()?))?
        },
        "ingest.add of +" => {
            let ack = p.of::<Ingest>()?.borrow().await?.add_message(outbound(p)?).await?;
            fields!(ack, batch_sequence => batch_seq, ack_sequence => ack_seq)
        },
        "ingest.commit of +" => acked(p.of::<Ingest>()?.take().await?.commit_message(outbound(p)?).await?),
        "ingest.close of" => acked(p.of::<Ingest>()?.take().await?.close().await?),
        "direct.get stream seq|last_by_subject last_by_subject|next_by_subject" => {
            let stream = self.newer.js.get_stream_no_info(p.text("stream")?).await?;
            let (last, next) = (p.get::<String>("last_by_subject")?, p.get::<String>("next_by_subject")?);
            let message = match (last, next, p.get("seq")?) {
                (Some(subject), ..) => stream.direct_get_last_for_subject(subject).await?,
                (_, Some(subject), None) => stream.direct_get_first_for_subject(subject).await?,
                (_, Some(subject), seq) => stream.direct_get_next_for_subject(subject, seq).await?,
                (_, None, _) => stream.direct_get(p.need("seq")?).await?,
            };
            json!({"message": newer::stored(message)})
        },
        "message.get stream seq|last_by_subject" => {
            let stream = self.newer.js.get_stream_no_info(p.text("stream")?).await?;
            let message = match p.get::<String>("last_by_subject")? {
                Some(subject) => stream.get_last_raw_message_by_subject(&subject).await?,
                None => stream.get_raw_message(p.need("seq")?).await?,
            };
            json!({"message": newer::stored(message)})
        },
        "direct.batch stream batch max_bytes seq|start_time next_by_subject" => {
            let builder = self.extra().await?.get_batch(&p.text("stream")?, p.need("batch")?);
            let builder = given!(p, builder, max_bytes, next_by_subject: String => subject);
            let messages = match (p.get("seq")?, p.get("start_time")?) {
                (Some(seq), _) => builder.sequence(seq).send().await?,
                (_, Some(time)) => builder.start_time(time).send().await?,
                _ => builder.send().await?,
            };
            p.gather(messages, |_, message| Ok::<_, Failed>(older::stored(message))).await
        },
        "direct.multi stream subjects batch up_to_seq|up_to_time" => {
            let builder = self.extra().await?.get_last_messages_for(&p.text("stream")?);
            let builder = given!(p, builder, subjects, batch);
            let messages = match (p.get("up_to_seq")?, p.get("up_to_time")?) {
                (Some(seq), _) => builder.up_to_seq(seq).send().await?,
                (_, Some(time)) => builder.up_to_time(time).send().await?,
                _ => builder.send().await?,
            };
            p.gather(messages, |_, message| Ok::<_, Failed>(older::stored(message))).await
        },
        "consumer.get as stream consumer" => {
            let (consumer, stream) = (p.text("consumer")?, p.text("stream")?);
            p.keep::<PullConsumer>(self.newer.js.get_consumer_from_stream(consumer, stream).await?)?
        },
        "consumer.create as stream config" => {
            let config = filled(consumer::Config::default(), p.need("config")?)?;
            let config = pull::Config::try_from_consumer_config(config)?;
            p.keep(self.newer.js.create_consumer_on_stream(config, p.text("stream")?).await?)?
        },
        "ordered.get as stream filter_subjects deliver_policy start_seq" => {
            let (policy, seq) = (p.get::<String>("deliver_policy")?, p.get::<u64>("start_seq")?);
            let asked = present(json!({"deliver_policy": policy, "opt_start_seq": seq}));
            let deliver_policy = filled(consumer::DeliverPolicy::default(), asked)?;
            let filter_subjects = p.get("filter_subjects")?.unwrap_or_default();
            let config = pull::OrderedConfig { deliver_policy, filter_subjects, ..Default::default() };
            p.keep(self.newer.js.create_consumer_on_stream(config, p.text("stream")?).await?)?
        },
        "consumer.info of" => match p.of::<OrderedPullConsumer>() {
            Ok(ordered) => info(ordered.get_info().await?),
            Err(_) => info(p.of::<PullConsumer>()?.get_info().await?),
        },
        "consumer.delete of" => {
            let info = p.of::<PullConsumer>()?.cached_info().clone();
            self.newer.js.delete_consumer_from_stream(info.name, info.stream_name).await.map(drop)?
        },
        "fetch of max_messages max_bytes expires_ms heartbeat_ms no_wait group min_pending" => {
            let consumer = p.of::<PullConsumer>()?;
            let batch = match p.get("no_wait")? {
                Some(true) => pull!(p, consumer.fetch(), max_messages, max_bytes),
                _ => pull!(p, consumer.batch(), max_messages, max_bytes),
            };
            p.gather(batch, delivered).await
        },
        "consume of as max_messages max_bytes expires_ms heartbeat_ms group min_pending" => {
            match (p.of::<OrderedPullConsumer>(), p.other_than(&["of", "as"])) {
                (Ok(_), Some(option)) => return unsupported(format!("{option} of an ordered consumer")),
                (Ok(ordered), None) => p.consume((*ordered).clone().messages().await?, delivered)?,
                // This one has defaults of its own, a heartbeat among them.
                (Err(_), None) => p.consume(p.of::<PullConsumer>()?.messages().await?, delivered)?,
                (Err(_), Some(_)) => {
                    let consumer = p.of::<PullConsumer>()?;
                    p.consume(pull!(p, consumer.stream(), max_messages_per_batch, max_bytes_per_batch), delivered)?
                },
            }
        },
        // The library has no call for it: an application lets go of the stream.
        "consume.stop of" => p.stop_consume().await?,
        "ack messages kind delay_ms" => {
            for name in p.need::<Vec<String>>("messages")? {
                let message = p.names.get::<Message>(&name)?;
                match p.text("kind")?.as_str() {
                    "ack" => message.ack().await?,
                    "double" => message.double_ack().await?,
                    "nak" => message.ack_with(AckKind::Nak(p.get("delay_ms")?)).await?,
                    "progress" => message.ack_with(AckKind::Progress).await?,
                    "term" => message.ack_with(AckKind::Term).await?,
                    kind => return unsupported(format!("an ack {kind}")),
                }
            }
        },
        "kv.open as bucket" => p.keep(self.newer.js.get_key_value(p.text("bucket")?).await?)?,
        "kv.get of key revision" => {
            let (bucket, key) = (p.of::<Store>()?, p.text("key")?);
            let entry = match p.get("revision")? {
                Some(revision) => bucket.entry_for_revision(key, revision).await?,
                None => bucket.entry(key).await?,
            };
            json!({"entry": entry.map(|entry| fields!(entry, key, revision; "data": base64(&entry.value),
                "operation": format!("{:?}", entry.operation).to_lowercase()))})
        },
        "kv.put of key data" => json!({"revision": p.of::<Store>()?.put(p.text("key")?, p.data()?.into()).await?}),
        "kv.create of key data" =>
            json!({"revision": p.of::<Store>()?.create(p.text("key")?, p.data()?.into()).await?}),
        "kv.update of key data revision" => {
            let (bucket, key) = (p.of::<Store>()?, p.text("key")?);
            json!({"revision": bucket.update(key, p.data()?.into(), p.need("revision")?).await?})
        },
        "kv.delete of key" => p.of::<Store>()?.delete(p.text("key")?).await?,
        "kv.purge of key" => p.of::<Store>()?.purge(p.text("key")?).await?,
        "kv.list of" => json!({"keys": p.of::<Store>()?.keys().await?.try_collect::<Vec<_>>().await?}),
        "object.open as bucket" => p.keep(self.newer.js.get_object_store(p.text("bucket")?).await?)?,
        "object.put of name data" => {
            let (name, data) = (p.text("name")?, p.data()?);
            let info = p.of::<ObjectStore>()?.put(name.as_str(), &mut data.as_slice()).await?;
            json!({"info": fields!(info, size, chunks, digest)})
        },
        "object.get of name" => {
            let mut object = p.of::<ObjectStore>()?.get(p.text("name")?).await?;
            let mut data = Vec::new();
            object.read_to_end(&mut data).await?;
            json!({"data": base64(&data)})
        },
    });
}

fn outbound(p: &Params) -> Result<OutboundMessage, Failed> {
    Ok(older::message(p)?.outbound_message(p.text("subject")?))
}

fn acked(ack: BatchPubAck) -> Value {
    json!({"ack": fields!(ack, stream, sequence => seq, domain, batch_id => batch, batch_size => count)})
}

fn info(info: consumer::Info) -> Value {
    let at = |at: consumer::SequenceInfo| fields!(at, consumer_sequence => consumer_seq, stream_sequence => stream_seq);
    json!({"info": fields!(info, name, stream_name, num_pending, num_waiting, num_ack_pending, num_redelivered;
        "delivered": at(info.delivered), "ack_floor": at(info.ack_floor))})
}

fn delivered(names: &Names, message: Message) -> Result<Value, Failed> {
    let info = message.info()?;
    let mut told = fields!(info, stream, consumer, stream_sequence => seq, consumer_sequence => consumer_seq,
        delivered, pending; "time": rfc3339(info.published), "subject": message.subject.as_str(),
        "data": base64(&message.payload), "headers": message.headers.as_ref().map(newer::pairs));
    told["msg"] = json!(names.keep_message(message));
    Ok(told)
}

kit::own_failure!(Failed, |error| newer::answer(error).or_else(|| older::answer(error)));
