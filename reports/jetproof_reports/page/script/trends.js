// Over runs: how many cells of each verdict, by specification.

const DRAWN_VERDICTS = ["p", "o", "k", "w", "u", "s", "f", "e"];
const CHART_HEIGHT = 96;

function trendsView(matrix, tables) {
  const { trends } = tables;
  const controls = (draw) => {
    const spec = choice("spec", [["", "all"], ...[...(trends?.specs || [])].sort().map((name) => [name, name])], (value) => {
      go({ spec: value });
      draw();
    });
    spec.value = (trends?.specs || []).includes(state.spec) ? state.spec : "";
    const releases = h("input", { type: "search", name: "releases", placeholder: "2.12.*, 2.15.1", autocomplete: "off", spellcheck: "false" });
    releases.value = state.releases;
    releases.addEventListener("input", () => {
      go({ releases: releases.value });
      draw();
    });
    return [labelled("Specification", spec), labelled("Releases", releases)];
  };
  return viewFrame(
    "Trends over runs",
    "How many cells had which verdict in each run. A run of other cases or other releases has other numbers: compare what is alike.",
    controls,
    (place) => {
      if (!trends) return missing(place, "trends");
      return drawTrends(place, matrix, tables);
    },
    { placeholder: "run, date…" },
  );
}

function drawTrends(place, matrix, tables) {
  const { trends } = tables;
  const about = new Map(matrix.head.runs.map((run) => [run.run_id, run]));
  const runs = trends.runs
    .map((run, index) => ({ ...run, ...about.get(run.run_id), index }))
    .filter((run) => asked(`${run.run_id} ${whenOf(run)} ${run.jetproof || ""}`));
  const chosen = trends.specs.includes(state.spec) ? [state.spec] : [...trends.specs].sort();
  const bySpec = countsBySpec(trends);
  const sections = [];
  if (chosen.length > 1) sections.push(trendSection(matrix, "All specifications", runs, joined(chosen.map((spec) => bySpec.get(spec))), true));
  for (const spec of chosen) sections.push(trendSection(matrix, spec, runs, bySpec.get(spec) || new Map(), chosen.length === 1));
  place.replaceChildren(...(runs.length ? sections : [h("p", { class: "hint" }, trends.runs.length ? "No run matches." : "No run to show.")]));
  if (trends.runs.length === 1) place.prepend(h("p", { class: "hint" }, "One run has no trend: give the report several runs, or --history with a folder that keeps them."));
  if (trends.total > trends.runs.length) place.append(h("p", { class: "hint" }, `The newest ${trends.runs.length} of ${plural(trends.total, "run")}.`));
  if (tables.between_runs?.length) {
    place.append(h("p", {}, h("a", { href: viewAddress("regressions", { by: "runs", q: "" }) }, `${plural(tables.between_runs.length, "cell differs", "cells differ")} between the newest run and the one before`)));
  }
  return runs.length;
}

/** By specification, by run: cells by verdict, of the releases asked for. */
function countsBySpec(trends) {
  const found = new Map();
  const wanted = trends.servers.map((server) => matchesReleases(server, state.releases));
  for (const [run, spec, server, verdict, cells] of trends.rows) {
    if (!wanted[server]) continue;
    const name = trends.specs[spec];
    if (!found.has(name)) found.set(name, new Map());
    add(found.get(name), run, trends.verdicts[verdict], cells);
  }
  return found;
}

function add(byRun, run, verdict, cells) {
  if (!byRun.has(run)) byRun.set(run, {});
  byRun.get(run)[verdict] = (byRun.get(run)[verdict] || 0) + cells;
}

function joined(several) {
  const all = new Map();
  for (const byRun of several) {
    for (const [run, counts] of byRun || []) {
      for (const [verdict, cells] of Object.entries(counts)) add(all, run, verdict, cells);
    }
  }
  return all;
}

