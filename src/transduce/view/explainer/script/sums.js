// The arithmetic of the model: rows are Float32Arrays, sums are taken in double precision.

/** Returns Σ a[i] b[start + i], added up in four partial sums. */
function dot(a, b, start) {
  const count = a.length, even = count - (count % 4);
  let s = 0, t = 0, u = 0, v = 0, i = 0;
  for (; i < even; i += 4) {
    s += a[i] * b[start + i];
    t += a[i + 1] * b[start + i + 1];
    u += a[i + 2] * b[start + i + 2];
    v += a[i + 3] * b[start + i + 3];
  }
  for (; i < count; i++) s += a[i] * b[start + i];
  return s + t + (u + v);
}

/** Writes base plus the dot products of four rows with a part of b into column j of `found`. */
function dotFour([a, c, e, g], b, start, found, first, j, base) {
  const count = a.length;
  let s = base, t = base, u = base, v = base;
  for (let i = 0; i < count; i++) {
    const w = b[start + i];
    s += a[i] * w;
    t += c[i] * w;
    u += e[i] * w;
    v += g[i] * w;
  }
  found[first][j] = s;
  found[first + 1][j] = t;
  found[first + 2][j] = u;
  found[first + 3][j] = v;
}

/** Returns x Wᵀ + b for each row x. */
function linear(rows, weight, bias) {
  const { data, shape: [outputs, inputs] } = weight, found = rows.map(() => new Float32Array(outputs));
  for (let first = 0; first < rows.length; first += 4) {
    const four = rows.slice(first, first + 4);
    for (let j = 0; j < outputs; j++) {
      const base = bias ? bias.data[j] : 0;
      if (four.length === 4) dotFour(four, data, j * inputs, found, first, j, base);
      else four.forEach((row, i) => (found[first + i][j] = base + dot(row, data, j * inputs)));
    }
  }
  return found;
}

// Between the two layers of the feed-forward network, by architecture.activation    (equation 2)
const ACTIVATIONS = { relu: x => (x > 0 ? x : 0), swish: x => x / (1 + Math.exp(-x)) };

/** Returns the sums of two lists of rows. */
const addRows = (rows, others) => rows.map((row, i) => row.map((x, j) => x + others[i][j]));

/** Returns the mean of a row and 1 / √(variance + ε), as LayerNorm divides by it. */
function moments(row, epsilon) {
  const mean = row.reduce((sum, x) => sum + x, 0) / row.length;
  const variance = row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / row.length;
  return [mean, 1 / Math.sqrt(variance + epsilon)];
}

/** Returns LayerNorm(x) of each row x    (section 3.1) */
function layerNorm(rows, gain, bias, epsilon) {
  return rows.map(row => {
    const [mean, scale] = moments(row, epsilon);
    return row.map((x, j) => (x - mean) * scale * gain.data[j] + bias.data[j]);
  });
}

/** Returns the softmax of scores; a score of -Infinity gets 0. */
function softmax(scores) {
  const top = scores.reduce((a, b) => Math.max(a, b), -Infinity);
  const powers = Float64Array.from(scores, score => Math.exp(score - top));
  const total = powers.reduce((a, b) => a + b, 0);
  return Float32Array.from(powers, power => power / total);
}

/** Returns the logarithm of the softmax. */
function logSoftmax(logits) {
  let top = -Infinity, total = 0;
  for (const logit of logits) top = Math.max(top, logit);
  for (const logit of logits) total += Math.exp(logit - top);
  return logits.map(logit => logit - top - Math.log(total));
}
