// What differs between two revisions of a specification: its sentences, and how a release fares.

/** The two revisions asked for, else the newest and the one before it that cases are about. */
function revisionSides(matrix, spec, all) {
  const about = new Set(matrix.serverRows.filter((row) => row.spec === spec).map((row) => row.revision));
  const named = (text) => all.find((revision) => String(revision) === text);
  const b = named(state.rb) ?? all.at(-1);
  const earlier = all.filter((revision) => revision < b);
  const a = named(state.ra) ?? earlier.findLast((revision) => about.has(revision)) ?? earlier.at(-1) ?? b;
  return [a, b];
}

function revisionsView(matrix, tables, tabs) {
  const known = new Map(tables.revised.map((one) => [one.spec, one.revisions]));
  const specs = [...known.keys()];
  const pick = () => {
    const spec = specs.includes(state.spec) ? state.spec : specs[0];
    const [a, b] = revisionSides(matrix, spec, known.get(spec));
    const on = matrix.columnNamed(state.on) || matrix.columns.findLast((column) => !column.reference) || matrix.columns.at(-1);
    return { spec, a, b, on };
  };
  const controls = (draw) => {
    const set = (name) => (value) => {
      go({ [name]: value, case: "", ...(name === "spec" && { ra: "", rb: "" }) });
      fillIn();
      draw();
    };
    const spec = choice("spec", specs.map((name) => [name, name]), set("spec"));
    const [first, second] = ["ra", "rb"].map((name) => choice(name, [], set(name)));
    const on = releaseChoice(matrix, "on", pick().on, set("on"));
    const fillIn = () => {
      const chosen = pick();
      spec.value = chosen.spec;
      for (const [select, value] of [[first, chosen.a], [second, chosen.b]]) {
        select.replaceChildren(...known.get(chosen.spec).map((revision) => h("option", { value: String(revision) }, String(revision))));
        select.value = String(value);
      }
    };
    fillIn();
    const swap = swapButton(() => {
      const { a, b } = pick();
      go({ ra: String(b), rb: String(a), case: "" });
      fillIn();
      draw();
    });
    return [labelled("Specification", spec), labelled("Before", first), labelled("After", second), labelled("On release", on), swap];
  };
  return viewFrame(
    "What changed between two revisions of the text",
    "Which sentences came, went and changed, what releases do of each, and the positions they take; then the cases that are about both.",
    controls,
    (place) => {
      const chosen = pick();
      if (chosen.a === chosen.b) place.replaceChildren(h("p", { class: "hint" }, "Choose two different revisions."));
      else return drawRevisions(place, matrix, tables, chosen);
    },
    { tabs },
  );
}

function drawRevisions(place, matrix, tables, { spec, a, b, on }) {
  const sentences = (tables.coverage || []).filter((clause) => clause.spec === spec);
  const named = new Map(sentences.map((clause) => [clause.clause, clause]));
  const matches = (clause) => asked([clause.clause, clause.text, clause.section, ...clause.cases].join("\n"));
  const between = betweenRevisions(tables, spec, a, b);
  const listed = (names) => names.map((name) => named.get(name)).filter(matches);
  const [came, went] = [listed(between.came), listed(between.went)];
  const changed = between.changed.map((pair) => pair.map((name) => named.get(name))).filter((pair) => pair.some(matches));
  const open = new Set(between.open);
  const positions = positionsTaken((tables.positions || []).filter((one) => one.spec === spec && !one.client && one.clauses.some((name) => open.has(name) && !one.unspoken.includes(name))));
  // A case that was judged by a revision without the sentence says nothing of it.
  const about = (clause) => {
    const rows = matrix.rows.filter((row) => row.clauses.includes(clause.clause) && !row.unspoken.has(clause.clause));
    // A sentence that binds clients has no other cases than theirs.
    return rows.some((row) => !row.client) ? rows.filter((row) => !row.client) : rows.filter((row) => !libraryOf(row.client).witness);
  };
  const found = changesOf(matrix, cellsOfRevisions(matrix, spec, a, b, on));
  const how = {
    name: (cell) => `revision ${cell.row.revision}`,
    moves: "spec",
    names: {
      new: [`Cases about revision ${b} only`, "have a verdict there, and none in the other revision"],
      gone: [`Cases about revision ${a} only`, "have a verdict there, and none in the other revision"],
    },
    tiles: [
      tile("came", came.length, `Sentences new in ${b}`),
      tile("went", went.length, `Sentences gone from ${a}`),
      tile("changed", changed.length, "Sentences changed"),
      h("li", { class: "tile" }, h("span", {}, h("b", {}, whole(between.kept)), "Sentences in both")),
      ...(positions.length ? [tile("taken", positions.length, "Positions")] : []),
    ],
    sections: [
      historyShown(tables, spec, between.passed),
      sentencesShown(matrix, "came", `Sentences new in revision ${b}`, came, on, about),
      sentencesShown(matrix, "went", `Sentences gone from revision ${a}`, went, on, about),
      changedShown(matrix, changed, a, b, about),
      positions.length ? h("section", { class: "kind", id: "taken" }, h("h3", {}, `Positions where the text does not decide (${positions.length})`), positionsShown(matrix, positions)) : null,
    ].filter(Boolean),
  };
  place.replaceChildren(...changesShown(matrix, found, how));
  return came.length + went.length + changed.length + positions.length + countOf(found);
}

