// Starts the attention page, connects its events, and redraws it when the state changes.

/** Changes the state, writes the link, and shows it. */
function change(parts) {
  const before = state;
  state = { ...before, ...parts };
  state.layer = nearest(kindNow().layers, state.layer);
  if (isView("align") && state.kind !== "cross") state.view = "lines";
  if (before.kind === state.kind && before.words !== state.words) keepChosen(before);
  putLink(writeHash(state));
  return show();
}

/** Chooses the units that hold the first pieces of those that were chosen as other units. */
function keepChosen(before) {
  for (const side of SIDES) {
    const old = allUnits(before, side), now = allUnits(state, side);
    const holds = one => now.findIndex(unit => unit.first <= old[one].first && old[one].first <= unit.last);
    state[side] = [...new Set(before[side].map(holds))];
  }
}

/** Shows the state: opens the layer, fills the lists, draws. */
async function show() {
  const turn = ++page.turn;
  showControls();
  const shown = await buildShown(state);
  if (turn !== page.turn) return;
  Object.assign(page, { shown, readers: shown.rows, read: shown.columns });
  if (!isView("grid")) page.before = state.view;
  fillStage();
  markLists();
  showLegend();
  showTendencies();
  showStep();
  showHovered();
  draw();
  const grid = new Promise(done => setTimeout(done, IS_LARGE ? 200 : 0)).then(() => fillGrid(turn));
  if (!IS_LARGE || isView("grid")) await grid;
  if (turn !== page.turn) return;
  page.ready = turn;
  // The layers below and above are opened too, so that a change of layer waits for none.
  setTimeout(() => [-1, 1].forEach(by => openLayer(state.kind, layerAt(by))), 100);
}

/** Fills the lists if other units are shown than before. */
function fillStage() {
  const name = [state.kind, state.words, state.marks].join();
  page.mirror = isRightToLeft(sequenceOf(state, "readers").text);
  setOnce(byId("stage"), "dir", page.mirror ? "rtl" : "ltr");
  sizePlot();
  if (page.filled === name) return;
  Object.assign(page, { filled: name, hover: null, active: { side: "", unit: 0 } });
  for (const side of SIDES) fillList(side, page[side]);
}

/** Returns whether a text begins in a script that is written from right to left. */
const isRightToLeft = text => /^\P{L}*[\p{sc=Arab}\p{sc=Hebr}\p{sc=Syrc}\p{sc=Thaa}]/u.test(text);

/** Shows the tables of what is under the mouse, or chosen. */
function showHovered() {
  showChosen();
  showReadout();
}

/** Shows what is under the mouse, until it goes elsewhere. */
function onHover(found) {
  if (JSON.stringify(found) === JSON.stringify(page.hover)) return;
  page.hover = found;
  drawSoon();
  if (page.shown) showHovered();
}

/** Says which model and which text the page is of. */
function showHeading() {
  const { source, output, given, notes, name } = header, texts = [source.text, output.text].filter(Boolean);
  byId("heading").textContent = document.title = gettext("Attention of {0}", name);
  fill("about", ...texts.flatMap((text, i) => [i ? ` → ${given ? gettext("(given)") : ""} ` : "", create("bdi", {}, visible(text))]));
  byId("about").after(...notes.map(note => create("p", { className: "quiet" }, note)));
}

/** Shows the state of the link that was followed. */
function followLink() {
  page.followed = location.hash;
  state = readHash(location.hash);
  show();
}

/** Starts the page. */
function start() {
  state = readHash(location.hash);
  localise();
  showHeading();
  buildControls();
  buildSteps();
  on("plot", "mousemove", event => onHover(hoverAt(event)));
  on("plot", "mouseleave", () => onHover(null));
  on("plot", "click", onClick);
  for (const side of SIDES) on(side, "keydown", onListKey);
  addEventListener("keydown", onKey);
  addEventListener("scroll", followScroll, { capture: true, passive: true });
  addEventListener("resize", drawSoon);
  new ResizeObserver(() => (page.shown && sizePlot(), drawSoon())).observe(byId("stage"));
  addEventListener("hashchange", followLink);
  prefersDark.addEventListener("change", show);
  addEventListener("beforeprint", () => {
    byId("plot").style.width = `${byId("plot").offsetWidth}px`; // as drawn, also on narrower paper
    draw(false, 8000);
  });
  addEventListener("afterprint", () => (byId("plot").style.width = ""));
  show();
}

window.transduce = { page, state: () => state, readHash, writeHash, eachLine, chosenNow, buildSvg, buildCsv, buildPng, headColour, offColour, readable, inkOn, contrast };
start();
