// Client libraries: the same cells by library instead of by release, what libraries do where the
// text is silent, and what is known of each of them.

const REFERENCE_CLIENT = "reference";

/** `go:nats.go@1.55.0` taken apart; a library whose version nobody knows has none. */
function libraryOf(client) {
  const at = client.lastIndexOf("@");
  const library = at > 0 ? client.slice(0, at) : client;
  return { library, version: at > 0 ? client.slice(at + 1) : "", short: library.slice(library.indexOf(":") + 1), witness: library === REFERENCE_CLIENT };
}

/** Libraries by name, their versions in order, the reference client last. */
function byLibrary(a, b) {
  const [one, other] = [libraryOf(a), libraryOf(b)];
  return Number(one.witness) - Number(other.witness) || one.library.localeCompare(other.library) || one.version.localeCompare(other.version, "en", { numeric: true });
}

/** The cells of client libraries: a row a case, a column a library on a server. */
class LibraryMatrix {
  constructor(matrix) {
    this.matrix = matrix;
    this.verdicts = matrix.verdicts;
    this.byCode = matrix.byCode;
    this.clients = [...new Set(matrix.clientRows.map((row) => row.client))].sort(byLibrary);
    this.places = new Map();
    this.superseded = new Set(matrix.head.superseded);
    const rows = new Map();
    for (const of of matrix.clientRows) {
      const key = `${of.case} ${of.topology}`;
      if (!rows.has(key)) rows.set(key, { case: of.case, short: of.short, suite: of.suite, spec: of.spec, topology: of.topology, clauses: of.clauses, of: [] });
      const row = rows.get(key);
      row.of.push(of);
      if (!row.clauses.length) row.clauses = of.clauses;
      for (const column of matrix.columns) this.put(row, of, column);
    }
    this.rows = [...rows.values()];
    const played = new Set([...this.places.values()].flatMap((cells) => [...cells.keys()]));
    this.columns = matrix.columns.flatMap((on) => this.clients.filter((client) => played.has(keyOf(client, on))).map((client) => this.column(client, on)));
    this.columns.forEach((column, index) => (column.index = index));
    this.servers = [...new Set(this.columns.map((column) => column.on))];
  }

  /** Of a case that was judged by several revisions, the report says which cells do not count. */
  put(row, of, column) {
    const number = this.matrix.numberOf(of, column);
    if (number < 0 || this.superseded.has(number)) return;
    if (!this.places.has(row)) this.places.set(row, new Map());
    this.places.get(row).set(keyOf(of.client, column), of);
  }

  column(client, on) {
    const { library, version, short, witness } = libraryOf(client);
    return { client, library, version, short, on, server: on.name, provider: "embedded", reference: witness || on.reference, name: `${client} on ${on.name}` };
  }

  /** The row of the matrix behind a place: it knows the revision. */
  rowAt(row, column) {
    return this.places.get(row)?.get(keyOf(column.client, column.on)) || null;
  }

  verdict(row, column) {
    const of = this.rowAt(row, column);
    return of && this.matrix.verdict(of, column.on);
  }

  /** A library answers for what it claims. */
  counted(row, column) {
    const of = this.rowAt(row, column);
    return of && of.isHeld ? this.verdict(row, column) : null;
  }

  cell(row, column) {
    const of = this.rowAt(row, column);
    return of && this.matrix.cell(of, column.on);
  }

  /** Where a cell of the matrix stands here. */
  locate(cell) {
    return {
      row: this.rows.find((row) => row.case === cell.row.case && row.topology === cell.row.topology),
      column: this.columns.find((column) => column.client === cell.row.client && column.on === cell.column),
    };
  }

  /** The same case by all libraries on the server of a cell. */
  beside(cell) {
    const { row } = this.locate(cell);
    return row ? this.columns.filter((column) => column.on === cell.column).map((column) => this.cell(row, column)).filter(Boolean) : [];
  }

  /** What the reference client saw of the same case on the same server. */
  witnessed(cell) {
    return this.beside(cell).find((other) => libraryOf(other.row.client).witness) || null;
  }

