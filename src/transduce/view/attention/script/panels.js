// Fills the panels of strongest words, legend, head tendencies, decoder steps and beam.

const SHOWN = 10; // most words in the table of the strongest

const fixed = (value, digits) => value.toFixed(digits).replace(".", POINT);
const percent = share => `${fixed(100 * share, share < 0.0995 ? 1 : 0)} %`;
const tableRow = (...texts) => create("tr", {}, ...texts.map(text => create("td", {}, create("bdi", {}, text))));

const fillTable = (id, rows) => byId(id).tBodies[0].replaceChildren(...rows);

/** Returns a label, its share and the entropy in bits of what a head tends to read. */
const tendencyOf = (layer, head) => header.tendencies[state.kind][kindNow().layers.indexOf(layer)][head - 1];

/** Returns for each unit of the other side its weight, averaged over heads and summed over chosen units; strongest first. */
function rankOthers(shown, { side, units }) {
  const byReader = side === "readers", width = shown.width;
  const ranked = (byReader ? shown.columns : shown.rows).map((unit, at) => {
    let sum = 0, most = -1, best = 0;
    shown.heads.forEach(({ values }, h) => {
      let weight = 0;
      for (const one of units) weight += values[byReader ? one * width + at : at * width + one];
      sum += weight;
      if (weight > most) [most, best] = [weight, h];
    });
    return { unit, at, mean: sum / shown.heads.length, most, best };
  });
  return ranked.sort((a, b) => b.mean - a.mean || a.at - b.at);
}

/** Shows the table of what the chosen words read, or of what reads them. */
function showChosen() {
  const chosen = chosenNow();
  byId("strongest").hidden = !chosen.side;
  byId("none").hidden = chosen.side;
  if (!chosen.side) return;
  const units = chosen.units.map(i => page[chosen.side][i]), step = chosen.side === "readers" && units.length === 1 ? stepOf(units[0]) : "";
  byId("words").textContent = units.map(unit => unit.text).join(" ");
  byId("verb").textContent = (step && `(${step}) `) + gettext(chosen.side === "readers" ? "reads" : "is read by");
  const ranked = rankOthers(page.shown, chosen).slice(0, SHOWN).filter(one => one.mean > 0);
  const rows = ranked.map(one => tableRow(one.unit.text, fixed(one.mean, 3), `${nameHead(page.shown.heads[one.best])}: ${fixed(one.most, 3)}`));
  fillTable("strongest", rows);
}

/** Says which two words the crosshair joins, or how the sentences are aligned. */
function showReadout() {
  const { readers, read } = crosshair(), { shown } = page, [row] = readers, [column] = read;
  let text = isView("align") ? gettext("Alignment (source-output): {0}", alignmentText()) : "";
  if (isView("matrix") && readers.length && read.length) {
    const weights = shown.heads.map(head => `${nameHead(head)}: ${fixed(head.values[row * shown.width + column], 3)}`);
    text = `\u2068${shown.rows[row].text}\u2069 ${gettext("reads")} \u2068${shown.columns[column].text}\u2069 — ${weights.join(", ")}`;
  }
  byId("readout").textContent = text;
}

const nameHead = ({ number }) => number || gettext("mean");

const ROWS = {
  encoder: "Each word reads all words of the source.",
  decoder: "A row is a step of the decoder: it has read the word on the row, and writes the next one.",
  cross: "A row is a step of the decoder: it writes the word on the row, and has read the words before it.",
};

/** Says what a row is, what the strength of a line is, and how much weight is not drawn, where some is not. */
function showLegend() {
  const { threshold, marks, kind, heads, mean, peaks } = state, mass = hiddenMass(page.shown, threshold);
  const all = isView("grid") || isView("align"), many = heads.length > 1 && !mean && !isView("matrix");
  const scale = all ? "" : peaks ? "The largest weight of a row is drawn in full." : many ? "The stronger a line, the larger the weight: divided by the number of heads, unless a word is chosen." : "The stronger a line or a cell, the larger the weight: full is 1, and a row sums to 1.";
  byId("legend").textContent = `${gettext(ROWS[kind])} ${gettext(scale)}`;
  byId("mass").textContent = all ? "" : gettext("Weights below {0} are not drawn: {1}.", fixed(threshold, 4), percent(mass.small)) + (marks ? "" : " " + gettext("The hidden marks of begin and end have {0} of the weight.", percent(mass.marks)));
}

/** Returns the word, or the piece, of a sequence at a position. */
const textAt = ({ words, pieces }, at) => visible((state.words && words.find(([first, last]) => first <= at && at <= last)?.[2]) || pieces[at]);

/** Returns what the step of a row writes and has read, or nothing in the encoder. */
function stepOf({ first, last }) {
  const at = state.kind === "cross" ? first : last;
  return state.kind === "encoder" ? "" : gettext("writes {0}, has read {1}", textAt(header.output, at), textAt(header.input, at));
}

/** Lists what the heads that are on tend to read in this layer. */
function showTendencies() {
  const row = head => {
    const [label, share, entropy] = tendencyOf(state.layer, head);
    return tableRow(head, gettext(label), percent(share), gettext("{0} bits", fixed(entropy, 2)));
  };
  fillTable("tendencies", state.heads.map(row));
}

/** Makes a button of each step of the output. */
function buildSteps() {
  byId("steps-panel").hidden = !header.steps.length;
  const button = ({ chosen: [piece, probability] }, i) =>
    create("button", { onclick: () => goToStep(i + 1) }, create("bdi", {}, visible(piece)), " ", create("small", {}, percent(probability)));
  fill("steps", ...header.steps.map(button));
}

/** Chooses a step of the output and the word that reads for it; lets a chosen step go, but not the word. */
function goToStep(step) {
  const own = { step: step === state.step ? 0 : step };
  const at = state.kind === "encoder" ? -1 : allUnits(state, "readers").findIndex(unit => unit.first < step && step <= unit.last + 1);
  return change(at < 0 || !own.step ? own : { ...own, readers: [at], read: [] });
}

/** Shows the pieces that were probable at the chosen step, and the beam before it. */
function showStep() {
  const { step } = state, { alternatives = [], beam = [] } = header.steps[step - 1] ?? {};
  [...byId("steps").children].forEach((button, i) => setOnce(button, "aria-pressed", i + 1 === step));
  byId("step").hidden = !step;
  byId("beam").hidden = !beam.length;
  byId("number").textContent = step;
  const list = pieces => pieces.map(([piece, p]) => `${visible(piece)} ${percent(p)}`).join(", ");
  fillTable("next", alternatives.map(([piece, p]) => tableRow(visible(piece), percent(p))));
  fillTable("beam", beam.map((one, i) => tableRow((one.chosen ? "→ " : "") + visible(beamText(step - 1, i)), fixed(one.logProb, 2), list(one.alternatives))));
}

/** Returns the pieces of a hypothesis of the beam before a step, from its parents. */
function beamText(step, index) {
  const { parent, piece } = header.steps[step].beam[index];
  return step > 0 && parent >= 0 ? `${beamText(step - 1, parent)} ${piece}`.trim() : piece;
}
