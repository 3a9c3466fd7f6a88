// Handles keyboard shortcuts for layer, heads, view, threshold, decoder step, export and help.

const next = (list, value) => list[(list.indexOf(value) + 1) % list.length];

/** Returns the layer `by` above the one that is shown (below if negative), or the last one there is. */
function layerAt(by) {
  const { layers } = kindNow();
  return layers[clamp(layers.indexOf(state.layer) + by, 0, layers.length - 1)];
}

const moveThreshold = by => change({ threshold: fromSlider(clamp(toSlider(state.threshold) + by, 0, 50)) });

const moveStep = by => header.steps[state.step + by - 1] && goToStep(state.step + by); // none before the first, after the last

const FLIPS = { a: "all", m: "mean", w: "words", e: "marks", s: "peaks", c: "second", d: "theme" };
const KEYS = {
  "[": () => change({ layer: layerAt(-1) }), "]": () => change({ layer: layerAt(1) }),
  k: () => change(kindChange(next(Object.keys(KINDS), state.kind))),
  v: () => change(viewChange(next(VIEWS, state.view))),
  ",": () => moveThreshold(-1), ".": () => moveThreshold(1), "<": () => moveStep(-1), ">": () => moveStep(1),
  g: () => save("svg"), p: () => save("png"), t: () => save("csv"),
  Escape: () => change({ readers: [], read: [], step: 0 }), "?": openHelp,
};

/** Does what a key stands for, wherever the focus is. */
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select")) return;
  if (byId("help").open) return event.key === "?" && byId("help").close();
  const digit = Number(/^Digit(\d)$/.exec(event.code)?.[1] ?? -1), head = digit || 10;
  if (FLIPS[event.key]) flip(FLIPS[event.key]);
  else if (KEYS[event.key]) KEYS[event.key]();
  else if (digit >= 0 && head <= kindNow().heads) event.shiftKey ? change({ heads: [head] }) : toggleHead(head);
  else return;
  event.preventDefault();
}
