// Which sentences are tested, and what of the protocol was seen on the wire.

function coverageView(matrix, tables) {
  const specs = [...new Set((tables.coverage || []).map((clause) => clause.spec))].sort();
  const controls = (draw) => {
    const spec = choice("spec", [["", "all"], ...specs.map((name) => [name, name])], (value) => {
      go({ spec: value });
      draw();
    });
    spec.value = state.spec;
    const untested = h("input", { type: "checkbox", name: "untested" });
    untested.checked = Boolean(state.untested);
    untested.addEventListener("change", () => {
      go({ untested: untested.checked ? "1" : "" });
      draw();
    });
    return [labelled("Specification", spec), h("label", { class: "check" }, untested, h("span", {}, "only untested"))];
  };
  return viewFrame(
    "Sentences and their tests",
    "A sentence counts as tested when a case of it ran to a verdict on a real server. Untested ones come first.",
    controls,
    (place) => {
      if (!tables.coverage) return missing(place, "coverage");
      const shown = tables.coverage.filter(
        (clause) =>
          (!state.spec || clause.spec === state.spec) &&
          (!state.untested || !clause.covered) &&
          asked([clause.clause, clause.section, clause.text, clause.level, clause.status, clause.actor, ...clause.cases].join("\n")),
      );
      place.replaceChildren(...specs.filter((name) => shown.some((clause) => clause.spec === name)).map((name) => specCoverage(matrix, name, tables.coverage, shown)));
      if (!shown.length) place.replaceChildren(h("p", { class: "hint" }, "No sentence matches."));
      return shown.length;
    },
  );
}

function specCoverage(matrix, spec, all, shown) {
  const clauses = all.filter((clause) => clause.spec === spec);
  const mine = shown.filter((clause) => clause.spec === spec).sort((a, b) => Number(a.covered) - Number(b.covered) || a.clause.localeCompare(b.clause));
  const share = (name, some) => {
    const covered = some.filter((clause) => clause.covered).length;
    return some.length ? h("li", {}, h("span", { class: "of" }, name), meter(covered, some.length), ` ${covered} of ${some.length}`) : null;
  };
  const reference = clauses.filter((clause) => !clause.covered && clause.reference).length;
  return h(
    "section",
    { class: "spec-coverage" },
    h("h3", {}, spec),
    h(
      "ul",
      { class: "shares" },
      share("all sentences", clauses),
      ["server", "client", "both"].map((actor) => share(`about ${actor === "both" ? "both sides" : `the ${actor}`}`, clauses.filter((clause) => clause.actor === actor))),
      ["must", "should", "may"].map((level) => share(level, clauses.filter((clause) => clause.level === level))),
    ),
    reference ? h("p", { class: "hint" }, `${plural(reference, "more sentence was", "more sentences were")} shown by the reference layer only, which counts as nobody's conformance.`) : null,
    longTable(["Sentence", "What it says", "Tested by", "Verdicts"], mine, (clause) => clauseRow(matrix, clause), "clauses-list"),
  );
}

function meter(value, most) {
  return h("meter", { min: "0", max: String(most || 1), value: String(value), "aria-label": `${value} of ${most}` });
}

function clauseRow(matrix, clause) {
  const applies = [clause.level, clause.actor, clause.status === "normative" ? null : clause.status, clause.applies_from ? `from ${clause.applies_from}` : null];
  const id = clause.cases.length
    ? h("a", { href: viewAddress(homeOf(clause.cases), { ...CLEARED, by: "", clause: clause.clause }) }, clause.clause)
    : clause.clause;
  const tested = clause.covered
    ? caseList(clause.cases)
    : h("span", { class: "untested" }, clause.reference ? "reference layer only" : clause.cases.length ? "no verdict yet" : "untested");
  return h(
    "tr",
    { class: clause.covered ? "" : "open-clause" },
    h("th", { scope: "row" }, id, h("div", { class: "hint" }, applies.filter(Boolean).join(" · "))),
    h("td", {}, clause.text || h("span", { class: "hint" }, "no text"), h("div", { class: "hint" }, clause.section)),
    h("td", {}, tested),
    h("td", {}, verdictCounts(matrix, clause.verdicts), clause.servers_run ? h("div", { class: "hint" }, `on ${plural(clause.servers_run, "release")}${clause.clients?.length ? `, by ${plural(clause.clients.length, "library", "libraries")}` : ""}`) : null),
  );
}

function wireView(matrix, tables) {
  return viewFrame(
    "Seen on the wire",
    "Error codes, schemas, header names and JSON fields that servers sent while the cases ran.",
    () => [],
    (place) => {
      const errors = (tables.errors || []).filter((one) => asked([one.code, ...one.cases].join("\n"))).sort((a, b) => a.code - b.code);
      const schemas = (tables.schemas || []).filter((one) => asked(one.schema)).sort((a, b) => b.invalid - a.invalid || a.schema.localeCompare(b.schema));
      const fields = (tables.fields || []).filter((one) => asked(`${one.where} ${one.name}`)).sort((a, b) => a.servers.length - b.servers.length || a.name.localeCompare(b.name));
      const releases = (servers) => (servers.length === matrix.servers.length ? "every release" : spans(matrix, servers));
      const count = (value) => h("td", { class: "number" }, whole(value));
      place.replaceChildren(
        section(`Error codes (${errors.length})`, longTable(["err_code", "Seen", "In cases", "From releases"], errors, (one) => row(h("th", { scope: "row" }, String(one.code)), count(one.count), caseList(one.cases), releases(one.servers)))),
        section(`Schemas (${schemas.length})`, longTable(["Schema", "Seen", "Mismatches", "Verdicts", "From releases"], schemas, (one) => row(h("th", { scope: "row" }, h("a", { href: viewAddress("matrix", { ...CLEARED, q: `schemas::${one.schema}` }) }, one.schema)), count(one.seen), count(one.invalid), verdictCounts(matrix, one.verdicts), releases(one.servers)))),
        section(`Headers and fields (${fields.length})`, h("p", { class: "hint" }, "Those that the fewest releases send come first."), longTable(["Where", "Name", "Seen", "From releases"], fields, (one) => row(one.where, h("th", { scope: "row" }, wireText(one.name)), count(one.count), releases(one.servers)))),
      );
      return errors.length + schemas.length + fields.length;
    },
  );
}
