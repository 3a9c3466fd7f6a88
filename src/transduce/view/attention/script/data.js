/** Calls a function at each event of a name on the element of an id. */
const on = (id, name, act) => byId(id).addEventListener(name, act);

const header = readJson("header");
const KINDS = Object.fromEntries(header.kinds.map(one => [one.kind, one]));
const SIDES = ["readers", "read"];
const LAYERS = new Map();

/** Returns the value of each float16 from 0 to 1. */
function halfTable() {
  const value = bits => (bits < 1024 ? bits * 2 ** -24 : 2 ** ((bits >> 10) - 15) * (1 + (bits & 1023) / 1024));
  return Float32Array.from({ length: 0x3c01 }, (_, bits) => value(bits));
}

// The weight that a stored number stands for: a float16, or a byte, the root of the weight.
const TABLE = header.numbers === "float16" ? halfTable() : Float32Array.from({ length: 256 }, (_, byte) => (byte / 255) ** 2);

/** Returns the numbers of one layer, [heads, rows, columns] in a row; each indexes TABLE. */
function openLayer(kind, layer) {
  const name = `${kind} ${layer}`;
  if (!LAYERS.has(name)) LAYERS.set(name, readLayer(KINDS[kind], layer));
  return LAYERS.get(name);
}

/** Reads and decompresses one block. */
async function readLayer(kind, layer) {
  const [start, length] = kind.blocks[kind.layers.indexOf(layer)];
  const stored = readBase64(byId("weights").textContent.substr(start, length));
  const bytes = header.compression === "zlib" ? await inflate(stored) : stored;
  return header.numbers === "float16" ? new Uint16Array(bytes.buffer) : bytes;
}