  haystack(row) {
    return row.of.map((of) => this.matrix.haystack(of)).join("\n");
  }
}

function keyOf(client, column) {
  return `${column.index} ${client}`;
}

const LIBRARY_TABS = [["", "Verdicts"], ["positions", "Positions"], ["known", "Known failures"]];

function libraryTabs(current) {
  const link = ([name, text]) => h("a", { href: viewAddress("libraries", { by: name }), "aria-current": name === current ? "true" : null }, text);
  return h("nav", { class: "tabs", "aria-label": "What is shown of the libraries" }, LIBRARY_TABS.map(link));
}

/** The tab that the address asks for. */
function libraryTab() {
  return LIBRARY_TABS.some(([name]) => name === state.by) ? state.by : "";
}

/** Rows and columns that the filters leave. */
function librarySelection(libraries) {
  const wanted = new Set(listOf(state.verdicts));
  const clause = state.clause.trim().toLowerCase();
  const columns = libraries.columns.filter((column) => matchesReleases(column.on.server, state.releases) && (!state.client || column.library === state.client || column.client === state.client));
  const rows = libraries.rows.filter((row) => {
    if (clause && !row.clauses.some((name) => name.toLowerCase().startsWith(clause))) return false;
    if (!asked(libraries.haystack(row))) return false;
    const verdicts = columns.map((column) => libraries.verdict(row, column)).filter(Boolean);
    return verdicts.length && (!wanted.size || verdicts.some((verdict) => wanted.has(verdict.name)));
  });
  return { rows, columns, wanted, changed: new Map(), a: null, b: null };
}

/** Which library, on which server: what all tabs share. */
function libraryControls(libraries, onchange) {
  const names = [...new Set(libraries.columns.map((column) => column.library))];
  const client = choice("client", [["", "all"], ...names.map((name) => [name, name])], (value) => {
    filterBy({ client: value });
    onchange();
  });
  client.value = names.includes(state.client) ? state.client : "";
  return [labelled("Library", client), labelled("Releases", releasesBox(onchange))];
}

function libraryBar(matrix, libraries, onchange) {
  const clause = h("input", { type: "search", name: "clause", list: "clauses", placeholder: "its id", autocomplete: "off", spellcheck: "false" });
  clause.value = state.clause;
  clause.addEventListener("input", () => {
    filterBy({ clause: clause.value });
    onchange();
  });
  const named = [...new Set(libraries.rows.flatMap((row) => row.clauses))].sort();
  return h(
    "form",
    { class: "bar", role: "search", "aria-label": "Filters", onsubmit: (event) => event.preventDefault() },
    libraryTabs(""),
    verdictChips(matrix, onchange, ...chipCounts(matrix.head)),
    foldedFields(
      labelled("Text", searchBox(onchange, "case, clause, reason…"), "wide"),
      labelled("Clause", clause),
      libraryControls(libraries, onchange),
      h("datalist", { id: "clauses" }, named.map((value) => h("option", { value }))),
    ),
  );
}

/** What libraries answer for; and apart from it what the reference client did, or a text says that a library does not claim. */
function chipCounts(head) {
  const counts = {};
  for (const mine of Object.values(head.gate_counts)) for (const [verdict, count] of Object.entries(mine)) counts[verdict] = (counts[verdict] || 0) + count;
  const apart = { ...head.witness_counts };
  for (const [verdict, count] of Object.entries(head.client_counts)) apart[verdict] = (apart[verdict] || 0) + count - (counts[verdict] || 0);
  return [counts, apart, "by the reference client, or by a text that the library does not claim"];
}

/** `6 libraries and the reference client on 2 releases`. */
function librariesTold(columns) {
  const clients = [...new Set(columns.map((column) => column.client))];
  const apart = clients.filter((client) => libraryOf(client).witness).length;
  const told = [clients.length - apart ? plural(clients.length - apart, "library", "libraries") : null, apart ? "the reference client" : null];
  return `${told.filter(Boolean).join(" and ") || "no library"} on ${plural(new Set(columns.map((column) => column.on)).size, "server")}`;
}

