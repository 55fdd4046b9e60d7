// The page: which view is shown, the keyboard, light and dark, print.

const VIEWS = [
  ["overview", "Overview"],
  ["matrix", "Matrix"],
  ["libraries", "Libraries"],
  ["regressions", "Changes"],
  ["coverage", "Coverage"],
  ["wire", "On the wire"],
  ["latency", "Latency & flakiness"],
  ["deviations", "Deviations"],
  ["positions", "Positions"],
  ["first-change", "First change"],
  ["trends", "Trends"],
];
const MAKERS = {
  overview: overviewView,
  libraries: (matrix, tables) => (libraryTab() === "positions" ? libraryPositionsView(matrix, libraries, tables) : libraryFailuresView(matrix, libraries, tables)),
  regressions: regressionsView,
  coverage: coverageView,
  wire: wireView,
  latency: latencyView,
  deviations: deviationsView,
  positions: positionsView,
  "first-change": firstChangeView,
  trends: trendsView,
};

let matrix;
let libraries = null;
let grid;
let panel;
let drawnView = "";

function showView(view, changes = {}) {
  go({ cell: "", case: "", ...changes, view }, { step: true });
  route();
}

/** Draw what the address asks for. */
async function route() {
  const known = shownViews().some(([view]) => view === state.view) ? state.view : home.view;
  drawViews(known);
  drawnView = known;
  const main = by("main");
  main.className = known;
  if (known === "matrix") {
    drawMatrix(main);
    return;
  }
  if (known === "libraries" && !libraryTab()) {
    drawLibraries(main);
    return;
  }
  grid = panel = null;
  document.body.classList.remove("with-panel");
  const tables = await block(known === "overview" ? "overview" : "tables");
  if (drawnView !== known) return;
  // Emptied first, so that the next view begins at its top without being laid out for it.
  main.replaceChildren();
  main.append(MAKERS[known](matrix, tables));
}

/** Reports without client libraries have no view of them. */
function shownViews() {
  return VIEWS.filter(([view]) => view !== "libraries" || libraries);
}

function drawViews(current) {
  by("views").replaceChildren(
    ...shownViews().map(([view, name]) => {
      const link = h("a", { href: viewAddress(view, { q: "" }), "aria-current": view === current ? "page" : null }, name);
      link.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        // Filters may have changed since the link was drawn.
        event.preventDefault();
        showView(view, { q: "" });
      });
      return link;
    }),
  );
  // Only the strip of views moves: the page itself stays where it is.
  const strip = by("views");
  const here = /** @type {HTMLElement} */ (strip.querySelector("[aria-current]"));
  strip.scrollLeft = here.offsetLeft - strip.offsetLeft - 40;
}

function drawMatrix(main) {
  panel = newPanel();
  const specs = new SpecBar(matrix, (spec) => grid.jump(spec), () => grid.show(selection(matrix)));
  grid = new Grid(matrix, openCell, (spec) => specs.mark(spec));
  const count = h("p", { class: "hint found", id: "found" });
  let bar;
  const update = ({ rebuild = false } = {}) => {
    if (rebuild) bar.replaceWith((bar = filterBar(matrix, update)));
    const chosen = selection(matrix);
    specs.show(chosen);
    grid.show(chosen);
    const text = `${whole(chosen.rows.length)} of ${plural(matrix.serverRows.length, "case")} on ${columnsTold(chosen.columns)}`;
    count.textContent = text;
    announce(text);
    empty.hidden = chosen.rows.length > 0;
    clear.hidden = !filtered();
  };
  bar = filterBar(matrix, update);
  const clear = clearButton(update);
  const empty = h("p", { class: "empty", hidden: true }, "No case is left by these filters.");
  const keys = h("p", { class: "hint keys" }, "Arrows move · Enter opens · / searches");
  main.replaceChildren(notes(), bar, h("div", { class: "under" }, count, clear, specs.element, keys), h("div", { class: "split" }, h("div", { class: "holder" }, grid.element, empty), panel.element));
  update();
  openAsked();
}

/** The cells of client libraries, in the same grid and with the same panel. */
function drawLibraries(main) {
  panel = newPanel();
  const specs = new SpecBar(libraries, (spec) => grid.jump(spec), () => grid.show(librarySelection(libraries)));
  grid = new LibraryGrid(libraries, openCell, (spec) => specs.mark(spec));
  const count = h("p", { class: "hint found", id: "found" });
  let bar;
  const update = ({ rebuild = false } = {}) => {
    if (rebuild) bar.replaceWith((bar = libraryBar(matrix, libraries, update)));
    const chosen = librarySelection(libraries);
    specs.show(chosen);
    grid.show(chosen);
    const text = `${whole(chosen.rows.length)} of ${plural(libraries.rows.length, "case")}, ${librariesTold(chosen.columns)}`;
    count.textContent = text;
    announce(text);
    empty.hidden = chosen.rows.length > 0;
    clear.hidden = !filtered();
  };
  bar = libraryBar(matrix, libraries, update);
  const clear = clearButton(update);
  const empty = h("p", { class: "empty", hidden: true }, "No case is left by these filters.");
  const keys = h("p", { class: "hint keys" }, "Arrows move · Enter opens · / searches");
  main.className = "matrix libraries";
  main.replaceChildren(notes(), bar, h("div", { class: "under" }, count, clear, specs.element, keys), h("div", { class: "split" }, h("div", { class: "holder" }, grid.element, empty), panel.element));
  update();
  openAsked();
}

