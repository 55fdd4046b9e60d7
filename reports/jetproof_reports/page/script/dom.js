// Making elements. Text only ever becomes text: nothing in this page parses markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element. `on…` properties are listeners, `null` and `false` attributes are left out. */
function h(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children);
}

function svg(tag, properties, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

function by(id) {
  return document.getElementById(id);
}

// What a server sent may hide, reverse or forge text: characters without a look of their own are
// shown by their number. Line breaks and tabs stay where text is shown as it was laid out.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** Text that came off the wire, with every character in sight. */
function wireText(text, { multiline = false } = {}) {
  const parts = document.createDocumentFragment();
  let last = 0;
  for (const found of String(text).matchAll(UNSEEN)) {
    if (multiline && (found[0] === "\n" || found[0] === "\t")) continue;
    parts.append(text.slice(last, found.index), h("span", { class: "esc" }, escapeOf(found[0])));
    last = found.index + found[0].length;
  }
  parts.append(String(text).slice(last));
  return parts;
}

function escapeOf(character) {
  const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0" }[character];
  return short || `\\u{${character.codePointAt(0).toString(16)}}`;
}

function announce(text) {
  by("live").textContent = text;
}

function copyButton(text, what) {
  const button = h("button", { type: "button", class: "small", "aria-label": `Copy ${what}` }, "Copy");
  button.addEventListener("click", async () => {
    const done = await copy(text);
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    announce(done ? `Copied ${what}` : "The browser does not allow copying: the text is selected");
    setTimeout(() => (button.textContent = "Copy"), 2000);
    if (!done) getSelection().selectAllChildren(button.previousElementSibling);
  });
  return button;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A page opened from a file may have no clipboard: the older way still works there.
    const area = h("textarea", { class: "sr", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** `19,200`; the browser's own formatting takes longer to wake up than the page to draw. */
function whole(count) {
  return String(count ?? 0).replace(/\B(?=(\d{3})+$)/g, ",");
}

function plural(count, one, many = `${one}s`) {
  return `${whole(count)} ${count === 1 ? one : many}`;
}

function duration(ms) {
  if (ms === null || ms === undefined) return "";
  if (ms >= 60_000) return `${(ms / 60_000).toFixed(1)} min`;
  if (ms >= 1000) return `${(ms / 1000).toFixed(ms >= 10_000 ? 1 : 2)} s`;
  return `${ms >= 100 ? Math.round(ms) : ms >= 1 ? ms.toFixed(1) : ms.toFixed(2)} ms`;
}
