// What differs between two releases that the reader chose.

function regressionsView(matrix, tables) {
  let [a, b] = sides(matrix);
  const controls = (draw) => {
    const pick = (name) => (value) => {
      go({ [name]: value, case: "" });
      [a, b] = sides(matrix);
      draw();
    };
    const first = releaseChoice(matrix, "a", a, pick("a"));
    const second = releaseChoice(matrix, "b", b, pick("b"));
    const swap = h("button", {
      type: "button", class: "small",
      onclick: () => {
        go({ a: b.name, b: a.name, case: "" });
        [a, b] = sides(matrix);
        first.value = a.name;
        second.value = b.name;
        draw();
      },
    }, "Swap");
    return [labelled("Before", first), labelled("After", second), swap];
  };
  return viewFrame(
    "What changed between two releases",
    "By verdict, by reason, by position, and on the wire although no expectation mentions it.",
    controls,
    (place) => {
      const found = changesBetween(matrix, a, b);
      place.replaceChildren(...changesShown(matrix, a, b, found), ...betweenRuns(matrix, tables));
      return [...found.values()].reduce((sum, list) => sum + list.length, 0);
    },
  );
}

function changesBetween(matrix, a, b) {
  const found = new Map(KINDS.map(([kind]) => [kind, []]));
  for (const row of matrix.rows) {
    const [was, now] = [matrix.cell(row, a), matrix.cell(row, b)];
    const kind = kindOf(was, now);
    if (kind && asked(`${matrix.haystack(row)}\n${kind}`)) found.get(kind).push([was, now]);
  }
  return found;
}

function changesShown(matrix, a, b, found) {
  if (!a || !b || a === b) return [h("p", { class: "hint" }, "Choose two different releases.")];
  const tiles = h(
    "ul",
    { class: "tiles" },
    KINDS.map(([kind, name]) => h("li", { class: found.get(kind).length ? `tile ${kind}` : "tile" }, h("a", { href: `#kind-${kind}`, onclick: (event) => jump(event, `kind-${kind}`) }, h("b", {}, String(found.get(kind).length)), name))),
  );
  const sections = KINDS.filter(([kind]) => found.get(kind).length).map(([kind, name, about]) => {
    const quiet = kind === "new" || kind === "gone";
    const items = found.get(kind);
    const list = h("ul", { class: "changes" });
    const add = () => growing(items, list, (some) => list.append(...some.map(([was, now]) => changeItem(matrix, kind, was, now))));
    const title = `${name} (${items.length})`;
    if (!quiet) return h("section", { class: `kind ${kind}`, id: `kind-${kind}` }, h("h3", {}, title), h("p", { class: "hint" }, about), kind === "changed-on-the-wire" ? steadiness(matrix) : null, add());
    const folded = h("details", { class: `kind ${kind}`, id: `kind-${kind}` }, h("summary", {}, title, h("span", { class: "hint" }, ` ${about}`)));
    folded.addEventListener("toggle", () => folded.append(add()), { once: true });
    return folded;
  });
  const none = sections.length ? [] : [h("p", { class: "hint" }, state.q ? "Nothing that matches the text changed." : "Nothing changed.")];
  return [tiles, ...none, ...sections];
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

function changeItem(matrix, kind, was, now) {
  const cell = now || was;
  const key = rowKey(cell.row);
  const detail = h("details", { class: "change" });
  const moved = whatMoved(was, now).filter((what) => what !== "server");
  detail.append(
    h(
      "summary",
      {},
      h("span", { class: "verdicts" }, was ? verdictTag(was.verdict) : "–", h("span", { "aria-label": "became" }, " → "), now ? verdictTag(now.verdict) : "–"),
      h("span", { class: "of" }, h("span", { class: "hint" }, `${cell.row.suite}::`), h("wbr"), cell.row.short, cell.row.topology === "single" ? null : h("span", { class: "mark" }, cell.row.topology), cell.row.client ? h("span", { class: "mark" }, cell.row.client) : null),
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
      changeDetail(matrix, was, now).then((content) => detail.append(content));
    }
  });
  if (wanted) {
    detail.open = true;
    requestAnimationFrame(() => detail.scrollIntoView({ block: "start" }));
  }
  return h("li", {}, detail);
}

async function changeDetail(matrix, was, now) {
  const cell = now || was;
  const evidence = await block(`evidence-${cell.row.suiteIndex}`);
  const told = (one, what) =>
    one
      ? h(
          "div",
          { class: "told" },
          h("h4", {}, h("a", { href: viewAddress("matrix", { ...CLEARED, q: one.row.case, cell: one.name }) }, one.column.name), " ", verdictTag(one.verdict)),
          one.reason ? h("p", {}, wireText(one.reason)) : null,
          one.position.length ? h("dl", { class: "pairs" }, one.position.map(([name, value]) => [h("dt", {}, wireText(name)), h("dd", {}, wireText(value))])) : null,
        )
      : h("div", { class: "told" }, h("h4", {}, what), h("p", { class: "hint" }, "not played"));
  const content = h("div", { class: "both" }, h("div", { class: "pair" }, told(was, "before"), told(now, "after")));
  const [left, right] = [was, now].map((one) => (one?.wire ? transcriptOf(evidence, one.wire) : null));
  if (left && right && was.wire !== now.wire) content.append(sideBySide(left, right, [was.column.name, now.column.name]));
  else if (left && right) content.append(h("p", { class: "hint" }, "On the wire both are the same."));
  return content;
}

/** Of the newest run and the one before it, where there are several. */
function betweenRuns(matrix, tables) {
  const rows = (tables.between_runs || []).filter((one) => asked(`${one.case} ${one.kind} ${one.reason_a} ${one.reason_b}`));
  if (!rows.length) return [];
  const tag = (name) => (matrix.byName.get(name) ? verdictTag(matrix.byName.get(name)) : name || "–");
  return [
    h(
      "section",
      { class: "kind" },
      h("h3", {}, `Between the newest run and the one before (${rows.length})`),
      longTable(["Case", "Release", "What", "Before", "After"], rows, (one) =>
        row(caseLink(one.case), one.server_b, KIND_NAMES.get(one.kind) || one.kind, [tag(one.verdict_a), " ", wireText(one.reason_a || "")], [tag(one.verdict_b), " ", wireText(one.reason_b || "")]),
      ),
    ),
  ];
}