/** What differs between two revisions. The report holds it from the earlier to the later. */
function betweenRevisions(tables, spec, a, b) {
  const found = tables.revised.find((one) => one.spec === spec).between.find((one) => one.a === Math.min(a, b) && one.b === Math.max(a, b));
  return a < b ? found : { ...found, came: found.went, went: found.came, changed: found.changed.map(([was, now]) => [now, was]) };
}

/** The revisions after the earlier of the two up to the later. */
function historyShown(tables, spec, between) {
  const passed = (tables.revisions || []).filter((one) => one.spec === spec && between.includes(one.revision));
  if (!passed.length) return null;
  return h(
    "section",
    { class: "kind", id: "history" },
    h("h3", {}, "Revisions in between"),
    longTable(["Revision", "Date", "Server", "API level", "What it brought"], passed, (one) =>
      row(h("th", { scope: "row" }, String(one.revision)), one.date || "", one.server || "", one.api_level === null ? "" : String(one.api_level), one.note || ""),
      "history",
    ),
  );
}

/** What cases say of a sentence, releases with the same verdicts taken together, each provider by itself. */
function verdictsByRelease(matrix, rows) {
  const groups = [];
  const plainFirst = (column) => (column.provider === "embedded" ? 0 : column.reference ? 2 : 1);
  for (const column of [...matrix.columns].sort((a, b) => plainFirst(a) - plainFirst(b) || a.index - b.index)) {
    const seen = new Set(rows.map((row) => matrix.verdict(row, column)).filter(Boolean));
    // That the reference layer does not answer for a suite says nothing of the sentence.
    const verdicts = matrix.verdicts.filter((verdict) => seen.has(verdict) && !(column.reference && verdict.name === "n/a"));
    const key = [column.provider, ...verdicts.map((verdict) => verdict.code)].join(" ");
    const last = groups.at(-1);
    if (last?.key === key) last.to = column;
    else groups.push({ key, verdicts, from: column, to: column });
  }
  const told = groups.filter((group) => group.verdicts.length);
  if (!told.length) return h("span", { class: "hint" }, "not played");
  return h(
    "ul",
    { class: "plain by-release" },
    told.map(({ from, to, verdicts }) => h("li", {}, h("span", { class: "hint" }, from === to ? `${from.name} ` : `${from.name} to ${to.name} `), verdicts.map((verdict) => [verdictTag(verdict), " "]))),
  );
}

function changedShown(matrix, pairs, a, b, about) {
  if (!pairs.length) return null;
  const side = (clause) => [clauseLink(clause), h("div", {}, clause.text || ""), verdictsByRelease(matrix, about(clause))];
  return h("section", { class: "kind", id: "changed" }, h("h3", {}, `Sentences changed (${pairs.length})`), longTable([`In revision ${a}`, `In revision ${b}`], pairs, ([was, now]) => row(side(was), side(now)), "clauses-pairs"));
}

function clauseLink(clause) {
  const kind = [clause.level, clause.actor, clause.status === "normative" ? null : clause.status];
  return [h("a", { href: viewAddress("coverage", { q: clause.clause }) }, clause.clause), h("div", { class: "hint" }, kind.filter(Boolean).join(" · "))];
}

/** Of each case on one release, its cell about the one revision and that about the other. */
function cellsOfRevisions(matrix, spec, a, b, on) {
  const pairs = new Map();
  for (const row of matrix.serverRows) {
    if (row.spec !== spec || (row.revision !== a && row.revision !== b)) continue;
    if (!pairs.has(row.twin)) pairs.set(row.twin, [null, null]);
    pairs.get(row.twin)[row.revision === a ? 0 : 1] = matrix.cell(row, on);
  }
  return [...pairs.values()];
}

function sentencesShown(matrix, id, title, clauses, on, about) {
  if (!clauses.length) return null;
  const verdicts = (clause) => {
    const counts = {};
    for (const row of about(clause)) {
      const verdict = matrix.verdict(row, on);
      if (verdict) counts[verdict.name] = (counts[verdict.name] || 0) + 1;
    }
    return Object.keys(counts).length ? verdictCounts(matrix, counts) : h("span", { class: "hint" }, "not played");
  };
  return h(
    "section",
    { class: "kind", id },
    h("h3", {}, `${title} (${clauses.length})`),
    longTable(["Sentence", "What it says", "Tested by", `On ${on.name}`, "On all releases"], clauses, (clause) =>
      row(
        h("th", { scope: "row" }, clauseLink(clause)),
        [clause.text || "", h("div", { class: "hint" }, clause.section)],
        clause.cases.length ? caseList(clause.cases) : "",
        verdicts(clause),
        verdictsByRelease(matrix, about(clause)),
      ),
      "clauses-list",
    ),
  );
}
