// Switches parts of the model off, and compares the translation before and after.

const KINDS = { self: gettext("self-attention"), cross: gettext("cross-attention"), ff: gettext("feed-forward") };
const STACKS = { encoder: gettext("encoder"), decoder: gettext("decoder") };

const PARTS_OF = {
  q: gettext("query"), k: gettext("key"), v: gettext("value"), scores: gettext("score"), weights: gettext("weight"), joined: gettext("heads joined"), output: gettext("output"),
  sum: gettext("sum with the residual"), norm: gettext("normalised"), inner: gettext("wide layer"), embedding: gettext("embedding"), position: gettext("position"), input: gettext("embedding + position"),
};

/** Returns the words for the name of an intermediate, such as "encoder.1.self.weights.2". */
function describeName(name) {
  const [stack, layer, part, what, head] = name.split(".");
  if (!layer) return { logits: gettext("logit"), probabilities: gettext("probability") }[stack];
  if (!part) return `${SIDES[stack] ?? STACKS[stack]}, ${PARTS_OF[layer]}`;
  const sub = `${gettext("{0} layer {1}", STACKS[stack], layer)}, ${KINDS[part]}`;
  return `${head ? gettext("{0}: head {1}", sub, head) : sub}, ${PARTS_OF[what === "sum" && isBare(name.replace(".sum", ""), page.result.off) ? "output" : what]}`;
}

/** Returns the words for a name and the number of a column in it; queries, keys and values are counted in their head. */
function placeOf(name, j) {
  const { d_k, d_v } = header.sizes, size = { q: d_k, k: d_k, v: d_v }[name.split(".")[3]];
  return size ? [describeName(`${name}.${Math.floor(j / size) + 1}`), (j % size) + 1] : [describeName(name), Number(j) + 1];
}

/** Returns the words for a name that can be switched off. */
function describeSwitch(name) {
  const fixed = { mask: gettext("the decoder's mask"), "source.position": gettext("positions of the source"), "target.position": gettext("positions of the output") }[name];
  if (fixed) return fixed;
  const [stack, layer, part, what] = name.split("."), whole = gettext("{0} layer {1}", STACKS[stack], layer);
  if (!part) return whole;
  const sub = `${whole}, ${KINDS[part]}`;
  return what === "residual" ? gettext("{0}: its residual", sub) : what ? gettext("{0}: head {1}", sub, what) : sub;
}

/** Returns a button that switches a name off and on again; some browsers give a pressed button no focus, and the result stands where it is. */
const switchButton = (name, text) => createButton(({ currentTarget }) => (currentTarget.focus({ preventScroll: true }), change({ off: state.off.includes(name) ? state.off.filter(one => one !== name) : [...state.off, name] }, { remember: true })), { "data-name": name, className: "switch", "aria-label": describeSwitch(name), title: describeSwitch(name) }, text);

/** Fills the list of all switches, once. */
function fillSwitches() {
  const { heads } = header.sizes;
  fill("inputs", ...["source.position", "target.position", "mask"].map(name => switchButton(name, describeSwitch(name))));
  const rows = Object.entries(PARTS).flatMap(([stack, parts]) => numbers(DEPTHS[stack]).flatMap(layer => parts.map((part, i) => {
    const name = `${stack}.${layer}.${part}`, of = part === "ff" ? [] : numbers(heads).map(head => switchButton(`${name}.${head}`, head));
    const first = create("td", {}, i ? "" : switchButton(`${stack}.${layer}`, describeSwitch(`${stack}.${layer}`)));
    return create("tr", {}, first, create("td", {}, switchButton(name, KINDS[part])), create("td", {}, switchButton(`${name}.residual`, gettext("residual"))), create("td", {}, ...of));
  })));
  const head = headRow([gettext("layer"), gettext("sub-layer"), gettext("residual"), gettext("heads")]);
  fill("parts", create("caption", {}, gettext("Press a part to switch it off")), head, create("tbody", {}, ...rows));
}

/** Returns the words for a number that is set by hand. */
function describeEdit(text) {
  const [, name, i, j, number] = EDIT.exec(text);
  const [place, column] = placeOf(name, j);
  return gettext("{0}, row {1}, column {2} is {3}", place, Number(i) + 1, column, show5(Number(number)));
}

