// The panel behind a cell: what the text says, what was expected and seen, the wire, the log.

const NEVER_RIGHT = "No conforming server does this, on whatever machine: once is enough, and it counts as a failure.";
const TIMING = "A slow machine can look like this: it counts as no failure.";

class Panel {
  constructor(matrix, libraries, onmove, onclose) {
    this.matrix = matrix;
    this.libraries = libraries;
    this.onmove = onmove;
    this.onclose = onclose;
    this.element = h("aside", { class: "panel", role: "dialog", "aria-labelledby": "panel-title", hidden: true, id: "panel" });
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.close();
    });
  }

  get isOpen() {
    return !this.element.hidden;
  }

  /** Show a cell; what has to be unpacked follows when it is there. */
  async open(cell, { focus = true } = {}) {
    this.cell = cell;
    this.element.hidden = false;
    document.body.classList.add("with-panel");
    const rest = h("div", { class: "rest", "aria-busy": "true" }, h("p", { class: "wait" }, "Unpacking the evidence…"));
    this.element.replaceChildren(this.top(cell), rest);
    this.element.scrollTop = 0;
    if (focus) by("panel-title").focus();
    const [evidence, tables] = await Promise.all([block(`evidence-${cell.row.suiteIndex}`), block("tables")]);
    if (this.cell !== cell) return;
    rest.replaceChildren(...this.sections(cell, evidence, tables).filter(Boolean));
    rest.removeAttribute("aria-busy");
  }

  close() {
    if (!this.isOpen) return;
    this.element.hidden = true;
    this.cell = null;
    document.body.classList.remove("with-panel");
    this.onclose();
  }

  top(cell) {
    const { row, column, verdict } = cell;
    const facts = [
      row.client, `nats-server ${column.server}`, column.provider, row.topology, this.law(row),
      cell.ms ? duration(cell.ms) : null,
    ];
    return h(
      "div",
      { class: "panel-top" },
      h("button", { type: "button", class: "close", "aria-label": "Close the evidence", onclick: () => this.close() }, "✕"),
      h("p", { class: "suite" }, row.suite),
      h("h2", { id: "panel-title", tabindex: "-1" }, row.short),
      h("p", { class: "facts" }, verdictTag(verdict), " ", facts.filter(Boolean).join(" · ")),
      column.reference ? h("p", { class: "hint" }, "Answered by the reference layer in front of a real server. It counts as no release's conformance.") : null,
      row.client ? this.libraryStrip(cell) : null,
      this.strip(cell),
      cell.verdict.name === UNSTABLE ? h("p", { class: "hint" }, cell.neverRight ? NEVER_RIGHT : TIMING) : null,
      cell.reason ? h("p", { class: `reason v-${verdict.code}` }, wireText(cell.reason)) : null,
      h("div", { class: "replay" }, h("code", {}, cell.replay || "no replay command was recorded"), cell.replay ? copyButton(cell.replay, "the replay command") : null),
    );
  }

  /** The case on every release: one press away. */
  strip(cell) {
    if (cell.row.client && this.matrix.columns.filter((column) => this.matrix.verdict(cell.row, column)).length < 2) return null;
    return h(
      "div",
      { class: "strip", role: "group", "aria-label": "This case on other releases" },
      this.matrix.columns.map((column) => {
        const other = this.matrix.cell(cell.row, column);
        if (!other) return null;
        const here = column === cell.column;
        return h(
          "button",
          {
            type: "button", class: `v-${other.verdict.code}${here ? " here" : ""}`, title: `${column.name}: ${other.verdict.name}`,
            "aria-label": `${column.name}: ${other.verdict.name}`, "aria-current": here ? "true" : null,
            onclick: () => this.onmove(other),
          },
          `${other.verdict.symbol}\ufe0e`,
        );
      }),
    );
  }

  /** By what it was judged; a library is held to what it claims. */
  law(row) {
    const told = `${row.spec} revision ${row.revision}`;
    const claim = row.heldTo;
    if (claim === null) return told;
    const inForce = this.matrix.head.laws[row.spec];
    const text = row.revision === inForce ? "the text in force" : `the text in force is ${inForce}`;
    if (claim !== row.revision) return `${told}, ${text}; the library claims ${claim}`;
    return `${told}, which the library claims${inForce === undefined ? "" : `; ${row.revision === inForce ? "the text in force" : text}`}`;
  }

  /** The same case by other libraries on the same server. */
  libraryStrip(cell) {
    const beside = this.libraries.beside(cell);
    if (beside.length < 2) return null;
    return h(
      "div",
      { class: "strip named", role: "group", "aria-label": "This case by other libraries" },
      beside.map((other) => {
        const { short } = libraryOf(other.row.client);
        const here = other.row.client === cell.row.client;
        const told = `${other.row.client}: ${other.verdict.name}`;
        return h("button", { type: "button", class: `v-${other.verdict.code}${here ? " here" : ""}`, title: told, "aria-label": told, "aria-current": here ? "true" : null, onclick: () => this.onmove(other) }, symbolOf(other.verdict), ` ${short}`);
      }),
    );
  }

  /** What a client that keeps to the text saw of the same server: a server's fault is not blamed on a library. */
  witness(cell, evidence) {
    if (!cell.row.client || libraryOf(cell.row.client).witness) return null;
    const other = this.libraries.witnessed(cell);
    if (!other) return cell.verdict.suspect ? section("The reference client", h("p", { class: "hint" }, "It was not among the libraries of this run. What it made of a case that a library fails stands with the reason.")) : null;
    const lines = other.wire ? transcriptOf(evidence, other.wire) : null;
    const fold = h("details", {}, h("summary", {}, "Its transcript"));
    fold.addEventListener("toggle", () => fold.open && fold.children.length === 1 && fold.append(sequence(lines)));
    return section(
      "What the reference client saw",
      h("p", {}, verdictTag(other.verdict), " ", h("a", { href: viewAddress("libraries", { cell: other.name }) }, `${other.row.client} on the same server`), other.row.revision === cell.row.revision ? "" : `, by revision ${other.row.revision}`),
      other.reason ? h("p", {}, wireText(other.reason)) : null,
      other.position.length ? positionPairs(other) : null,
      lines ? fold : null,
    );
  }

  sections(cell, evidence, tables) {
    return [
      this.mismatches(evidence.checks[cell.number]),
      this.positions(cell),
      this.witness(cell, evidence),
      this.deviation(cell, tables),
      this.clauses(cell, tables),
      this.change(cell),
      this.transcript(cell, evidence),
      this.log(evidence.logs[cell.number], ALARMS.includes(cell.verdict.code) || cell.verdict.name === UNSTABLE),
      this.origin(cell),
    ];
  }

  mismatches(checks) {
    if (!checks) return null;
    const shown = checks.map(([step, iteration, , path, expected, actual]) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, h("b", {}, step), iteration ? ` (${iteration})` : "", h("br"), wireText(path)),
        h("td", { class: "expected" }, wireText(expected)),
        h("td", { class: "actual" }, actual === null ? "not seen" : wireText(actual)),
      ),
    );
    const head = h("tr", {}, ["Where", "Expected", "Actual"].map((name) => h("th", { scope: "col" }, name)));
    return section("Expected and actual", h("div", { class: "scroll" }, h("table", { class: "checks" }, h("thead", {}, head), h("tbody", {}, shown))));
  }

  positions(cell) {
    if (!cell.position.length) return null;
    return section("Position", positionPairs(cell));
  }

  deviation(cell, tables) {
    const library = cell.row.client ? libraryOf(cell.row.client).library : null;
    const entry = cell.deviation && (tables.deviations || []).find((one) => one.id === cell.deviation && (one.library || null) === library);
    if (!entry) return null;
    const to = library ? viewAddress("libraries", { by: "known", client: library, q: entry.id }) : viewAddress("deviations", { q: entry.id });
    return section(
      library ? "Known failure" : "Known deviation",
      marksOf(entry),
      h("p", {}, h("a", { href: to }, entry.id), library ? ` of ${library} on ${spans(this.matrix, entry.servers)}` : ` in ${spans(this.matrix, entry.servers)}`),
      entry.says ? h("p", {}, h("b", {}, "The text: "), entry.says) : null,
      cell.reason.includes(entry.does) ? null : h("p", {}, h("b", {}, "What it does: "), wireText(withoutId(entry.does, entry.id))),
    );
  }

  clauses(cell, tables) {
    const known = new Map((tables.coverage || []).map((clause) => [clause.clause, clause]));
    const items = cell.row.clauses.map((id) => {
      const clause = known.get(id);
      return h(
        "li",
        {},
        h("a", { href: viewAddress("coverage", { q: id }) }, id),
        clause ? h("span", { class: "hint" }, ` ${[clause.level, clause.status === "normative" ? null : clause.status, clause.section].filter(Boolean).join(" · ")}`) : null,
        clause ? h("blockquote", {}, clause.text) : null,
      );
    });
    return items.length ? section(items.length === 1 ? "Sentence" : "Sentences", h("ul", { class: "clauses" }, items)) : null;
  }

  change(cell) {
    const earlier = before(this.matrix, cell);
    const kind = earlier && kindOf(earlier, cell);
    if (!kind) return null;
    const to = viewAddress("regressions", { by: "", a: earlier.column.name, b: cell.column.name, case: rowKey(cell.row), q: "", verdicts: "" });
    return section(
      `Since ${earlier.column.name}`,
      h("p", {}, h("b", {}, KIND_NAMES.get(kind)), ` (was `, verdictTag(earlier.verdict), `). `, h("a", { href: to }, "Compare both")),
    );
  }

  transcript(cell, evidence) {
    const lines = cell.wire ? transcriptOf(evidence, cell.wire) : null;
    const raw = rawOf(evidence, cell);
    if (!lines && !raw) {
      return section("Transcript", h("p", { class: "hint" }, cell.wire ? "The transcript was not kept." : "Nothing was sent: the case was not played."));
    }
    const place = h("div", {});
    const show = (which) => place.replaceChildren(sequence(which));
    // Equal transcripts are kept once: what this library told its caller is in its own.
    const first = raw && cell.row.client ? raw : lines || raw;
    show(first);
    const toggle = lines && raw ? h("label", { class: "check" }, h("input", { type: "checkbox", checked: first === raw, onchange: (event) => show(event.target.checked ? raw : lines) }), h("span", {}, "as it was, with times")) : null;
    const hint = lines ? `Ids, inboxes and times are placeholders. Fingerprint ${cell.fingerprint}.` : cell.verdict.name === UNSTABLE ? "All plays, each as it was, with its times." : "";
    return section("Transcript", h("p", { class: "hint" }, hint, " ", toggle), place);
  }

  log(lines, open) {
    if (!lines) return null;
    return section(
      "Server log",
      h("details", { open }, h("summary", {}, `The last ${plural(lines.length, "line")}`), h("pre", { class: "log" }, wireText(lines.join("\n"), { multiline: true }))),
    );
  }

  origin(cell) {
    return h("p", { class: "hint origin" }, `Run ${cell.run || "unknown"}`, cell.caseHash ? ` · case ${cell.caseHash}` : "");
  }
}

function positionPairs(cell) {
  return h("dl", { class: "pairs" }, cell.position.map(([name, value]) => [h("dt", {}, wireText(name)), h("dd", {}, wireText(value))]));
}

function section(title, ...content) {
  return h("section", {}, h("h3", {}, title), content);
}

/** The ledger's reason begins with the entry's id, which stands beside it already. */
function withoutId(text, id) {
  return text.startsWith(`${id}: `) ? text.slice(id.length + 2) : text;
}

/** A row in an address. */
function rowKey(row) {
  return [row.case, row.topology, row.client, row.severalRevisions ? `revision-${row.revision}` : null].filter(Boolean).join(" ");
}
