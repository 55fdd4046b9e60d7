// An adapter of Jetproof around nats.js: calls of the library in, what came of them out.

import { readFileSync } from "node:fs";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import * as internal from "@nats-io/jetstream/internal";
import { Kvm } from "@nats-io/kv";
import { Objm } from "@nats-io/obj";
import { connect, headers } from "@nats-io/transport-node";
import { base64, bytes, consumerInfo, digits, entry, failure } from "./values.js";
import { given, message, notice, notOpen, number, pubAck, refusal, unsupported } from "./values.js";

globalThis.console = new console.Console(process.stderr);
process.on("unhandledRejection", (err) => console.error("unhandled rejection:", err));
const say = (line) => process.stdout.write(JSON.stringify(line) + "\n");

// What lasts as long as a connection: things by name, and messages to acknowledge.
let session = null;
let count = 0;

function mistake(text) {
  throw new Error(text);
}

const here = () => session ?? mistake("the adapter is not connected");
const held = (map, name) => map.get(name) ?? notOpen(`nothing was opened under the name ${name}`);

function delivered(msg) {
  const name = `m${++count}`;
  session?.messages.set(name, msg);
  return message(msg, name);
}

// An operation, the parameters that it can pass on, and its call. Those after the bar reach the call as options,
// under the library's own names. `make` keeps what a call gives under a name, `on` begins with what was kept.
const operations = new Map();

function operation(name, parameters, call) {
  const [plain, options = []] = parameters.split("|").map((part) => part.split(" "));
  const names = options.map((option) => option.split(":")).map(([ours, theirs = ours]) => [ours, theirs]);
  operations.set(name, { plain: new Set(plain), names: new Map(names), call });
}

const make = (name, parameters, call) =>
  operation(name, `as ${parameters}`, async (p, opts) => void here().things.set(p.as, await call(p, opts, here())));
const on = (name, parameters, call) =>
  operation(name, `of ${parameters}`, (p, opts) => call(held(here().things, p.of), p, opts));

async function handle({ id, op, ...parameters }) {
  try {
    const { plain, names, call } = operations.get(op) ?? unsupported(`no API for ${op}`);
    const [p, options] = [{}, {}];
    for (const [name, text] of Object.entries(parameters)) {
      const value = /(^|_)(seq|revision)$/.test(name) ? number(text, name) : text;
      if (plain.has(name)) p[name] = value;
      else options[names.get(name) ?? unsupported(`${name}: no such option for ${op}`)] = value;
    }
    say({ id, ok: (await call(p, options)) ?? {} });
  } catch (err) {
    say({ id, ...refusal(err) });
  }
}

// --- hello and the connection

operation("hello", "protocol", () => {
  const manifest = (name) => readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url));
  const names = ["jetstream", "kv", "obj", "transport-node"].map((name) => `@nats-io/${name}`);
  const parts = Object.fromEntries(names.map((name) => [name, JSON.parse(manifest(name)).version]));
  const version = parts["@nats-io/jetstream"];
  // Fast ingest has no entry but the export that other packages are meant to wrap.
  if (operations.has("ingest.open")) parts["@nats-io/jetstream/internal"] = version;
  // Batches and pinned consumers came with the same release.
  const batches = operations.has("batch.open");
  const adr50 = operations.has("ingest.open") ? 10 : batches ? 7 : undefined;
  const claims = given({ "adr-31": 2, "adr-37": batches ? 3 : 2, "adr-50": adr50 });
  const capabilities = [...operations.keys()].filter((name) => name !== "hello");
  const about = {
    library: "nats.js",
    version,
    language: "javascript",
    runtime: `node ${process.version}`,
  };
  return { protocol: 1, ...about, parts, capabilities, claims };
});

const LOGIN = "name user password:pass token inbox_prefix:inboxPrefix";
const RECONNECT = "reconnect_wait_ms:reconnectTimeWait max_reconnects:maxReconnectAttempts";
operation("connect", `tls_ca timeout_ms |url:servers ${LOGIN} ${RECONNECT}`, async (p, options) => {
  if (session) mistake("the adapter is connected already");
  const nc = await connect({ ...options, ...(p.tls_ca && { tls: { caFile: p.tls_ca } }) });
  const timeout = given({ timeout: p.timeout_ms });
  // Without asking the server whether there is JetStream, which no call here needs.
  const jsm = await jetstreamManager(nc, { ...timeout, checkAPI: false });
  session = { nc, js: jetstream(nc, timeout), jsm, things: new Map(), messages: new Map() };
  watchConnection(nc);
});

