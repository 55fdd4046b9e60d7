// Two transcripts side by side: lines that agree in one row, lines that differ marked.

const TOKENS_COMPARED = 600;

/** One text a line, as it is compared and shown. */
function told(line) {
  if (line.dir === "!") return `! ${line.op} ${line.note}`;
  const first = [line.dir === ">" ? "→" : "←", line.op, line.subject, line.reply && `⤶ ${line.reply}`, line.status, line.description, line.note && `(${line.note})`];
  const headers = (line.headers || []).map(([name, value]) => `\n    ${name}: ${value}`);
  return `${first.filter((part) => part !== null && part !== "").join(" ")}${headers.join("")}${line.payload ? `\n    ${line.payload}` : ""}`;
}

/** Pairs [left, right], either may be null; from the longest common sequence. */
function align(left, right, equal = (a, b) => a === b) {
  const wide = right.length + 1;
  const length = new Uint16Array((left.length + 1) * wide);
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      length[i * wide + j] = equal(left[i], right[j])
        ? length[(i + 1) * wide + j + 1] + 1
        : Math.max(length[(i + 1) * wide + j], length[i * wide + j + 1]);
    }
  }
  const pairs = [];
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && equal(left[i], right[j])) pairs.push([left[i++], right[j++]]);
    else if (j >= right.length || (i < left.length && length[(i + 1) * wide + j] >= length[i * wide + j + 1])) pairs.push([left[i++], null]);
    else pairs.push([null, right[j++]]);
  }
  return pairs;
}

/** Neighbouring lines that are only left and only right become one row: one changed into the other. */
function paired(pairs) {
  const rows = [];
  let run = [[], []];
  const flush = () => {
    for (let k = 0; k < Math.max(run[0].length, run[1].length); k++) rows.push([run[0][k] ?? null, run[1][k] ?? null, true]);
    run = [[], []];
  };
  for (const [a, b] of pairs) {
    if (a !== null && b !== null) {
      flush();
      rows.push([a, b, false]);
    } else run[a === null ? 1 : 0].push(a === null ? b : a);
  }
  flush();
  return rows;
}

/** Two transcripts as a table. */
function sideBySide(left, right, names) {
  const counts = (lines) => lines.filter((line) => line.step !== GIVEN);
  const texts = [counts(left).map(told), counts(right).map(told)];
  const rows = paired(align(...texts));
  const different = rows.filter(([, , differs]) => differs).length;
  const hidden = left.length + right.length - texts[0].length - texts[1].length;
  return h(
    "div",
    { class: "sides" },
    h(
      "p",
      { class: "hint" },
      different
        ? `${plural(different, "line differs", "lines differ")}, marked − and +.`
        : "What is kept of the two transcripts reads the same: they differ in lines that were left out.",
      hidden ? " Set-up is not compared." : "",
    ),
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        { class: "diff" },
        h("thead", {}, h("tr", {}, names.map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, rows.map(([a, b, differs]) => diffRow(a, b, differs))),
      ),
    ),
  );
}

function diffRow(a, b, differs) {
  if (!differs) return h("tr", {}, h("td", {}, side(a, " ")), h("td", {}, side(b, " ")));
  const [left, right] = a !== null && b !== null ? marked(a, b) : [a === null ? null : wireText(a, { multiline: true }), b === null ? null : wireText(b, { multiline: true })];
  return h(
    "tr",
    { class: "differs" },
    h("td", { class: a === null ? "nothing" : "removed" }, a === null ? null : sideOf(left, "−")),
    h("td", { class: b === null ? "nothing" : "added" }, b === null ? null : sideOf(right, "+")),
  );
}

function side(text, sign) {
  return sideOf(wireText(text, { multiline: true }), sign);
}

function sideOf(content, sign) {
  const spoken = { "−": "only before: ", "+": "only after: " }[sign];
  return [h("span", { class: "sign", "aria-hidden": "true" }, sign), spoken ? h("span", { class: "sr" }, spoken) : null, h("code", {}, content)];
}

/** Both texts with the words in which they differ marked. */
function marked(a, b) {
  const words = (text) => text.match(/[\w.$<>-]+|\s+|[^\w\s]/gu) || [];
  const left = words(a);
  const right = words(b);
  if (left.length > TOKENS_COMPARED || right.length > TOKENS_COMPARED) {
    return [wireText(a, { multiline: true }), wireText(b, { multiline: true })];
  }
  const parts = [document.createDocumentFragment(), document.createDocumentFragment()];
  for (const [x, y] of align(left, right)) {
    if (x !== null && y !== null) parts.forEach((part) => part.append(wireText(x, { multiline: true })));
    else if (x !== null) parts[0].append(h("mark", {}, wireText(x, { multiline: true })));
    else parts[1].append(h("mark", {}, wireText(y, { multiline: true })));
  }
  return parts;
}
