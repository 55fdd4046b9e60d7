// The matrix itself. Only rows in sight are elements, however many there are; all have one height.

const OVERSCAN = 6;
const ALARMS = ["f", "s", "e"];
const WORST_FIRST = ["f", "s", "e", "u", "w", "k", "o", "p", "n"];

class Grid {
  label = "Verdicts by case and release";

  /** `open(cell, {focus})` is called when the reader asks for a cell, `onspec` as rows pass by. */
  constructor(matrix, open, onspec) {
    this.matrix = matrix;
    this.openCell = open;
    this.onspec = onspec;
    this.drawn = new Map();
    this.lines = [];
    this.at = null;
    this.body = h("div", { class: "rows", role: "rowgroup" });
    this.headRow = h("div", { class: "row head", role: "row", "aria-rowindex": "1" });
    this.element = h(
      "div",
      { class: "grid", role: "grid", tabindex: "0", id: "grid", "aria-label": this.label },
      h("div", { role: "rowgroup", class: "heads" }, this.headRow),
      this.body,
    );
    this.element.addEventListener("scroll", () => this.later(), { passive: true });
    this.element.addEventListener("click", (event) => this.clicked(event));
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("focus", () => this.mark());
    new ResizeObserver(() => this.later()).observe(this.element);
  }

  /** Show these rows and columns. */
  show(chosen) {
    const focused = this.lines[this.at?.line];
    this.chosen = chosen;
    this.lines = linesOf(chosen.rows);
    this.starts = this.startsOf(chosen.columns);
    this.drawHead();
    this.element.setAttribute("aria-rowcount", String(this.lines.length + 1));
    this.element.setAttribute("aria-colcount", String(chosen.columns.length + 1));
    this.element.style.setProperty("--columns", String(chosen.columns.length));
    this.element.classList.toggle("narrow", chosen.columns.length > 12);
    // The reader begins at the first case, on the newest release; a line of -1 is the row of releases.
    const begins = !this.at;
    const newest = chosen.columns.findLastIndex((column) => !column.reference);
    this.at ||= { line: Math.max(0, this.lines.findIndex((line) => line.kind === "case")), column: Math.max(0, newest) };
    const same = this.lines.findIndex((line) => sameLine(line, focused));
    this.at.line = same >= 0 ? same : Math.min(this.at.line, this.lines.length - 1);
    this.at.column = Math.min(this.at.column, chosen.columns.length - 1);
    this.redraw();
    if (begins && this.lines.length) this.reveal();
  }

  /** Bring a specification to the top. */
  jump(spec) {
    if (isFolded("spec", spec)) {
      toggleFold("spec", spec);
      this.show(this.chosen);
    }
    this.at = { line: this.lines.findIndex((line) => line.kind === "spec" && line.name === spec), column: this.at.column };
    this.element.scrollTop = this.at.line * this.height;
    this.draw();
    this.mark();
    this.element.focus({ preventScroll: true });
  }

  drawHead() {
    const { columns, rows } = this.chosen;
    const corner = h("div", { class: "corner", role: "columnheader", "aria-colindex": "1" }, this.corner = h("span", {}));
    this.headRow.replaceChildren(
      corner,
      ...columns.map((column, place) => {
        const codes = rows.map((row) => this.codeOf(row, column));
        const errors = codes.filter((code) => code === "e").length;
        const fails = codes.filter((code) => code === "f" || code === "s").length;
        const told = this.headTold(column, `${fails ? plural(fails, "case fails", "cases fail") : "nothing fails"}${errors ? `, ${errors} without a verdict` : ""}`);
        return h(
          "div",
          {
            class: `column${this.isCompared(column) ? " compared" : ""}${this.edge(place)}`,
            role: "columnheader", "aria-colindex": String(place + 2), id: `h-${column.index}`, "data-column": place,
            title: told, "aria-label": told,
          },
          this.headNames(column),
          h("span", { class: "bad" }, fails ? `${fails}✗` : errors ? `${errors}‼\ufe0e` : ""),
        );
      }),
    );
  }

