// What differs between two releases that the reader chose, or between two runs.

/** How a side is called, and which of the inputs besides the server is meant to differ. */
const RELEASES = { name: (cell) => cell.column.name, moves: "" };

/** What can be compared in this report; the first is always there. */
function comparisons(matrix, tables) {
  const changed = tables.between_runs?.length;
  const runs = changed || (tables.between_runs && matrix.head.runs.length > 1);
  return [
    ["", "Two releases"],
    tables.revised.length ? ["revisions", "Two revisions of the text"] : null,
    runs ? ["runs", `The newest two runs (${whole(changed)})`] : null,
  ].filter(Boolean);
}

function regressionsView(matrix, tables) {
  const all = comparisons(matrix, tables);
  const by = all.some(([name]) => name === state.by) ? state.by : "";
  const link = ([name, text]) => h("a", { href: viewAddress("regressions", { by: name, q: "" }), "aria-current": name === by ? "true" : null }, text);
  const tabs = all.length > 1 ? h("nav", { class: "tabs", "aria-label": "What is compared" }, all.map(link)) : null;
  if (by === "revisions") return revisionsView(matrix, tables, tabs);
  return by === "runs" ? runsView(matrix, tables, tabs) : releasesView(matrix, tabs);
}

function releasesView(matrix, tabs) {
  let [a, b] = sides(matrix);
  const controls = (draw) => {
    const pick = (name) => (value) => {
      go({ [name]: value, case: "" });
      [a, b] = sides(matrix);
      draw();
    };
    const first = releaseChoice(matrix, "a", a, pick("a"));
    const second = releaseChoice(matrix, "b", b, pick("b"));
    const swap = swapButton(() => {
      go({ a: b.name, b: a.name, case: "" });
      [a, b] = sides(matrix);
      first.value = a.name;
      second.value = b.name;
      draw();
    });
    return [labelled("Before", first), labelled("After", second), swap];
  };
  return viewFrame(
    "What changed between two releases",
    "By verdict, by reason, by position, and on the wire although no expectation mentions it.",
    controls,
    (place) => {
      const found = changesBetween(matrix, a, b);
      place.replaceChildren(...(!a || !b || a === b ? [h("p", { class: "hint" }, "Choose two different releases.")] : changesShown(matrix, found, RELEASES)));
      return countOf(found);
    },
    { tabs },
  );
}

function swapButton(onclick) {
  return h("button", { type: "button", class: "small", onclick }, "Swap");
}

function changesBetween(matrix, a, b) {
  // A library that was not played on one of the two says nothing of the difference between them.
  const rows = matrix.rows.filter((row) => !row.client || (matrix.plays(row.client, a) && matrix.plays(row.client, b)));
  return changesOf(matrix, rows.map((row) => [matrix.cell(row, a), matrix.cell(row, b)]));
}

/** Pairs of cells by the kind of their difference, as far as the text asked for is in them. */
function changesOf(matrix, pairs) {
  const found = new Map(KINDS.map(([kind]) => [kind, []]));
  for (const [was, now] of pairs) {
    const kind = kindOf(was, now);
    if (kind && asked(`${matrix.haystack((now || was).row)}\n${kind}`)) found.get(kind).push([was, now]);
  }
  return found;
}

function countOf(found) {
  return [...found.values()].reduce((sum, list) => sum + list.length, 0);
}

/** A number that leads to its section. */
function tile(id, count, name, className = "") {
  return h("li", { class: count ? `tile ${className}` : "tile" }, h("a", { href: `#${id}`, onclick: (event) => jump(event, id) }, h("b", {}, whole(count)), name));
}

function changesShown(matrix, found, how) {
  const kinds = KINDS.map(([kind, name, about]) => [kind, ...(how.names?.[kind] || [name, about])]);
  const tiled = how.tiles ? kinds.filter(([kind]) => found.get(kind).length) : kinds;
  const tiles = h("ul", { class: "tiles" }, how.tiles || [], tiled.map(([kind, name]) => tile(`kind-${kind}`, found.get(kind).length, name, kind)));
  const sections = kinds.filter(([kind]) => found.get(kind).length).map(([kind, name, about]) => {
    const quiet = kind === "new" || kind === "gone";
    const items = found.get(kind);
    const list = h("ul", { class: "changes" });
    const add = () => growing(items, list, (some) => list.append(...some.map(([was, now]) => changeItem(matrix, kind, was, now, how))));
    const title = `${name} (${items.length})`;
    if (!quiet) return h("section", { class: `kind ${kind}`, id: `kind-${kind}` }, h("h3", {}, title), h("p", { class: "hint" }, about), kind === "changed-on-the-wire" ? steadiness(matrix) : null, add());
    const folded = h("details", { class: `kind ${kind}`, id: `kind-${kind}` }, h("summary", {}, title, h("span", { class: "hint" }, ` ${about}`)));
    folded.addEventListener("toggle", () => folded.append(add()), { once: true });
    if (items.some(([was, now]) => rowKey((now || was).row) === state.case)) folded.open = true;
    return folded;
  });
  const none = sections.length ? [] : [h("p", { class: "hint" }, state.q ? "No case that matches the text changed." : "No case changed.")];
  return [tiles, ...(how.sections || []), ...none, ...sections];
}

function jump(event, id) {
  // The address holds the filters: a jump within the page must not replace it.
  event.preventDefault();
  const target = by(id);
  if (!target) return;
  if (target instanceof HTMLDetailsElement) target.open = true;
  target.scrollIntoView();
}

