// Beam search with the length penalty    (section 6.1), as Python searches: ties go to the
// hypothesis that is better, then to the smaller id; sums of log P are float32.

// Divisor and reward of an output of n pieces, END included, by search.penalty.
const LENGTH_TERMS = {
  gnmt: (n, { alpha }) => [((5 + n) / 6) ** alpha, 0],
  average: n => [n, 0],
  none: () => [1, 0],
  reward: (n, { gamma }) => [1, gamma * n],
};

/** Returns the score of an output: log P / divisor + reward. */
function lengthScore(logProb, n, search) {
  const [divisor, reward] = LENGTH_TERMS[search.penalty](Math.max(1, n), search).map(Math.fround);
  return Math.fround(Math.fround(logProb / divisor) + reward);
}

/** Returns the `count` best continuations [total, parent, id] of live hypotheses, best first. */
function bestContinuations(live, logProbs, count) {
  const best = [];
  live.forEach(({ logProb }, parent) => {
    const row = logProbs[parent];
    for (let id = 0; id < row.length; id++) {
      const total = Math.fround(logProb + row[id]);
      if (best.length === count && total <= best[count - 1][0]) continue;
      let at = best.length;
      while (at > 0 && best[at - 1][0] < total) at -= 1;
      best.splice(at, 0, [total, parent, id]);
      if (best.length > count) best.pop();
    }
  });
  return best;
}

/** Returns the ids of the `count` largest numbers of a row. */
const likeliest = (row, count) => bestContinuations([{ logProb: 0 }], [row], count).map(([, , id]) => id);

/** Returns log P of the next piece after each live hypothesis, and their caches. */
function* nextLogProbs(model, memory, live, context) {
  const logits = rows => computeLogits(model, rows, context.of(live.map(one => one.ids.length))).map(logSoftmax);
  if (!context.off.has("mask")) {
    const [rows, caches] = yield* decodeStep(model, memory, live.map(one => ({ ids: [BEGIN, ...one.ids], cache: one.cache })), context);
    return [logits(rows), caches];
  }
  const rows = [];
  for (const one of live) rows.push((yield* decodeAll(model, memory, [BEGIN, ...one.ids], context)).at(-1));
  return [logits(rows), live.map(one => one.cache)];
}

/** Returns what a step of the search did to its candidates: each is live, finished or cut. */
function judge(candidates, live, width, atLimit, search) {
  let kept = 0;
  return candidates.map(([logProb, parent, id]) => {
    const ids = [...live[parent].ids, id];
    if (id === END) return { ids, parent, id, logProb, fate: "finished", score: lengthScore(logProb, ids.length, search) };
    const fate = !atLimit && kept < width ? "live" : "cut";
    kept += 1;
    return { ids, parent, id, logProb, fate };
  });
}

/** Returns {best, steps} of a search for source ids; best is null if none; yields by layer.
 *
 * A step is {live, candidates, bound, best}: hypotheses before it, their continuations, the best
 * score still possible after it, and the best output so far.
 */
function* beamSearch(model, source, search, off = new Set(), prefix = [], edits = new Map()) {
  const context = buildContext(off, edits, () => {}), memory = projectMemory(model, yield* encode(model, source, context), context);
  const limit = source.length - 1 + search.extra_length + 1, count = search.beam === 1 ? 1 : 2 * search.beam, steps = [];
  let live = [{ ids: [], logProb: 0, cache: emptyCache(model) }], best = null;
  for (;;) {
    const [logProbs, caches] = yield* nextLogProbs(model, memory, live, context), length = live[0].ids.length, atLimit = length + 1 === limit;
    if (length < prefix.length) logProbs.forEach(row => row.forEach((_, id) => id !== prefix[length] && (row[id] = -Infinity)));
    const ends = live.map(({ logProb }, i) => [Math.fround(logProb + logProbs[i][END]), i, END]);
    const found = (atLimit ? ends : bestContinuations(live, logProbs, count)).filter(([total]) => total > -Infinity);
    const candidates = judge(found, live, search.beam, atLimit, search);
    for (const one of candidates) if (one.fate === "finished" && (!best || one.score > best.score)) best = one;
    const next = candidates.filter(one => one.fate === "live").map(one => ({ ids: one.ids, logProb: one.logProb, cache: caches[one.parent] }));
    const bound = next.length ? lengthScore(next[0].logProb, limit, search) : -Infinity;
    steps.push({ live: live.map(({ ids, logProb }) => ({ ids, logProb })), candidates, bound, best });
    if (!next.length || length + 1 === limit || (best && bound <= best.score)) return { best, steps };
    live = next;
  }
}