// -- positions -----------------------------------------------------------------------------------

/** Open questions that some library answered on these columns: by client, the answers and the cells that gave them. */
function libraryPositions(libraries, columns, questions) {
  const wanted = new Set(columns.map((column) => keyOf(column.client, column.on)));
  const rows = new Map(libraries.rows.map((row) => [`${row.case} ${row.topology}`, row]));
  const cellsOf = (client, numbers) => numbers.map((number) => libraries.matrix.numbered(number)).filter((cell) => wanted.has(keyOf(client, cell.column)));
  const givenBy = (client, given) => new Map(given.map(([value, numbers]) => [value, cellsOf(client, numbers)]).filter(([, cells]) => cells.length));
  return questions
    .map((one) => ({ ...one, row: rows.get(`${one.case} ${one.topology}`), answers: new Map(one.answers.map(([client, given]) => [client, givenBy(client, given)]).filter(([, given]) => given.size)) }))
    .filter((one) => one.answers.size);
}

function libraryPositionsView(matrix, libraries, tables) {
  const known = new Map((tables.coverage || []).map((clause) => [clause.clause, clause]));
  return viewFrame(
    "What libraries do where the text is silent",
    "One row a question that the text leaves open, one column a library. Questions on which libraries differ come first; answers unlike the most common one are marked, with “alone” where all others agree.",
    (draw) => libraryControls(libraries, draw),
    (place) => {
      const { columns } = librarySelection(libraries);
      const clients = [...new Set(columns.map((column) => column.client))].sort(byLibrary);
      const shown = libraryPositions(libraries, columns, tables.library_positions)
        .filter((one) => asked([one.row.case, one.name, ...one.row.clauses, ...one.row.clauses.map((id) => known.get(id)?.text || ""), ...[...one.answers.values()].flatMap((given) => [...given.keys()])].join("\n")))
        .sort((a, b) => Number(b.differ) - Number(a.differ) || a.row.case.localeCompare(b.row.case) || a.name.localeCompare(b.name));
      const different = shown.filter((one) => one.differ).length;
      place.replaceChildren(
        h("p", { class: "hint" }, `${plural(shown.length, "question")}, on ${different} of which libraries differ.`),
        longTable(["Question", ...clients.map(clientHead)], shown, (one) => positionRow(one, clients, known), "library-positions", new Set()),
      );
      return shown.length;
    },
    { tabs: libraryTabs("positions") },
  );
}

/** A library's name that breaks before its version. */
function clientHead(client) {
  const { library, version } = libraryOf(client);
  return version ? [library, h("wbr"), `@${version}`] : [library];
}

function positionRow(one, clients, known) {
  const question = one.row.clauses.map((id) => h("div", {}, h("a", { href: viewAddress("coverage", { q: id }) }, id), " ", known.get(id)?.text || ""));
  return h(
    "tr",
    { class: one.differ ? "differ" : null },
    h("th", { scope: "row" }, h("b", {}, wireText(one.name)), question, h("div", { class: "hint" }, caseLink(one.row.case))),
    clients.map((client) => {
      const given = one.answers.get(client);
      if (!given) return h("td", { class: "hint" }, "–");
      return h("td", {}, [...given].map(([value, cells]) => answerShown(one, value, cells, given.size > 1)));
    }),
  );
}

/** An answer leads to the cell that gave it; the servers are named where they were answered differently. */
function answerShown(one, value, cells, several) {
  const odd = one.differ && value !== one.usual;
  const where = several ? ` ${cells.map((cell) => cell.column.name).join(", ")}` : "";
  return h(
    "div",
    { class: odd ? "answer odd" : "answer" },
    h("a", { href: viewAddress("libraries", { ...CLEARED, by: "", cell: cells.at(-1).name }) }, h("code", {}, wireText(value))),
    odd ? h("span", { class: value === one.alone ? "mark" : "sr" }, value === one.alone ? "alone" : " (differs)") : null,
    where ? h("span", { class: "hint" }, where) : null,
  );
}

// -- known failures ------------------------------------------------------------------------------

