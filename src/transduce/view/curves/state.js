// Defines the page's state (axis, zoom, smoothing, hidden runs), and reads and writes its link.

/** Smoothing of a slider's position: off, then 5, 10, 20, 50, … updates. */
const smoothWindow = (level) => (level ? [5, 10, 20][(level - 1) % 3] * 10 ** Math.floor((level - 1) / 3) : 0);

/** What is shown: axis of x, logarithms, smoothing, range, point, and the runs that are hidden. */
function initialState() {
  return {
    axis: "step", logX: false, smoothLevel: 0, smooth: 0, from: null, to: null, cursor: null,
    logY: new Set(PANELS.filter((panel) => panel.log).map((panel) => panel.id)), hidden: new Set(),
  };
}

/** Returns a link to the state, without what is as at first. */
function writeLink(state) {
  const parts = [];
  const first = initialState();
  if (state.axis !== first.axis) parts.push(`x=${state.axis}`);
  if (state.logX) parts.push("logx=1");
  const panels = [...state.logY].sort().join(",");
  if (panels !== [...first.logY].sort().join(",")) parts.push(`logy=${panels}`);
  if (state.smoothLevel) parts.push(`smooth=${state.smoothLevel}`);
  if (state.from !== null) parts.push(`from=${Number(state.from.toPrecision(8))}`, `to=${Number(state.to.toPrecision(8))}`);
  if (state.cursor !== null) parts.push(`at=${Number(state.cursor.toPrecision(8))}`);
  if (state.hidden.size) parts.push(`off=${[...state.hidden].sort((a, b) => a - b).map((n) => n + 1).join(",")}`);
  return parts.length ? `#${parts.join("&")}` : location.pathname + location.search;
}

/** Returns the state that a link names; what is not of its form is left as at first. */
function readLink(hash, runs) {
  const state = initialState();
  const parts = new Map(hash.replace(/^#/, "").split("&").map((part) => part.split("=").slice(0, 2)));
  const number = (name) => (/^\d{1,16}(\.\d{1,16})?(e[-+]?\d{1,2})?$/.test(parts.get(name) || "") ? Number(parts.get(name)) : null);
  const list = (name) => (/^[\w,]{0,200}$/.test(parts.get(name) || "") ? (parts.get(name) || "").split(",") : []);
  if (AXES.includes(parts.get("x"))) state.axis = parts.get("x");
  state.logX = parts.get("logx") === "1";
  if (parts.has("logy")) state.logY = new Set(PANELS.map((panel) => panel.id).filter((id) => list("logy").includes(id)));
  state.smoothLevel = Math.min(20, Math.floor(number("smooth") || 0));
  state.smooth = smoothWindow(state.smoothLevel);
  if (number("from") !== null && number("to") > number("from")) [state.from, state.to] = heldRange(number("from"), number("to"), state.logX);
  state.cursor = number("at");
  if (state.cursor !== null && state.axis !== "seconds") state.cursor = Math.round(state.cursor);
  for (const n of list("off")) if (/^\d{1,4}$/.test(n) && n >= 1 && n <= runs) state.hidden.add(n - 1);
  return state;
}

/** Returns a range that begins at 0 or later, with `logX` at 0.001 or later, and is not empty. */
function heldRange(low, high, logX) {
  const least = logX ? 1e-3 : 0;
  const begin = Math.max(least, low);
  return [begin, Math.min(1e300, Math.max(high, begin + 1e-6))];
}
