const step = (list, value, by) => list[(list.indexOf(value) + by + list.length) % list.length];

/** Returns the change of state that moves to another layer. */
function moveLayer(by) {
  const { layers } = KINDS[page.state.kind];
  return { layer: layers[clamp(layers.indexOf(page.state.layer) + by, 0, layers.length - 1)] };
}

const pressSwitch = (name) => () => SWITCHES.find((one) => one[0] === name)[2](page.state);
const moveThreshold = (by) => () => ({ threshold: fromSlider(clamp(toSlider(page.state.threshold) + by, 0, 50)) });

const KEYS = [
  ["a", "all heads on", pressSwitch("all")],
  ["m", "average of the heads that are on", pressSwitch("mean")],
  ["[", "layer below", () => moveLayer(-1)],
  ["]", "layer above", () => moveLayer(1)],
  ["k", "next kind of attention", () => { const kind = step(header.kinds.map((one) => one.kind), page.state.kind, 1); return { kind, ...clampTo(kind) }; }],
  ["v", "next view", () => ({ view: step(Object.keys(VIEWS), page.state.view, 1) })],
  ["w", "words or pieces", pressSwitch("words")],
  ["e", "show or hide begin and end marks", pressSwitch("marks")],
  ["s", "weights as they are, or divided by the row's maximum", pressSwitch("scale")],
  [",", "draw smaller weights", moveThreshold(-1)],
  [".", "leave out more small weights", moveThreshold(1)],
  ["c", "other colours", pressSwitch("palette")],
  ["d", "dark or light", pressSwitch("theme")],
  ["Escape", "choose no word", () => ({ readers: [], read: [] })],
  ["?", "this help", () => (byId("help").open ? byId("help").close() : byId("help").showModal(), {})],
];
const MORE_KEYS = [
  ["1 – 9, 0", "head on or off; 0 is the tenth"], ["Shift + digit", "this head only"],
  ["arrows, Home, End", "choose a word of the list that has the focus"], ["Shift + arrow", "choose several words"],
  ["Enter", "choose the word, or no longer"],
];

/** Fills the table of keys. */
function buildHelp() {
  const row = ([key, text]) => create("tr", {}, create("th", { scope: "row" }, create("kbd", {}, key)), create("td", {}, text));
  byId("keys").tBodies[0].replaceChildren(...[...MORE_KEYS, ...KEYS].map(row));
  byId("help-button").addEventListener("click", () => byId("help").showModal());
}

/** Does what a key stands for, wherever the focus is. */
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select")) return;
  const digit = /^Digit(\d)$/.exec(event.code);
  const found = KEYS.find(([key]) => key === event.key);
  if (byId("help").open && event.key !== "?") return;
  if (digit && event.key !== ".") pressDigit(Number(digit[1]) || 10, event.shiftKey);
  else if (found) change(found[2]());
  else return;
  event.preventDefault();
}

/** Turns a head on or off, or leaves only this one on. */
function pressDigit(head, only) {
  if (head > KINDS[page.state.kind].heads) return;
  if (only) change({ heads: [head] });
  else toggleHead(head);
}

/** Moves through a list of words. */
function onListKey(event) {
  const side = event.currentTarget.id, count = page[side].length;
  const at = page.active.side === side ? page.active.unit : -1;
  const unit = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: count - 1 }[event.key];
  if (event.key === "Enter" || event.key === " ") choose({ side, unit: Math.max(0, at) }, "toggle");
  else if (event.key === "ArrowLeft" || event.key === "ArrowRight") byId(side === "read" ? "readers" : "read").focus();
  else if (unit !== undefined) choose({ side, unit: clamp(unit, 0, count - 1) }, event.shiftKey ? "add" : "only");
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Returns whether a unit, and no other, is chosen. */
const isOnlyChosen = ({ side, unit }) => String(page.state[side]) === String(page[side][unit].index);

/** Chooses a unit: "only" it, "none", "add" it to those chosen, or "toggle" it. */
function choose({ side, unit }, how) {
  const index = page[side][unit].index, now = page.state[side], other = side === "read" ? "readers" : "read";
  const lists = { none: [], only: [index], toggle: toggled(now, index), add: [...new Set([...now, index])].sort((a, b) => a - b) };
  page.active = { side, unit };
  page.hover = null;
  change({ [side]: lists[how], [other]: [] });
  byId(`${side}-${unit}`)?.scrollIntoView({ block: "nearest", inline: "nearest" });
}
