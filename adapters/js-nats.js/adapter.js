// An adapter of Jetproof around nats.js: calls of the library in, what came of them out.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import * as internal from "@nats-io/jetstream/internal";
import { Kvm } from "@nats-io/kv";
import { Objm } from "@nats-io/obj";
import { connect, headers } from "@nats-io/transport-node";
import { base64, bytes, digits, given, number, Unsupported } from "./values.js";
import { consumerInfo, delivered, entry, failure, notice, pubAck, stored } from "./values.js";

globalThis.console = new console.Console(process.stderr);
process.on("unhandledRejection", (err) => console.error("unhandled rejection:", err));
const say = (line) => process.stdout.write(JSON.stringify(line) + "\n");

// What lasts as long as a connection: things by name, and messages to acknowledge.
let session = null;
let count = 0;

function here() {
    if (!session) throw new Error("the adapter is not connected");
    return session;
}

function held(map, name) {
    if (!map.has(name)) throw new Error(`the adapter holds nothing under the name ${name}`);
    return map.get(name);
}

function message(msg) {
    const name = `m${++count}`;
    session?.messages.set(name, msg);
    return delivered(msg, name);
}

// An operation has the parameters that can be passed on, and a call. `make` keeps what the call gives
// under a name, `on` begins with what was kept.
const operations = new Map();

function operation(name, parameters, call) {
    operations.set(name, { parameters: new Set(parameters.split(" ")), call });
}

function make(name, parameters, call) {
    operation(name, `as ${parameters}`, async (p) => void here().things.set(p.as, await call(p, here())));
}

function on(name, parameters, call) {
    operation(name, `of ${parameters}`, (p) => call(held(here().things, p.of), p));
}

async function handle({ id, op, ...parameters }) {
    try {
        const known = operations.get(op);
        if (!known) throw new Unsupported(`no API for ${op}`);
        const alien = Object.keys(parameters).find((name) => !known.parameters.has(name));
        if (alien) throw new Unsupported(`${alien}: no such option for ${op}`);
        say({ id, ok: (await known.call(parameters)) ?? {} });
    } catch (err) {
        say(err instanceof Unsupported ? { id, unsupported: err.message } : { id, error: failure(err) });
    }
}

// --- hello and the connection

function installed(name) {
    let folder = dirname(createRequire(import.meta.url).resolve(name));
    while (!folder.endsWith(name)) folder = dirname(folder);
    return JSON.parse(readFileSync(join(folder, "package.json"))).version;
}

operation("hello", "protocol", () => {
    const names = ["jetstream", "kv", "obj", "transport-node"].map((name) => `@nats-io/${name}`);
    const parts = Object.fromEntries(names.map((name) => [name, installed(name)]));
    const version = parts["@nats-io/jetstream"];
    // Fast ingest has no entry but the export that other packages are meant to wrap.
    if (operations.has("ingest.open")) parts["@nats-io/jetstream/internal"] = version;
    const batches = operations.has("ingest.open") ? 10 : operations.has("batch.open") ? 7 : undefined;
    const claims = given({ "adr-31": 2, "adr-37": 3, "adr-50": batches });
    const capabilities = [...operations.keys()].filter((name) => name !== "hello");
    const about = { library: "nats.js", version, language: "javascript", runtime: `node ${process.version}` };
    return { protocol: 1, ...about, parts, capabilities, claims };
});

const CREDENTIALS = "name user password token inbox_prefix tls_ca";
operation("connect", `url ${CREDENTIALS} reconnect_wait_ms max_reconnects timeout_ms`, async (p) => {
    if (session) throw new Error("the adapter is connected already");
    const { url: servers, name, user, password: pass, token, inbox_prefix: inboxPrefix } = p;
    const { reconnect_wait_ms: reconnectTimeWait, max_reconnects: maxReconnectAttempts } = p;
    const tls = p.tls_ca && { caFile: p.tls_ca };
    const options = { servers, name, user, pass, token, inboxPrefix, tls };
    const nc = await connect(given({ ...options, reconnectTimeWait, maxReconnectAttempts }));
    const timeout = given({ timeout: p.timeout_ms });
    // Without asking the server whether there is JetStream, which no call here needs.
    const jsm = await jetstreamManager(nc, { ...timeout, checkAPI: false });
    session = { nc, js: jetstream(nc, timeout), jsm, things: new Map(), messages: new Map() };
    watchConnection(nc);
});

async function watchConnection(nc) {
    const kinds = { disconnect: "disconnected", reconnect: "reconnected", error: "error" };
    const tell = (kind, name, error) =>
        say(given({ event: "connection", kind, name, error: error && failure(error) }));
    for await (const { type, error } of nc.status()) if (type in kinds) tell(kinds[type], type, error);
    tell("closed", "closed", await nc.closed());
}

