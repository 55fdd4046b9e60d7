// What the views beside the matrix share: tables, long lists, links to cases, a view's frame.

const CHUNK = 100;

/** A view's heading, its controls and its content; `content` is drawn anew when the text changes. */
function viewFrame(title, about, controls, content, { tabs = null, placeholder = "case, clause, text…" } = {}) {
  const place = h("div", { class: "content" });
  const draw = () => {
    const count = content(place);
    if (count !== undefined) announce(`${count} shown`);
  };
  const search = labelled("Text", searchBox(draw, placeholder), "wide");
  const frame = h(
    "div",
    { class: "view" },
    h("h2", {}, title),
    h("p", { class: "lead" }, about),
    tabs,
    h("form", { class: "bar", role: "search", "aria-label": "Filters", onsubmit: (event) => event.preventDefault() }, h("div", { class: "fields" }, search, controls(draw))),
    place,
  );
  draw();
  return frame;
}

/** Whether every word that was asked for is in the text. */
function asked(text) {
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const read = text.toLowerCase();
  return words.every((word) => read.includes(word));
}

const NUMBERS = new Set(["Seen", "Mismatches", "Newest p50", "p90", "p99", "Largest", "Samples", "Cells"]);

/** Rows of a table, the first hundred at once and the others on request. */
function longTable(names, items, rowOf, className = "", numbers = NUMBERS) {
  if (!items.length) return h("p", { class: "hint" }, "Nothing to show.");
  const body = h("tbody", {});
  const wrap = h(
    "div",
    { class: "scroll" },
    h("table", { class: `list ${className}` }, h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col", class: numbers.has(name) ? "number" : null }, name)))), body),
  );
  return growing(items, wrap, (some) => body.append(...some.map(rowOf)));
}

function growing(items, element, add) {
  let shown = 0;
  const more = h("button", { type: "button", class: "more-rows" });
  const grow = () => {
    add(items.slice(shown, shown + CHUNK));
    shown = Math.min(items.length, shown + CHUNK);
    more.hidden = shown >= items.length;
    more.textContent = `Show ${Math.min(CHUNK, items.length - shown)} more of ${items.length - shown}`;
  };
  more.addEventListener("click", grow);
  grow();
  return h("div", {}, element, more);
}

function row(...cells) {
  return h("tr", {}, cells.map((cell) => (cell instanceof HTMLTableCellElement ? cell : h("td", {}, cell))));
}

function caseLink(name, more = {}) {
  const [suite, short] = name.split("::");
  return h("a", { href: viewAddress(homeOf([name]), { ...CLEARED, q: name, ...more }), class: "case-link" }, h("span", { class: "hint" }, `${suite}::`), h("wbr"), short || "");
}

/** Which client library a row is about. */
function clientMark(client) {
  return client ? h("span", { class: "mark" }, client) : null;
}

/** The view that shows these cases: those for client libraries have their own. */
function homeOf(cases) {
  return cases.length && cases.every((name) => matrix.clientCases.has(name)) ? "libraries" : "matrix";
}

const CLEARED = { q: "", clause: "", verdicts: "", revision: "", provider: "", releases: "", client: "", changed: "", closed: "", open: "", fold: "" };
const FOLDING = new Set(["closed", "open", "fold"]);

/** Cases, the first few in sight. */
function caseList(cases) {
  if (!cases.length) return h("span", { class: "hint" }, "none");
  const list = (some) => h("ul", { class: "plain" }, some.map((name) => h("li", {}, caseLink(name))));
  if (cases.length <= 2) return list(cases);
  return h("details", {}, h("summary", {}, plural(cases.length, "case")), list(cases));
}

function verdictCounts(matrix, counts) {
  const shown = matrix.verdicts.filter((verdict) => counts[verdict.name]);
  return h("span", { class: "counts" }, shown.map((verdict) => h("span", { class: `tag v-${verdict.code}`, title: verdict.name, "aria-label": `${counts[verdict.name]} ${verdict.name}` }, symbolOf(verdict), String(counts[verdict.name]))));
}

function missing(place, table) {
  place.replaceChildren(h("p", { class: "hint" }, `This report was made without the table ${table}.`));
}