function trendSection(matrix, title, runs, byRun, open) {
  const played = runs.filter((run) => byRun.has(run.index));
  const verdicts = matrix.verdicts.filter((verdict) => played.some((run) => byRun.get(run.index)[verdict.name]));
  const newest = played.at(-1);
  const detail = h("details", { class: "kind trend-of" }, h("summary", {}, h("b", {}, title), " ", newest ? verdictCounts(matrix, byRun.get(newest.index)) : h("span", { class: "hint" }, "not played")));
  const fillIn = () => {
    if (detail.dataset.drawn || !played.length) return;
    detail.dataset.drawn = "yes";
    detail.append(trendChart(matrix, played, byRun), trendTable(verdicts, played, byRun));
  };
  detail.addEventListener("toggle", () => detail.open && fillIn());
  if (open) {
    detail.open = true;
    fillIn();
  }
  return detail;
}

/** Newest run first; beside each number how it moved since the run before. */
function trendTable(verdicts, played, byRun) {
  const count = (run, name) => byRun.get(run.index)[name] || 0;
  const total = (run) => Object.values(byRun.get(run.index)).reduce((sum, cells) => sum + cells, 0);
  const moved = (now, before) => (before === null || now === before ? null : h("span", { class: "moved-by" }, now > before ? `+${whole(now - before)}` : `−${whole(before - now)}`));
  const cell = (run, earlier, of) => h("td", { class: "number" }, moved(of(run), earlier ? of(earlier) : null), whole(of(run)));
  const heads = verdicts.map((verdict) => `${verdict.symbol}\ufe0e ${verdict.name}`);
  const rows = played.map((run, at) => [run, played[at - 1] || null]).reverse();
  return longTable(["Run", "Cells", ...heads], rows, ([run, earlier]) =>
    row(
      h("th", { scope: "row" }, whenOf(run), h("div", { class: "hint" }, run.run_id, run.partial || run.interrupted ? h("span", { class: "mark" }, "not whole") : null)),
      cell(run, earlier, total),
      ...verdicts.map((verdict) => cell(run, earlier, (one) => count(one, verdict.name))),
    ),
    "trend-runs",
    new Set(["Cells", ...heads]),
  );
}

function whenOf(run) {
  return (run.started_at || "").slice(0, 16).replace("T", " ");
}

/** One bar a run; the table below has the numbers. Cells that do not apply are left out. */
function trendChart(matrix, played, byRun) {
  const drawn = DRAWN_VERDICTS.map((code) => matrix.byCode.get(code));
  const heights = played.map((run) => drawn.reduce((sum, verdict) => sum + (byRun.get(run.index)[verdict.name] || 0), 0));
  const most = Math.max(...heights, 1);
  const wide = Math.max(8, Math.min(36, Math.floor(640 / played.length)));
  const told = (run) => drawn.filter((verdict) => byRun.get(run.index)[verdict.name]).map((verdict) => `${verdict.name} ${whole(byRun.get(run.index)[verdict.name])}`).join(", ");
  const label = `${whenOf(played[0])}: ${told(played[0])}${played.length > 1 ? `. ${whenOf(played.at(-1))}: ${told(played.at(-1))}` : ""}`;
  const bars = played.map((run, place) => {
    let top = CHART_HEIGHT;
    return svg(
      "g",
      {},
      svg("title", {}, `${whenOf(run)}: ${told(run)}`),
      drawn.map((verdict) => {
        const cells = byRun.get(run.index)[verdict.name] || 0;
        // What is there is seen, however little of it there is.
        const high = cells ? Math.max(1.5, (cells / most) * CHART_HEIGHT) : 0;
        top -= high;
        return cells ? svg("rect", { class: `t-${verdict.code}`, x: String(place * wide), y: top.toFixed(1), width: String(wide - 2), height: high.toFixed(1) }) : null;
      }),
    );
  });
  return h("div", { class: "scroll" }, svg("svg", { class: "trend", width: String(wide * played.length), height: String(CHART_HEIGHT + 8), viewBox: `0 -8 ${wide * played.length} ${CHART_HEIGHT + 8}`, role: "img", "aria-label": label }, bars));
}