function newPanel() {
  return new Panel(matrix, libraries, (cell) => openCell(cell, { focus: false }), () => {
    go({ cell: "" });
    grid.element.focus({ preventScroll: true });
  });
}

/** The cell that the address names. */
function openAsked() {
  if (!state.cell) return;
  const cell = matrix.cellNamed(state.cell);
  if (cell) {
    panel.open(cell);
    grid.place(cell);
  } else {
    announce(`This report has no cell ${state.cell}`);
  }
}

function openCell(cell, how) {
  // Going from cell to cell is one step back for the Back button, not one a cell.
  go({ cell: cell.name }, { step: !panel.isOpen });
  panel.open(cell, how);
  // After the panel has taken its room: the cell has to be in sight in what is left.
  grid.place(cell);
}

/** Back and forward between cells leave the matrix where it is. */
function followCell(before) {
  if (state.cell === before) return;
  const cell = state.cell && matrix.cellNamed(state.cell);
  if (!cell) panel.close();
  else {
    panel.open(cell);
    grid.place(cell);
  }
}

/** What a reader has to know before believing the page. */
function notes() {
  const told = [];
  for (const run of matrix.head.runs) {
    const missing = [run.interrupted ? "was interrupted" : null, run.finished_at ? null : "did not finish", run.partial ? `is partial (${run.partial})` : null].filter(Boolean);
    if (missing.length) told.push(`Run ${run.run_id} ${[...new Set(missing)].join(" and ")}: this is no result to publish.`);
  }
  told.push(...matrix.head.left_out);
  if (!told.length) return document.createDocumentFragment();
  return h("div", { class: "notes", role: "note" }, told.map((text) => h("p", {}, text)));
}

/** `32 releases and 1 reference`: what is no release is not counted as one. */
function columnsTold(columns) {
  const apart = columns.filter((column) => column.reference).length;
  return `${plural(columns.length - apart, "release")}${apart ? ` and ${plural(apart, "reference")}` : ""}`;
}

function about() {
  const { runs } = matrix.head;
  const last = runs.map((run) => run.started_at || "").sort().at(-1) || "";
  const parts = [plural(matrix.serverRows.length, "case"), columnsTold(matrix.columns)];
  if (libraries) parts.push(`${plural(libraries.rows.length, "case")} for ${librariesTold(libraries.columns)}`);
  parts.push(plural(matrix.cellCount, "cell"));
  if (runs.length) parts.push(runs.length === 1 ? `run of ${last.slice(0, 10)}` : `${runs.length} runs, the newest of ${last.slice(0, 10)}`);
  const version = [...new Set(runs.map((run) => run.jetproof).filter(Boolean))].join(", ");
  if (version) parts.push(`jetproof ${version}`);
  by("about").textContent = parts.join(" · ");
}

const THEMES = ["auto", "light", "dark"];

function theme(wanted) {
  document.documentElement.dataset.theme = wanted;
  by("theme").textContent = `Theme: ${wanted}`;
}

function storedTheme() {
  try {
    return THEMES.find((name) => name === localStorage.getItem("jetproof-theme")) || "auto";
  } catch {
    return "auto";
  }
}

function nextTheme() {
  const wanted = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length];
  theme(wanted);
  try {
    localStorage.setItem("jetproof-theme", wanted);
  } catch {
    // A browser that keeps nothing still shows the page.
  }
}

function keys(event) {
  const typing = event.target.closest?.("input, select, textarea");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const box = /** @type {HTMLInputElement | null} */ (document.querySelector('input[name="q"]'));
    if (!box) return;
    event.preventDefault();
    const folded = box.closest("details");
    if (folded) folded.open = true;
    box.focus();
    box.select();
  } else if (event.key === "Escape") {
    if (typing) (grid?.element || by("main")).focus();
    else panel?.close();
  }
}

async function start() {
  theme(storedTheme());
  by("theme").addEventListener("click", nextTheme);
  by("skip").addEventListener("click", (event) => {
    event.preventDefault();
    (grid?.element || by("main")).focus();
  });
  document.addEventListener("keydown", keys);
  addEventListener("beforeprint", () => grid?.draw(true));
  addEventListener("afterprint", () => grid?.redraw());
  const follow = () => {
    const was = addressOf({ cell: "" });
    const before = state.cell;
    readAddress();
    if (grid && addressOf({ cell: "" }) === was) followCell(before);
    else route();
  };
  addEventListener("popstate", follow);
  try {
    matrix = new Matrix(await block("head"));
    if (matrix.clientRows.length) libraries = new LibraryMatrix(matrix);
    // What a run of the gate alone is about is libraries.
    if (matrix.clientRows.length > matrix.serverRows.length) home.view = "libraries";
    readAddress();
    // A cell's link says which view it belongs to.
    if (matrix.cellNamed(state.cell)?.row.client && state.view === "matrix") state.view = "libraries";
  } catch (error) {
    by("main").replaceChildren(h("p", { class: "wait" }, `This report cannot be read: ${error.message}. A current browser is needed, and the whole file.`));
    return;
  }
  about();
  await route();
  requestAnimationFrame(() => requestAnimationFrame(() => performance.mark("jetproof-painted")));
}

start();
