// A transcript as a sequence diagram: one lifeline a connection of the harness, one for the server.

const LINE = ["step", "dir", "connection", "op", "subject", "reply", "status", "description", "headers", "payload", "note"];
const GIVEN = "given";

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
  const lanes = [...new Set(lines.filter((line) => line.dir !== "!").map((line) => line.connection))];
  const steps = [];
  for (const line of lines) {
    if (steps.at(-1)?.name !== line.step || steps.length === 0) steps.push({ name: line.step, lines: [] });
    steps.at(-1).lines.push(line);
  }
  const figure = h("div", { class: "sequence", role: "group", "aria-label": "Transcript" });
  figure.style.setProperty("--gaps", String(Math.max(1, lanes.length)));
  figure.append(
    h(
      "div",
      { class: "lanes", "aria-hidden": "true" },
      lanes.map((lane) => h("span", {}, lane)),
      h("span", { class: "server" }, "server"),
    ),
  );
  for (const step of steps) {
    const list = h("ol", { class: "frames" }, step.lines.map((line) => frame(line, lanes)));
    figure.append(
      step.name === GIVEN
        ? h("details", { class: "given" }, h("summary", {}, `Set-up: ${plural(step.lines.length, "frame")}`), list)
        : h("section", { class: "step" }, h("h4", {}, stepName(step.name)), list),
    );
  }
  return figure;
}

function frame(line, lanes) {
  const when = line.ms === undefined || line.ms === null ? null : h("span", { class: "ms" }, duration(line.ms));
  if (line.dir === "!") {
    const said = line.op === "gap" ? `… ${line.note} …` : [line.op, line.note].filter(Boolean).join(": ");
    return h("li", { class: "event" }, h("span", { class: "said" }, line.connection && line.op !== "gap" ? `${line.connection} · ` : "", wireText(said)), when);
  }
  const lane = lanes.indexOf(line.connection);
  const sent = line.dir === ">";
  const arrow = h("span", { class: `arrow ${sent ? "sent" : "got"}`, "aria-hidden": "true" });
  arrow.style.setProperty("--from", String(lane + 1));
  const direction = sent ? `${line.connection} to server` : `server to ${line.connection}`;
  return h("li", { class: `frame ${sent ? "sent" : "got"}${lane ? " late" : ""}` }, h("span", { class: "sr" }, direction), frameText(line), arrow, when);
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
