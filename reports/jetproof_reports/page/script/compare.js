// What differs between two cells, by the very rules of the table `regressions`.

const NO_VERDICT = new Set(["n/a", "error"]);
const DIFFERS = new Set(["fail", "stale", "known", "warn"]);
const UNSTABLE = "unstable";

const KINDS = [
  ["new-failure", "New failures", "kept to the text before, and does not any more"],
  ["fixed", "Fixed", "did not keep to the text before, and does now"],
  ["changed-reason", "Another reason", "does not keep to the text, in another way than before"],
  ["changed-position", "Another position", "where the text does not decide, it does otherwise than before"],
  ["changed-on-the-wire", "Changed on the wire", "no expectation mentions it, yet the bytes differ"],
  ["new", "New", "had no verdict before, and has one now"],
  ["gone", "Gone", "had a verdict before, and has none now"],
];
const KIND_NAMES = new Map(KINDS.map(([kind, name]) => [kind, name]));

function decided(cell) {
  return cell !== null && !NO_VERDICT.has(cell.verdict.name);
}

/** Whether it does not do what the text says; an unstable cell does not if what was seen is never right. */
function differs(cell) {
  return DIFFERS.has(cell.verdict.name) || (cell.verdict.name === UNSTABLE && cell.neverRight);
}

/** An unstable cell that proves nothing: no change may rest on it. */
function undecided(cell) {
  return cell.verdict.name === UNSTABLE && !cell.neverRight;
}

/** How a cell counts in heads and sums: one that is unstable and never right fails. */
function countedCode(matrix, row, column, verdict) {
  return verdict?.name === UNSTABLE && matrix.cell(row, column).neverRight ? "f" : verdict?.code;
}

/** The kind of difference, or null. */
function kindOf(a, b) {
  const had = decided(a);
  const has = decided(b);
  if (!had && !has) return null;
  if (!had) return "new";
  if (!has) return "gone";
  if (undecided(a) || undecided(b)) return null;
  const was = differs(a);
  const now = differs(b);
  const verdict = a.verdict.name !== b.verdict.name;
  if (!was && now) return "new-failure";
  if (was && !now) return "fixed";
  if (was && now && (verdict || a.reason !== b.reason)) return "changed-reason";
  if (verdict || positionText(a) !== positionText(b)) return "changed-position";
  if (a.wire && b.wire && a.wire !== b.wire) return "changed-on-the-wire";
  return null;
}

/** How often a schema was seen is a count, and no position. */
function positionText(cell) {
  return cell.position
    .filter(([name]) => name !== "seen")
    .map(([name, value]) => `${name}: ${value}`)
    .join("; ");
}

/** Which inputs differ: only these can be to blame. */
function whatMoved(a, b) {
  if (!a || !b) return [];
  const moved = [];
  if (a.specHash !== b.specHash || a.row.revision !== b.row.revision) moved.push("spec");
  if (a.column.name !== b.column.name) moved.push("server");
  if (a.row.client !== b.row.client) moved.push("client");
  if (a.caseHash !== b.caseHash) moved.push("case");
  if (a.harness !== b.harness) moved.push("harness");
  return moved;
}

/** The cell of the release before, of the same provider. */
function before(matrix, cell) {
  for (let at = cell.column.index - 1; at >= 0; at--) {
    const column = matrix.columns[at];
    if (column.provider !== cell.column.provider) continue;
    const earlier = matrix.cell(cell.row, column);
    if (earlier) return earlier;
  }
  return null;
}
