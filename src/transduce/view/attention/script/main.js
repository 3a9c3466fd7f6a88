/** Changes the state, writes the link, and shows it. */
function change(parts) {
  page.state = { ...page.state, ...parts };
  page.state.layer = nearest(KINDS[page.state.kind].layers, page.state.layer);
  if (parts.units) keepChosen(parts.units);
  try { history.replaceState(null, "", writeHash(page.state)); } catch { /* a frame without an address */ }
  return show();
}

/** Chooses the units that hold the first pieces of those that were chosen as other units. */
function keepChosen(units) {
  for (const side of SIDES) {
    const before = allUnits({ ...page.state, units: units === "words" ? "pieces" : "words" }, side);
    const holds = (one) => allUnits(page.state, side).findIndex((unit) => unit.first <= before[one].first && before[one].first <= unit.last);
    page.state[side] = [...new Set(page.state[side].map(holds))];
  }
}

/** Shows the state: opens the layer, fills the lists, draws. */
async function show() {
  const turn = ++page.turn, { state } = page;
  showControls();
  const shown = await buildShown(state);
  if (turn !== page.turn) return;
  page.shown = shown;
  page.readers = shown.rows;
  page.read = shown.columns;
  fillStage();
  markLists(chosenLists(), page.active);
  showMass();
  showChosen();
  draw();
  page.ready = turn;
}

/** Returns the chosen units of both sides as numbers among those shown. */
function chosenLists() {
  const numbersOf = (side) => page[side].flatMap((unit, i) => (page.state[side].includes(unit.index) ? [i] : []));
  return { readers: numbersOf("readers"), read: numbersOf("read") };
}

/** Fills the lists if other units are shown than before. */
function fillStage() {
  const { state } = page, stage = byId("stage"), name = [state.kind, state.units, state.marks].join();
  stage.dataset.view = state.view;
  page.mirror = isRightToLeft(sequenceOf(state.kind, "readers").text);
  stage.dir = page.mirror ? "rtl" : "ltr";
  if (page.filled === name) return;
  page.filled = name;
  page.hover = null;
  page.active = { side: "", unit: 0 };
  for (const side of SIDES) fillList(side, page[side]);
}

/** Shows what is under the mouse, until it goes elsewhere. */
function onHover(unit) {
  if (unit?.side === page.hover?.side && unit?.unit === page.hover?.unit) return;
  page.hover = unit;
  drawSoon();
  showChosen();
}

/** Says which model and which text the page is of. */
function showHeading() {
  const { model, source, output, given, notes } = header;
  byId("heading").textContent = `Attention of ${visible(model.name)}`;
  const texts = [source.text, output.text].filter(Boolean).map((text) => create("bdi", {}, visible(text)));
  byId("about").replaceChildren(...texts.flatMap((text, i) => (i ? [given ? " → (given) " : " → ", text] : [text])), ...notes.flatMap((note) => [create("br"), note]));
}

/** Starts the page. */
function start() {
  page.state = readHash(location.hash);
  showHeading();
  buildControls();
  buildHelp();
  const plot = byId("plot");
  plot.addEventListener("mouseover", (event) => onHover(unitAt(event)));
  plot.addEventListener("mouseleave", () => onHover(null));
  plot.addEventListener("click", (event) => { const unit = unitAt(event); if (unit) choose(unit, event.shiftKey ? "toggle" : isOnlyChosen(unit) ? "none" : "only"); });
  for (const side of SIDES) byId(side).addEventListener("keydown", onListKey);
  document.addEventListener("keydown", onKey);
  document.addEventListener("scroll", followScroll, { capture: true, passive: true });
  addEventListener("resize", drawSoon);
  addEventListener("hashchange", () => { page.state = readHash(location.hash); show(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  addEventListener("beforeprint", () => draw(false, widen(visibleRegion(), 16000)));
  show();
}

window.transduce = { page, readHash, writeHash, eachLine, chosenNow };
start();
