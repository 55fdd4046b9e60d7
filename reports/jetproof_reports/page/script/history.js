// Over releases and runs: times, flakiness, deviations, positions, first changes.

const NO_CONTROLS = () => [];

function latencyView(matrix, tables) {
  return viewFrame(
    "Latency and flakiness",
    "From a request to its reply, and from a case's start to the moment an expectation was judged. Measured side by side with other cases: compare releases, not machines.",
    NO_CONTROLS,
    (place) => {
      const flaky = (tables.flakiness || []).filter((one) => one.flaky && asked(`${one.case} ${one.server}`));
      const repeated = (tables.flakiness || []).length;
      const played = repeated ? `${plural(repeated, "cell was", "cells were")} played more than once` : "No cell was played more than once: give the report several runs";
      const parts = [
        section(`Flaky (${flaky.length})`, h("p", { class: "hint" }, `Same case, same server, same text, different verdicts. ${played}.`), flaky.length ? longTable(["Case", "Release", "Runs", "Verdicts"], flaky, (one) => row([caseLink(one.case), clientMark(one.client)], [columnName(one.server, one.provider), one.topology === "single" ? "" : ` ${one.topology}`], String(one.runs), verdictCounts(matrix, one.verdicts))) : null),
      ];
      const { latency } = tables;
      let count = flaky.length;
      for (const [measure, title] of [["reply", "Request to reply"], ["judged", "Start to judgement"]]) {
        const groups = (latency?.groups || []).filter((one) => one.measure === measure && asked(`${one.case} ${one.step} ${one.client || ""}`));
        count += groups.length;
        parts.push(section(`${title}: the slowest ${groups.length}`, longTable(["Case and step", "p50 by release", "Newest p50", "p90", "p99", "Largest", "Samples"], groups, (one) => latencyRow(latency, one), "latency")));
      }
      if (!latency) parts.push(h("p", { class: "hint" }, "This report was made without the table latency."));
      else if (latency.total > latency.groups.length) parts.push(h("p", { class: "hint" }, `${latency.groups.length} of ${whole(latency.total)} steps, without set-up; the table has all.`));
      place.replaceChildren(...parts);
      return count;
    },
  );
}

function latencyRow(latency, one) {
  const newest = one.p50.findLastIndex((value) => value !== null);
  const number = (value) => h("td", { class: "number" }, duration(value));
  return row(
    [caseLink(one.case), clientMark(one.client), h("div", { class: "hint" }, stepName(one.step))],
    sparkline(one.p50, latency.servers),
    number(one.p50[newest]),
    number(one.p90[newest]),
    number(one.p99[newest]),
    number(one.max[newest]),
    h("td", { class: "number" }, String(one.n[newest] ?? "")),
  );
}

/** One bar a release; the numbers are in its title, for those who cannot see it. */
function sparkline(values, servers) {
  const most = Math.max(...values.filter((value) => value !== null), 0.001);
  const wide = Math.max(4, Math.min(12, Math.floor(180 / values.length)));
  const text = values.map((value, at) => (value === null ? null : `${servers[at]} ${duration(value)}`)).filter(Boolean).join(", ");
  return svg(
    "svg",
    { class: "spark", width: String(wide * values.length), height: "24", role: "img", "aria-label": text },
    svg("title", {}, text),
    values.map((value, at) =>
      value === null ? null : svg("rect", { x: String(at * wide), y: String(24 - Math.max(1, (value / most) * 24)), width: String(wide - 1), height: String(Math.max(1, (value / most) * 24)) }),
    ),
  );
}

