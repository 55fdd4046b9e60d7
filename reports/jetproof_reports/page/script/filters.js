// The bar above the matrix, and which rows and columns it leaves.

/** Rows and columns that the filters leave. */
function selection(matrix) {
  const columns = matrix.columns.filter(
    (column) =>
      (!state.provider || column.provider === state.provider) &&
      matchesReleases(column.server, state.releases),
  );
  const wanted = new Set(listOf(state.verdicts));
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const clause = state.clause.trim().toLowerCase();
  const [a, b] = sides(matrix);
  const changed = new Map();
  const rows = matrix.serverRows.filter((row) => {
    if (state.revision && matrix.revisionOf(row) !== state.revision) return false;
    if (clause && !row.clauses.some((name) => name.toLowerCase().startsWith(clause))) return false;
    if (words.length && !words.every((word) => matrix.haystack(row).includes(word))) return false;
    const cells = columns.map((column) => matrix.verdict(row, column));
    if (!cells.some(Boolean)) return false;
    if (wanted.size && !cells.some((verdict) => verdict && wanted.has(verdict.name))) return false;
    if (state.changed && a && b) {
      const kind = kindOf(matrix.cell(row, a), matrix.cell(row, b));
      if (!kind) return false;
      changed.set(row, kind);
    }
    return true;
  });
  return { rows, columns, wanted, changed, a, b };
}

/** `2.12.*, 2.15`: any of these; a star stands for anything. */
function matchesReleases(server, wanted) {
  const patterns = wanted.split(/[\s,]+/).filter(Boolean);
  if (!patterns.length) return true;
  return patterns.some((pattern) => {
    if (!pattern.includes("*")) return server === pattern || server.startsWith(`${pattern}.`);
    const [first, ...rest] = pattern.split("*");
    if (!server.startsWith(first)) return false;
    let at = first.length;
    for (const part of rest) {
      at = part ? server.indexOf(part, at) + part.length : server.length;
      if (at < part.length) return false;
    }
    return true;
  });
}

/** The two releases to compare: those asked for, else the newest two of the usual provider. */
function sides(matrix) {
  const real = matrix.columns.filter((column) => !column.reference);
  const newest = real.at(-1);
  const usual = real.filter((column) => column.provider === newest?.provider);
  const b = matrix.columnNamed(state.b) || newest || null;
  const a = matrix.columnNamed(state.a) || usual.filter((column) => column !== b).at(-1) || b;
  return [a, b];
}

function labelled(text, control, className = "") {
  return h("label", { class: `field ${className}` }, h("span", {}, text), control);
}

function choice(name, options, onchange) {
  const select = h("select", { name }, options.map(([value, text]) => h("option", { value }, text)));
  select.addEventListener("change", () => onchange(select.value));
  return select;
}

function releaseChoice(matrix, name, chosen, onchange) {
  const options = matrix.columns.map((column) => [column.name, column.name]);
  const select = choice(name, options, onchange);
  if (chosen) select.value = chosen.name;
  return select;
}

function searchBox(onchange, placeholder) {
  const box = h("input", {
    type: "search", name: "q", placeholder, autocomplete: "off", spellcheck: "false",
    "aria-keyshortcuts": "/",
  });
  box.value = state.q;
  box.addEventListener("input", () => {
    filterBy({ q: box.value });
    onchange();
  });
  return box;
}

function releasesBox(onchange) {
  const box = h("input", {
    type: "search", name: "releases", placeholder: "2.12.*, 2.15.1", autocomplete: "off",
    spellcheck: "false",
  });
  box.value = state.releases;
  box.addEventListener("input", () => {
    filterBy({ releases: box.value });
    onchange();
  });
  return box;
}

/** Filters that a small screen shows on request. */
function foldedFields(...fields) {
  const folded = matchMedia("(max-width: 720px)").matches;
  return h("details", { class: "more", open: !folded }, h("summary", {}, "Filters"), h("div", { class: "fields" }, fields));
}

