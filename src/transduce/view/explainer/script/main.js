// Starts the explainer page, connects its fields, buttons and keys, and shows its state.

/** Calls a function at each event of a name on the element of an id. */
const on = (id, name, act) => byId(id).addEventListener(name, act);

/** Shows the state and what was computed for it; of a refused sentence, nothing is shown. */
function show() {
  document.body.classList.toggle("refused", !page.result);
  showControls();
  showMap();
  showStrips();
  showTour();
  showPanel();
  if (page.result) {
    showSwitches();
    markTarget();
    showGuess();
  } else clearShown();
}

/** Takes away what was shown of the sentence before. */
function clearShown() {
  page.timer = clearInterval(page.timer);
  for (const id of ["translation", "altered", "before-text", "after-text", "changed", "boxes", "cell-title", "cell-rows", "guess-text", "guess-choices", "guess-told"]) fill(id);
}

/** Shows the pieces of the source and of its translation. */
function showStrips() {
  for (const side of ["source", "target"]) showStrip(`${side}-pieces`, piecesOf(side), side);
}

/** Brings the controls to the state. */
function showControls() {
  setValue("text", state.text);
  fitText();
  setValue("prefix", state.prefix);
  byId("beam").value = state.beam;
  fill("precision", gettext("{0} bits", { float16: 16, int8: 8, float32: 32 }[header.stages[state.stage].numbers]));
  byId("guess-first").setAttribute("aria-pressed", guess.isOn);
  for (const button of findAll(".switch")) button.setAttribute("aria-pressed", state.off.includes(button.dataset.name));
  for (const button of byId("examples").children) button.setAttribute("aria-pressed", button.textContent === visible(state.text));
}

const SIDES = { source: gettext("source"), target: gettext("target") };

/** Shows the pieces of a side as buttons that choose a row. */
function showStrip(id, pieces, side) {
  const marked = Math.min(state[side], pieces.length - 1);
  fill(id, ...pieces.map((piece, i) => createButton(() => moveTo(side, i), { dir: "auto", "aria-pressed": i === marked, "aria-label": gettext("{0} {1}: {2}", SIDES[side], i + 1, visible(piece)) }, visible(piece))));
}

/** Chooses a row of a side; a number that is open goes along. */
function moveTo(side, i) {
  const [name, row, column] = state.cell.split(":"), follows = name && row !== undefined && sidesOf(name)[0] === side && page.result.trace[name]?.[i]?.length > column;
  const focused = document.activeElement?.parentNode?.id;
  change({ [side]: i, ...(follows ? { cell: `${name}:${i}:${column}` } : {}) });
  if (focused?.endsWith("-pieces")) byId(focused).children[i]?.focus();
}

const moveRow = by => {
  const { side } = panelNow();
  moveTo(side, clamp(state[side] + by, 0, piecesOf(side).length - 1));
};
const movePanel = by => openStation(PANELS[clamp(PANELS.indexOf(panelNow()) + by, 0, PANELS.length - 1)].id);

const KEYS = {
  ArrowLeft: () => (state.panel === "beam" ? change({ step: Math.max(0, state.step - 1) }) : moveRow(-1)),
  ArrowRight: () => (state.panel === "beam" ? change({ step: Math.min(page.result.search.steps.length - 1, state.step + 1) }) : moveRow(1)),
  PageUp: () => movePanel(-1), PageDown: () => movePanel(1),
  "[": () => choose("layer", state.layer - 1), "]": () => choose("layer", state.layer + 1),
  t: () => goToTour(state.tour ? 0 : 1), "<": () => state.tour && goToTour(Math.max(1, state.tour - 1)), ">": () => goToTour(state.tour + 1),
  q: toggleGuess, u: undo, d: toggleTheme, g: () => save("svg"), p: () => save("png"), Escape: () => change({ cell: "" }), "?": () => byId("help").showModal(),
};

/** Does what a key stands for, wherever the focus is but in a field, or in what the key scrolls.
 * Some keyboards have brackets with AltGr, which is Ctrl and Alt, or with Option.
 */
function onKey(event) {
  const { key, target, altKey } = event, digit = /^\d$/.test(key) ? Number(key) : 0;
  if (event.metaKey || (altKey ? !"[]<>?".includes(key) : event.ctrlKey) || target.matches("input, select, textarea") || byId("help").open || byId("film").open) return;
  if (/^(Arrow|Page)/.test(key) && (target.matches(".scroll, .rows") || (!page.result && key[0] === "A"))) return;
  if (digit && panelNow().headed) choose("head", digit);
  else if (KEYS[key]) KEYS[key]();
  else return;
  event.preventDefault();
}