async function watchConnection(nc) {
  const kinds = { disconnect: "disconnected", reconnect: "reconnected", error: "error" };
  const tell = (kind, name, err) => say({ event: "connection", kind, name, ...(err && { error: failure(err) }) });
  await each(nc.status(), ({ type, error }) => type in kinds && tell(kinds[type], type, error));
  tell("closed", "closed", await nc.closed());
}

operation("close", "", async () => {
  await session?.nc.close();
  await new Promise(setImmediate); // what ends with the connection says so first
  session = null;
});

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

const acked = async (promise) => ({ ack: pubAck(await promise) });
operation("publish", `timeout_ms ${MESSAGE}`, (p, expect) =>
  acked(here().js.publish(...sent(p, expect, { timeout: p.timeout_ms }))),
);

// A batch of either kind begins with its first message: `open` takes note, the first `add` starts it.
async function begun({ start }) {
  if (!start) unsupported("there is no batch before its first message was added");
  return start.catch(() => notOpen("its first message failed: there is no batch"));
}

if ("startBatch" in internal.JetStreamClientImpl.prototype) {
  make("batch.open", "ack_first", (p) =>
    p.ack_first === false ? unsupported("ack_first: startBatch() always waits") : { start: null },
  );
  on("batch.add", `ack ${MESSAGE}`, async (batch, p, expect) => {
    if (!batch.start) {
      if (p.ack === false) unsupported("ack: startBatch() always waits");
      await (batch.start = here().js.startBatch(...sent(p, expect)));
      return { acked: true };
    }
    if (p.msg_id) unsupported("msg_id: no such option of Batch.add()");
    if (expect.lastMsgID) unsupported("expect_last_msg_id: no such option of Batch.add()");
    await (await begun(batch)).add(...sent(p, expect, { ack: p.ack }));
    return p.ack && { acked: true };
  });
  on("batch.commit", "subject data headers", async (batch, p) => acked((await begun(batch)).commit(...sent(p))));
}

if ("startFastIngest" in internal) {
  make("ingest.open", "gap ack_timeout_ms |flow:ackInterval max_outstanding:maxOutstandingAcks", (p, options) => {
    if (p.gap) options.allowGaps = p.gap === "ok";
    return { start: null, options, timeout: p.ack_timeout_ms };
  });
  on("ingest.add", MESSAGE, async (batch, p, expect) => {
    if (!batch.start) {
      batch.start = internal.startFastIngest(here().nc, ...sent(p, expect, batch.options), batch.timeout);
      const running = await batch.start;
      const tell = (kind, error) => say({ event: "ingest", of: p.of, kind, error });
      running.done().catch((err) => tell("error", failure(err)));
      each(running.gaps(), (gap) => tell("gap", { type: "gap", text: JSON.stringify(gap) }));
      return {};
    }
    const { batchSeq, ackSeq } = await (await begun(batch)).add(...sent(p, expect));
    return { batch_seq: digits(batchSeq), ack_seq: digits(ackSeq) };
  });
  on("ingest.commit", MESSAGE, async (batch, p, expect) => acked((await begun(batch)).last(...sent(p, expect))));
  on("ingest.close", "", async (batch) => acked((await begun(batch)).end()));
}

// --- reading

async function each(iterator, call) {
  for await (const item of iterator) call(item);
}

async function all(iterator, as) {
  const messages = [];
  const error = await each(iterator, (msg) => messages.push(as(msg))).catch(failure);
  return given({ messages, error });
}

async function one(name, promise, as) {
  const found = await promise;
  return { [name]: found && as(found) };
}

const read = (msg) => message(msg);
operation("direct.get", "stream |seq last_by_subject:last_by_subj next_by_subject:next_by_subj", (p, query) =>
  one("message", here().jsm.direct.getMessage(p.stream, query), read),
);
operation("message.get", "stream |seq last_by_subject:last_by_subj", (p, query) =>
  one("message", here().jsm.streams.getMessage(p.stream, query), read),
);
operation("direct.batch", "stream |batch max_bytes seq start_time next_by_subject:next_by_subj", async (p, query) =>
  all(await here().jsm.direct.getBatch(p.stream, query), read),
);
operation("direct.multi", "stream |subjects:multi_last batch max_bytes up_to_seq up_to_time", async (p, query) =>
  all(await here().jsm.direct.getLastMessagesFor(p.stream, query), read),
);

