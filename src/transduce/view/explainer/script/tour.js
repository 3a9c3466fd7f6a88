// The guided tour: one focus a step. It can be printed; each step begins a page and has its picture.
// A user's step has a link; the page's own have parts of a state, by default in layer and head 1:
// `largest` opens the largest number of a name, `focus` is what to look at, `experiment` what was tried; `then` is said only where that found something.
// A step is left out if this page lacks its station, such as the stages of a model without a run, its experiment or its head.
// `instead` has other texts for the models whose activation or length penalty it names.
const TOUR = header.tour.filter(({ panel = "pieces", experiment, head = 1 }) => head <= header.sizes.heads && PANELS.some(one => one.id === panel) && (!experiment || header.experiments[experiment])).map(({ title, text: first, instead = {}, link, ...parts }) => {
  const { d_k, d_v, activation } = header.sizes, text = instead[activation] ?? instead[header.search.penalty] ?? first, say = one => gettext(one, d_k, d_v, header.search.extra_length);
  return link === undefined ? [parts, say(title), say(text)] : [link, title, text];
});

// The steps that begin a chapter; a user's tour has none.
const CHAPTERS = numbers(TOUR.length).filter(step => TOUR[step - 1][0].chapter);

/** Fills the list of the tour's chapters. */
const fillChapters = () => fill("tour-chapter", ...CHAPTERS.map(step => create("option", { value: step }, gettext(TOUR[step - 1][0].chapter))));

/** Returns the state of a tour step, of its link or of its parts: layer 99 is the last. */
function tourState([wanted]) {
  if (typeof wanted === "string") return readHash(`#${wanted.split("#").at(-1)}`, { follow: false });
  const { experiment, largest, focus, then, chapter, ...parts } = { cell: "", layer: 1, head: 1, ...unchanged(), ...wanted };
  parts.layer = Math.min(parts.layer, depthOf(parts.panel));
  const { off, edits, text, alpha } = header.experiments[experiment] ?? parts;
  return { ...parts, off, edits, alpha: alpha ?? parts.alpha, ...(text ? { text } : {}) };
}

/** Returns whether row or column i of a side is a word or a part of one. */
const isWord = (side, i) => !/^<.+>$/.test(piecesOf(side)[i]) && /\p{L}/u.test(piecesOf(side)[i]);

/** Returns [row, column] of the largest number in a word's row; of scores, the largest weight's. */
function largestCell(name) {
  const rows = page.result.trace[name.replace(".scores.", ".weights.")], [side, across] = sidesOf(name), { d_v } = header.sizes, [first, width] = name.endsWith(".joined") ? [(state.head - 1) * d_v, d_v] : columnsOf(name, Infinity);
  const cells = rows.flatMap((row, i) => Array.from(row, (x, j) => [Math.abs(x), i, j]).slice(first, first + width)), isOfWords = ([, i, j]) => isWord(side, i) && (!across || (isWord(across, j) && (side !== across || i !== j)));
  const fit = cells.filter(isOfWords);
  return (fit.length ? fit : cells).reduce((best, cell) => (cell[0] > best[0] ? cell : best)).slice(1);
}

/** Goes to a step of the tour; 0 ends it. What it returns is settled when the step is shown. */
async function goToTour(number) {
  const at = clamp(number, 0, TOUR.length), wanted = at ? TOUR[at - 1][0] : {}, own = state.tour && !wanted.experiment ? page.own : undefined;
  if (wanted.experiment) page.own ??= state.text;
  else page.own = undefined;
  await change(at ? { ...(own ? { text: own } : {}), ...tourState(TOUR[at - 1]), tour: at } : { ...(own ? { text: own } : {}), tour: 0, ...(state.tour ? unchanged() : {}) });
  if (state.tour === at && wanted.largest && page.result) {
    const name = wanted.largest.replace("{l}", state.layer), [i, j] = largestCell(name), [side] = sidesOf(name);
    await change({ cell: `${name}:${i}:${j}`, [side]: i });
  }
  if (at && state.tour === at) showTarget();
}

/** Returns the elements that a step of the tour speaks of. */
function targetsOf() {
  const wanted = TOUR[state.tour - 1][0], name = state.cell.split(":")[0];
  if (wanted.focus) return findAll(wanted.focus);
  const box = document.querySelector(`.box[data-name="${name}"] .scroll`), [top, bottom] = freePart();
  if (box && !byId("cell").hidden && bottom - top > 340) return [box, byId("cell")];
  return [box ?? document.querySelector("#compare:not([hidden])") ?? document.querySelector("#boxes .scroll, #boxes .chart, #boxes .box") ?? byId("boxes")];
}

