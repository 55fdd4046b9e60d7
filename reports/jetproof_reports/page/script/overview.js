// What matters, as `summary.md` has it: a sentence for each target, what is new, the known causes.
// Nothing is counted here: the block `overview` holds it all.

function overviewView(matrix, overview) {
  return h(
    "div",
    { class: "view overview" },
    notes(),
    h("h2", {}, "What matters"),
    ...linesShown(overview.lines),
    newsShown(matrix, overview),
    causesShown(overview.groups),
    positionsCount(overview.positions),
    overview.not_scored ? h("p", { class: "hint not-scored" }, `${overview.not_scored}. They count in no number here.`) : null,
    cellsLink(matrix),
  );
}

/** One sentence a target: the newest release of each line in sight, the others folded. */
function linesShown(lines) {
  if (!lines.length) return [h("p", { class: "hint" }, "Nothing was played.")];
  const list = (some) => h("ul", { class: "targets" }, some.map(lineShown));
  const rest = lines.filter((line) => !line.first);
  return [
    list(lines.filter((line) => line.first)),
    rest.length ? h("details", { class: "more-targets" }, h("summary", {}, plural(rest.length, "more target")), list(rest)) : null,
  ];
}

function lineShown(line) {
  const [look, symbol, spoken] = line.code ? ["fails", "✗", "Fails: "] : line.conforms ? ["conforms", "✓", ""] : ["known", "≈", ""];
  return h("li", { class: look }, h("span", { class: "symbol", "aria-hidden": "true" }, symbol), h("span", {}, h("span", { class: "sr" }, spoken), wireText(line.verdict)));
}

/** Cells that no ledger explains, each with a link to its evidence; unstable ones come first. */
function newsShown(matrix, { news }) {
  if (!news.length) return section("New and unstable", h("p", {}, "No cell is new, and none is unstable: ledgers explain every difference from the text."));
  const list = h("ul", { class: "cells-list" });
  const shown = growing(news, list, (some) => list.append(...some.map((numbers) => newCells(numbers.map((number) => matrix.numbered(number))))));
  return section(`New and unstable (${whole(news.flat().length)})`, shown);
}

/** Cells that have all but the release in common. */
function newCells(cells) {
  const { row, verdict, reason, neverRight } = cells[0];
  const link = (cell) => h("a", { href: viewAddress(row.client ? "libraries" : "matrix", { ...CLEARED, by: "", cell: cell.name }), "aria-label": cell.name }, cell.column.name);
  return h(
    "li",
    {},
    verdictTag(verdict),
    " ",
    h("b", {}, row.case),
    row.topology === "single" ? null : h("span", { class: "mark" }, row.topology),
    clientMark(row.client),
    neverRight && verdict.name === UNSTABLE ? h("span", { class: "mark" }, "never right") : null,
    reason ? h("span", { class: "why" }, wireText(reason)) : null,
    h("span", { class: "on" }, cells.map((cell) => [link(cell), " "])),
  );
}

/** The known causes, worst first. */
function causesShown(groups) {
  if (!groups.length) return section("Known causes", h("p", {}, "No known deviation was met."));
  return section(
    `Known causes (${whole(groups.length)})`,
    h("p", { class: "lead" }, "Each is one entry of a ledger, however many cells it explains."),
    longTable(["Severity and kind", "What it does", "Cells", "Where", "Upstream"], groups, causeRow, "causes"),
  );
}

function causeRow(group) {
  const to = group.client ? viewAddress("libraries", { ...CLEARED, by: "known", q: group.id }) : viewAddress("deviations", { ...CLEARED, q: group.id });
  return h(
    "tr",
    {},
    h("td", { class: "marks" }, markTags(group)),
    h("td", { class: "what" }, wireText(group.does), h("div", { class: "hint" }, clientMark(group.client), group.client ? " " : null, h("a", { href: to }, group.id))),
    h("td", { class: "number" }, whole(group.cells)),
    h("td", { class: "since" }, group.since || group.servers.join(", ")),
    h("td", {}, upstreamLink(group.upstream)),
  );
}

function markTags({ severity, kind }) {
  return [severity ? h("span", { class: `severity ${severity}` }, severity) : null, severity && kind ? " " : null, kind ? h("span", { class: "mark" }, kind) : null];
}

/** Of what kind an entry of a ledger is, and where the project tracks it. */
function marksOf(entry) {
  const link = upstreamLink(entry.upstream);
  return entry.kind || link ? h("p", {}, markTags(entry), link ? " " : null, link) : null;
}

function upstreamLink(address) {
  if (!address?.startsWith("https://")) return null;
  return h("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, address.replace(/\/$/, "").split("/").slice(-2).join("/"));
}

function positionsCount(count) {
  if (!count) return null;
  return section(
    "Positions",
    h("p", {}, h("a", { href: viewAddress("positions", { ...CLEARED }) }, plural(count, "cell takes a position", "cells take a position")), " where the text does not decide. ", h("code", {}, "jetproof positions RUN"), " prints them."),
  );
}

function cellsLink(matrix) {
  const links = [
    matrix.serverRows.length ? h("a", { href: viewAddress("matrix", { ...CLEARED }) }, "Every cell: cases by release") : null,
    matrix.clientRows.length ? h("a", { href: viewAddress("libraries", { ...CLEARED, by: "" }) }, "Every cell: cases by library") : null,
  ].filter(Boolean);
  return links.length ? section("All cells", links.map((link) => h("p", {}, link))) : null;
}