/** The matrix's bar; `onchange` is called after the address says what was asked for. */
function filterBar(matrix, onchange) {
  const set = (name) => (value) => {
    filterBy({ [name]: value });
    onchange();
  };
  const [a, b] = sides(matrix);
  const clause = h("input", {
    type: "search", name: "clause", list: "clauses", placeholder: "its id",
    autocomplete: "off", spellcheck: "false",
  });
  clause.value = state.clause;
  clause.addEventListener("input", () => set("clause")(clause.value));
  const revision = choice(
    "revision",
    [["", "all"], ...matrix.revisions.map((name) => [name, name.replace("@", " revision ")])],
    set("revision"),
  );
  revision.value = state.revision;
  const providers = [...new Set(matrix.columns.map((column) => column.provider))];
  const provider = choice("provider", [["", "all"], ...providers.map((name) => [name, name])], set("provider"));
  provider.value = state.provider;
  const changed = h("input", { type: "checkbox", name: "changed" });
  changed.checked = Boolean(state.changed);
  changed.addEventListener("change", () => {
    const [from, to] = sides(matrix);
    // Both sides go into the address, so that the link still means the same in a later report.
    filterBy({ changed: changed.checked ? "1" : "", ...(changed.checked && { a: from.name, b: to.name }) });
    onchange();
  });
  const compare = h(
    "fieldset",
    { class: "compare" },
    h("legend", { class: "sr" }, "Changes between two releases"),
    h("label", { class: "check" }, changed, h("span", {}, "only what changed")),
    labelled("between", releaseChoice(matrix, "a", a, set("a"))),
    labelled("and", releaseChoice(matrix, "b", b, set("b"))),
  );
  const fields = foldedFields(
    labelled("Text", searchBox(onchange, "case, clause, reason…"), "wide"),
    labelled("Clause", clause),
    labelled("Releases", releasesBox(onchange)),
    labelled("Revision", revision),
    labelled("Provider", provider),
    compare,
    h("datalist", { id: "clauses" }, matrix.head.clauses.map((value) => h("option", { value }))),
  );
  return h(
    "form",
    { class: "bar", role: "search", "aria-label": "Filters", onsubmit: (event) => event.preventDefault() },
    verdictChips(matrix, onchange),
    fields,
  );
}

/** Undoes all of them; in sight only while there is something to undo. */
function clearButton(onchange) {
  return h(
    "button",
    {
      type: "button", class: "small", id: "clear",
      onclick: () => {
        go({ ...CLEARED });
        onchange({ rebuild: true });
      },
    },
    "Clear filters",
  );
}

function filtered() {
  return Object.keys(CLEARED).some((name) => !FOLDING.has(name) && state[name] !== CLEARED[name]);
}

/** Put a filter into the address; the first one opens what is folded, so that what it finds is seen. */
function filterBy(changes) {
  const before = filtered();
  go(changes);
  if (!before && filtered()) go({ fold: "", open: "", closed: "" });
}

/** One switch a verdict: symbol, name, how many cells have it. */
function verdictChips(matrix, onchange, counts = matrix.head.counts, apartCounts = matrix.head.reference_counts, by = "by the reference layer") {
  const group = h("div", { class: "chips", role: "group", "aria-label": "Verdicts" });
  for (const verdict of matrix.verdicts) {
    const count = counts[verdict.name] || 0;
    const apart = apartCounts[verdict.name] || 0;
    if (!count && !apart) continue;
    const pressed = listOf(state.verdicts).includes(verdict.name);
    const chip = h(
      "button",
      {
        type: "button", class: `chip v-${count ? verdict.code : "n"}`, "aria-pressed": String(pressed),
        title: apart ? `and ${whole(apart)} ${by}` : null,
      },
      symbolOf(verdict),
      h("span", {}, verdict.name),
      h("b", {}, whole(count)),
    );
    chip.addEventListener("click", () => {
      const wanted = new Set(listOf(state.verdicts));
      if (!wanted.delete(verdict.name)) wanted.add(verdict.name);
      chip.setAttribute("aria-pressed", String(wanted.has(verdict.name)));
      filterBy({ verdicts: [...wanted].join(",") });
      onchange();
    });
    group.append(chip);
  }
  return group;
}

function symbolOf(verdict) {
  // The selector after it asks for a plain character where a font would draw a picture.
  return h("span", { class: "symbol", "aria-hidden": "true" }, `${verdict.symbol}\ufe0e`);
}

function verdictTag(verdict) {
  return h("span", { class: `tag v-${verdict.code}` }, symbolOf(verdict), h("span", {}, verdict.name));
}