/** Returns the words of a text, with those marked that another one lacks, or has at another place if it is as long. */
function markWords(text, other) {
  const words = text.split(" "), others = other.split(" ");
  return words.flatMap((word, i) => [i ? " " : "", (words.length === others.length ? word === others[i] : others.includes(word)) ? word : create("mark", {}, word)]);
}

/** Returns a text in which what comes again and again stands three times. */
const shorten = text => text.replace(/(.{1,24}?)\1{7,}/gu, (all, one) => (all.length > 40 ? `${one.repeat(3)}…` : all));

/** Shows which parts are off, and both translations. */
function showSwitches() {
  const first = firstState(), settings = { stage: stageName(header.stages[state.stage]), beam: `${gettext("Beam")} ${state.beam}`, alpha: `α = ${oneDigit(state.alpha)}` }, set = [...state.edits.map(describeEdit), ...Object.keys(settings).flatMap(name => state[name] === first[name] ? [] : [settings[name]])];
  const edited = set.length ? gettext("Changed: {0}.", set.join("; ")) : "", forced = state.prefix ? gettext("The output begins with “{0}”.", visible(state.prefix)) : "", off = state.off.length ? gettext("Off: {0}.", state.off.map(describeSwitch).join("; ")) : "";
  fill("off", [off, edited, forced].filter(Boolean).join(" "));
  fill("altered", ...(state.off.length || state.edits.length || state.stage !== first.stage ? [byId("off").textContent, " ", gettext("The output may be nonsense now.")] : []));
  byId("switched").hidden = !byId("off").textContent;
  byId("undo").disabled = !page.undo.length;
  fill("translation", textOf(page.result));
  fill("after-text", shorten(textOf(page.result)));
  byId("compare").hidden = byId("switched").hidden;
  for (const id of ["before", "after", "changed"]) byId(id).hidden = !page.before;
  const { text, twin } = header.experiments.positions, other = { [text]: twin, [twin]: text }[state.text];
  fill("tried", visible(state.text), ...(other && state.off.includes("source.position") ? [" ", createButton(() => change({ text: other }, { remember: true }), {}, gettext("Swapped: {0}", visible(other)))] : []));
  const place = document.querySelector(byId("what-if").contains(document.activeElement) ? "#what-if .results" : ".panel .results");
  if (byId("compare").parentNode !== place) place.append(byId("compare")); // beside what was switched
  if (place.closest("#what-if")) byId("compare").scrollIntoView({ block: "nearest" });
  if (!page.before) return;
  const [was, is] = [page.before, page.result].map(found => shorten(textOf(found))), same = textOf(page.before) === textOf(page.result);
  fill("before-text", ...markWords(was, is));
  fill("after-text", ...markWords(is, was));
  const caution = same && state.off.length ? gettext("One sentence does not show that a part is useless.") : "";
  const masked = state.off.includes("mask") ? ` ${gettext("The pictures show the last step, when all is written. Earlier steps read only what was written by then.")}` : "";
  fill("changed", [same ? gettext("The translation is the same.") : gettext("It changed."), scoresText(same), caution].filter(Boolean).join(" ") + masked);
}

/** Returns the scores of both outputs; with another α alone, what it makes of either. */
function scoresText(same) {
  const { alpha, search, settings } = { ...state, ...page.result }, [was, is] = [page.before.search.best, search.best], first = firstState();
  if (!was || !is) return "";
  if (alpha === first.alpha) return gettext("Its score, the higher the better, was {0} and is {1}.", show5(was.score), show5(is.score));
  if (same || !haveSameNumbers({ ...state, ...unchanged(), alpha }, state)) return "";
  const quotient = ({ logProb, ids }, score = lengthScore(logProb, ids.length, settings)) => [score, logProb, logProb / score].map(show5);
  return gettext("With this α, the score of the one before is {0} = {1} / {2}, and that of this one {3} = {4} / {5}.", ...quotient(was), ...quotient(is));
}

/** Changes the model or its output where the two translations are out of sight, and brings them into it. */
async function changeInSight(parts) {
  await change(parts, { remember: true });
  byId("compare").scrollIntoView({ block: "nearest" });
}

/** Takes back the last switch, and nothing else. */
function undo() {
  const before = page.undo.pop();
  if (before) change(before);
}
