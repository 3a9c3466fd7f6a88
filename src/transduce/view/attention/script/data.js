// Reads the header, and decompresses a layer's attention weights, stored as float16 or bytes.

/** Calls a function at each event of a name on the element of an id. */
const on = (id, name, act) => byId(id).addEventListener(name, act);

/** Gives the element of an id these children, and no others. */
const fill = (id, ...children) => byId(id).replaceChildren(...children);

const { ceil, floor, max, min } = Math;
const header = readJson("header");
const KINDS = Object.fromEntries(header.kinds.map(one => [one.kind, one]));
const SIDES = ["readers", "read"];
const LAYERS = {};

/** Returns whether the page shows a view, such as "matrix". */
const isView = view => state.view === view;

/** Returns the kind of attention that the page shows. */
const kindNow = () => KINDS[state.kind];

/** Returns a number, or the nearest that lies in a range. */
const clamp = (value, low, high) => min(high, max(low, value));

/** Returns the value of each float16 from 0 to 1. */
function halfTable() {
  const value = bits => (bits < 1024 ? bits * 2 ** -24 : 2 ** ((bits >> 10) - 15) * (1 + (bits & 1023) / 1024));
  return Float32Array.from({ length: 0x3c01 }, (_, bits) => value(bits));
}

/** Returns the weight of each value of a byte, for rows of `keys` weights, as `build_levels` in page.py. */
function listLevels(keys) {
  const table = [0];
  for (let w = 0; w < 1; table.push(w)) w = min(1, w + clamp(0.08 * w, max(0.02 / keys, 1e-6), 0.008));
  return Float32Array.from(table);
}

// The weights of all stored numbers, which are float16 bits or indices of levels.
for (const kind of header.kinds) kind.table = header.numbers === "float16" ? halfTable() : listLevels(kind.columns);

/** Returns a promise of one layer's numbers, in the order [heads, rows, columns]; each indexes the kind's table. */
const openLayer = (kind, layer) => (LAYERS[`${kind} ${layer}`] ??= readLayer(KINDS[kind], layer));

/** Reads and decompresses one block. */
async function readLayer(kind, layer) {
  const [start, length] = kind.blocks[kind.layers.indexOf(layer)];
  const stored = readBase64(byId("weights").textContent.substr(start, length));
  const bytes = header.compression === "zlib" ? await inflate(stored) : stored;
  return header.numbers === "float16" ? new Uint16Array(bytes.buffer) : bytes;
}
