const TABLES = new Map(); // weights between units, by what they were made from

/** Returns the sequence that a kind of attention reads for, or from. */
const sequenceOf = (kind, side) => header[side === "readers" ? KINDS[kind].queries : KINDS[kind].keys];

/** Returns all units of one side: pieces or words, each {first, last, text, mark, index}. */
function allUnits(state, side) {
  const sequence = sequenceOf(state.kind, side);
  const spans = state.units === "words" ? sequence.words : sequence.pieces.map((text, i) => [i, i, text]);
  const unit = ([first, last, text], index) => ({ first, last, text: visible(text), mark: sequence.marks.includes(first), index });
  return spans.map(unit);
}

const unitCount = (state, side) => allUnits(state, side).length;

/** Returns the units that are shown: without BEGIN and END, unless there is nothing else. */
function shownUnits(state, side) {
  const all = allUnits(state, side);
  const words = all.filter((unit) => !unit.mark);
  return state.marks || !words.length ? all : words;
}

/** Returns one head's weights between units: a word's pieces are summed as keys, averaged as readers. */
function joinUnits(values, offset, width, rows, columns) {
  const joined = new Float32Array(rows.length * columns.length);
  rows.forEach((row, r) => {
    const count = row.last - row.first + 1;
    for (let q = row.first; q <= row.last; q++) {
      const start = offset + q * width;
      for (let c = 0, at = r * columns.length; c < columns.length; c++, at++) {
        const { first, last } = columns[c];
        for (let k = first; k <= last; k++) joined[at] += TABLE[values[start + k]] / count;
      }
    }
  });
  return joined;
}

/** Returns what a state shows: the units of both sides and the weights of each head that is on. */
async function buildShown(state) {
  const { heads, rows: height, columns: width } = KINDS[state.kind];
  const values = await openLayer(state.kind, state.layer);
  const rows = shownUnits(state, "readers"), columns = shownUnits(state, "read");
  const name = [state.kind, state.layer, state.units, state.marks].join();
  if (!TABLES.has(name)) {
    if (TABLES.size > 3) TABLES.delete(TABLES.keys().next().value);
    TABLES.set(name, new Array(heads));
  }
  const cached = TABLES.get(name);
  const weights = (head) => (cached[head - 1] ||= joinUnits(values, (head - 1) * height * width, width, rows, columns));
  let shown = state.heads.map((head) => ({ number: head, values: weights(head) }));
  if (state.mean) shown = [{ number: 0, values: average(shown.map((head) => head.values)) }];
  return { rows, columns, heads: shown.map((head) => ({ ...head, ...measureRows(head.values, rows.length, columns.length, state.scale) })) };
}

/** Returns the average of several heads' weights. */
function average(all) {
  const mean = new Float32Array(all[0].length);
  for (const values of all) for (let i = 0; i < mean.length; i++) mean[i] += values[i] / all.length;
  return mean;
}

/** Returns what each row's weights are multiplied with to be drawn: 1, or 1 / the row's maximum. */
function measureRows(values, height, width, scale) {
  const factors = new Float32Array(height).fill(1);
  for (let row = 0; row < height && scale === "max"; row++) {
    let peak = 0;
    for (let i = row * width; i < (row + 1) * width; i++) if (values[i] > peak) peak = values[i];
    factors[row] = peak ? 1 / peak : 1;
  }
  return { factors };
}

/** Returns which share of all readers' weight is not drawn: by the threshold, and on hidden marks. */
function hiddenMass(shown, threshold) {
  let small = 0, seen = 0;
  for (const { values } of shown.heads)
    for (const weight of values) { seen += weight; if (weight < threshold) small += weight; }
  const total = shown.heads.length * shown.rows.length;
  return { small: small / total, marks: Math.max(0, 1 - seen / total) };
}
