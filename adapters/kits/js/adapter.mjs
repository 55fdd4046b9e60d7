// The protocol of Jetproof for adapters in JavaScript: calls in, answers and events out. It knows no library.

class Unsupported extends Error {}

// The library has no call for it, or not with that parameter.
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

// --- values

// An object without what is undefined, so that the library's own defaults act.
export const given = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

// Numbers of JavaScript are 53 bits wide: what does not fit cannot be given to a library.
export const number = (digits, name) =>
  Number.isSafeInteger(Number(digits)) ? Number(digits) : unsupported(`${name}: ${digits} does not fit a number`);

// 64 bits as text; some counts are -1 where the server said nothing.
export const digits = (n) => (n >= 0 ? BigInt(n).toString() : undefined);

export const bytes = (data) => new Uint8Array(Buffer.from(data ?? "", "base64"));
export const base64 = (data) => Buffer.from(data).toString("base64");

// Headers, of anything that gives names with their lists of values.
export const pairs = (headers) =>
  headers && [...headers].flatMap(([name, values]) => values.map((value) => [name, value]));

// --- iterators

export async function each(iterator, call) {
  for await (const item of iterator) call(item);
}

// --- the adapter

export class Adapter {
  #operations = new Map();
  #things = new Map();
  #messages = new Map();
  #count = 0;
  #fields;

  // `fields(err)` gives what the library's errors offer beside name and message: code, err_code, status, description.
  constructor({ fields = () => ({}) } = {}) {
    this.#fields = fields;
    globalThis.console = new console.Console(process.stderr); // standard output is for the protocol alone
    process.on("unhandledRejection", (err) => console.error("unhandled rejection:", err));
  }

  // An operation, the parameters that it can pass on, and its call, which gets two objects. Parameters after a bar are
  // in the second one, under the library's own names: "stream |batch seq:start" gives ({ stream }, { batch, start }).
  // Any other parameter is unsupported. Sequences and revisions are numbers.
  operation(name, parameters, call) {
    const [plain, options = []] = parameters.split("|").map((part) => part.split(" "));
    const names = options.map((option) => option.split(":")).map(([ours, theirs = ours]) => [ours, theirs]);
    this.#operations.set(name, { plain: new Set(plain), names: new Map(names), call });
  }

  // An operation that opens something: what the call gives is kept under the name `as`.
  make(name, parameters, call) {
    this.operation(name, `as ${parameters}`, async (p, options) => {
      const things = this.#things;
      things.set(p.as, await call(p, options));
    });
  }

  // An operation on something that was opened: the call gets it first.
  on(name, parameters, call) {
    this.operation(name, `of ${parameters}`, (p, options) => call(this.thing(p.of), p, options));
  }

  thing(name) {
    return this.#things.get(name) ?? notOpen(`nothing was opened under the name ${name}`);
  }

  // Gives a name to a message that can be acknowledged.
  keep(message) {
    const name = `m${++this.#count}`;
    this.#messages.set(name, message);
    return name;
  }

  kept(name) {
    return this.#messages.get(name) ?? notOpen(`there is no message ${name}`);
  }

  say(line) {
    process.stdout.write(JSON.stringify(line) + "\n");
  }

  // An error as the protocol tells it.
  failure(err) {
    const { name: type = typeof err, message: text = String(err) } = err;
    return given({ type, text, ...this.#fields(err) });
  }

  // The messages that an iterator gives, and the error that ended it.
  async all(iterator, form) {
    const messages = [];
    const error = await each(iterator, (item) => messages.push(form(item))).catch((err) => this.failure(err));
    return given({ messages, error });
  }

  // Answers calls until there are no more. `about` is what `hello` tells of the library: library, version, parts and
  // claims; `close` ends the connection, if there is one.
  async serve(about, close) {
    this.operation("hello", "protocol", () => this.#hello(about));
    this.operation("close", "", async () => {
      await close();
      this.#things = new Map();
      this.#messages = new Map();
    });
    let rest = ""; // by hand, as readline would split lines at more than \n
    for await (const chunk of process.stdin.setEncoding("utf8")) {
      const lines = chunk.split("\n");
      lines[0] = rest + lines[0];
      rest = lines.pop();
      for (const line of lines) this.#handle(JSON.parse(line));
    }
    await close();
    process.exit(0);
  }

  #hello(about) {
    const capabilities = [...this.#operations.keys()].filter((name) => name !== "hello");
    return { protocol: 1, language: "javascript", runtime: `node ${process.version}`, ...about, capabilities };
  }

  async #handle({ id, op, ...parameters }) {
    try {
      const { plain, names, call } = this.#operations.get(op) ?? unsupported(`no API for ${op}`);
      const [p, options] = [{}, {}];
      for (const [name, text] of Object.entries(parameters)) {
        const value = /(^|_)(seq|revision)$/.test(name) ? number(text, name) : text;
        if (plain.has(name)) p[name] = value;
        else options[names.get(name) ?? unsupported(`${name}: no such option for ${op}`)] = value;
      }
      this.say({ id, ok: (await call(p, options)) ?? {} });
    } catch (err) {
      this.say({ id, ...(err instanceof Unsupported ? { unsupported: err.message } : { error: this.failure(err) }) });
    }
  }
}
