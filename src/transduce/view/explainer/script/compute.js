// Computes what the state asks for, in slices, so that the page stays alive.

const SLICE = 12; // milliseconds of computing before the page may draw

/** Returns the ids of a text with END. */
const encodeSource = text => [...encodeText(VOCABULARIES.source, normalise(text)), END];

/** Returns the model of a stage, opened when it is first asked for. */
function openStage(number) {
  page.models[number] ??= openWeights(header.stages[number]).then(weights => buildModel(header.sizes, weights));
  return page.models[number];
}

/** Runs a generator in slices; returns undefined if `isWanted` becomes false. */
async function runSliced(generator, isWanted) {
  let begun = performance.now();
  for (;;) {
    const { done, value } = generator.next();
    if (done) return value;
    if (performance.now() - begun < SLICE) continue;
    await new Promise(resolve => setTimeout(resolve));
    if (!isWanted()) return undefined;
    begun = performance.now();
  }
}

/** Returns what the search of a state found, with model and settings; null if no longer wanted. */
async function searchNow(asked, isWanted) {
  const model = await openStage(asked.stage), source = encodeSource(asked.text), off = new Set(asked.off), edits = readEdits(asked.edits);
  const settings = { ...header.search, beam: asked.beam, alpha: asked.alpha }, prefix = asked.prefix ? encodeText(VOCABULARIES.target, normalise(asked.prefix)) : [];
  const found = await runSliced(beamSearch(model, source, settings, off, prefix, edits), isWanted);
  if (!found) return null;
  return { model, source, off, edits, search: found, settings, output: found.best?.ids ?? [END] };
}

/** Returns the translation that a search found. */
const textOf = found => (found?.search.best ? decodeIds(VOCABULARIES.target, found.output) : gettext("(no output)"));

/** Computes search and trace of the state and, if anything is changed, the search without it. */
async function compute() {
  const turn = ++page.turn, isWanted = () => turn === page.turn, asked = state, count = encodeSource(asked.text).length;
  page.ready = false;
  byId("busy").hidden = false;
  const problem = count === 1 ? gettext("Type a sentence.") : count > header.longest ? gettext("This sentence has {0} pieces, and the page reads at most {1}.", count, header.longest) : "";
  fill("problem", problem);
  if (problem) {
    page.result = page.before = null;
    return finishTurn();
  }
  if (!page.result && haveSameNumbers(firstState(), asked)) showStrips();
  const result = await searchNow(asked, isWanted), whole = { ...asked, ...unchanged() };
  const before = result && !haveSameNumbers(whole, asked) ? await searchNow(whole, isWanted) : null;
  if (!result || !isWanted()) return undefined;
  const trace = await runSliced(traceModel(result.model, result.source, result.output, result.off, result.edits), isWanted);
  if (!isWanted()) return undefined;
  page.result = { ...result, trace };
  page.before = before;
  return finishTurn();
}

/** Shows the state with what was computed, and marks the page as ready. */
function finishTurn() {
  show();
  byId("busy").hidden = true;
  page.ready = true;
}

/** Compares PyTorch's numbers for the example with this page's; returns the largest difference. */
async function checkExample(model) {
  const { source, output, numbers: expected } = header.example, trace = await runSliced(traceModel(model, source, output, new Set()), () => true);
  let most = 0;
  for (const [name, values] of Object.entries(expected)) {
    const row = trace[name].at(-1), stride = Math.ceil(row.length / 4);
    values.forEach((x, i) => (most = Math.max(most, Math.abs(x - row[i * stride]))));
  }
  return most;
}
