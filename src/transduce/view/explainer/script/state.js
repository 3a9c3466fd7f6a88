// Holds the page's state, reads and writes its link, and recomputes when the numbers change.

const header = readJson("header");
const VOCABULARIES = { source: readVocabulary(header.vocabularies.source) };
VOCABULARIES.target = header.vocabularies.target ? readVocabulary(header.vocabularies.target) : VOCABULARIES.source;
// models: by stage, when opened; result: what was computed last; before: the same with nothing changed.
const page = { models: [], result: null, before: null, turn: 0, ready: false, undo: [] };

/** Returns the elements of the page that a selector finds. */
const findAll = selector => [...document.querySelectorAll(selector)];

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const numbers = count => Array.from({ length: count }, (_, i) => i + 1);
const DEPTHS = { encoder: header.sizes.encoder_layers, decoder: header.sizes.decoder_layers };
const WIDEST = Math.max(8, header.search.beam); // of the beams that the page offers
const PARTS = { encoder: ["self", "ff"], decoder: ["self", "cross", "ff"] };

/** Returns the number of layers of the stack that a panel shows. */
const depthOf = panel => DEPTHS[PANELS.find(one => one.id === panel)?.side === "target" ? "decoder" : "encoder"];

/** Returns all names that can be switched off, in the order of the page. */
function switchNames() {
  const { heads } = header.sizes, found = ["source.position", "target.position", "mask"];
  for (const [stack, parts] of Object.entries(PARTS))
    for (const layer of numbers(DEPTHS[stack])) {
      found.push(`${stack}.${layer}`);
      for (const part of parts) {
        const name = `${stack}.${layer}.${part}`;
        found.push(name, `${name}.residual`, ...(part === "ff" ? [] : numbers(heads).map(head => `${name}.${head}`)));
      }
    }
  return found;
}
const SWITCHES = switchNames();

/** Returns the state of a page that is opened without a link. */
const firstState = () => ({
  text: header.example.text, prefix: "", panel: "pieces", layer: 1, head: 1, source: 0, target: 0, cell: "", step: 0,
  beam: header.search.beam, alpha: header.search.alpha, off: [], edits: [], stage: header.stages.length - 1, tour: 0,
  smoothing: header.training.label_smoothing, warmup: header.training.warmup,
});

/** Returns the parts of a state in which the model is as trained, and the search as in its recipe. */
function unchanged() {
  const { prefix, beam, alpha, stage, off, edits } = firstState();
  return { prefix, beam, alpha, stage, off, edits };
}

const LETTERS = { s: "text", f: "prefix", p: "panel", l: "layer", h: "head", q: "source", o: "target", c: "cell", n: "step", b: "beam", a: "alpha", m: "stage", t: "tour", y: "smoothing", w: "warmup" };

// Names of numbers that can be set by hand, and an edit: name, position, column and number.
const EDITABLE = /^(?:(?:source|target)\.(?:embedding|position|input)|(?:encoder|decoder)\.\d{1,2}\.(?:(?:self|cross)\.(?:[qkv]|(?:scores|weights)\.\d{1,2}|joined|output|sum|norm)|ff\.(?:inner|output|sum|norm))|logits)$/;
const EDIT = /^([a-z0-9.]+):(\d{1,4}):(\d{1,6})=(-?\d{1,6}(?:\.\d{1,6})?)$/;
const MAX_EDITS = 20;

/** Returns edits such as "encoder.1.self.q:0:3=0.5" as a map from a name to [position, column, number]. */
function readEdits(texts) {
  const found = new Map();
  for (const [, name, ...parts] of texts.map(text => EDIT.exec(text))) found.set(name, [...(found.get(name) ?? []), parts.map(Number)]);
  return found;
}

const isEdit = text => EDITABLE.test(EDIT.exec(text)?.[1]);

/** Returns a state whose values the model can have; others are brought to the nearest. */
function clampState(state) {
  const { heads } = header.sizes, whole = (name, low, high) => (state[name] = clamp(Math.round(state[name]) || low, low, high));
  whole("layer", 1, depthOf(state.panel));
  whole("head", 1, heads);
  for (const name of ["source", "target", "step"]) whole(name, 0, 999);
  whole("beam", 1, WIDEST);
  whole("stage", 0, header.stages.length - 1);
  whole("tour", 0, TOUR.length);
  whole("warmup", 1, 4e9);
  for (const [name, most] of [["alpha", Math.max(1, header.search.alpha)], ["smoothing", 1]]) state[name] = clamp(Number(state[name]) || 0, 0, most);
  state.off = SWITCHES.filter(name => state.off.includes(name));
  state.edits = state.edits.filter(isEdit).slice(-MAX_EDITS);
  if (!PANELS.some(panel => panel.id === state.panel)) state.panel = "pieces";
  if (!/^[a-z]+(\.[a-z0-9]+){0,4}:\d{1,4}:\d{1,6}$/.test(state.cell)) state.cell = "";
  for (const name of ["text", "prefix"]) state[name] = state[name].slice(0, 1000).replace(/\p{Cs}/gu, "\ufffd");
  return state;
}

/** Returns the state that a link's hash describes; what cannot be read is as without a link.
 * A link that names a step of the tour alone is followed to what the step shows.
 */
function readHash(hash, { follow = true } = {}) {
  const state = firstState(), parts = new Map(hash.slice(1).split("&").map(part => part.split("=", 2)));
  for (const [letter, name] of Object.entries(LETTERS)) {
    if (!parts.has(letter)) continue;
    const text = decode(parts.get(letter) ?? "", state[name]);
    if (typeof state[name] === "string") state[name] = text;
    else if (/^\d{1,10}(\.\d{1,3})?$/.test(text)) state[name] = Number(text);
  }
  state.off = decode(parts.get("x") ?? "").split(",");
  state.edits = decode(parts.get("e") ?? "").split(",");
  const found = clampState(state);
  return follow && found.tour && !parts.has("p") ? clampState({ ...found, ...tourState(TOUR[found.tour - 1]), tour: found.tour }) : found;
}

/** Returns a text of a link, or what is given for one that is damaged. */
function decode(text, damaged = "") {
  try {
    return decodeURIComponent(text);
  } catch {
    return damaged;
  }
}

/** Returns the hash of a link to a state; readHash gives the state back. */
function writeHash(state) {
  const first = firstState(), parts = Object.entries(LETTERS).filter(([letter, name]) => state[name] !== first[name] || (letter === "p" && state.tour)).map(([letter, name]) => `${letter}=${encodeURIComponent(state[name])}`);
  if (state.off.length) parts.push(`x=${state.off}`);
  if (state.edits.length) parts.push(`e=${encodeURIComponent(state.edits)}`);
  return `#${parts.join("&")}`;
}

let state = null;

const COMPUTED = ["text", ...Object.keys(unchanged())]; // what the numbers depend on

/** Returns whether the same numbers belong to two states. */
const haveSameNumbers = (one, other) => COMPUTED.every(name => String(one?.[name]) === String(other[name]));

/** Changes state and link, computes if needed, and shows it; Undo undoes what `remember` marks. */
function change(parts, { remember = false } = {}) {
  const before = state;
  if (remember) page.undo.push(Object.fromEntries(Object.keys(parts).map(name => [name, before[name]])));
  state = clampState({ ...before, ...parts });
  putLink(writeHash(state));
  return page.result && haveSameNumbers(before, state) ? show() : compute();
}
