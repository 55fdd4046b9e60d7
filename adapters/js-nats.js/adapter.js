// An adapter of Jetproof around nats.js: calls of the library in, what came of them out.

import { readFileSync } from "node:fs";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import * as internal from "@nats-io/jetstream/internal";
import { Kvm } from "@nats-io/kv";
import { Objm } from "@nats-io/obj";
import { connect, headers } from "@nats-io/transport-node";
import { Adapter, base64, bytes, digits, each, given, notOpen, number, pairs, unsupported } from "./kit/adapter.mjs";

// What the library's errors offer beside their name and message.
function fields(err) {
  const status = err.name === "JetStreamStatusError" ? err.code : undefined;
  const { code, err_code, description } = err.apiError?.() ?? err.cause?.apiError?.() ?? {};
  return { status, code, err_code, description };
}

const adapter = new Adapter({ fields });

// --- the connection

let session = null;
const here = () => session ?? notOpen("there is no connection");

const LOGIN = "name user password:pass token inbox_prefix:inboxPrefix";
const RECONNECT = "reconnect_wait_ms:reconnectTimeWait max_reconnects:maxReconnectAttempts";
adapter.operation("connect", `tls_ca timeout_ms |url:servers ${LOGIN} ${RECONNECT}`, async (p, options) => {
  if (session) throw new Error("the adapter is connected already");
  const nc = await connect({ ...options, ...(p.tls_ca && { tls: { caFile: p.tls_ca } }) });
  const timeout = given({ timeout: p.timeout_ms });
  // Without asking the server whether there is JetStream, which no call here needs.
  const jsm = await jetstreamManager(nc, { ...timeout, checkAPI: false });
  session = { nc, js: jetstream(nc, timeout), jsm };
  watchConnection(nc);
});

async function watchConnection(nc) {
  const kinds = { disconnect: "disconnected", reconnect: "reconnected", error: "error" };
  const tell = (kind, name, err) =>
    adapter.say({ event: "connection", kind, name, ...(err && { error: adapter.failure(err) }) });
  await each(nc.status(), ({ type, error }) => type in kinds && tell(kinds[type], type, error));
  tell("closed", "closed", await nc.closed());
}

async function close() {
  await session?.nc.close();
  await new Promise(setImmediate); // what ends with the connection says so first
  session = null;
}

// --- publishing

const EXPECT = "expect_stream:streamName expect_last_seq:lastSequence expect_last_subject_seq:lastSubjectSequence";
const SUBJECT = "expect_last_subject_seq_subject:lastSubjectSequenceSubject expect_last_msg_id:lastMsgID";
const MESSAGE = `subject data headers msg_id ttl_ms |${EXPECT} ${SUBJECT}`;

// The arguments of whatever sends a message; without options, if there are none.
function sent(p, expectations = {}, more) {
  const hdrs = p.headers && headers();
  for (const [name, value] of p.headers ?? []) hdrs.append(name, value);
  const expect = Object.keys(expectations).length ? expectations : undefined;
  const ttl = p.ttl_ms && `${p.ttl_ms}ms`;
  const options = given({ headers: hdrs, msgID: p.msg_id, ttl, expect, ...more });
  return [p.subject, bytes(p.data), ...(more || Object.keys(options).length ? [options] : [])];
}

async function acked(promise) {
  const { stream, seq, duplicate, domain, batch, count } = await promise;
  return { ack: given({ stream, seq: digits(seq), duplicate, domain, batch, count: digits(count) }) };
}

adapter.operation("publish", `timeout_ms ${MESSAGE}`, (p, expect) =>
  acked(here().js.publish(...sent(p, expect, { timeout: p.timeout_ms }))),
);

// A batch of either kind begins with its first message: `open` takes note, the first `add` starts it.
async function begun({ start }) {
  if (!start) unsupported("there is no batch before its first message was added");
  return start.catch(() => notOpen("its first message failed: there is no batch"));
}

const BATCHES = "startBatch" in internal.JetStreamClientImpl.prototype;
if (BATCHES) {
  adapter.make("batch.open", "ack_first", (p) => {
    if (p.ack_first === false) unsupported("ack_first: startBatch() always waits");
    return { js: here().js, start: null };
  });
  adapter.on("batch.add", `ack ${MESSAGE}`, async (batch, p, expect) => {
    if (!batch.start) {
      if (p.ack === false) unsupported("ack: startBatch() always waits");
      await (batch.start = batch.js.startBatch(...sent(p, expect)));
      return { acked: true };
    }
    if (p.msg_id) unsupported("msg_id: no such option of Batch.add()");
    if (expect.lastMsgID) unsupported("expect_last_msg_id: no such option of Batch.add()");
    await (await begun(batch)).add(...sent(p, expect, { ack: p.ack }));
    return p.ack && { acked: true };
  });
  adapter.on("batch.commit", "subject data headers", async (batch, p) =>
    acked((await begun(batch)).commit(...sent(p))),
  );
}

