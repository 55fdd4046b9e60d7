// A transcript as a sequence diagram: one lifeline a connection of the harness, one for the server.
// Where a client library was played, it stands between the application that calls it and the server.

const LINE = ["step", "dir", "connection", "op", "subject", "reply", "status", "description", "headers", "payload", "note"];
const GIVEN = "given";
const [SERVER, LIBRARY, APPLICATION, HARNESS] = ["server", "library", "application", "harness"];
const [CLIENT, ADAPTER] = ["client", "adapter"];

/** A line of a transcript by its names. */
function lineOf(values) {
  return Object.fromEntries(LINE.map((name, place) => [name, values[place] ?? (name === "headers" || name === "status" ? null : "")]));
}

function transcriptOf(evidence, wire) {
  const numbers = evidence.transcripts[wire];
  return numbers ? numbers.map((number) => lineOf(evidence.lines[number])) : null;
}

function rawOf(evidence, cell) {
  const entries = evidence.raw[cell.number];
  return entries ? entries.map(([number, ms]) => ({ ...lineOf(evidence.lines[number]), ms })) : null;
}

/** The diagram. Set-up stands folded before it: it is the same in every case of a suite. */
function sequence(lines) {
  const lanes = lanesOf(lines);
  const steps = [];
  for (const line of lines) {
    if (isPlay(line)) {
      steps.push({ play: line.note, lines: [] });
      continue;
    }
    if (steps.at(-1)?.name !== line.step || steps.length === 0) steps.push({ name: line.step, lines: [] });
    steps.at(-1).lines.push(line);
  }
  const figure = h("div", { class: "sequence", role: "group", "aria-label": "Transcript" });
  figure.style.setProperty("--gaps", String(Math.max(1, lanes.length - 1)));
  figure.append(
    h(
      "div",
      { class: "lanes", "aria-hidden": "true" },
      lanes.map((lane) => h("span", { class: lane === SERVER ? "server" : null }, lane)),
    ),
  );
  for (const step of steps) {
    if (step.play) {
      figure.append(h("h4", { class: "play" }, wireText(step.play[0].toUpperCase() + step.play.slice(1))));
      continue;
    }
    const list = h("ol", { class: "frames" }, step.lines.map((line) => frame(line, lanes)));
    figure.append(
      step.name === GIVEN
        ? h("details", { class: "given" }, h("summary", {}, `Set-up: ${plural(step.lines.length, "frame")}`), list)
        : h("section", { class: "step" }, h("h4", {}, stepName(step.name)), list),
    );
  }
  return figure;
}

/** The line above each play of a cell that was played several times. */
function isPlay(line) {
  return line.dir === "!" && line.op === "play" && Boolean(line.note);
}

/** Lifelines from left to right. */
function lanesOf(lines) {
  const sent = [...new Set(lines.filter((line) => line.dir !== "!").map((line) => line.connection))];
  if (!lines.some((line) => line.connection === CLIENT || line.connection === ADAPTER)) return [...sent, SERVER];
  // What the harness itself asks for would otherwise cross the library's lifeline.
  return [APPLICATION, LIBRARY, SERVER, ...(sent.some((lane) => lane !== CLIENT) ? [HARNESS] : [])];
}

/** Between which lifelines a line goes, from left to right, and whether it goes to the right. */
function wayOf(line, lanes) {
  const server = lanes.indexOf(SERVER);
  if (line.connection === ADAPTER) return [0, 1, line.op === "call"];
  if (lanes[1] === LIBRARY && line.connection !== CLIENT) return [server, lanes.indexOf(HARNESS), line.dir === "<"];
  return [line.connection === CLIENT ? lanes.indexOf(LIBRARY) : lanes.indexOf(line.connection), server, line.dir === ">"];
}