function steadiness(matrix) {
  if (matrix.head.stability_known) return null;
  return h("p", { class: "hint" }, "Seen in one run: three runs of equal content would tell chance from change.");
}

function changeItem(matrix, kind, was, now, how) {
  const cell = now || was;
  const key = rowKey(cell.row);
  const detail = h("details", { class: "change" });
  const moved = changeOf(was, now).moved.filter((what) => what !== how.moves);
  detail.append(
    h(
      "summary",
      {},
      h("span", { class: "verdicts" }, verdictsOf(was, now)),
      h("span", { class: "of" }, h("span", { class: "hint" }, `${cell.row.suite}::`), h("wbr"), cell.row.short, cell.row.topology === "single" ? null : h("span", { class: "mark" }, cell.row.topology), cell.row.client ? h("span", { class: "mark" }, cell.row.client) : null),
      kind === "changed-position" ? h("span", { class: "became hint" }, positionChange(was, now)) : null,
      moved.length ? h("span", { class: "moved" }, `also moved: ${moved.join(", ")}`) : null,
      [was, now].some((one) => one && matrix.head.unstable.includes(one.wire)) ? h("span", { class: "moved" }, "not steady over runs") : null,
    ),
  );
  const wanted = state.case === key;
  detail.addEventListener("toggle", () => {
    if (!detail.open) return;
    if (state.case !== key) go({ case: key });
    if (!detail.dataset.drawn) {
      detail.dataset.drawn = "yes";
      changeDetail(was, now, how).then((content) => detail.append(content));
    }
  });
  if (wanted) {
    detail.open = true;
    requestAnimationFrame(() => detail.scrollIntoView({ block: "start" }));
  }
  return h("li", {}, detail);
}

/** One verdict where both are the same. */
function verdictsOf(was, now) {
  if (was && now && was.verdict === now.verdict) return verdictTag(now.verdict);
  return [was ? verdictTag(was.verdict) : "–", h("span", { "aria-label": "became" }, " → "), now ? verdictTag(now.verdict) : "–"];
}

const POSITIONS_NAMED = 2;

/** `commit: error 10177 → error 10201`. */
function positionChange(was, now) {
  const [before, after] = [new Map(was.position), new Map(now.position)];
  const names = [...new Set([...before.keys(), ...after.keys()])].filter((name) => name !== "seen" && before.get(name) !== after.get(name));
  const told = names.slice(0, POSITIONS_NAMED).map((name, at) => [at ? "; " : "", wireText(name), ": ", wireText(before.get(name) ?? "–"), " → ", wireText(after.get(name) ?? "–")]);
  const more = names.length - POSITIONS_NAMED;
  return [told, more > 0 ? `; and ${more} more` : ""];
}

async function changeDetail(was, now, how) {
  const cell = now || was;
  const evidence = await block(`evidence-${cell.row.suiteIndex}`);
  const told = (one, what) =>
    one
      ? h(
          "div",
          { class: "told" },
          h("h4", {}, h("a", { href: viewAddress(one.row.client ? "libraries" : "matrix", { ...CLEARED, by: "", q: one.row.case, cell: one.name }) }, how.name(one)), " ", verdictTag(one.verdict)),
          one.reason ? h("p", {}, wireText(one.reason)) : null,
          one.position.length ? h("dl", { class: "pairs" }, one.position.map(([name, value]) => [h("dt", {}, wireText(name)), h("dd", {}, wireText(value))])) : null,
        )
      : h("div", { class: "told" }, h("h4", {}, what), h("p", { class: "hint" }, "not played"));
  const content = h("div", { class: "both" }, h("div", { class: "pair" }, told(was, "before"), told(now, "after")));
  const [left, right] = [was, now].map((one) => (one?.wire ? transcriptOf(evidence, one.wire) : null));
  if (left && right && was.wire !== now.wire) content.append(sideBySide(left, right, [how.name(was), how.name(now)]));
  else if (left && right) content.append(h("p", { class: "hint" }, "On the wire both are the same."));
  return content;
}

/** Of each release, the newest run that played it and the one before. */
function runsView(matrix, tables, tabs) {
  const tag = (name) => (matrix.byName.get(name) ? verdictTag(matrix.byName.get(name)) : name || "–");
  const side = (one, at) => [tag(one[`verdict_${at}`]), " ", wireText(one[`reason_${at}`] || ""), one.kind === "changed-position" ? h("div", { class: "hint" }, wireText(one[`position_${at}`] || "")) : null];
  const order = new Map(KINDS.map(([kind], at) => [kind, at]));
  return viewFrame(
    "What changed between the newest two runs",
    "The newest run of each cell against the run before it, on the same release.",
    NO_CONTROLS,
    (place) => {
      const rows = tables.between_runs
        .filter((one) => asked([one.case, one.client, one.kind, one.server_b, one.reason_a, one.reason_b].join(" ")))
        .sort((x, y) => order.get(x.kind) - order.get(y.kind) || x.case.localeCompare(y.case));
      place.replaceChildren(
        longTable(["Case", "Release", "What", "Before", "After"], rows, (one) => row([caseLink(one.case), clientMark(one.client)], columnName(one.server_b, one.provider_b), KIND_NAMES.get(one.kind) || one.kind, side(one, "a"), side(one, "b"))),
      );
      return rows.length;
    },
    { tabs },
  );
}
