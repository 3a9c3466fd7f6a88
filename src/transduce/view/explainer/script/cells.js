// How each number of the trace is computed from numbers before it; the page shows it on a click.

/** Returns the name of the residual stream before a sub-layer such as "encoder.2.ff". */
function streamBefore(name) {
  const [stack, layer, part] = name.split("."), parts = stack === "encoder" ? ["self", "ff"] : ["self", "cross", "ff"], at = parts.indexOf(part);
  const side = header.sizes.norm === "pre" ? "sum" : "norm";
  if (at > 0) return `${stack}.${layer}.${parts[at - 1]}.${side}`;
  return layer === "1" ? `${stack === "encoder" ? "source" : "target"}.input` : `${stack}.${layer - 1}.ff.${side}`;
}

/** Returns the name of the rows that a sub-layer reads: normed ones in pre-norm. */
const readBefore = name => (header.sizes.norm === "pre" ? `${name}.norm` : streamBefore(name));

/** Returns the sum Σ a[k] b[k] as terms, with a bias if there is one. */
function productTerms(a, b, bias = 0) {
  const terms = Array.from(a, (x, k) => [k + 1, x, b[k]]);
  return { terms, bias, total: terms.reduce((sum, [, x, y]) => sum + x * y, bias) };
}

/** Returns the sum of x Wᵀ + b at one place, by the matrix of a name and its bias if the model has one. */
function projectionTerms(model, name, x, row) {
  const { data, shape: [, width] } = model.weights[`${name}.weight`];
  return productTerms(x, data.subarray(row * width, (row + 1) * width), model.weights[`${name}.bias`]?.data[row]);
}

/** Returns the softmax of a row at one place as its parts. */
function shareOf(scores, j, formula) {
  const top = Math.max(...scores), powers = Array.from(scores, score => Math.exp(score - top)), total = powers.reduce((a, b) => a + b, 0);
  return { formula, steps: [[gettext("score"), scores[j]], [gettext("largest score of the row"), top], [gettext("exp(score − largest)"), powers[j]], [gettext("sum of all"), total]], value: powers[j] / total };
}

/** Returns LayerNorm of a row at one place as its parts. */
function normOf(model, row, j, path) {
  const [mean, scale] = moments(row, model.sizes.norm_epsilon), [gain, bias] = ["weight", "bias"].map(part => model.weights[`${path}.${part}`].data[j]);
  return {
    formula: gettext("LayerNorm: (x − mean) / √(variance + ε) · gain + bias"),
    steps: [["x", row[j]], [gettext("mean of the row"), mean], ["ε", model.sizes.norm_epsilon], [gettext("1 / √(variance + ε)"), scale], [gettext("gain"), gain], [gettext("bias"), bias]],
    value: (row[j] - mean) * scale * gain + bias,
  };
}

/** Returns how embeddings and positions come about. */
function inputCell(model, trace, side, part, i, j, ids) {
  const root = Math.sqrt(model.sizes.d_model);
  if (part === "embedding") {
    const weight = model.embeddings[side].data[ids[i] * model.sizes.d_model + j];
    return { formula: "√d_model · E(w)", steps: [["E(w)", weight], ["√d_model", root]], value: weight * root };
  }
  if (part === "input") return sumOf(gettext("embedding + position"), trace[`${side}.embedding`][i][j], trace[`${side}.position`][i][j]);
  const value = trace[`${side}.position`][i][j], learned = model.sizes.positions === "learned", [power, isCosine] = wave(model.sizes, j);
  if (page.result.off.has(`${side}.position`)) return { formula: gettext("the positions are off: 0"), steps: [], value: 0 };
  if (learned) return { formula: gettext("a learned vector"), steps: [[gettext("number"), value]], value };
  const angle = i / power, halves = model.sizes.positions === "tensor2tensor", exponent = halves ? "i/(d_model/2 - 1)" : "2i/d_model";
  const column = halves ? (isCosine ? "d_model/2 + i" : "i") : isCosine ? "2i+1" : "2i", formula = `PE(pos, ${column}) = ${isCosine ? "cos" : "sin"}(pos / 10000^(${exponent}))`;
  return { formula, steps: [["pos", i], [`10000^(${exponent})`, power], [gettext("angle"), angle]], value: isCosine ? Math.cos(angle) : Math.sin(angle) };
}

const sumOf = (formula, a, b) => ({ formula, steps: [[gettext("first"), a], [gettext("second"), b]], value: a + b });