function frame(line, lanes) {
  const when = line.ms === undefined || line.ms === null ? null : h("span", { class: "ms" }, duration(line.ms));
  if (line.connection === ADAPTER && CALLS[line.op]) return callShown(line, lanes, when);
  if (line.dir === "!") {
    const said = line.op === "gap" ? `… ${line.note} …` : [line.op, line.note].filter(Boolean).join(": ");
    return h("li", { class: "event" }, h("span", { class: "said" }, line.connection && line.op !== "gap" ? `${line.connection} · ` : "", wireText(said)), when);
  }
  const sent = line.dir === ">";
  const [from, , right] = wayOf(line, lanes);
  const who = line.connection === CLIENT ? LIBRARY : line.connection;
  const direction = sent ? `${who} to server` : `server to ${who}`;
  const tap = line.connection === CLIENT && /^(dropped|made|changed) by /.exec(line.note);
  const late = lanes[1] === LIBRARY ? ["", " middle", " late"][from] : from ? " late" : "";
  return h(
    "li",
    { class: `frame ${sent ? "sent" : "got"}${right === sent ? "" : " back"}${late}${tap ? ` tapped ${tap[1]}` : ""}` },
    h("span", { class: "sr" }, direction),
    frameText(line),
    arrowOf(line, lanes),
    when,
  );
}

function arrowOf(line, lanes) {
  const [from, to, right] = wayOf(line, lanes);
  const arrow = h("span", { class: `arrow ${right ? "right" : "left"}`, "aria-hidden": "true" });
  arrow.style.setProperty("--from", String(from + 1));
  arrow.style.setProperty("--to", String(to + 1));
  return arrow;
}

const CALLS = { call: /^\{"op": "([^"]*)"(?:, )?(.*)$/su, answer: /^([^ ]*): (.*)$/su, event: /^([^ ]*) (.*)$/su };

/** What the application asked of the library, was answered, or was told. */
function callShown(line, lanes, when) {
  const [, name, rest] = CALLS[line.op].exec(line.note) || [null, line.op, line.note];
  const body = line.op === "call" ? (rest === "}" ? "" : `{${rest}`) : rest === '{"ok": {}}' ? "ok" : rest;
  const asks = line.op === "call";
  return h(
    "li",
    { class: `frame ${asks ? "sent" : "got"} call` },
    h("span", { class: "sr" }, asks ? "application to library" : "library to application"),
    h("div", { class: "said" }, h("div", { class: "first" }, h("b", {}, wireText(name)), line.op === "event" ? h("span", { class: "hint" }, " told") : null, body === "ok" ? " ok" : null), body && body !== "ok" ? payloadOf(body) : null),
    arrowOf(line, lanes),
    when,
  );
}

/** A step without a name holds what nobody asked for. */
function stepName(name) {
  if (!name) return "Advisories and deliveries";
  return /^[0-9.]+$/.test(name) ? `Step ${name}` : `Step “${name}”`;
}

function frameText(line) {
  return h(
    "div",
    { class: "said" },
    h(
      "div",
      { class: "first" },
      h("b", {}, line.op),
      " ",
      h("span", { class: "subject" }, wireText(line.subject)),
      line.reply ? h("span", { class: "reply" }, " ⤶ ", wireText(line.reply)) : null,
      line.status === null ? null : h("span", { class: "status" }, ` ${line.status} `, wireText(line.description)),
      line.note ? h("span", { class: "tap" }, wireText(line.note)) : null,
    ),
    line.headers?.length
      ? h("div", { class: "headers" }, line.headers.map(([name, value]) => h("div", {}, h("i", {}, wireText(name), ":"), " ", wireText(value))))
      : null,
    line.payload ? payloadOf(line.payload) : null,
  );
}

const PAYLOAD_SHOWN = 240;

function payloadOf(text) {
  if (text.length <= PAYLOAD_SHOWN) return h("div", { class: "payload" }, wireText(text));
  const whole = h("pre", { class: "payload" }, wireText(pretty(text), { multiline: true }));
  return h(
    "details",
    { class: "long" },
    h("summary", { class: "payload" }, wireText(text.slice(0, PAYLOAD_SHOWN)), `… ${plural(text.length, "character")}`),
    whole,
  );
}

/** JSON laid out to be read; anything else as it is. */
function pretty(text) {
  if (!/^[[{]/.test(text)) return text;
  try {
    const value = JSON.parse(text, (_, item, context) => {
      // A number that JavaScript would round stays as it was on the wire.
      if (typeof item === "number" && context && !Number.isSafeInteger(item) && context.source !== String(item)) throw new Error();
      return item;
    });
    return JSON.stringify(value, null, 2);
  } catch {
    return text;
  }
}
