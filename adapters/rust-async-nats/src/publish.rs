//! Publishing: one message, an atomic batch, fast ingest.

use futures_util::stream;
use jetstream_extra::batch_publish::{BatchPubAck, BatchPublishExt};
use jetstream_extra::batch_publish_fast::{FastPublishErrorKind, FastPublishExt, GapMode};
use serde_json::{json, Value};

use crate::both::{given, message};
use crate::protocol::{not_open, say, unsupported, Failure, Params};
use crate::{thing, Adapter, Answer, Thing};

impl Adapter {
    pub async fn publish(&self, p: &Params) -> Answer {
        let message = message!(async_nats, p);
        let ack = self.js().await?.send_publish(p.need("subject")?, message).await?.await?;
        let mut fields = json!({"stream": ack.stream, "seq": ack.sequence.to_string()});
        fields["duplicate"] = json!(ack.duplicate);
        if !ack.domain.is_empty() {
            fields["domain"] = json!(ack.domain);
        }
        Ok(json!({"ack": fields}))
    }

    pub async fn open_batch(&self, p: &Params) -> Answer {
        let mut builder = self.extra().await?.batch_publish();
        given!(builder, ack_first(p.flag("ack_first")), ack_every(p.number("ack_every")));
        self.keep(p, Thing::Batch(Some(builder.build()).into()))
    }

    pub async fn batch(&self, op: &str, p: &Params) -> Answer {
        thing!(self, p.need("of")?, Batch => batch);
        let mut batch = batch.lock().await;
        if op == "batch.add" {
            let Some(batch) = &mut *batch else { return consumed("batch") };
            batch.add_message(message!(extra_nats, p).outbound_message(p.need("subject")?)).await?;
            return Ok(json!({}));
        }
        let Some(batch) = batch.take() else { return consumed("batch") };
        if op == "batch.discard" {
            batch.discard();
            return Ok(json!({}));
        }
        let message = message!(extra_nats, p).outbound_message(p.need("subject")?);
        Ok(json!({"ack": batch_ack(batch.commit_message(message).await?)}))
    }

    pub async fn publish_batch(&self, p: &Params) -> Answer {
        let mut messages = Vec::new();
        for message in p.messages() {
            let subject = message.need("subject")?;
            messages.push(message!(extra_nats, &message).outbound_message(subject));
        }
        let mut builder = self.extra().await?.batch_publish_all();
        given!(builder, ack_first(p.flag("ack_first")), ack_every(p.number("ack_every")));
        Ok(json!({"ack": batch_ack(builder.publish(stream::iter(messages)).await?)}))
    }

    pub async fn open_ingest(&self, p: &Params) -> Answer {
        let name = p.need("as")?;
        let mut builder = self.extra().await?.fast_publish().on_error(move |error| {
            let gap = error.kind() == FastPublishErrorKind::GapDetected;
            let kind = if gap { "gap" } else { "error" };
            let error = Value::from(Failure::from(error));
            say(json!({"event": "ingest", "of": name, "kind": kind, "error": error}));
        });
        let gap = p.text("gap").map(|gap| match gap.as_str() {
            "ok" => GapMode::Ok,
            _ => GapMode::Fail,
        });
        given!(
            builder,
            flow(p.short("flow")?),
            max_outstanding_acks(p.short("max_outstanding")?),
            gap_mode(gap),
            ack_timeout(p.millis("ack_timeout_ms")),
        );
        self.keep(p, Thing::Ingest(Some(builder.build()?).into()))
    }

    pub async fn ingest(&self, op: &str, p: &Params) -> Answer {
        thing!(self, p.need("of")?, Ingest => ingest);
        let mut ingest = ingest.lock().await;
        if op == "ingest.add" {
            let Some(ingest) = &mut *ingest else { return consumed("publisher") };
            let message = message!(extra_nats, p).outbound_message(p.need("subject")?);
            let ack = ingest.add_message(message).await?;
            let (batch_seq, ack_seq) =
                (ack.batch_sequence.to_string(), ack.ack_sequence.to_string());
            return Ok(json!({"batch_seq": batch_seq, "ack_seq": ack_seq}));
        }
        let Some(ingest) = ingest.take() else { return consumed("publisher") };
        let ack = if op == "ingest.close" {
            ingest.close().await?
        } else {
            let message = message!(extra_nats, p).outbound_message(p.need("subject")?);
            ingest.commit_message(message).await?
        };
        Ok(json!({"ack": batch_ack(ack)}))
    }
}

/// A commit takes the batch with it: what follows cannot be written in Rust.
fn consumed(what: &str) -> Answer {
    unsupported(format!("a {what} that has ended"))
}

fn batch_ack(ack: BatchPubAck) -> Value {
    let mut fields = json!({"stream": ack.stream, "seq": ack.sequence.to_string()});
    fields["batch"] = json!(ack.batch_id);
    fields["count"] = json!(ack.batch_size.to_string());
    if let Some(domain) = ack.domain {
        fields["domain"] = json!(domain);
    }
    fields
}
