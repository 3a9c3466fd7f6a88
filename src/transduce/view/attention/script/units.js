// Merges attention weights from pieces into words, averages heads, and sums the weight not drawn.

/** Returns the sequence that reads ("readers"), or that is read, in a state's kind of attention. */
const sequenceOf = (state, side) => header[KINDS[state.kind][side === "readers" ? "queries" : "keys"]];

/** Returns all units of one side: pieces or words, each {first, last, text, mark, index}. */
function allUnits(state, side) {
  const { pieces, words, marks } = sequenceOf(state, side);
  const spans = state.words ? words : pieces.map((text, i) => [i, i, text]);
  return spans.map(([first, last, text], index) => ({ first, last, text: visible(text), mark: marks.includes(first), index }));
}

/** Returns the units that are shown: without BEGIN and END, unless there is nothing else. */
function shownUnits(state, side) {
  const all = allUnits(state, side), words = all.filter(unit => !unit.mark);
  return state.marks || !words.length ? all : words;
}

/** Returns a head's weights between units: a word's pieces are summed as keys, averaged as readers. */
function joinUnits(values, start, { rows, columns, width, height, shift, table }) {
  const count = columns.length, joined = new Float32Array(rows.length * count);
  const low = columns[0].first, high = columns[count - 1].last, unitOf = new Int32Array(width);
  columns.forEach((one, c) => unitOf.fill(c, one.first, one.last + 1));
  rows.forEach((row, r) => {
    const share = 1 / (row.last - row.first + 1), from = r * count;
    for (let q = row.first + shift; q <= row.last + shift && q < height; q++)
      for (let k = low, line = start + q * width; k <= high; k++) joined[from + unitOf[k]] += share * table[values[line + k]];
  });
  return joined;
}

/** Returns what a state shows: the units of both sides, the weights of each head that is on. */
async function buildShown(state) {
  const { rows: height, columns: width, table } = KINDS[state.kind], rows = shownUnits(state, "readers"), columns = shownUnits(state, "read");
  const values = await openLayer(state.kind, state.layer);
  // An alignment reads the step at which a word is the decoder's input, one after it was written.
  const shift = isView("align") && ALIGNED.shifted !== false ? 1 : 0;
  const sizes = { rows, columns, width, height, shift, table };
  let shown = state.heads.map(number => ({ number, values: joinUnits(values, (number - 1) * height * width, sizes) }));
  if (state.mean) shown = [{ number: 0, values: average(shown.map(head => head.values)) }];
  for (const head of shown) head.factors = rowFactors(head.values, rows.length, state.peaks);
  return { rows, columns, width: columns.length, height: rows.length, heads: shown };
}

/** Returns the average of several heads' weights. */
function average(all) {
  const mean = new Float32Array(all[0].length);
  for (const values of all) for (let i = 0; i < mean.length; i++) mean[i] += values[i] / all.length;
  return mean;
}

/** Returns what each row's weights are multiplied with to be drawn: 1, or 1 / the row's maximum. */
function rowFactors(values, height, peaks) {
  const width = values.length / height, factors = new Float32Array(height).fill(1);
  for (let row = 0; peaks && row < height; row++) {
    let peak = 0;
    for (let i = row * width; i < (row + 1) * width; i++) if (values[i] > peak) peak = values[i];
    if (peak) factors[row] = 1 / peak;
  }
  return factors;
}

/** Returns which share of the readers' weight is not drawn: by the threshold, and on hidden marks. */
function hiddenMass(shown, threshold) {
  let small = 0, sum = 0;
  for (const { values } of shown.heads)
    for (let i = 0; i < values.length; i++) {
      sum += values[i];
      if (values[i] < threshold) small += values[i];
    }
  const total = shown.heads.length * shown.height;
  return { small: small / total, marks: max(0, 1 - sum / total) };
}
