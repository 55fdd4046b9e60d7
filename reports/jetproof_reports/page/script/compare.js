// What differs between two cells: the report holds every difference between two states of a case.

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

/** How a cell counts in heads and sums: one that is unstable and never right fails. */
function countedCode(matrix, row, column, verdict) {
  return verdict?.name === UNSTABLE && matrix.cell(row, column).neverRight ? "f" : verdict?.code;
}

/** The kind of the difference between two cells of one case, either of which may be null; or null. */
function kindOf(a, b) {
  return changeOf(a, b)?.kind ?? null;
}

/** The kind, and which inputs moved besides the server. */
function changeOf(a, b) {
  const row = (b || a)?.row;
  return row?.changes.get(`${a?.state ?? 0} ${b?.state ?? 0}`) ?? null;
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
