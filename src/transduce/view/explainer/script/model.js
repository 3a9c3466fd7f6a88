// The Transformer    (section 3). What is computed is a list of rows, one for each position. Every
// intermediate has a name, such as "encoder.1.self.q"; a trace has the rows of each name. `off`
// is a set of names that are switched off: a head "encoder.1.self.2", a sub-layer "encoder.1.ff", its
// residual "encoder.1.ff.residual", "source.position", "target.position", or the "mask". `edits` are
// numbers set by hand: for a name, [position, column, number] of each.

/** Returns a model of sizes and weights, each {data, shape}, by the names that Python gives them. */
function buildModel(sizes, weights) {
  const target = weights["target.weight"], source = weights["source.weight"] ?? target;
  return { sizes, weights, embeddings: { source, target }, output: weights["output.weight"] ?? target, outputBias: weights["output_bias.weight"] };
}

/** Returns x Wᵀ + b of each row by the matrix of a name, and its bias if the model has one. */
const project = (model, name, rows) => linear(rows, model.weights[`${name}.weight`], model.weights[`${name}.bias`]);

/** Returns LayerNorm(x) of each row by the norm of a name    (section 3.1) */
const normalised = (model, name, rows) => layerNorm(rows, model.weights[`${name}.weight`], model.weights[`${name}.bias`], model.sizes.norm_epsilon);

/** Returns PE(pos)    (section 3.5), or the learned vector of a position    (Table 3, row E) */
function positionVector(model, side, position) {
  const { d_model, positions } = model.sizes, learned = model.weights[`${side}_positions.weight`];
  if (positions === "learned") return learned.data.slice(position * d_model, (position + 1) * d_model);
  return Float32Array.from({ length: d_model }, (_, j) => {
    const [power, isCosine] = wave(model.sizes, j);
    return isCosine ? Math.cos(position / power) : Math.sin(position / power);
  });
}

/** Returns the divisor of positions in column j of PE, and whether the column holds cosines    (3.5) */
function wave({ d_model, positions }, j) {
  const half = d_model / 2;
  if (positions === "tensor2tensor") return [10000 ** ((j % half) / (half - 1 || 1)), j >= half];
  return [10000 ** ((2 * (j >> 1)) / d_model), j % 2 > 0];
}

/** Returns √d_model E(w) + PE(pos) of each id    (sections 3.4 and 3.5) */
function embed(model, side, ids, first, { off, keep }) {
  const { data } = model.embeddings[side], { d_model } = model.sizes, scale = Math.sqrt(d_model);
  const words = ids.map(id => data.slice(id * d_model, (id + 1) * d_model).map(x => x * scale));
  const places = ids.map((_, i) => positionVector(model, side, first[i]));
  if (off.has(`${side}.position`)) places.forEach(place => place.fill(0));
  keep(`${side}.embedding`, words);
  keep(`${side}.position`, places);
  const rows = addRows(words, places);
  keep(`${side}.input`, rows);
  return rows;
}

/** Returns whether a sub-layer is off, by itself or with its layer: it returns 0. */
const isSilent = (name, off) => off.has(name) || off.has(name.split(".", 2).join("."));

/** Returns whether what a sub-layer returns takes the place of x, and is not added to it. */
const isBare = (name, off) => off.has(`${name}.residual`) && !isSilent(name, off);

/** Applies a sub-layer with its residual and norm, as the recipe orders them    (section 3.1) */
function residual(model, name, rows, norm, context, subLayer) {
  const { off, keep } = context, pre = model.sizes.norm === "pre", inner = pre ? normalised(model, `${norm}.norm`, rows) : rows;
  if (pre) keep(`${name}.norm`, inner);
  const found = subLayer(inner);
  if (isSilent(name, off)) found.forEach(row => row.fill(0));
  keep(`${name}.output`, found);
  const sums = isBare(name, off) ? found.map(row => row.slice()) : addRows(rows, found);
  keep(`${name}.sum`, sums);
  if (pre) return sums;
  const normed = normalised(model, `${norm}.norm`, sums);
  keep(`${name}.norm`, normed);
  return normed;
}

/** Returns max(0, x W1 + b1) W2 + b2, or swish in place of max    (section 3.3, equation 2) */
function feedForward(model, path, name, rows, { keep }) {
  const inner = project(model, `${path}.feed_forward.inner`, rows).map(row => row.map(ACTIVATIONS[model.sizes.activation]));
  keep(`${name}.inner`, inner);
  return project(model, `${path}.feed_forward.outer`, inner);
}