// Fast ingest has no entry but the export that other packages are meant to wrap.
const INGEST = "startFastIngest" in internal;
if (INGEST) {
  const OPEN = "gap ack_timeout_ms |flow:ackInterval max_outstanding:maxOutstandingAcks";
  adapter.make("ingest.open", OPEN, (p, options) => {
    if (p.gap) options.allowGaps = p.gap === "ok";
    return { nc: here().nc, start: null, options, timeout: p.ack_timeout_ms };
  });
  adapter.on("ingest.add", MESSAGE, async (batch, p, expect) => {
    if (!batch.start) {
      batch.start = internal.startFastIngest(batch.nc, ...sent(p, expect, batch.options), batch.timeout);
      const running = await batch.start;
      const tell = (kind, error) => adapter.say({ event: "ingest", of: p.of, kind, error });
      running.done().catch((err) => tell("error", adapter.failure(err)));
      each(running.gaps(), (gap) => tell("gap", { type: "gap", text: JSON.stringify(gap) }));
      return {};
    }
    const { batchSeq, ackSeq } = await (await begun(batch)).add(...sent(p, expect));
    return { batch_seq: digits(batchSeq), ack_seq: digits(ackSeq) };
  });
  adapter.on("ingest.commit", MESSAGE, async (batch, p, expect) =>
    acked((await begun(batch)).last(...sent(p, expect))),
  );
  adapter.on("ingest.close", "", async (batch) => acked((await begun(batch)).end()));
}

// --- reading

// A message that a consumer delivered, under a name, or one that was read from a stream.
function message(msg, name) {
  const { stream, consumer, deliverySequence, deliveryCount, pending } = msg.info ?? msg;
  const body = { subject: msg.subject, data: base64(msg.data), headers: pairs(msg.headers ?? msg.header) };
  const place = { stream, consumer, seq: digits(msg.seq), consumer_seq: digits(deliverySequence) };
  const counts = { delivered: digits(deliveryCount), pending: digits(pending) };
  const time = msg.info ? msg.time.toISOString() : msg.timestamp;
  return given({ msg: name, ...body, ...place, ...counts, time });
}

const delivered = (msg) => message(msg, adapter.keep(msg));
const read = (msg) => message(msg);

async function one(name, promise, form) {
  const found = await promise;
  return { [name]: found && form(found) };
}

const QUERY = "stream |seq last_by_subject:last_by_subj";
adapter.operation("direct.get", `${QUERY} next_by_subject:next_by_subj`, (p, query) =>
  one("message", here().jsm.direct.getMessage(p.stream, query), read),
);
adapter.operation("message.get", QUERY, (p, query) =>
  one("message", here().jsm.streams.getMessage(p.stream, query), read),
);
const BATCH = "stream |batch max_bytes seq start_time next_by_subject:next_by_subj";
adapter.operation("direct.batch", BATCH, async (p, query) =>
  adapter.all(await here().jsm.direct.getBatch(p.stream, query), read),
);
const MULTI = "stream |subjects:multi_last batch max_bytes up_to_seq up_to_time";
adapter.operation("direct.multi", MULTI, async (p, query) =>
  adapter.all(await here().jsm.direct.getLastMessagesFor(p.stream, query), read),
);

// --- consumers

adapter.make("consumer.get", "stream consumer", (p) => here().js.consumers.get(p.stream, p.consumer));
adapter.make("consumer.create", "stream config", async (p) => {
  if ("min_last_seq" in p.config) unsupported("min_last_seq: no such field of ConsumerConfig");
  number(p.config.opt_start_seq ?? 0, "opt_start_seq");
  const { js, jsm } = here();
  return js.consumers.getConsumerFromInfo(await jsm.consumers.add(p.stream, p.config));
});
const ORDERED = "stream |filter_subjects deliver_policy start_seq:opt_start_seq";
adapter.make("ordered.get", ORDERED, (p, options) => here().js.consumers.get(p.stream, options));