operation("close", "", async () => {
    await here().nc.close();
    await setImmediate(); // what ends with the connection says so first
    session = null;
});

// --- publishing

const PLAIN = "subject data headers";
const EXPECT = "expect_stream expect_last_seq expect_last_subject_seq expect_last_subject_seq_subject";
const FULL = `${PLAIN} ttl_ms msg_id ${EXPECT} expect_last_msg_id`;

function options(p, more) {
    const hdrs = p.headers && headers();
    for (const [name, value] of p.headers ?? []) hdrs.append(name, value);
    const expect = given({
        streamName: p.expect_stream,
        lastMsgID: p.expect_last_msg_id,
        lastSequence: number(p, "expect_last_seq"),
        lastSubjectSequence: number(p, "expect_last_subject_seq"),
        lastSubjectSequenceSubject: p.expect_last_subject_seq_subject,
    });
    const own = { headers: hdrs, msgID: p.msg_id, ttl: p.ttl_ms && `${p.ttl_ms}ms` };
    return given({ ...own, expect: Object.keys(expect).length ? expect : undefined, ...more });
}

operation("publish", `${FULL} timeout_ms`, async (p) => {
    const opts = options(p, { timeout: p.timeout_ms });
    return { ack: pubAck(await here().js.publish(p.subject, bytes(p.data), opts)) };
});

// A batch of either kind begins with its first message: `open` takes note, the first `add` starts it.
async function begun({ start }) {
    if (!start) throw new Unsupported("there is no batch before its first message was added");
    return start.catch(() => {
        throw new Unsupported("its first message failed: there is no batch");
    });
}

if ("startBatch" in internal.JetStreamClientImpl.prototype) {
    make("batch.open", "ack_first", (p) => {
        if (p.ack_first === false) throw new Unsupported("ack_first: startBatch() always waits");
        return { start: null };
    });
    on("batch.add", `ack ${FULL}`, async (batch, p) => {
        if (!batch.start) {
            if (p.ack === false) throw new Unsupported("ack: startBatch() always waits");
            await (batch.start = here().js.startBatch(p.subject, bytes(p.data), options(p)));
            return { acked: true };
        }
        const alien = ["msg_id", "expect_last_msg_id"].find((name) => name in p);
        if (alien) throw new Unsupported(`${alien}: no such option of Batch.add()`);
        await (await begun(batch)).add(p.subject, bytes(p.data), options(p, { ack: p.ack }));
        return p.ack && { acked: true };
    });
    on("batch.commit", PLAIN, async (batch, p) => {
        const ack = (await begun(batch)).commit(p.subject, bytes(p.data), options(p));
        return { ack: pubAck(await ack) };
    });
}

if ("startFastIngest" in internal) {
    make("ingest.open", "flow max_outstanding gap ack_timeout_ms", (p) => {
        const opts = { ackInterval: p.flow, maxOutstandingAcks: p.max_outstanding };
        return {
            start: null,
            opts: { ...opts, allowGaps: p.gap && p.gap === "ok" },
            timeout: p.ack_timeout_ms,
        };
    });
    on("ingest.add", FULL, async (batch, p) => {
        if (!batch.start) {
            const opts = options(p, batch.opts);
            batch.start = internal.startFastIngest(here().nc, p.subject, bytes(p.data), opts, batch.timeout);
            return watchIngest(p.of, await batch.start);
        }
        const { batchSeq, ackSeq } = await (await begun(batch)).add(p.subject, bytes(p.data), options(p));
        return { batch_seq: digits(batchSeq), ack_seq: digits(ackSeq) };
    });
    on("ingest.commit", FULL, async (batch, p) => {
        const ack = (await begun(batch)).last(p.subject, bytes(p.data), options(p));
        return { ack: pubAck(await ack) };
    });
    on("ingest.close", "", async (batch) => ({ ack: pubAck(await (await begun(batch)).end()) }));
}

function watchIngest(of, batch) {
    const tell = (kind, error) => say({ event: "ingest", of, kind, error });
    batch.done().catch((err) => tell("error", failure(err)));
    (async () => {
        for await (const gap of batch.gaps()) tell("gap", { type: "gap", text: JSON.stringify(gap) });
    })();
}

// --- reading

async function all(iterator, as) {
    const messages = [];
    try {
        for await (const msg of iterator) messages.push(as(msg));
    } catch (err) {
        return { messages, error: failure(err) };
    }
    return { messages };
}

function query(p) {
    const { last_by_subject: last_by_subj, next_by_subject: next_by_subj, subjects: multi_last } = p;
    const { batch, max_bytes, start_time, up_to_time } = p;
    const seqs = { seq: number(p, "seq"), up_to_seq: number(p, "up_to_seq") };
    return given({
        ...seqs,
        last_by_subj,
        next_by_subj,
        multi_last,
        batch,
        max_bytes,
        start_time,
        up_to_time,
    });
}

