// Defines the page's state and its defaults, and reads and writes it as the hash of a link.

const SHORT = { enc: "encoder", dec: "decoder", cross: "cross" };
// What is on or off, by its letter in a link; second is the second palette.
const FLAGS = { u: "words", e: "marks", m: "mean", x: "peaks", c: "second" };
const VIEWS = ["lines", "rows", "matrix", "grid", "align"].filter(view => view !== "align" || KINDS.cross);
const LARGE = 128; // most positions for which the page opens with lines

let state = null; // what the page shows, as a link describes it

/** Returns 1 to count. */
const numbers = count => Array.from({ length: count }, (_, index) => index + 1);

/** Returns the number of a list that is nearest to another number. */
const nearest = (list, number) => list.reduce((a, b) => (Math.abs(b - number) < Math.abs(a - number) ? b : a));

const IS_LARGE = header.kinds.some(one => max(one.rows, one.columns) > LARGE);

/** Returns the state of a page that is opened without a link: the clearest head of the last kind, in words. */
function firstState() {
  const { kind } = header.kinds.at(-1), [layer, head] = header.clearest[kind];
  return { ...plainState(kind), layer, heads: [head], words: true };
}

/** Returns the state of a link that names no more than a kind. */
function plainState(kind) {
  const { layers, heads } = KINDS[kind];
  return {
    kind, layer: layers[max(0, layers.length - 2)], view: IS_LARGE ? "matrix" : "lines",
    heads: numbers(heads), readers: [], read: [], threshold: 0.01, step: 0,
    ...Object.fromEntries(Object.values(FLAGS).map(name => [name, false])),
  };
}

// The layer and the heads of the model's word alignments, if the page has that layer.
const ALIGNED = KINDS.cross?.layers.includes(header.alignment?.layer) ? header.alignment : {};

/** Returns the distinct numbers of a text such as "5,6" that lie in 1 to high. */
function readList(text, high) {
  const found = /^\d{1,5}(,\d{1,5})*$/.test(text) ? text.split(",").map(Number) : [];
  return [...new Set(found)].filter(one => one >= 1 && one <= high).sort((a, b) => a - b);
}

/** Returns the state that a link's hash describes; a hash without a kind gives the first state. */
function readHash(hash) {
  const parts = new Map(hash.slice(1).split("&").map(part => part.split("=", 2)));
  const text = name => parts.get(name) ?? "";
  const named = SHORT[text("k")];
  if (!KINDS[named]) return firstState();
  const state = plainState(named);
  if (VIEWS.includes(text("v"))) state.view = text("v");
  if (state.view === "align") Object.assign(state, { kind: "cross" }, ALIGNED);
  const kind = KINDS[state.kind], heads = readList(text("h"), kind.heads);
  if (/^\d{1,3}$/.test(text("l"))) state.layer = nearest(kind.layers, Number(text("l")));
  state.heads = heads.length ? heads : state.view === "align" && state.layer === ALIGNED.layer ? ALIGNED.heads : numbers(kind.heads);
  for (const [letter, name] of Object.entries(FLAGS)) state[name] = text(letter) === "1";
  if (/^[01]?(\.\d{1,4})?$/.test(text("t")) && text("t")) state.threshold = clamp(Number(text("t")), 0, 0.5);
  state.step = readList(text("o"), header.steps.length)[0] ?? 0;
  SIDES.forEach((side, i) => (state[side] = readList(text("qr"[i]), allUnits(state, side).length).map(one => one - 1)));
  return state;
}

/** Returns the hash of a link to a state; readHash gives the state back. */
function writeHash(state) {
  const all = state.heads.length === KINDS[state.kind].heads;
  const parts = {
    k: Object.keys(SHORT).find(name => SHORT[name] === state.kind), l: state.layer, v: state.view, h: all && state.view !== "align" ? "" : state.heads,
    q: state.readers.map(one => one + 1), r: state.read.map(one => one + 1), t: Number(state.threshold.toFixed(4)), o: state.step || "",
  };
  for (const [letter, name] of Object.entries(FLAGS)) if (state[name]) parts[letter] = 1;
  return "#" + Object.entries(parts).filter(([, value]) => String(value)).map(([name, value]) => `${name}=${value}`).join("&");
}