  headTold(column, fares) {
    const name = column.reference ? `The reference layer in front of ${column.server}` : column.name.replace(" ", ", ");
    return `${name}: ${fares}. ${column.reference ? "It counts as no release's conformance." : "Opens what changed since the release before."}`;
  }

  headNames(column) {
    return [h("span", { class: "release" }, column.server), column.provider === "embedded" ? null : h("span", { class: "provider" }, column.provider)];
  }

  isCompared(column) {
    const { a, b } = this.chosen;
    return Boolean(state.changed) && (column.index === a?.index || column.index === b?.index);
  }

  startsOf(columns) {
    return startsOf(columns);
  }

  /** What is said of a case beside its name. */
  tagsOf(row) {
    const tags = [];
    if (row.topology !== "single") tags.push(row.topology);
    if (row.severalRevisions) tags.push(`rev ${row.revision}`);
    const kind = this.chosen.changed.get(row);
    if (kind) tags.push(kind.replaceAll("-", " "));
    return tags;
  }

  /** The verdict of a cell as it counts in a head and a group. */
  codeOf(row, column) {
    return countedCode(this.matrix, row, column, this.matrix.verdict(row, column));
  }

  /** What a cell is marked with besides its verdict: a class, and words for it. */
  markOf(_row, _column) {
    return ["", ""];
  }

  /** Classes of a place in a row: where a line of releases begins, and what the reference layer gave. */
  edge(place) {
    return `${this.starts.has(place) ? " starts" : ""}${this.chosen.columns[place].reference ? " reference" : ""}`;
  }