function libraryFailuresView(matrix, libraries, tables) {
  return viewFrame(
    "Failures of each library",
    "What a library does against the text: first what nobody has explained, then each entry of its ledger, then why cases do not apply to it.",
    (draw) => libraryControls(libraries, draw),
    (place) => {
      const { columns } = librarySelection(libraries);
      const clients = [...new Set(columns.map((column) => column.client))].sort(byLibrary);
      let count = 0;
      const cards = clients.map((client) => {
        const cells = libraries.rows.flatMap((row) => columns.filter((column) => column.client === client).map((column) => libraries.cell(row, column)).filter(Boolean));
        const [card, shown] = libraryCard(matrix, client, cells, tables);
        count += shown;
        return card;
      });
      place.replaceChildren(...cards.filter(Boolean));
      if (!place.children.length) place.replaceChildren(h("p", { class: "hint" }, "No library matches."));
      return count;
    },
    { tabs: libraryTabs("known") },
  );
}

function libraryCard(matrix, client, cells, tables) {
  const matches = (cell) => asked([matrix.haystack(cell.row), cell.reason].join("\n"));
  const wrong = cells.filter((cell) => ["unstable", "fail", "stale", "error", "warn"].includes(cell.verdict.name) && matches(cell)).sort((a, b) => Number(b.verdict.name === UNSTABLE) - Number(a.verdict.name === UNSTABLE));
  const [open, beyond] = [wrong.filter((cell) => cell.row.isHeld), wrong.filter((cell) => !cell.row.isHeld)];
  const ledger = Map.groupBy(cells.filter((cell) => cell.deviation && cell.verdict.name === "known"), (cell) => cell.deviation);
  const entries = [...ledger].map(([id, mine]) => ({ id, cells: mine, entry: ledgerEntry(tables, client, id) })).filter((one) => asked([one.id, client, one.entry?.says, one.entry?.does, ...one.cells.map((cell) => cell.row.case)].join("\n")));
  const reasons = Map.groupBy(cells.filter((cell) => cell.verdict.name === "n/a" && asked(`${client} ${cell.reason}`)), (cell) => cell.reason);
  if (state.q && !wrong.length && !entries.length && !reasons.size) return [null, 0];
  const card = h(
    "article",
    { class: "card library", "data-client": client },
    h("h3", {}, client, " ", verdictCounts(matrix, countedBy(cells.filter((cell) => cell.row.isHeld)))),
    h("p", { class: "hint" }, aboutLibrary(matrix, client, cells)),
    open.length ? [h("h4", {}, "Not in its ledger"), failuresTable(open)] : null,
    entries.length ? [h("h4", {}, "In its ledger"), entries.sort((a, b) => a.id.localeCompare(b.id)).map((one) => ledgerShown(one))] : null,
    !state.q && !open.length && !entries.length ? h("p", {}, cells.some((cell) => cell.verdict.decided) ? "Keeps every sentence that it was asked about." : "Could be asked about nothing.") : null,
    beyond.length ? h("details", { class: "beyond" }, h("summary", {}, `${plural(beyond.length, "cell")} otherwise by a text that it does not claim`), failuresTable(beyond)) : null,
    reasons.size ? naShown(reasons) : null,
  );
  return [card, wrong.length + entries.length];
}

function failuresTable(cells) {
  return longTable(["Case", "Server", "Verdict", "Why"], cells, (cell) => row(cellLink(cell), cell.column.name, [verdictTag(cell.verdict), unclaimedMark(cell)], wireText(cell.reason)), "open-failures");
}

function ledgerEntry(tables, client, id) {
  const { library } = libraryOf(client);
  return (tables.deviations || []).find((one) => one.id === id && one.library === library) || null;
}

function ledgerShown({ id, cells, entry }) {
  const does = entry?.does || cells[0].reason;
  return h(
    "section",
    { class: "entry" },
    h("h5", {}, id, " ", verdictTag(cells[0].verdict)),
    entry?.says ? h("p", {}, h("b", {}, "The text: "), entry.says) : null,
    h("p", {}, h("b", {}, "The library: "), wireText(withoutId(does, id))),
    h("ul", { class: "plain" }, cells.map((cell) => h("li", {}, cellLink(cell), h("span", { class: "hint" }, ` ${cell.column.name}`)))),
  );
}

