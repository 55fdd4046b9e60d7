// The values of the protocol, and what they are in the library.

class Unsupported extends Error {}

export function unsupported(reason) {
  throw new Unsupported(reason);
}

class NotOpen extends Error {
  name = "NotOpen";
}

// The library gave nothing that could be called.
export function notOpen(reason) {
  throw new NotOpen(reason);
}

// An object without what is undefined, so that the library's own defaults act.
export const given = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

// Numbers of the library are 53 bits wide: what does not fit cannot be given to it.
export const number = (digits, name) =>
  Number.isSafeInteger(Number(digits)) ? Number(digits) : unsupported(`${name}: ${digits} does not fit a number`);

// Some counts are -1 where the server said nothing.
export const digits = (n) => (n >= 0 ? BigInt(n).toString() : undefined);
export const bytes = (data) => new Uint8Array(Buffer.from(data ?? "", "base64"));
export const base64 = (data) => Buffer.from(data).toString("base64");

const pairs = (headers) => headers && [...headers].flatMap(([name, values]) => values.map((value) => [name, value]));

export function failure(err) {
  const { name: type = typeof err, message: text = String(err) } = err;
  const status = type === "JetStreamStatusError" ? err.code : undefined;
  const { code, err_code, description } = err.apiError?.() ?? err.cause?.apiError?.() ?? {};
  return given({ type, text, status, code, err_code, description });
}

export const refusal = (err) => (err instanceof Unsupported ? { unsupported: err.message } : { error: failure(err) });

export function notice({ type, code, description, ...rest }) {
  return given({ type, text: description ?? JSON.stringify(rest), status: code || undefined, description });
}

export function pubAck({ stream, seq, duplicate, domain, batch, count }) {
  return given({ stream, seq: digits(seq), duplicate, domain, batch, count: digits(count) });
}

// A message that a consumer delivered, under a name, or one that was read from a stream.
export function message(msg, name) {
  const { stream, consumer, deliverySequence, deliveryCount, pending } = msg.info ?? msg;
  const body = { subject: msg.subject, data: base64(msg.data), headers: pairs(msg.headers ?? msg.header) };
  const place = { stream, consumer, seq: digits(msg.seq), consumer_seq: digits(deliverySequence) };
  const counts = { delivered: digits(deliveryCount), pending: digits(pending) };
  const time = msg.info ? msg.time.toISOString() : msg.timestamp;
  return given({ msg: name, ...body, ...place, ...counts, time });
}

const OPERATIONS = { PUT: "put", DEL: "delete", PURGE: "purge" };
export function entry({ key, value, revision, operation }) {
  return { key, data: base64(value), revision: digits(revision), operation: OPERATIONS[operation] };
}

const COUNT = /^num_(pending|ack_pending|redelivered|waiting)$|_seq$/;
export const consumerInfo = (info) =>
  JSON.parse(JSON.stringify(info, (key, value) => (COUNT.test(key) ? digits(value) : value)));