  /** Draw what is in sight, at the next frame. */
  later() {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.draw();
    });
  }

  redraw() {
    this.drawn.clear();
    this.body.replaceChildren();
    this.height = 0;
    this.draw();
    this.mark();
  }

  draw(all = false) {
    this.height ||= parseFloat(getComputedStyle(this.element).getPropertyValue("--row")) || 28;
    const { height, lines } = this;
    const room = Math.max(this.element.clientHeight, 200);
    // Where fewer lines are left, the place that it was scrolled to may be none any more.
    const top = Math.min(this.element.scrollTop, Math.max(0, lines.length * height - room / 2));
    const first = all ? 0 : Math.max(0, Math.floor(top / height) - OVERSCAN);
    const last = all ? lines.length : Math.min(lines.length, Math.ceil((top + room) / height) + OVERSCAN);
    for (const [place, element] of this.drawn) {
      if (place < first || place >= last) {
        element.remove();
        this.drawn.delete(place);
      }
    }
    for (let place = first; place < last; place++) {
      if (this.drawn.has(place)) continue;
      const element = this.drawLine(lines[place], place);
      // Kept in order, so that what is read aloud follows what is seen.
      this.body.insertBefore(element, this.nextDrawn(place, last));
      this.drawn.set(place, element);
    }
    this.body.style.paddingTop = `${first * height}px`;
    this.body.style.paddingBottom = `${(lines.length - last) * height}px`;
    this.showPlace(Math.floor(top / height));
    this.markDrawn();
  }

  nextDrawn(place, last) {
    for (let next = place + 1; next < last; next++) {
      if (this.drawn.has(next)) return this.drawn.get(next);
    }
    return null;
  }

  /** The corner names the section whose rows are at the top. */
  showPlace(place) {
    const line = this.lines[Math.max(0, Math.min(place, this.lines.length - 1))];
    if (line && line.spec !== this.spec) this.onspec((this.spec = line.spec));
    const name = !line ? "" : line.kind === "case" ? line.row.suite : line.name;
    if (this.corner.textContent !== name) this.corner.textContent = name;
  }

  drawLine(line, place) {
    return line.kind === "case" ? this.drawCase(line.row, place) : this.drawGroup(line, place);
  }

  drawCase(row, place) {
    const { columns, wanted } = this.chosen;
    return h(
      "div",
      { class: "row case", role: "row", "aria-rowindex": String(place + 2) },
      h(
        "div",
        { class: "name", role: "rowheader", "aria-colindex": "1", id: `c-${place}-r`, "data-line": place, "data-column": -1, title: row.case },
        h("span", { class: "text" }, row.short),
        this.tagsOf(row).map((tag) => h("span", { class: "mark" }, tag)),
      ),
      columns.map((column, at) => {
        const verdict = this.matrix.verdict(row, column);
        const dim = wanted.size && verdict && !wanted.has(verdict.name) ? " dim" : "";
        const [mark, words] = verdict ? this.markOf(row, column) : ["", ""];
        return h(
          "div",
          {
            class: `${verdict ? `cell v-${verdict.code}${dim}${mark}` : "cell none"}${this.edge(at)}`, role: "gridcell",
            "aria-colindex": String(at + 2), id: `c-${place}-${at}`, "data-line": place, "data-column": at,
            "aria-label": `${column.name}: ${verdict ? verdict.name : "not played"}${words}`, title: words ? words.slice(2) : null,
          },
          verdict ? `${verdict.symbol}\ufe0e` : "",
        );
      }),
    );
  }

  drawGroup(line, place) {
    const closed = isFolded(line.kind, line.name);
    return h(
      "div",
      { class: `row group ${line.kind}`, role: "row", "aria-rowindex": String(place + 2) },
      h(
        "div",
        { class: "name", role: "rowheader", "aria-colindex": "1", "aria-expanded": String(!closed), id: `c-${place}-r`, "data-line": place, "data-column": -1 },
        h("span", { class: "fold", "aria-hidden": "true" }, closed ? "▸" : "▾"),
        h("span", { class: "text" }, line.name),
        h("span", { class: "count" }, String(line.rows.length)),
      ),
      this.chosen.columns.map((column, at) => this.drawTally(line, column, place, at, closed)),
    );
  }

  /** In a group's line: how many cells of a release alarm; of a closed group its worst verdict. */
  drawTally(line, column, place, at, closed) {
    const codes = line.rows.map((row) => this.codeOf(row, column)).filter(Boolean);
    const alarms = codes.filter((code) => ALARMS.includes(code)).length;
    const worst = WORST_FIRST.find((code) => codes.includes(code));
    const shown = alarms || closed ? this.matrix.byCode.get(worst) : null;
    return h(
      "div",
      {
        class: `cell tally${shown ? ` v-${shown.code}` : ""}${this.edge(at)}`, role: "gridcell", "aria-colindex": String(at + 2),
        id: `c-${place}-${at}`, "data-line": place, "data-column": at,
        "aria-label": `${column.name}: ${alarms ? `${alarms} fail or have no verdict` : "nothing fails"}`,
      },
      shown ? (alarms ? String(alarms) : `${shown.symbol}\ufe0e`) : "",
    );
  }

  clicked(event) {
    const hit = event.target.closest("[data-column]");
    if (!hit) return;
    const column = Number(hit.dataset.column);
    this.at = { line: hit.dataset.line === undefined ? -1 : Number(hit.dataset.line), column };
    this.mark();
    this.activate({ focus: false });
  }

  key(event) {
    if (event.ctrlKey && !["Home", "End"].includes(event.key)) return;
    if (event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.height) - 3);
    const last = { line: this.lines.length - 1, column: this.chosen.columns.length - 1 };
    const { line, column } = this.at;
    const moves = {
      ArrowUp: { line: line - 1, column },
      ArrowDown: { line: line + 1, column },
      ArrowLeft: { line, column: column - 1 },
      ArrowRight: { line, column: column + 1 },
      PageUp: { line: Math.max(0, line - page), column },
      PageDown: { line: line + page, column },
      Home: event.ctrlKey ? { line: 0, column } : { line, column: -1 },
      End: event.ctrlKey ? { line: last.line, column } : { line, column: last.column },
    };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.activate({ focus: true });
      return;
    }
    const to = moves[event.key];
    if (!to) return;
    event.preventDefault();
    this.at = {
      line: Math.max(-1, Math.min(to.line, last.line)),
      column: Math.max(to.line < 0 ? 0 : -1, Math.min(to.column, last.column)),
    };
    this.reveal();
    this.mark();
  }

  /** Enter or a click: open a cell, fold a group, or compare a release with the one before. */
  activate(how) {
    const { columns } = this.chosen;
    if (this.at.line < 0) {
      this.activateHead(columns[this.at.column]);
      return;
    }
    const line = this.lines[this.at.line];
    if (!line) return;
    if (line.kind !== "case") {
      toggleFold(line.kind, line.name);
      this.show(this.chosen);
      return;
    }
    // A case's name opens its newest cell.
    const wanted = this.at.column >= 0 ? [columns[this.at.column]] : [...columns].reverse();
    const cell = wanted.map((column) => this.matrix.cell(line.row, column)).find(Boolean);
    if (cell) this.openCell(cell, how);
  }

  activateHead(column) {
    const earlier = this.matrix.columns
      .filter((other) => other.provider === column.provider && other.index < column.index)
      .at(-1);
    if (earlier) showView("regressions", { a: earlier.name, b: column.name });
  }

  /** Bring the marked place into sight, clear of the sticky row and column; `centred` among its neighbours. */
  reveal({ centred = false } = {}) {
    const { element, height } = this;
    const head = this.headRow.offsetHeight;
    const top = this.at.line * height;
    if (this.at.line < 0) element.scrollTop = Math.min(element.scrollTop, 0);
    else if (top < element.scrollTop) element.scrollTop = top;
    else if (top + height > element.scrollTop + element.clientHeight - head) {
      element.scrollTop = top + height - element.clientHeight + head;
    }
    const cell = this.headRow.children[this.at.column + 1];
    if (cell && this.at.column >= 0) {
      const name = this.headRow.firstChild.offsetWidth;
      const right = cell.offsetLeft + cell.offsetWidth;
      const [before, behind] = [cell.offsetLeft < element.scrollLeft + name, right > element.scrollLeft + element.clientWidth];
      if (centred && (before || behind)) element.scrollLeft = (cell.offsetLeft - name + right - element.clientWidth) / 2;
      else if (before) element.scrollLeft = cell.offsetLeft - name;
      else if (behind) element.scrollLeft = right - element.clientWidth;
    }
    this.draw();
  }

  /** Where the reader is: on the grid itself, as cells come and go. */
  mark() {
    this.markDrawn();
    const id = this.markedId();
    if (id && by(id)) this.element.setAttribute("aria-activedescendant", id);
    else this.element.removeAttribute("aria-activedescendant");
  }

  markedId() {
    if (this.at.line < 0) return this.chosen.columns[this.at.column] ? `h-${this.chosen.columns[this.at.column].index}` : "";
    return `c-${this.at.line}-${this.at.column < 0 ? "r" : this.at.column}`;
  }

  markDrawn() {
    this.element.querySelectorAll(".at").forEach((element) => element.classList.remove("at"));
    by(this.markedId())?.classList.add("at");
  }

  unfold(row) {
    const before = this.lines.length;
    if (isFolded("spec", row.spec)) toggleFold("spec", row.spec);
    if (row.suite !== row.spec && isFolded("suite", row.suite)) toggleFold("suite", row.suite);
    this.lines = linesOf(this.chosen.rows);
    if (this.lines.length !== before) this.show(this.chosen);
  }

  /** Mark a cell that was asked for from elsewhere (an address, the panel). */
  place(cell) {
    const where = this.matrix.locate(cell);
    if (this.chosen.rows.includes(where.row)) this.unfold(where.row);
    const line = this.lines.findIndex((other) => other.kind === "case" && other.row === where.row);
    const column = this.chosen.columns.indexOf(where.column);
    if (line < 0 || column < 0) return;
    this.at = { line, column };
    this.reveal({ centred: true });
    this.mark();
  }
}

/** Places where the releases of another minor version begin, or the reference layer does. */
function startsOf(columns) {
  const lineOf = ({ server, reference }) => `${reference} ${server.split(".").slice(0, 2).join(".")}`;
  const places = columns.map((column, place) => place && lineOf(column) !== lineOf(columns[place - 1]) && place);
  return new Set(places.filter(Boolean));
}

function sameLine(line, other) {
  return Boolean(other) && line.kind === other.kind && line.row === other.row && line.name === other.name;
}