function naShown(reasons) {
  const total = [...reasons.values()].reduce((sum, mine) => sum + mine.length, 0);
  return h(
    "details",
    { class: "not-applicable" },
    h("summary", {}, `${plural(total, "cell does", "cells do")} not apply, for ${plural(reasons.size, "reason")}`),
    longTable(["Cells", "Why"], [...reasons].sort(([, a], [, b]) => b.length - a.length), ([reason, mine]) => row(h("td", { class: "number" }, whole(mine.length)), wireText(reason))),
  );
}

function cellLink(cell) {
  return h("a", { class: "case-link", href: viewAddress("libraries", { ...CLEARED, by: "", cell: cell.name }) }, h("span", { class: "hint" }, `${cell.row.suite}::`), h("wbr"), cell.row.short);
}

function countedBy(cells) {
  const counts = {};
  for (const cell of cells) counts[cell.verdict.name] = (counts[cell.verdict.name] || 0) + 1;
  return counts;
}

// -- what a library claims -----------------------------------------------------------------------

/** Who it is, what it claims, and by what it was judged. */
function aboutLibrary(matrix, client, cells) {
  const told = matrix.head.libraries?.[client];
  const judged = [...new Set(cells.map((cell) => matrix.revisionOf(cell.row)))].sort().map((name) => name.replace("@", " revision ")).join(", ");
  if (!told) return [`Judged by ${judged}.`];
  const claims = Object.entries(told.claims).sort().map(([spec, revision]) => `${spec} revision ${revision}`).join(", ");
  return [[told.parts, told.runtime].filter(Boolean).join("; "), h("br"), `Claims ${claims || "no revision, so that the text in force counts"}. Judged by ${judged}.`];
}

/** By what a cell was judged, where its library claims something else. */
function unclaimedMark(cell) {
  return cell.row.isHeld ? null : h("span", { class: "mark" }, `rev ${cell.row.revision}, not claimed`);
}

/** The grid with a library a column; a line above names the servers. */
class LibraryGrid extends Grid {
  label = "Verdicts by case and library";
  /** @type {HTMLElement | null} */
  servers = null;

  startsOf(columns) {
    return new Set(columns.map((column, place) => place && column.on !== columns[place - 1].on && place).filter(Boolean));
  }

  drawHead() {
    super.drawHead();
    this.servers ||= h("div", { class: "row servers", "aria-hidden": "true" });
    const groups = [];
    for (const column of this.chosen.columns) {
      if (groups.at(-1)?.on === column.on) groups.at(-1).count++;
      else groups.push({ on: column.on, count: 1 });
    }
    this.servers.replaceChildren(
      h("span", { class: "corner" }),
      ...groups.map(({ on, count }) => {
        const name = h("span", { class: "on" }, count > 1 ? `nats-server ${on.name}` : on.name);
        name.style.gridColumn = `span ${count}`;
        return name;
      }),
    );
    this.headRow.before(this.servers);
  }

  headTold(column, fares) {
    const whose = column.reference ? "The reference client counts as no library's conformance." : "Opens what is known of it.";
    return `${column.name}: ${fares}. ${whose}`;
  }

  headNames(column) {
    return [h("span", { class: "release" }, column.short), column.version ? h("span", { class: "provider" }, column.version) : null];
  }

  isCompared() {
    return false;
  }

  tagsOf(row) {
    return row.topology === "single" ? [] : [row.topology];
  }

  codeOf(row, column) {
    return this.matrix.counted(row, column) ? super.codeOf(row, column) : undefined;
  }

  markOf(row, column) {
    const of = this.matrix.rowAt(row, column);
    return of.isHeld ? ["", ""] : [" unclaimed", `, by revision ${of.revision}; the library claims ${of.heldTo}`];
  }

  activateHead(column) {
    showView("libraries", { by: "known", client: column.library });
  }
}
