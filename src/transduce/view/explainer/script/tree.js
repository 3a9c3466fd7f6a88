// The beam: every step's live hypotheses as a tree, and what became of each candidate of one step.

const FATES = { live: gettext("stays live"), finished: gettext("finished"), cut: gettext("cut") };

/** Returns the readable pieces of ids. */
const piecesText = ids => ids.map(writtenPiece).join(" ");

/** Returns the panel of the beam: tree, steps, candidates of the chosen step. */
function showBeam() {
  const { search: { steps, best } } = page.result, at = Math.min(state.step, steps.length - 1), step = steps[at];
  const final = best ? gettext("Best in the end: {0}, score {1}.", decodeIds(VOCABULARIES.target, best.ids), madeOf(best.score, best.logProb)) : gettext("No output is finished.");
  const move = (text, label, to) => createButton(() => change({ step: to }), { "aria-label": label, disabled: to < 0 || to >= steps.length }, text);
  const play = createButton(togglePlay, { id: "play" }, page.timer ? gettext("Stop") : gettext("Play"));
  const bar = create("p", { className: "bar" }, move("◀", gettext("Step before"), at - 1), create("span", {}, gettext("Step {0} of {1}", at + 1, steps.length)), move("▶", gettext("Next step"), at + 1), play, create("span", { className: "quiet", dir: "auto" }, final));
  const scroll = createRegion("scroll", gettext("Tree of the search"), drawTree(steps, at));
  return [create("section", { className: "box full" }, bar, doneText(step, at, steps.length), scroll, create("p", { className: "legend" }, create("span", { className: "key line best" }), ` ${gettext("leads to the best output")} `, create("span", { className: "key line finished" }), ` ${gettext("finished")}`), candidateTable(step))];
}

/** Shows the width of the beam, and offers a sentence: one whose output another α changes, or at the stages the film's. */
function showOffer({ id }) {
  const { text, alpha } = header.experiments.alpha ?? {}, name = `α = ${oneDigit(alpha ?? 0)}`, films = header.reading.text;
  const offer = (parts, said) => [gettext("Try it:"), " ", createButton(() => change(parts, { remember: true }), { dir: "auto" }, said)];
  byId("beam-width").hidden = id !== "beam";
  byId("offer").hidden = id === "beam" ? !header.experiments.alpha : id !== "stages" || films === state.text;
  fill("offer", ...(id === "stages" ? offer({ text: films }, visible(films)) : text ? offer({ ...unchanged(), text, alpha }, `${name}: ${visible(text)}`) : [`α: ${gettext("No sentence that was tried changes in this model.")}`]));
}

/** Plays the steps from the chosen one, one a second, or stops. */
function togglePlay() {
  if (page.timer) page.timer = clearInterval(page.timer);
  else {
    if (state.step >= page.result.search.steps.length - 1) change({ step: 0 });
    page.timer = setInterval(() => {
      if (state.panel !== "beam" || state.step >= page.result.search.steps.length - 1) return togglePlay();
      return change({ step: state.step + 1 });
    }, 1000);
  }
  showPanel();
}

/** Returns a score or a bound, and what it is made of: log P over a divisor, or plus a reward. */
const madeOf = (score, logP) => (header.search.penalty === "reward" ? `${show5(score)} = ${show5(logP)} + ${show5(score - logP)}` : `${show5(score)} = ${show5(logP)} / ${show5(logP / score)}`);

/** Returns why the search ends after a step, or goes on. */
function doneText({ best, bound, candidates }, at, count) {
  const first = candidates.find(one => one.fate === "live")?.logProb, isLive = first !== undefined, reach = isLive ? madeOf(bound, first) : "", score = best ? show5(best.score) : "";
  const text = !isLive ? gettext("No beginning is live: the search ends.") : at < count - 1 ? (best ? gettext("The best live beginning can still reach {0}, and the best finished one has {1}: the search goes on.", reach, score) : gettext("The best live beginning can still reach {0}: the search goes on.", reach)) : best && bound <= best.score ? gettext("No live beginning can do better than {0}, and the best finished one has {1}: the search ends.", reach, score) : gettext("The output may not be longer: the search ends.");
  return create("p", { className: "quiet done" }, text);
}

/** Returns the candidates of a step as a table. */
function candidateTable({ candidates, live }) {
  const rows = candidates.map(({ parent, id, logProb, fate, score }, i) => {
    const text = fate === "finished" ? gettext("finished: score {0}", madeOf(score, logProb)) : fate === "cut" ? gettext("cut: {0} better ones stay", state.beam) : FATES[fate];
    return create("tr", { className: fate }, create("td", {}, i + 1), create("td", { dir: "auto" }, piecesText(live[parent].ids), " ", create("strong", {}, writtenPiece(id))), create("td", {}, show5(logProb)), create("td", {}, text));
  });
  const head = headRow([gettext("rank"), gettext("continuation"), gettext("log P"), gettext("what becomes of it")]);
  return createRegion("rows", gettext("Candidates of the step"), create("table", {}, create("caption", {}, gettext("Live beginnings: {1}, their best continuations: {0}", candidates.length, live.length)), head, create("tbody", {}, ...rows)));
}

const TREE = { column: 96, row: 30, top: 22 };

/** Returns the tree of the steps up to one as SVG: a column for each, a line from each hypothesis to the one it continues. */
function drawTree(steps, at) {
  const columns = treeColumns(steps.slice(0, at + 1)), height = TREE.top + TREE.row * Math.max(...columns.map(column => column.length)), parts = [];
  columns.forEach((column, t) => {
    parts.push(createSvg("text", { x: TREE.column * t + 4, y: 14, class: "quiet-text" }, t ? String(t) : gettext("begin")));
    column.forEach((node, i) => {
      const x = TREE.column * t, y = TREE.top + TREE.row * i + 13;
      if (node.parent >= 0) parts.push(createSvg("path", { class: node.best ? "line best" : "line", d: `M${x - 16} ${TREE.top + TREE.row * node.parent + 13}L${x} ${y}` }));
      parts.push(treeNode(node, x, y, t, at));
    });
  });
  return createSvg("svg", { width: columns.length * TREE.column, height: height + 4, class: "tree", "aria-hidden": "true" }, ...parts);
}

/** Returns one hypothesis of the tree. */
function treeNode(node, x, y, t, at) {
  const text = node.text.length > 9 ? `${node.text.slice(0, 8)}…` : node.text, group = createSvg("g", { class: `node ${node.fate}${node.best ? " best" : ""}${t === at + 1 ? " now" : ""}` });
  group.append(createSvg("title", {}, `${node.full}: log P ${show5(node.logProb)}, ${FATES[node.fate]}`), createSvg("rect", { x, y: y - 12, width: TREE.column - 16, height: 24, rx: 5 }), createSvg("text", { x: x + 5, y: y + 4 }, text));
  group.addEventListener("click", () => change({ step: Math.max(0, t - 1) }));
  return group;
}

/** Returns the hypotheses of the tree by step: live ones in their order, then finished ones. */
function treeColumns(steps) {
  const best = page.result.search.best?.ids ?? [], isBest = ids => ids.every((id, i) => id === best[i]);
  const node = ({ ids, logProb, fate, parent }) => ({ text: ids.length ? writtenPiece(ids.at(-1)) : "<s>", full: piecesText(ids), logProb, fate, parent, best: isBest(ids) });
  return [[node({ ids: [], logProb: 0, fate: "live", parent: -1 })], ...steps.map(({ candidates }) => [...candidates.filter(one => one.fate === "live"), ...candidates.filter(one => one.fate === "finished")].map(node))];
}