/** Returns how a number of an attention sub-layer comes about. */
function attentionCell(model, trace, name, what, head, i, j) {
  const { heads, d_k, d_v } = model.sizes, [stack, layer, kind] = name.split("."), path = `${stack}.${layer - 1}.${kind}_attention`, h = head - 1;
  if ("qkv".includes(what)) {
    const fromMemory = kind === "cross" && what !== "q", rows = trace[fromMemory ? "encoder.output" : readBefore(name)];
    const first = { q: 0, k: kind === "cross" ? 0 : heads * d_k, v: (kind === "cross" ? 1 : 2) * heads * d_k }[what];
    const matrix = kind === "self" ? "query_key_value" : what === "q" ? "query" : "key_value";
    const found = projectionTerms(model, `${path}.${matrix}`, rows[i], first + j), letter = what.toUpperCase();
    return { formula: BIASED ? `${what} = x W^(${letter}) + b^(${letter})` : `${what} = x W^(${letter})`, ...found, value: found.total };
  }
  if (what === "scores") {
    const part = rows => rows.subarray(h * d_k, (h + 1) * d_k), found = productTerms(part(trace[`${name}.q`][i]), part(trace[`${name}.k`][j]));
    const shut = !Number.isFinite(trace[`${name}.scores.${head}`][i][j] ?? -Infinity);
    return { formula: shut ? gettext("masked: −∞, whatever q · k is") : "q · k / √dₖ", ...found, divisor: Math.sqrt(d_k), value: shut ? -Infinity : found.total / Math.sqrt(d_k) };
  }
  if (what === "weights") return shareOf(trace[`${name}.scores.${head}`][i], j, gettext("softmax of the row of scores"));
  if (what === "joined") {
    const of = Math.floor(j / d_v) + 1, weights = trace[`${name}.weights.${of}`][i], silent = page.result.off.has(`${name}.${of}`);
    const found = productTerms(weights, trace[`${name}.v`].slice(0, weights.length).map(row => row[j]));
    for (const term of found.terms) term[0] = visible(piecesOf(sidesOf(`${name}.v`)[0])[term[0] - 1]);
    return { formula: silent ? gettext("head {0} is off: 0", of) : gettext("Σ weight · v, head {0}", of), ...found, value: silent ? 0 : found.total };
  }
  const found = projectionTerms(model, `${path}.output`, trace[`${name}.joined`][i], j);
  return { formula: `Concat(head₁, …, head_h) W^(O)${BIASED ? " + b^(O)" : ""}`, ...found, value: found.total };
}

/** Returns how a number of the feed-forward network comes about. */
function forwardCell(model, trace, name, what, i, j) {
  const [stack, layer] = name.split("."), path = `${stack}.${layer - 1}.feed_forward`, inner = what === "inner";
  const part = inner ? "inner" : "outer", rows = trace[inner ? readBefore(name) : `${name}.inner`];
  const found = projectionTerms(model, `${path}.${part}`, rows[i], j), { activation } = model.sizes;
  return { formula: inner ? ACTIVATED[activation]("x W₁ + b₁") : "h W₂ + b₂", ...found, value: inner ? ACTIVATIONS[activation](found.total) : found.total };
}

/** Returns whether number j of row i can be set by hand: its name can, and it is not masked. */
function isEditable(trace, name, i, j) {
  const scores = trace[name.replace(".weights.", ".scores.")]; // −∞ where weights are masked
  return EDITABLE.test(name) && Number.isFinite(scores[i][j]);
}

/** Returns how number j of row i of a name comes about: {formula, terms or steps, value}. */
function explainCell(model, trace, name, i, j, ids) {
  const parts = name.split("."), edit = page.result.edits.get(name)?.findLast(([position, column]) => position === i && column === j);
  if (edit && isEditable(trace, name, i, j)) return { formula: gettext("set by hand"), steps: [], value: Math.fround(edit[2]) };
  if (["source", "target"].includes(parts[0])) return inputCell(model, trace, parts[0], parts[1], i, j, ids[parts[0]]);
  if (name === "logits") {
    const found = productTerms(trace["decoder.output"][i], model.output.data.subarray(j * model.sizes.d_model, (j + 1) * model.sizes.d_model), model.outputBias?.data[j]);
    return { formula: LOGIT, ...found, value: found.total };
  }
  if (name === "probabilities") return shareOf(trace.logits[i], j, gettext("softmax of the logits"));
  if (parts[1] === "output") return outputCell(model, trace, parts[0], i, j);
  const sub = parts.slice(0, 3).join("."), what = parts[3], { off } = page.result;
  if (what === "sum") return sumOf(isBare(sub, off) ? gettext("the residual is off") : "x + Sublayer(x)", isBare(sub, off) ? 0 : trace[streamBefore(sub)][i][j], trace[`${sub}.output`][i][j]);
  const add = `${parts[0]}.${parts[1] - 1}.add_${{ self: "self", cross: "cross", ff: "feed_forward" }[parts[2]]}.norm`;
  if (what === "norm") return normOf(model, trace[header.sizes.norm === "pre" ? streamBefore(sub) : `${sub}.sum`][i], j, add);
  if (what === "output" && isSilent(sub, off)) return { formula: gettext("this sub-layer is off: 0"), steps: [], value: 0 };
  return parts[2] === "ff" ? forwardCell(model, trace, sub, what, i, j) : attentionCell(model, trace, sub, what, Number(parts[4]), i, j);
}

/** Returns how the output of a stack comes about: it is the last layer's; in pre-norm, its norm. */
function outputCell(model, trace, stack, i, j) {
  const last = `${stack}.${DEPTHS[stack]}.ff`;
  if (header.sizes.norm === "pre") return normOf(model, trace[`${last}.sum`][i], j, `${stack}_final_norm`);
  const value = trace[`${last}.norm`][i][j];
  return { formula: gettext("the output of the last layer"), steps: [[gettext("number"), value]], value };
}
