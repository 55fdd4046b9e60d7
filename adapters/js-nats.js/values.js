// The values of the protocol, and what they are in the library.

export class Unsupported extends Error {}

// An object without what is undefined, so that the library's own defaults act.
export const given = (object) =>
    Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

// Numbers of the library are 53 bits wide: what does not fit cannot be given to it.
export function number(p, name) {
    if (p[name] === undefined) return undefined;
    const n = Number(p[name]);
    if (!Number.isSafeInteger(n)) throw new Unsupported(`${name}: ${p[name]} does not fit a number`);
    return n;
}

// Some counts are -1 where the server said nothing.
export const digits = (n) => (n >= 0 ? BigInt(n).toString() : undefined);
export const bytes = (data) => new Uint8Array(Buffer.from(data ?? "", "base64"));
export const base64 = (data) => Buffer.from(data).toString("base64");
const pairs = (headers) =>
    headers && [...headers].flatMap(([name, values]) => values.map((value) => [name, value]));

export function failure(err) {
    const { name: type = typeof err, message: text = String(err) } = err;
    const status = type === "JetStreamStatusError" ? err.code : undefined;
    return given({ type, text, status, ...(err.apiError?.() ?? err.cause?.apiError?.()) });
}

export function notice({ type, code, description, ...rest }) {
    return given({ type, text: description ?? JSON.stringify(rest), status: code || undefined, description });
}

export function pubAck({ stream, seq, duplicate, domain, batch, count }) {
    return given({ stream, seq: digits(seq), duplicate, domain, batch, count: digits(count) });
}

export function delivered(msg, name) {
    const { stream, consumer, deliverySequence, deliveryCount, pending } = msg.info;
    const body = { msg: name, subject: msg.subject, data: base64(msg.data), headers: pairs(msg.headers) };
    const place = { stream, consumer, seq: digits(msg.seq), consumer_seq: digits(deliverySequence) };
    const times = {
        delivered: digits(deliveryCount),
        pending: digits(pending),
        time: msg.time.toISOString(),
    };
    return given({ ...body, ...place, ...times });
}

export function stored(msg) {
    if (!msg) return null;
    const { subject, stream, seq, pending, timestamp: time } = msg;
    const body = { subject, data: base64(msg.data), headers: pairs(msg.header) };
    return given({ ...body, stream, seq: digits(seq), pending: digits(pending), time });
}

export function entry(kve) {
    if (!kve) return null;
    const operation = { PUT: "put", DEL: "delete", PURGE: "purge" }[kve.operation];
    return { key: kve.key, data: base64(kve.value), revision: digits(kve.revision), operation };
}

const COUNT = /^(num_(pending|ack_pending|redelivered|waiting)|(consumer|stream)_seq)$/;
export const consumerInfo = (info) =>
    JSON.parse(JSON.stringify(info, (key, value) => (COUNT.test(key) ? digits(value) : value)));
