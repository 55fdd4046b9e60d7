// The data: blocks are unpacked when they are first needed, and the matrix is made of the first one.

const unpacked = new Map();

/** A block of data; it is unpacked once. */
function block(name) {
  if (!unpacked.has(name)) unpacked.set(name, inflate(by(`data-${name}`).textContent));
  return unpacked.get(name);
}

async function inflate(packed) {
  const text = atob(packed);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** The matrix: rows, columns, and any cell by its place. */
class Matrix {
  constructor(head) {
    this.head = head;
    this.verdicts = head.verdicts;
    this.byCode = new Map(head.verdicts.map((verdict) => [verdict.code, verdict]));
    this.byName = new Map(head.verdicts.map((verdict) => [verdict.name, verdict]));
    this.columns = head.columns.map((column, index) => ({
      ...column,
      index,
      name: columnName(column.server, column.provider),
      reference: column.provider === "reference",
    }));
    this.servers = [...new Set(head.columns.map((column) => column.server))];
    const rows = head.rows;
    const changes = head.changes.map((several) => new Map(several.map(([a, b, kind, moved = []]) => [`${a} ${b}`, { kind: head.kinds[kind], moved }])));
    this.rows = rows.case.map((name, index) => ({
      index,
      case: name,
      short: name.slice(name.indexOf("::") + 2),
      suiteIndex: rows.suite[index],
      suite: head.suites[rows.suite[index]],
      spec: rows.spec[index],
      revision: rows.revision[index],
      topology: rows.topology[index],
      client: rows.client[index],
      changes: changes[rows.changes[index]],
      // The revision that a library is held to (null where no run says), and whether it is the row's own.
      heldTo: rows.held_to[index],
      isHeld: rows.is_held[index],
      clauses: rows.clauses[index].map((clause) => head.clauses[clause]),
      // Those of them that do not hold in the row's revision.
      unspoken: new Set(rows.unspoken[index].map((clause) => head.clauses[clause])),
    }));
    this.serverRows = this.rows.filter((row) => !row.client);
    this.clientRows = this.rows.filter((row) => row.client);
    this.clientCases = new Set(this.clientRows.map((row) => row.case));
    this.revisions = [...new Set(this.serverRows.map((row) => this.revisionOf(row)))].sort();
    this.topologies = new Set(this.rows.map((row) => row.topology));
    const seen = new Map();
    for (const row of this.rows) {
      const key = [row.case, row.topology, row.client].join(" ");
      seen.set(key, (seen.get(key) || 0) + 1);
      row.twin = key;
    }
    for (const row of this.rows) row.severalRevisions = seen.get(row.twin) > 1;
    this.neverRight = new Set(head.never_right);
    this.number();
  }

  number() {
    const width = this.columns.length;
    this.numbers = new Int32Array(this.rows.length * width).fill(-1);
    let next = 0;
    this.head.grid.forEach((letters, row) => {
      for (let column = 0; column < width; column++) {
        if (letters[column] !== " ") this.numbers[row * width + column] = next++;
      }
    });
    this.cellCount = next;
  }

  revisionOf(row) {
    return `${row.spec}@${row.revision}`;
  }

  /** Whether a library was played on a release. */
  plays(client, column) {
    return Boolean(this.head.played[client]?.includes(column.index));
  }

  locate(cell) {
    return cell;
  }

  verdict(row, column) {
    return this.byCode.get(this.head.grid[row.index][column.index]) || null;
  }

  /** The verdict where it counts in heads and sums. */
  counted(row, column) {
    return this.verdict(row, column);
  }

  /** The number of a cell; -1 where the case was not played on that release. */
  numberOf(row, column) {
    return this.numbers[row.index * this.columns.length + column.index];
  }

  /** A cell, or null where the case was not played on that release. */
  cell(row, column) {
    const number = this.numberOf(row, column);
    if (number < 0) return null;
    const { head } = this;
    const of = (name) => head.cells[name][number];
    const [caseHash, specHash, harness, run] = head.origins[of("origin")];
    return {
      number,
      row,
      column,
      verdict: this.verdict(row, column),
      reason: head.reasons[of("reason")],
      position: head.positions[of("position")],
      deviation: head.deviations[of("deviation")],
      wire: of("fingerprint"),
      fingerprint: head.fingerprints[of("fingerprint")],
      replay: head.replays[of("replay")].replaceAll("{case}", row.case).replaceAll("{server}", column.server),
      ms: of("ms"),
      state: of("state"),
      neverRight: this.neverRight.has(number),
      caseHash,
      specHash,
      harness,
      run,
      name: this.nameOf(row, column),
    };
  }

  /** A cell by the number that evidence is filed by. */
  numbered(number) {
    const place = this.numbers.indexOf(number);
    const width = this.columns.length;
    return this.cell(this.rows[Math.floor(place / width)], this.columns[place % width]);
  }

  /** The name that console, JUnit and files use too. */
  nameOf(row, column, lawful = true) {
    const axes = [`@${column.server}`, row.topology];
    if (column.provider !== "embedded") axes.push(column.provider);
    if (row.client) axes.push(row.client);
    if (row.severalRevisions && lawful) axes.push(`revision-${row.revision}`);
    return [row.case, ...axes].join(" ");
  }

  cellNamed(name) {
    const [wanted] = name.split(" @");
    const found = this.exactly(wanted, name);
    // Elsewhere a revision is named where it is another than the one that the case is about.
    const law = / [a-z0-9-]+@[0-9]+$/.exec(name);
    return found || !law ? found : this.exactly(wanted, name.slice(0, law.index), law[0].trim());
  }

  exactly(wanted, name, law = "") {
    for (const row of this.rows) {
      if (row.case !== wanted || (law && law !== this.revisionOf(row))) continue;
      for (const column of this.columns) {
        if (this.nameOf(row, column, !law) === name) return this.cell(row, column);
      }
    }
    return null;
  }

  columnNamed(name) {
    return this.columns.find((column) => column.name === name) || null;
  }

  /** Reasons, deviations and positions of a row's cells, each once. */
  toldIn(row) {
    const { cells, reasons, deviations, positions } = this.head;
    const [reason, deviation, position] = [new Set(), new Set(), new Set()];
    const first = row.index * this.columns.length;
    for (const number of this.numbers.subarray(first, first + this.columns.length)) {
      if (number < 0) continue;
      reason.add(cells.reason[number]);
      deviation.add(cells.deviation[number]);
      position.add(cells.position[number]);
    }
    return [
      ...[...reason].map((at) => reasons[at]),
      ...[...deviation].map((at) => deviations[at]),
      ...[...position].flatMap((at) => positions[at].flat()),
    ];
  }

  /** All text of a row that a reader may look for. */
  haystack(row) {
    if (row.text === undefined) {
      row.text = [row.case, row.topology, row.client || "", ...row.clauses, ...this.toldIn(row)]
        .join("\n")
        .toLowerCase();
    }
    return row.text;
  }
}

/** How a column is called everywhere: where nothing is said, a release came as its own binary. */
function columnName(server, provider) {
  return !provider || provider === "embedded" ? server : `${server} ${provider}`;
}

/** `2.12.0 to 2.12.8, 2.15.1`: releases that follow each other become one span. */
function spans(matrix, servers) {
  const places = servers.map((server) => matrix.servers.indexOf(server)).sort((a, b) => a - b);
  const unknown = servers.filter((server) => !matrix.servers.includes(server));
  const found = [];
  for (const place of places.filter((place) => place >= 0)) {
    const last = found.at(-1);
    if (last && last[1] === place - 1) last[1] = place;
    else found.push([place, place]);
  }
  const told = found.map(([from, to]) => {
    if (from === to) return matrix.servers[from];
    return `${matrix.servers[from]} ${to - from === 1 ? "and" : "to"} ${matrix.servers[to]}`;
  });
  return [...told, ...unknown].join(", ");
}
