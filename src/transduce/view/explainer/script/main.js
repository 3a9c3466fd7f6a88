const header = readJson("header");
const VOCABULARIES = { source: readVocabulary(header.vocabularies.source) };
VOCABULARIES.target = header.vocabularies.target ? readVocabulary(header.vocabularies.target) : VOCABULARIES.source;
const page = { models: [], ready: false };

/** Returns the ids of a text with END. */
const encodeSource = text => [...encodeText(VOCABULARIES.source, normalise(text)), END];

/** Returns the model of a stage, opened when it is first asked for. */
async function openStage(number) {
  page.models[number] ??= buildModel(header.sizes, await openWeights(header.stages[number]));
  return page.models[number];
}

/** Compares the numbers of PyTorch for the example with those of this page; returns the difference. */
function checkExample(model) {
  const { source, output, numbers } = header.example, trace = finish(traceModel(model, source, output, new Set()));
  let most = 0;
  for (const [name, expected] of Object.entries(numbers)) {
    const row = trace[name].at(-1), stride = Math.max(1, Math.floor(row.length / 4));
    expected.forEach((x, i) => (most = Math.max(most, Math.abs(x - row[i * stride]))));
  }
  return most;
}

async function main() {
  byId("title").textContent = `How ${header.model.name} translates`;
  const model = await openStage(0);
  byId("text").value = header.example.text;
  byId("ask").addEventListener("submit", event => {
    event.preventDefault();
    translate(model);
  });
  byId("check").textContent = `Largest difference from PyTorch: ${checkExample(model).toExponential(1)}`;
  translate(model);
  page.ready = true;
}

function translate(model) {
  const { best } = finish(beamSearch(model, encodeSource(byId("text").value), header.search));
  byId("translation").textContent = decodeIds(VOCABULARIES.target, best.ids);
}

main();
window.transduce = { header, page, VOCABULARIES, normalise, encodeSource, decodeIds, readablePiece, openStage, traceModel, beamSearch, finish, checkExample };