function deviationsView(matrix, tables) {
  return viewFrame(
    "Where releases differ from the text",
    "Each entry of the ledger that the runs met: what the text says, what the releases do, in which of them.",
    NO_CONTROLS,
    (place) => {
      if (!tables.deviations) return missing(place, "deviations");
      const known = new Map((tables.coverage || []).map((clause) => [clause.clause, clause]));
      const own = tables.deviations.filter((one) => !one.library);
      const shown = own
        .filter((one) => asked([one.id, one.says, one.does, ...one.cases, ...one.clauses].join("\n")))
        .sort((a, b) => a.id.localeCompare(b.id));
      place.replaceChildren(
        ...shown.map((one) =>
          h(
            "article",
            { class: "card" },
            h("h3", {}, one.id, " ", verdictCounts(matrix, one.verdicts)),
            marksOf(one),
            one.says ? h("p", {}, h("b", {}, "The text: "), one.says) : one.clauses.map((id) => (known.has(id) ? h("p", {}, h("b", {}, `${id}: `), known.get(id).text) : null)),
            h("p", {}, h("b", {}, "The releases: "), wireText(withoutId(one.does, one.id))),
            h("p", { class: "hint" }, `In ${spans(matrix, one.servers)}`),
            caseList(one.cases),
          ),
        ),
      );
      if (!shown.length) place.replaceChildren(h("p", { class: "hint" }, own.length ? "No deviation matches." : "No known deviation was met."));
      place.append(...elsewhere(tables.deviations.length - own.length, "known", "known failure of a library", "known failures of libraries"));
      return shown.length;
    },
  );
}

function positionsView(matrix, tables) {
  return viewFrame(
    "Positions where the text does not decide",
    "What each release does where a sentence is silent, contested or leaves a choice. Positions that changed come first; an answer that one release alone gives is marked.",
    NO_CONTROLS,
    (place) => {
      if (!tables.positions) return missing(place, "positions");
      const own = tables.positions.filter((one) => !one.client);
      const shown = positionsTaken(own);
      place.replaceChildren(...positionsShown(matrix, shown), ...elsewhere(answersIn(tables.positions) - answersIn(own), "positions", "position of a library", "positions of libraries"));
      return shown.length;
    },
  );
}

function answersIn(questions) {
  return questions.reduce((sum, one) => sum + one.values.reduce((count, { by }) => count + by.length, 0), 0);
}

/** Where the rows of client libraries are shown, if there are any. */
function elsewhere(count, by, one, many) {
  return count ? [h("p", { class: "hint" }, h("a", { href: viewAddress("libraries", { ...CLEARED, by }) }, plural(count, one, many)))] : [];
}

/** Questions with all their answers, as far as the text asked for is in them; those with several answers come first. */
function positionsTaken(questions) {
  return questions
    .filter((one) => asked([one.case, one.name, ...one.clauses, ...one.values.map(({ value }) => value)].join("\n")))
    .sort((a, b) => Number(b.values.length > 1) - Number(a.values.length > 1) || a.case.localeCompare(b.case) || a.name.localeCompare(b.name));
}

function answerOfReleases(value, who, odd) {
  return h("li", { class: odd ? "answer odd" : "answer" }, h("code", {}, wireText(value)), h("span", { class: "hint" }, ` ${who}`), odd ? h("span", { class: "mark" }, "alone") : null);
}

function positionsShown(matrix, shown) {
  const oldest = ({ by }) => Math.min(...by.flatMap((one) => one.servers.map((server) => matrix.servers.indexOf(server))));
  const plainFirst = (one) => Number(one.provider !== "embedded");
  const who = ({ by }) => by.sort((a, b) => plainFirst(a) - plainFirst(b)).map((one) => spans(matrix, one.servers) + (plainFirst(one) && one.provider !== "reference" ? ` ${one.provider}` : "")).join(", ");
  const changed = shown.filter((one) => one.values.length > 1).length;
  return [
    h("p", { class: "hint" }, `${plural(shown.length, "position")}, of which ${changed} changed.`),
    longTable(["Case", "Position", "What the releases do"], shown, (one) =>
      row(
        [caseLink(one.case), one.topology === "single" ? null : h("span", { class: "mark" }, one.topology), one.provider === "reference" ? h("span", { class: "mark" }, one.provider) : null, h("div", { class: "hint" }, one.clauses.join(", "))],
        wireText(one.name),
        h("ul", { class: "plain" }, one.values.sort((x, y) => oldest(x) - oldest(y)).map((value) => answerOfReleases(value.value, who(value), value.odd))),
      ),
    ),
  ];
}