/** Returns top and bottom of the part of the window that neither bar, station's sentence nor sheet covers. */
function freePart() {
  const sheet = byId("tour"), isSheet = getComputedStyle(sheet).position === "fixed";
  return [(isSheet ? byId("here").offsetHeight : 0) + byId("said").offsetHeight + 4, innerHeight - (isSheet ? sheet.offsetHeight : 0) - 12];
}

/** Returns where the step's targets begin and end in the window; a picture with its calculation begins with its title. */
function spanOf() {
  const targets = targetsOf(), isTitled = targets.includes(byId("cell")), boxes = targets.map(one => ((isTitled && one.closest(".box")) || one).getBoundingClientRect());
  return [Math.min(...boxes.map(box => box.top)), Math.max(...boxes.map(box => box.bottom))];
}

/** Scrolls to the step's targets: so far that they are in sight, or, if they are far below, until they begin below the bars with their titles. */
function showTarget() {
  const [top, bottom] = freePart(), [first, last] = spanOf(), begin = Math.min(...targetsOf().map(one => (one.closest(".box") ?? one).getBoundingClientRect().top));
  const least = byId("station").getBoundingClientRect().top - top + byId("said").offsetHeight + 4;
  scrollBy({ top: last - least <= bottom ? least : (last - begin <= bottom - top ? begin : first) - top, behavior: "instant" });
}

/** Shows an element larger or smaller. */
function zoomTo({ style }, zoom) {
  style.zoom = zoom;
  style.setProperty("--zoom", zoom);
}

/** Shows the step of the tour. */
function showTour() {
  const at = state.tour;
  for (const one of findAll(".focus")) {
    one.classList.remove("focus");
    zoomTo(one, "");
  }
  document.body.classList.toggle("touring", at > 0);
  byId("tour").hidden = !at;
  byId("begin-tour").hidden = at > 0;
  if (!at) return;
  const [, title, text] = TOUR[at - 1];
  fill("tour-title", gettext("{0} of {1}: {2}", at, TOUR.length, title));
  const { experiment, then } = TOUR[at - 1][0], isFruitless = experiment && !header.experiments[experiment].text, more = isFruitless ? "No sentence that was tried changes in this model." : then;
  fill("tour-text", ...typeset(more ? `${text} ${gettext(more)}` : text));
  byId("tour-chapter").hidden = !CHAPTERS.length;
  byId("tour-chapter").value = CHAPTERS.findLast(one => one <= at);
  byId("tour-back").disabled = at === 1;
  byId("tour-next").disabled = at === TOUR.length;
}

/** Marks what the step of the tour speaks of, and makes what is too high for the window smaller. */
function markTarget() {
  if (!state.tour) return;
  const targets = targetsOf(), [top, bottom] = freePart(), { style } = document.body;
  style.setProperty("--top", `${top}px`);
  style.setProperty("--sheet", `${innerHeight - bottom}px`);
  for (const one of targets) one.classList.add("focus");
  for (let zoom = 1; zoom > 0.25; ) {
    const [first, last] = spanOf();
    if (last - first <= bottom - top) break;
    zoom = Math.max(0.25, zoom * Math.min(0.97, (bottom - top) / (last - first)));
    for (const one of targets) zoomTo(one, zoom);
  }
}

/** Returns what a step shows as a slide for print: its text, the translation, the station's picture. */
function buildSlide() {
  const copy = id => {
    const found = byId(id).cloneNode(true);
    for (const one of [found, ...found.querySelectorAll("[id]")]) one.removeAttribute("id");
    return found;
  };
  const translated = create("p", {}, visible(state.text), " → ", create("strong", { dir: "auto" }, byId("translation").textContent));
  return create("section", { className: "slide" }, copy("tour-title"), copy("tour-text"), copy("section"), copy("equation"), translated, copy("off"), copy("boxes"), copy("cell"));
}

/** Fills the slides of all steps of the tour, prints them, and shows again what was shown. */
async function printTour() {
  const before = state, { own } = page, slides = [];
  for (const number of numbers(TOUR.length)) {
    await goToTour(number);
    slides.push(buildSlide());
  }
  fill("slides", ...slides);
  page.own = own;
  await change(before);
  print();
  fill("slides");
}