const COUNT = /^num_(pending|ack_pending|redelivered|waiting)$|_seq$/;
adapter.on("consumer.info", "", async (consumer) => {
  const counted = (key, value) => (COUNT.test(key) ? digits(value) : value);
  return { info: JSON.parse(JSON.stringify(await consumer.info(), counted)) };
});
adapter.on("consumer.delete", "", async (consumer) => void (await consumer.delete()));

const PULL = "|max_messages max_bytes expires_ms:expires heartbeat_ms:idle_heartbeat group min_pending";
adapter.on("fetch", PULL, async (consumer, _, options) => adapter.all(await consumer.fetch(options), delivered));
adapter.on("next", "|expires_ms:expires", (consumer, _, options) =>
  one("message", consumer.next(options), delivered),
);

function notice({ type, code, description, ...rest }) {
  return given({ type, text: description ?? JSON.stringify(rest), status: code || undefined, description });
}

adapter.make("consume", `of ${PULL} threshold_messages threshold_bytes`, async (p, options) => {
  const messages = await adapter.thing(p.of).consume(options);
  const tell = (event, what) => adapter.say({ event, of: p.as, ...what });
  each(messages.status(), (told) => tell("notice", { error: notice(told) }));
  each(messages, (msg) => tell("message", delivered(msg))).then(
    () => tell("end"),
    (err) => tell("end", { error: adapter.failure(err) }),
  );
  return messages;
});
// What is buffered is still handed over by close(); nothing drops it.
adapter.on("consume.stop", "", async (messages) => void (await messages.close()));

const ACKS = {
  ack: (msg) => msg.ack(),
  double: (msg, p) => msg.ackAck(given({ timeout: p.timeout_ms })),
  nak: (msg, p) => msg.nak(p.delay_ms),
  progress: (msg) => msg.working(),
  term: (msg, p) => msg.term(p.reason),
};
adapter.operation("ack", "messages kind delay_ms reason timeout_ms", async (p) => {
  const messages = p.messages.map((name) => adapter.kept(name));
  await Promise.all(messages.map((msg) => ACKS[p.kind](msg, p)));
});

// --- key-value and objects

const WRITES = { PUT: "put", DEL: "delete", PURGE: "purge" };
function entry({ key, value, revision, operation }) {
  return { key, data: base64(value), revision: digits(revision), operation: WRITES[operation] };
}

const revised = async (promise) => ({ revision: digits(await promise) });

adapter.make("kv.open", "bucket", (p) => new Kvm(here().js).open(p.bucket));
adapter.on("kv.get", "key |revision", (kv, p, at) =>
  one("entry", kv.get(p.key, "revision" in at ? at : undefined), entry),
);
adapter.on("kv.put", "key data", (kv, p) => revised(kv.put(p.key, bytes(p.data))));
adapter.on("kv.create", "key data", (kv, p) => revised(kv.create(p.key, bytes(p.data))));
adapter.on("kv.update", "key data revision", (kv, p) => revised(kv.update(p.key, bytes(p.data), p.revision)));
adapter.on("kv.delete", "key", async (kv, p) => void (await kv.delete(p.key)));
adapter.on("kv.purge", "key", async (kv, p) => void (await kv.purge(p.key)));
adapter.on("kv.list", "", async (kv) => {
  const keys = [];
  await each(await kv.keys(), (key) => keys.push(key));
  return { keys };
});

adapter.make("object.open", "bucket", (p) => new Objm(here().js).open(p.bucket));
adapter.on("object.put", "name data", async (bucket, p) => {
  const { size, revision } = await bucket.putBlob({ name: p.name }, bytes(p.data));
  return { info: given({ size: digits(size), seq: digits(revision) }) };
});
adapter.on("object.get", "name", (bucket, p) => one("data", bucket.getBlob(p.name), base64));

// --- who it is

const manifest = (name) => readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url));
const names = ["jetstream", "kv", "obj", "transport-node"].map((name) => `@nats-io/${name}`);
const parts = Object.fromEntries(names.map((name) => [name, JSON.parse(manifest(name)).version]));
const version = parts["@nats-io/jetstream"];
if (INGEST) parts["@nats-io/jetstream/internal"] = version;
// Batches and pinned consumers came with the same release.
const claims = given({ "adr-31": 2, "adr-37": BATCHES ? 3 : 2, "adr-50": INGEST ? 10 : BATCHES ? 7 : undefined });
await adapter.serve({ library: "nats.js", version, parts, claims }, close);
