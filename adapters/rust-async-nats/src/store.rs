//! Reading: messages by direct get and by the API of the stream, keys and values, objects.

use futures_util::{StreamExt, TryStreamExt};
use jetstream_extra::batch_fetch::{BatchFetchExt, BatchStream};
use serde_json::json;
use tokio::io::AsyncReadExt;

use crate::both::{given, pairs, stored};
use crate::protocol::{encode, not_open, rfc3339, unsupported, Failure, Params};
use crate::{thing, Adapter, Answer, Thing};

impl Adapter {
    pub async fn get_message(&self, op: &str, p: &Params) -> Answer {
        let stream = self.js().await?.get_stream_no_info(p.need("stream")?).await?;
        let (last, next, seq) =
            (p.text("last_by_subject"), p.text("next_by_subject"), p.number("seq"));
        let message = match (op, last, next, seq) {
            ("message.get", Some(subject), ..) => {
                stream.get_last_raw_message_by_subject(&subject).await?
            }
            ("message.get", _, _, seq) => stream.get_raw_message(seq.unwrap_or(0)).await?,
            (_, Some(subject), ..) => stream.direct_get_last_for_subject(subject).await?,
            (_, _, Some(subject), None) => stream.direct_get_first_for_subject(subject).await?,
            (_, _, Some(subject), seq) => stream.direct_get_next_for_subject(subject, seq).await?,
            (_, _, _, seq) => stream.direct_get(seq.unwrap_or(0)).await?,
        };
        Ok(json!({"message": stored!(message)}))
    }

    pub async fn get_batch(&self, p: &Params) -> Answer {
        let batch = p.size("batch").unwrap_or(0);
        let mut builder = self.extra().await?.get_batch(&p.need("stream")?, batch);
        given!(builder, max_bytes(p.size("max_bytes")), subject(p.text("next_by_subject")));
        match (p.number("seq"), p.time("start_time")) {
            (None, None) => gather(builder.send().await?).await,
            (Some(seq), None) => gather(builder.sequence(seq).send().await?).await,
            (None, Some(time)) => gather(builder.start_time(time).send().await?).await,
            _ => unsupported("seq and start_time at once"),
        }
    }

    pub async fn get_last(&self, p: &Params) -> Answer {
        let mut builder = self.extra().await?.get_last_messages_for(&p.need("stream")?);
        given!(builder, subjects(Some(p.texts("subjects"))), batch(p.size("batch")));
        match (p.number("up_to_seq"), p.time("up_to_time")) {
            (None, None) => gather(builder.send().await?).await,
            (Some(seq), None) => gather(builder.up_to_seq(seq).send().await?).await,
            (None, Some(time)) => gather(builder.up_to_time(time).send().await?).await,
            _ => unsupported("up_to_seq and up_to_time at once"),
        }
    }

    pub async fn key_value(&self, op: &str, p: &Params) -> Answer {
        thing!(self, p.need("of")?, Bucket => bucket);
        if op == "kv.list" {
            let keys: Vec<String> = bucket.keys().await?.try_collect().await?;
            return Ok(json!({"keys": keys}));
        }
        let key = p.need("key")?;
        let revision = match op {
            "kv.get" => {
                let entry = match p.number("revision") {
                    Some(revision) => bucket.entry_for_revision(key, revision).await?,
                    None => bucket.entry(key).await?,
                };
                return Ok(json!({"entry": entry.map(|entry| json!({
                    "key": entry.key,
                    "data": encode(&entry.value),
                    "revision": entry.revision.to_string(),
                    "operation": format!("{:?}", entry.operation).to_lowercase(),
                }))}));
            }
            "kv.put" => bucket.put(key, p.data()).await?,
            "kv.create" => bucket.create(key, p.data()).await?,
            "kv.update" => {
                let revision = p.number("revision").unwrap_or(0);
                bucket.update(key, p.data(), revision).await?
            }
            "kv.delete" => return Ok(bucket.delete(key).await.map(|()| json!({}))?),
            _ => return Ok(bucket.purge(key).await.map(|()| json!({}))?),
        };
        Ok(json!({"revision": revision.to_string()}))
    }

    pub async fn object(&self, op: &str, p: &Params) -> Answer {
        thing!(self, p.need("of")?, Objects => objects);
        if op == "object.put" {
            let info = objects.put(p.need("name")?.as_str(), &mut p.data().as_ref()).await?;
            let (size, chunks) = (info.size.to_string(), info.chunks.to_string());
            return Ok(json!({"info": {"size": size, "chunks": chunks, "digest": info.digest}}));
        }
        let mut data = Vec::new();
        objects.get(p.need("name")?).await?.read_to_end(&mut data).await?;
        Ok(json!({"data": encode(&data)}))
    }
}

/// Up to the first error, as an application does that stops at one.
async fn gather(mut batch: BatchStream) -> Answer {
    let mut messages = Vec::new();
    while let Some(next) = batch.next().await {
        match next {
            Ok(message) => messages.push(stored!(message)),
            Err(error) => {
                let error: serde_json::Value = Failure::from(error).into();
                return Ok(json!({"messages": messages, "error": error}));
            }
        }
    }
    Ok(json!({"messages": messages}))
}