function firstChangeView(matrix, tables) {
  return viewFrame(
    "First change",
    "The release in which a verdict, a position or the wire of a case changed, newest release first; of client libraries, the version as well.",
    NO_CONTROLS,
    (place) => {
      if (!tables.first_change) return missing(place, "first_change");
      const { rows, total } = tables.first_change;
      const shown = rows.filter((one) => asked(`${one.case} ${one.what} ${one.to_server} ${one.to_client || ""} ${one.from_value || ""} ${one.to_value || ""}`));
      const releases = new Map();
      for (const one of shown) {
        const name = one.to_client !== one.from_client ? one.to_client : `${one.to_server}${one.provider && one.provider !== "embedded" ? ` ${one.provider}` : ""}`;
        if (!releases.has(name)) releases.set(name, []);
        releases.get(name).push(one);
      }
      place.replaceChildren(...[...releases].map(([name, changes], at) => releaseChanges(matrix, name, changes, at < 1)));
      if (!shown.length) place.replaceChildren(h("p", { class: "hint" }, "Nothing changed."));
      if (total > rows.length) place.append(h("p", { class: "hint" }, `The newest ${rows.length} of ${total}.`));
      return shown.length;
    },
  );
}

const WHAT = ["verdict", "position", "fingerprint"];
const WHAT_NAMES = { verdict: "verdict", position: "position", fingerprint: "on the wire" };

function releaseChanges(matrix, name, changes, open) {
  changes.sort((x, y) => WHAT.indexOf(x.what) - WHAT.indexOf(y.what) || x.case.localeCompare(y.case));
  const counts = WHAT.map((what) => [what, changes.filter((one) => one.what === what).length]).filter(([, count]) => count);
  const detail = h(
    "details",
    { class: "kind release-changes" },
    h("summary", {}, h("b", {}, name), counts.map(([what, count]) => h("span", { class: "mark" }, what === "fingerprint" ? `${count} on the wire` : plural(count, what)))),
  );
  const fillIn = () => {
    if (detail.dataset.drawn) return;
    detail.dataset.drawn = "yes";
    detail.append(longTable(["Case", "What", "Before", "After", "Evidence"], changes, (one) => changeRow(matrix, one), "changes"));
  };
  detail.addEventListener("toggle", () => detail.open && fillIn());
  detail.open = open;
  return detail;
}

function changeRow(matrix, one) {
  const ofLibrary = one.to_client !== one.from_client;
  const [from, to] = ofLibrary ? [one.from_client, one.to_client] : [one.from_server, one.to_server];
  const value = (text, where) => {
    const verdict = one.what === "verdict" && matrix.byName.get(text);
    return [verdict ? verdictTag(verdict) : text === null ? "" : wireText(text), h("span", { class: "hint" }, ` ${where}`)];
  };
  const marks = [one.topology === "single" ? null : one.topology, ofLibrary ? `on ${one.to_server}` : one.client].filter(Boolean);
  return row([caseLink(one.case), marks.map((mark) => h("span", { class: "mark" }, mark))], WHAT_NAMES[one.what] || one.what, value(one.from_value, from), value(one.to_value, to), compareLink(matrix, one, ofLibrary));
}

function compareLink(matrix, one, ofLibrary) {
  const suffix = one.provider && one.provider !== "embedded" ? ` ${one.provider}` : "";
  const found = matrix.rows.find((row) => row.case === one.case && row.topology === one.topology && row.client === one.client && row.revision === one.spec_revision);
  if (ofLibrary) {
    const cell = found && matrix.columnNamed(one.to_server + suffix) && matrix.cell(found, matrix.columnNamed(one.to_server + suffix));
    return cell ? h("a", { href: viewAddress("libraries", { ...CLEARED, by: "", cell: cell.name }), "aria-label": `Open ${cell.name}` }, "Open") : "";
  }
  const to = viewAddress("regressions", { by: "", a: one.from_server + suffix, b: one.to_server + suffix, case: found ? rowKey(found) : "", q: "" });
  return h("a", { href: to, "aria-label": `Compare ${one.from_server} and ${one.to_server} in ${one.case}` }, "Compare");
}