// --- consumers

make("consumer.get", "stream consumer", (p, _, { js }) => js.consumers.get(p.stream, p.consumer));
make("consumer.create", "stream config", async (p, _, { js, jsm }) => {
  if ("min_last_seq" in p.config) unsupported("min_last_seq: no such field of ConsumerConfig");
  number(p.config.opt_start_seq ?? 0, "opt_start_seq");
  return js.consumers.getConsumerFromInfo(await jsm.consumers.add(p.stream, p.config));
});
make("ordered.get", "stream |filter_subjects deliver_policy start_seq:opt_start_seq", (p, options, { js }) =>
  js.consumers.get(p.stream, options),
);
on("consumer.info", "", async (consumer) => ({ info: consumerInfo(await consumer.info()) }));
on("consumer.delete", "", async (consumer) => void (await consumer.delete()));

const PULL = "|max_messages max_bytes expires_ms:expires heartbeat_ms:idle_heartbeat group min_pending";
on("fetch", PULL, async (consumer, _, options) => all(await consumer.fetch(options), delivered));
on("next", "|expires_ms:expires", (consumer, _, options) => one("message", consumer.next(options), delivered));
make("consume", `of ${PULL} threshold_messages threshold_bytes`, async (p, options, { things }) => {
  const messages = await held(things, p.of).consume(options);
  const tell = (event, what) => say({ event, of: p.as, ...what });
  each(messages.status(), (told) => tell("notice", { error: notice(told) }));
  each(messages, (msg) => tell("message", delivered(msg))).then(
    () => tell("end"),
    (err) => tell("end", { error: failure(err) }),
  );
  return messages;
});
// What is buffered is still handed over by close(); nothing drops it.
on("consume.stop", "", async (messages) => void (await messages.close()));

const ACKS = {
  ack: (msg) => msg.ack(),
  double: (msg, p) => msg.ackAck(given({ timeout: p.timeout_ms })),
  nak: (msg, p) => msg.nak(p.delay_ms),
  progress: (msg) => msg.working(),
  term: (msg, p) => msg.term(p.reason),
};
operation("ack", "messages kind delay_ms reason timeout_ms", async (p) => {
  const messages = p.messages.map((name) => held(here().messages, name));
  await Promise.all(messages.map((msg) => ACKS[p.kind](msg, p)));
});

// --- key-value and objects

const revision = async (promise) => ({ revision: digits(await promise) });
make("kv.open", "bucket", (p, _, { js }) => new Kvm(js).open(p.bucket));
on("kv.get", "key |revision", (kv, p, at) => one("entry", kv.get(p.key, "revision" in at ? at : undefined), entry));
on("kv.put", "key data", (kv, p) => revision(kv.put(p.key, bytes(p.data))));
on("kv.create", "key data", (kv, p) => revision(kv.create(p.key, bytes(p.data))));
on("kv.update", "key data revision", (kv, p) => revision(kv.update(p.key, bytes(p.data), p.revision)));
on("kv.delete", "key", async (kv, p) => void (await kv.delete(p.key)));
on("kv.purge", "key", async (kv, p) => void (await kv.purge(p.key)));
on("kv.list", "", async (kv) => {
  const keys = [];
  await each(await kv.keys(), (key) => keys.push(key));
  return { keys };
});

make("object.open", "bucket", (p, _, { js }) => new Objm(js).open(p.bucket));
on("object.put", "name data", async (bucket, p) => {
  const { size, revision } = await bucket.putBlob({ name: p.name }, bytes(p.data));
  return { info: given({ size: digits(size), seq: digits(revision) }) };
});
on("object.get", "name", (bucket, p) => one("data", bucket.getBlob(p.name), base64));

// --- lines; readline would split them at more than \n

let rest = "";
for await (const chunk of process.stdin.setEncoding("utf8")) {
  const lines = chunk.split("\n");
  lines[0] = rest + lines[0];
  rest = lines.pop();
  for (const line of lines) handle(JSON.parse(line));
}
await session?.nc.close();
process.exit(0);