/** Returns softmax(q Kᵀ / √d_k) V of one query for all heads    (section 3.2.1, equation 1) */
function attend(model, name, query, { keys, values, allowed }, { off, keep }) {
  const { heads, d_k, d_v } = model.sizes, joined = new Float32Array(heads * d_v), scale = 1 / Math.sqrt(d_k);
  for (let h = 0; h < heads; h++) {
    const q = query.subarray(h * d_k, (h + 1) * d_k);
    const scores = Float32Array.from(keys, (key, j) => (allowed(j) ? dot(q, key, h * d_k) * scale : -Infinity));
    keep(`${name}.scores.${h + 1}`, [scores]);
    const weights = softmax(scores);
    keep(`${name}.weights.${h + 1}`, [weights]);
    scores.forEach((score, j) => score === -Infinity && (weights[j] = 0));
    if (off.has(`${name}.${h + 1}`)) continue;
    values.forEach((value, j) => {
      for (let k = h * d_v; weights[j] && k < (h + 1) * d_v; k++) joined[k] += weights[j] * value[k];
    });
  }
  return joined;
}

/** Returns rows of columns begin to end. */
const columns = (rows, begin, end) => rows.map(row => row.subarray(begin, end));

/** Returns queries, keys and values of rows by one matrix that holds W^Q, W^K and W^V. */
function projectSelf(model, path, name, rows, { keep }) {
  const { heads, d_k, d_v } = model.sizes, wide = heads * d_k, all = project(model, `${path}.query_key_value`, rows);
  const [q, k, v] = [columns(all, 0, wide), columns(all, wide, 2 * wide), columns(all, 2 * wide, 2 * wide + heads * d_v)];
  for (const [letter, part] of [["q", q], ["k", k], ["v", v]]) keep(`${name}.${letter}`, part);
  return [q, k, v];
}

/** Returns whether position i may read position j: r places around it, 0 for all    (section 4) */
const near = (r, i, j) => r === 0 || Math.abs(i - j) <= (r - 1) / 2;

/** Returns the encoder's output z1 .. zn of ids that end with END; stops after each layer. */
function* encode(model, ids, context) {
  let rows = embed(model, "source", ids, ids.map((_, i) => i), context);
  for (const n of numbers(DEPTHS.encoder)) {
    const path = `encoder.${n - 1}`, self = `encoder.${n}.self`;
    rows = residual(model, self, rows, `${path}.add_self`, context, x => {
      const [q, keys, values] = projectSelf(model, `${path}.self_attention`, self, x, context);
      const joined = q.map((query, i) => attend(model, self, query, { keys, values, allowed: j => near(model.sizes.encoder_neighbourhood, i, j) }, context.at(i)));
      context.keep(`${self}.joined`, joined);
      return project(model, `${path}.self_attention.output`, joined);
    });
    rows = residual(model, `encoder.${n}.ff`, rows, `${path}.add_feed_forward`, context, x => feedForward(model, path, `encoder.${n}.ff`, x, context));
    yield n;
  }
  return finalNorm(model, "encoder", rows, context);
}

/** Normalises the output of a stack if the sub-layers normalise before they compute. */
function finalNorm(model, stack, rows, { keep }) {
  const name = `${stack}_final_norm`, normed = model.sizes.norm === "pre" ? normalised(model, name, rows) : rows;
  keep(`${stack}.output`, normed);
  return normed;
}

/** Returns keys and values of the encoder's output for the cross-attention of each layer. */
function projectMemory(model, memory, context) {
  const { heads, d_k, d_v } = model.sizes, wide = heads * d_k;
  return numbers(DEPTHS.decoder).map(n => {
    const both = project(model, `decoder.${n - 1}.cross_attention.key_value`, memory);
    const [keys, values] = [columns(both, 0, wide), columns(both, wide, wide + heads * d_v)];
    context.keep(`decoder.${n}.cross.k`, keys);
    context.keep(`decoder.${n}.cross.v`, values);
    return { keys, values, allowed: () => true };
  });
}

/** Returns the cache of a hypothesis without any piece: empty keys and values of each layer. */
const emptyCache = model => numbers(DEPTHS.decoder).map(() => ({ keys: [], values: [] }));

