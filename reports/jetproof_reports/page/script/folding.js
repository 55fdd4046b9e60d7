// Which groups of rows are folded, and the bar that leads from one specification to the next.

const FOLDS = [["", "cases"], ["suites", "sections"], ["specs", "specifications"]];

/** Whether a group is folded: by name, or because all of its kind are and it was not opened since. */
function isFolded(kind, name) {
  if (listOf(state.closed).includes(name)) return true;
  const all = kind === "spec" ? state.fold === "specs" : state.fold !== "";
  return all && !listOf(state.open).includes(name);
}

/** Fold an open group, open a folded one. */
function toggleFold(kind, name) {
  const [closed, open] = [new Set(listOf(state.closed)), new Set(listOf(state.open))];
  const folded = isFolded(kind, name);
  (folded ? closed : open).delete(name);
  go({ closed: [...closed].join(","), open: [...open].join(",") });
  if (isFolded(kind, name) !== folded) return;
  (folded ? open : closed).add(name);
  go({ closed: [...closed].join(","), open: [...open].join(",") });
}

/** The lines of the grid: specifications, their sections, and the cases of those that are open. */
function linesOf(rows) {
  const groups = new Map();
  for (const row of rows) {
    if (!groups.has(row.spec)) groups.set(row.spec, new Map());
    const suites = groups.get(row.spec);
    if (!suites.has(row.suite)) suites.set(row.suite, []);
    suites.get(row.suite).push(row);
  }
  const lines = [];
  for (const [spec, suites] of groups) {
    lines.push({ kind: "spec", name: spec, spec, rows: [...suites.values()].flat() });
    if (isFolded("spec", spec)) continue;
    for (const [suite, mine] of suites) {
      // A specification that is one section needs no second line of the same name.
      if (suite !== spec) lines.push({ kind: "suite", name: suite, spec, rows: mine });
      if (suite !== spec && isFolded("suite", suite)) continue;
      lines.push(...mine.map((row) => ({ kind: "case", row, spec })));
    }
  }
  return lines;
}

/** Specifications by name, each a jump, with what fails in it; and how far all of them are folded. */
class SpecBar {
  constructor(matrix, jump, onfold) {
    this.matrix = matrix;
    this.jump = jump;
    this.list = h("div", { class: "specs", role: "group", "aria-label": "Jump to a specification" });
    this.fold = choice("fold", FOLDS, (value) => {
      go({ fold: value, open: "", closed: "" });
      onfold();
    });
    this.element = h("div", { class: "spec-bar" }, this.list, labelled("Show", this.fold, "inline"));
  }

  show(chosen) {
    this.fold.value = state.fold;
    const specs = new Map();
    for (const row of chosen.rows) specs.set(row.spec, [...(specs.get(row.spec) || []), row]);
    this.list.replaceChildren(...(specs.size > 1 ? [...specs].map(([spec, rows]) => this.button(spec, rows, chosen.columns)) : []));
    this.mark(this.current);
  }

  button(spec, rows, columns) {
    const real = columns.filter((column) => !column.reference);
    const counted = (codes) => rows.reduce((sum, row) => sum + real.filter((column) => codes.includes(countedCode(this.matrix, row, column, this.matrix.counted(row, column)))).length, 0);
    const [fails, errors] = [counted(["f", "s"]), counted(["e"])];
    const told = `${spec}: ${plural(rows.length, "case")}${fails ? `, ${plural(fails, "cell fails", "cells fail")}` : ""}${errors ? `, ${whole(errors)} without a verdict` : ""}`;
    return h(
      "button",
      { type: "button", class: "small", "data-spec": spec, "aria-label": told, title: told, onclick: () => this.jump(spec) },
      spec,
      h("span", { class: "count" }, whole(rows.length)),
      fails || errors ? h("span", { class: "bad" }, fails ? `${whole(fails)}✗` : `${whole(errors)}‼\ufe0e`) : null,
    );
  }

  /** The specification whose rows are in sight. */
  mark(spec) {
    this.current = spec;
    for (const button of this.list.children) {
      if (button.dataset.spec === spec) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
  }
}
