// Caches translated lines, and holds the page's state and its language pair.

/** The lines that were translated, by languages and text, oldest first; and which answer is newest. */
const cache = new Map();
const state = { number: 0, abort: null, timer: 0, lines: [], word: null, detected: null };

/** Returns the languages chosen; the source is the detected one where it is to be detected. */
const pair = () => ({ source: (isDetecting() && state.detected) || byId("source").value, target: byId("target").value });

/** Returns the name under which a line is kept. */
const keyOf = line => JSON.stringify([pair().source, pair().target, line]);

/** Keeps the answer to a line as the newest; the oldest goes when there are more than the text needs. */
function keep(key, answer) {
  cache.delete(key);
  cache.set(key, answer);
  if (cache.size > Math.max(CACHED, 2 * byId("text").value.split("\n").length)) cache.delete(cache.keys().next().value);
}

/** Returns the translation of all lines. */
const joinLines = () => state.lines.map(one => one.answer.text).join("\n");

/** Says something below the texts. */
const say = text => { byId("status").textContent = text; };