/** Returns the decoder's output for the last id of each hypothesis {ids, cache}, and new caches. */
function* decodeStep(model, memory, hypotheses, context) {
  const fresh = hypotheses.map(one => ({ ...one, cache: one.cache.map(({ keys, values }) => ({ keys: [...keys], values: [...values] })) }));
  const positions = fresh.map(one => one.ids.length - 1);
  const rows = embed(model, "target", fresh.map(one => one.ids.at(-1)), positions, context.of(positions));
  const output = yield* decodeRows(model, memory, rows, fresh.map((one, i) => ({ cache: one.cache, position: positions[i] })), context);
  return [output, fresh.map(one => one.cache)];
}

/** Computes the decoder for all positions of one hypothesis at once; the mask says what each reads. */
function* decodeAll(model, memory, ids, context) {
  const cache = emptyCache(model), rows = embed(model, "target", ids, ids.map((_, i) => i), context);
  return yield* decodeRows(model, memory, rows, ids.map((_, position) => ({ cache, position })), context);
}

/** Returns the decoder's output for rows, each at a position of a hypothesis with its cache. */
function* decodeRows(model, memory, rows, places, context) {
  const rowsContext = context.of(places.map(one => one.position));
  let x = rows;
  for (const n of numbers(DEPTHS.decoder)) {
    x = decoderLayer(model, n, x, memory[n - 1], places, rowsContext);
    yield n;
  }
  return finalNorm(model, "decoder", x, rowsContext);
}

/** Returns the output of decoder layer n: masked self-attention, cross-attention, feed-forward. */
function decoderLayer(model, n, rows, memory, places, context) {
  const path = `decoder.${n - 1}`, [self, cross, ff] = ["self", "cross", "ff"].map(part => `decoder.${n}.${part}`), r = model.sizes.decoder_neighbourhood;
  const open = context.off.has("mask");
  let x = residual(model, self, rows, `${path}.add_self`, context, y => {
    const [q, k, v] = projectSelf(model, `${path}.self_attention`, self, y, context);
    places.forEach(({ cache, position }, i) => {
      cache[n - 1].keys[position] = k[i];
      cache[n - 1].values[position] = v[i];
    });
    const joined = q.map((query, i) => {
      const { cache, position } = places[i], allowed = j => (open || j <= position) && near(r, position, j);
      return attend(model, self, query, { ...cache[n - 1], allowed }, context.at(i));
    });
    context.keep(`${self}.joined`, joined);
    return project(model, `${path}.self_attention.output`, joined);
  });
  x = residual(model, cross, x, `${path}.add_cross`, context, y => {
    const q = project(model, `${path}.cross_attention.query`, y);
    context.keep(`${cross}.q`, q);
    const joined = q.map((query, i) => attend(model, cross, query, memory, context.at(i)));
    context.keep(`${cross}.joined`, joined);
    return project(model, `${path}.cross_attention.output`, joined);
  });
  return residual(model, ff, x, `${path}.add_feed_forward`, context, y => feedForward(model, path, ff, y, context));
}

/** Returns the logits of the next piece for each row    (section 3.4) */
function computeLogits(model, rows, { keep }) {
  const logits = linear(rows, model.output, model.outputBias);
  keep("logits", logits);
  return logits;
}

/** Sets the edited numbers of rows, except masked ones (−∞); `positionOf(i)` is the position of row i. */
function applyEdits(edits, rows, positionOf) {
  for (const [position, column, number] of edits)
    rows.forEach((row, i) => {
      if (positionOf(i) === position && column < row.length && row[column] > -Infinity) row[column] = number;
    });
}

/** Returns a context for the computation, whose `keep` edits the rows of a name and calls `store`.
 *
 * Row i is at position i; in `of(positions)` it is at positions[i], and `at(i)` is for that row alone.
 */
function buildContext(off, edits, store) {
  const build = positionOf => ({
    off, at: i => build(() => positionOf(i)), of: positions => build(i => positions[i]),
    keep(name, rows) {
      if (edits.has(name)) applyEdits(edits.get(name), rows, positionOf);
      store(name, rows);
    },
  });
  return build(i => i);
}

/** Returns the names and rows of all intermediates for source ids and an output with END. */
function* traceModel(model, source, output, off, edits = new Map()) {
  const trace = {}, context = buildContext(off, edits, (name, rows) => (trace[name] = [...(trace[name] ?? []), ...rows])), memory = projectMemory(model, yield* encode(model, source, context), context);
  const rows = yield* decodeAll(model, memory, [BEGIN, ...output.slice(0, -1)], context);
  for (const [i, row] of rows.entries()) {
    computeLogits(model, [row], context.at(i));
    yield;
  }
  trace.probabilities = trace.logits.map(softmax);
  return trace;
}
