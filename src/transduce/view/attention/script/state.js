const VIEWS = { lines: "Lines" };
const LARGE = 128; // positions from which the page opens as a matrix
const LIST = /^\d{1,4}(,\d{1,4}){0,63}$/;
const SHORT = { enc: "encoder", dec: "decoder", cross: "cross" };

/** Returns the state of a page that is opened without a link. */
function firstState() {
  const kind = header.kinds[0];
  return {
    kind: kind.kind, layer: kind.layers[Math.max(0, kind.layers.length - 2)], view: "lines",
    heads: numbers(kind.heads), readers: [], read: [], units: "pieces", marks: false,
    threshold: 0.01, scale: "raw", mean: false, palette: 1,
  };
}

/** Returns 1 to count. */
const numbers = (count) => Array.from({ length: count }, (_, index) => index + 1);

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

/** Returns the distinct numbers of a text such as "5,6" that lie in [low, high]. */
function readList(text, low, high) {
  const found = LIST.test(text) ? text.split(",").map(Number) : [];
  return [...new Set(found)].filter((one) => one >= low && one <= high).sort((a, b) => a - b);
}

/** Returns the state that a link's hash describes; what it says wrongly is as without a link. */
function readHash(hash) {
  const state = firstState();
  const parts = Object.fromEntries(hash.replace(/^#/, "").split("&").map((part) => part.split("=", 2)));
  const text = (name) => (Object.hasOwn(parts, name) ? parts[name] || "" : "");
  if (Object.hasOwn(SHORT, text("k")) && KINDS[SHORT[text("k")]]) state.kind = SHORT[text("k")];
  if (Object.hasOwn(VIEWS, text("v"))) state.view = text("v");
  const kind = KINDS[state.kind];
  if (/^\d{1,3}$/.test(text("l"))) state.layer = nearest(kind.layers, Number(text("l")));
  const heads = readList(text("h"), 1, kind.heads);
  if (heads.length) state.heads = heads;
  if (text("u") === "words") state.units = "words";
  if (text("e") === "1") state.marks = true;
  if (text("m") === "1") state.mean = true;
  if (text("x") === "max") state.scale = "max";
  if (text("c") === "2") state.palette = 2;
  if (/^[01]?(\.\d{1,4})?$/.test(text("t")) && text("t")) state.threshold = clamp(Number(text("t")), 0, 0.5);
  state.readers = readList(text("q"), 1, unitCount(state, "readers")).map((one) => one - 1);
  state.read = readList(text("r"), 1, unitCount(state, "read")).map((one) => one - 1);
  return state;
}

/** Returns the number of a list that is nearest to another number. */
const nearest = (list, number) => list.reduce((a, b) => (Math.abs(b - number) < Math.abs(a - number) ? b : a));

/** Returns the hash of a link to a state; readHash gives the state back. */
function writeHash(state) {
  const kind = Object.keys(SHORT).find((name) => SHORT[name] === state.kind);
  const parts = [`k=${kind}`, `l=${state.layer}`];
  if (state.heads.length < KINDS[state.kind].heads) parts.push(`h=${state.heads}`);
  if (state.readers.length) parts.push(`q=${state.readers.map((one) => one + 1)}`);
  if (state.read.length) parts.push(`r=${state.read.map((one) => one + 1)}`);
  parts.push(`v=${state.view}`, `t=${Number(state.threshold.toFixed(4))}`);
  if (state.units === "words") parts.push("u=words");
  if (state.marks) parts.push("e=1");
  if (state.mean) parts.push("m=1");
  if (state.scale === "max") parts.push("x=max");
  if (state.palette === 2) parts.push("c=2");
  return `#${parts.join("&")}`;
}