operation("direct.get", "stream seq last_by_subject next_by_subject", async (p) => ({
    message: stored(await here().jsm.direct.getMessage(p.stream, query(p))),
}));
operation("direct.batch", "stream batch max_bytes seq start_time next_by_subject", async (p) =>
    all(await here().jsm.direct.getBatch(p.stream, query(p)), stored),
);
operation("direct.multi", "stream subjects batch max_bytes up_to_seq up_to_time", async (p) =>
    all(await here().jsm.direct.getLastMessagesFor(p.stream, query(p)), stored),
);
operation("message.get", "stream seq last_by_subject", async (p) => ({
    message: stored(await here().jsm.streams.getMessage(p.stream, query(p))),
}));

// --- consumers

make("consumer.get", "stream consumer", (p, { js }) => js.consumers.get(p.stream, p.consumer));
make("consumer.create", "stream config", async (p, { js, jsm }) => {
    if ("min_last_seq" in p.config) throw new Unsupported("min_last_seq: no such field of ConsumerConfig");
    number(p.config, "opt_start_seq");
    return js.consumers.getConsumerFromInfo(await jsm.consumers.add(p.stream, p.config));
});
make("ordered.get", "stream filter_subjects deliver_policy start_seq", (p, { js }) => {
    const { stream, filter_subjects, deliver_policy } = p;
    const opt_start_seq = number(p, "start_seq");
    return js.consumers.get(stream, given({ filter_subjects, deliver_policy, opt_start_seq }));
});
on("consumer.info", "", async (consumer) => ({ info: consumerInfo(await consumer.info()) }));
on("consumer.delete", "", async (consumer) => void (await consumer.delete()));

const PULL = "max_messages max_bytes expires_ms heartbeat_ms group min_pending";
const pull = ({ of, as, expires_ms: expires, heartbeat_ms: idle_heartbeat, ...same }) =>
    given({ expires, idle_heartbeat, ...same });

on("fetch", PULL, async (consumer, p) => all(await consumer.fetch(pull(p)), message));
on("next", "expires_ms", async (consumer, p) => {
    const msg = await consumer.next(pull(p));
    return { message: msg && message(msg) };
});
make("consume", `of ${PULL} threshold_messages threshold_bytes`, async (p, { things }) => {
    const messages = await held(things, p.of).consume(pull(p));
    watchConsume(p.as, messages);
    return messages;
});

async function watchConsume(of, messages) {
    (async () => {
        for await (const told of messages.status()) say({ event: "notice", of, error: notice(told) });
    })();
    try {
        for await (const msg of messages) say({ event: "message", of, ...message(msg) });
        say({ event: "end", of });
    } catch (err) {
        say({ event: "end", of, error: failure(err) });
    }
}

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

make("kv.open", "bucket", (p, { js }) => new Kvm(js).open(p.bucket));
on("kv.get", "key revision", async (kv, p) => {
    const at = p.revision && { revision: number(p, "revision") };
    return { entry: entry(await kv.get(p.key, at)) };
});
on("kv.put", "key data", (kv, p) => revision(kv.put(p.key, bytes(p.data))));
on("kv.create", "key data", (kv, p) => revision(kv.create(p.key, bytes(p.data))));
on("kv.update", "key data revision", (kv, p) =>
    revision(kv.update(p.key, bytes(p.data), number(p, "revision"))),
);
on("kv.delete", "key", async (kv, p) => void (await kv.delete(p.key)));
on("kv.purge", "key", async (kv, p) => void (await kv.purge(p.key)));
on("kv.list", "", async (kv) => {
  const keys = [];
  for await (const key of await kv.keys()) keys.push(key);
  return { keys };
});

make("object.open", "bucket", (p, { js }) => new Objm(js).open(p.bucket));
on("object.put", "name data", async (bucket, p) => {
    const { size, revision: seq } = await bucket.putBlob({ name: p.name }, bytes(p.data));
    return { info: given({ size: digits(size), seq: digits(seq) }) };
});
on("object.get", "name", async (bucket, p) => {
    const data = await bucket.getBlob(p.name);
    return { data: data && base64(data) };
});

// --- lines; readline would split them at more than \n

let line = [];
for await (const chunk of process.stdin) {
    let rest = chunk;
    for (let end; (end = rest.indexOf("\n")) >= 0; rest = rest.subarray(end + 1)) {
        handle(JSON.parse(Buffer.concat([...line, rest.subarray(0, end)]).toString()));
        line = [];
    }
    line.push(rest);
}
await session?.nc.close();
process.exit(0);