// What each button of the markup does.
const PRESSED = {
  "as-recipe": () => {
    const { slider } = panelNow();
    change({ [slider]: firstState()[slider] });
    byId("slider").focus();
  },
  "guess-first": toggleGuess, "guess-end": toggleGuess, "guess-more": askMore, "guess-show": () => answer(questionNow(), -1),
  undo, "undo-all": () => change(unchanged(), { remember: true }),
  "station-back": KEYS.PageUp, "station-next": KEYS.PageDown, thumb: () => byId("map").scrollIntoView({ block: "center" }),
  "begin-tour": () => goToTour(1), "tour-next": KEYS[">"], "tour-back": KEYS["<"], "tour-end": () => goToTour(0), "tour-print": printTour,
  "edit-undo": () => editCell(null), "close-cell": KEYS.Escape, svg: KEYS.g, png: KEYS.p, theme: toggleTheme, "show-help": KEYS["?"], "close-help": () => byId("help").close(),
  "begin-film": openFilm, "film-play": playOrPause, "film-close": () => byId("film").close(),
  "film-tour": () => (byId("film").close(), goToTour(1)),
};

/** Returns the name of a language in the page's language. */
function languageName(code) {
  try {
    return new Intl.DisplayNames(LOCALE, { type: "language" }).of(code);
  } catch {
    return code;
  }
}

/** Fills what does not depend on the state. */
function fillPage() {
  const { parameters, languages, example } = header;
  localise();
  document.title = gettext("How the model “{0}” translates", visible(header.title));
  fill("title", document.title);
  const sizes = [grouped(parameters), DEPTHS.encoder, DEPTHS.decoder];
  fill("about", languages.length ? gettext("A Transformer, as in “Attention Is All You Need” (here “the paper”): {0} numbers in {1} + {2} layers translate {3} to {4}. They are all in this page: watch them work, open any of them, or switch them off.", ...sizes, ...languages.map(languageName))
    : gettext("A Transformer, as in “Attention Is All You Need” (here “the paper”): {0} numbers in {1} + {2} layers were trained for the toy task “{3}” on lines of letters; what they write is called a translation here. They are all in this page: watch them work, open any of them, or switch them off.", ...sizes, header.task));
  fill("longest", header.longest);
  for (const one of findAll(".alpha")) one.hidden = !header.experiments.alpha;
  fill("beam", ...numbers(WIDEST).map(width => create("option", {}, width)));
  fill("deviations", header.notes.map(note => gettext(note)).join(" "));
  fill("examples", ...header.texts.map(text => createButton(() => change({ text, prefix: "", source: 0, target: 0, step: 0, cell: "" }), { dir: "auto" }, visible(text))));
  fillMap();
  fillChapters();
  byId("text").maxLength = byId("prefix").maxLength = 1000;
  byId("text").value = example.text;
  fitText();
}

/** Listens to what the reader does. */
function listen() {
  let timer = 0;
  const send = () => ((timer = 0), change({ text: byId("text").value, prefix: byId("prefix").value, source: 0, target: 0, step: 0, cell: "" }));
  const typed = () => {
    fitText();
    clearTimeout(timer);
    timer = setTimeout(send, 250);
  };
  on("text", "input", typed);
  on("text", "keydown", event => {
    if (event.key === "Enter" && !event.isComposing) event.preventDefault(), byId("ask").requestSubmit();
  });
  on("prefix", "input", typed);
  const sendNow = () => timer && (clearTimeout(timer), send());
  for (const id of ["text", "prefix"]) on(id, "change", sendNow);
  on("ask", "submit", event => (event.preventDefault(), sendNow()));
  on("tour-chapter", "change", () => goToTour(Number(byId("tour-chapter").value)));
  document.querySelector("#what-if > summary").addEventListener("click", () => requestAnimationFrame(() => byId("what-if").open && byId("what-if").scrollIntoView()));
  on("beam", "change", () => change({ beam: Number(byId("beam").value) }, { remember: true }));
  on("slider", "input", () => change({ [panelNow().slider]: byId("slider").valueAsNumber }));
  on("edit", "submit", event => {
    event.preventDefault();
    if (Number.isFinite(byId("edit-value").valueAsNumber)) editCell(byId("edit-value").valueAsNumber);
  });
  for (const [id, act] of Object.entries(PRESSED)) on(id, "click", act);
  listenToFilm();
  document.addEventListener("keydown", onKey);
  addEventListener("resize", fitText);
  addEventListener("hashchange", () => change(readHash(location.hash)));
}

/** Opens the page. */
async function main() {
  fillPage();
  fillSwitches();
  listen();
  const isPlace = /[#&]p=/.test(location.hash);
  await change(readHash(location.hash));
  if (state.tour && !isPlace) await goToTour(state.tour);
  else if (state.tour && page.result) showTarget();
  else if (isPlace) byId("station").scrollIntoView();
  const difference = await checkExample(await openStage(header.stages.length - 1));
  fill("check", show5(round(difference, 2)));
  page.checked = difference;
}

main();
window.transduce = {
  header, page, VOCABULARIES, PANELS, TOUR, state: () => state, change, writeHash, readEdits, normalise, encodeSource, decodeIds, readablePiece, traceModel, beamSearch, explainCell, buildSvg, visible, goToTour, smoothingMass, smoothedLoss, learningRate, questionsNow, film,
};
