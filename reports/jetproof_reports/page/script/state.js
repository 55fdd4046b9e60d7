// What the reader asked for, kept in the address: a link shows the next reader the same thing.

const DEFAULTS = {
  view: "overview",
  q: "",
  clause: "",
  verdicts: "",
  revision: "",
  provider: "",
  releases: "",
  a: "",
  b: "",
  changed: "",
  cell: "",
  case: "",
  closed: "",
  open: "",
  fold: "",
  by: "",
  ra: "",
  rb: "",
  on: "",
  client: "",
  spec: "",
  untested: "",
};

/** What an address without a view is about, if it asks for anything. */
const home = { view: "matrix" };

const state = { ...DEFAULTS };

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const name of Object.keys(DEFAULTS)) state[name] = given.get(name) ?? DEFAULTS[name];
  if (!given.has("view") && Object.keys(DEFAULTS).some((name) => given.has(name))) state.view = home.view;
}

function addressOf(changes = {}) {
  const told = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...state, ...changes })) {
    if (value !== DEFAULTS[name]) told.set(name, value);
  }
  // Said with anything else that is asked for, so that it is not taken for the matrix.
  const wanted = changes.view ?? state.view;
  if (wanted === DEFAULTS.view && told.size) told.set("view", wanted);
  // Case names keep their slashes and colons: the address can be read.
  return `#${told.toString().replaceAll("%2F", "/").replaceAll("%3A", ":").replaceAll("%40", "@").replaceAll("%2C", ",")}`;
}

/** Change the address; `step` makes the change one that the Back button undoes. */
function go(changes, { step = false } = {}) {
  const address = addressOf(changes);
  Object.assign(state, changes);
  try {
    history[step ? "pushState" : "replaceState"](null, "", address);
  } catch {
    // Some places that show files allow no history; the address can be set all the same.
    location.hash = address;
  }
}

/** A link to another view, without what only the present one needs. */
function viewAddress(view, changes = {}) {
  return addressOf({ cell: "", case: "", view, ...changes });
}

function listOf(text) {
  return text ? text.split(",") : [];
}
