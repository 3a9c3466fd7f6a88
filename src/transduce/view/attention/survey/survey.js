// Shows a model's attention heads as findings, grids tinted by a measure, and a sortable table.

const survey = readJson("survey");
const NAMES = { encoder: "encoder", decoder: "decoder", cross: "encoder–decoder" };
const HABITS = {
  next: "Head {0} ({1}) reads the next word: {2} of its weight.",
  previous: "Head {0} ({1}) reads the previous word: {2} of its weight.",
  same: "Head {0} ({1}) reads the same word: {2} of its weight.",
  separator: "Head {0} ({1}) rests on the end mark: {2} of its weight.",
  punctuation: "Head {0} ({1}) reads punctuation: {2} of its weight.",
  far: "Head {0} ({1}) reads distant words: {2} of its weight.",
};
const LITTLE = 0.01; // nats per target piece
const DIGITS = { layer: 0, head: 0, share: 2, entropy: 2, distance: 2, aligned: 2, loss: 4 };
const COLUMNS = ["kind", "layer", "head", "tendency", "share", "entropy", "distance", "aligned", "loss"];
const sorted = { by: "loss", descending: true };

/** Returns a value of a head as text; nothing for a head without it. */
function format(name, value) {
  if (value === null) return "";
  return name in DIGITS ? fixed(value, DIGITS[name]) : visible(gettext(NAMES[value] ?? String(value)));
}

const fixed = (value, digits) => value.toFixed(digits).replace(".", POINT);
const percent = share => `${fixed(100 * share, 0)} %`;

/** Returns the head with the largest value of a measure. */
const highest = (heads, name) => heads.reduce((best, one) => (one[name] > best[name] ? one : best));

/** Returns the sentences that say what stands out: the clearest head of each habit, and what counts. */
function findFindings() {
  const { heads, loss } = survey, found = [];
  const say = (text, one, ...values) => found.push(gettext(text, `${one.layer}.${one.head}`, gettext(NAMES[one.kind]), ...values));
  for (const kind of Object.keys(NAMES))
    for (const [habit, text] of Object.entries(HABITS)) {
      const same = heads.filter(one => one.kind === kind && one.tendency === habit);
      if (same.length) say(text, highest(same, "share"), percent(highest(same, "share").share));
    }
  const aligned = heads.filter(one => one.aligned !== null);
  const shares = new Set(aligned.map(one => percent(one.aligned)));
  if (aligned.length > 1 && shares.size === 1) found.push(gettext("All {0} encoder–decoder heads follow the alignment alike: {1} of their weight lies on aligned words.", aligned.length, ...shares));
  else if (aligned.length) say("Head {0} ({1}) follows the alignment best: {2} of its weight lies on aligned words.", highest(aligned, "aligned"), percent(highest(aligned, "aligned").aligned));
  if (aligned.length && survey.alignment !== "gold") found.push(gettext("The model itself aligned the words, by {0}, so these heads follow the alignment by construction. Gold links (--gold) compare all heads fairly.", visible(survey.alignment)));
  const first = highest(heads, "loss"), small = heads.filter(one => one.loss < LITTLE);
  say("Without head {0} ({1}) the loss rises most: by {2}, from {3} nats a target piece.", first, fixed(first.loss, 3), fixed(loss, 3));
  if (small.length) found.push(gettext("{0} of {1} heads can be left out alone, and the loss rises by less than {2}.", small.length, heads.length, fixed(LITTLE, 2)));
  return found;
}

/** Draws a grid of layers and heads for each kind of attention, tinted by the chosen measure. */
function drawGrids() {
  const name = byId("measure").value, grids = [];
  const most = Math.max(1e-9, ...survey.heads.map(one => one[name] ?? 0));
  for (const kind of Object.keys(NAMES)) {
    const heads = survey.heads.filter(one => one.kind === kind && one[name] !== null);
    if (heads.length) grids.push(create("h3", {}, gettext(NAMES[kind])), buildGrid(heads, name, most));
  }
  byId("grids").replaceChildren(...grids);
}

/** Returns the table of one kind: a row for each layer, a column for each head. */
function buildGrid(heads, name, most) {
  const width = Math.max(...heads.map(one => one.head)), rows = [];
  const titles = Array.from({ length: width }, (_, n) => create("th", { scope: "col" }, gettext("head {0}", n + 1)));
  rows.push(create("tr", {}, create("td"), ...titles));
  for (let at = 0; at < heads.length; at += width) {
    const cells = heads.slice(at, at + width).map(one => {
      const cell = create("td", { title: gettext(one.tendency) }, format(name, one[name]));
      cell.style.setProperty("--w", Math.max(0, one[name] / most).toFixed(3));
      return cell;
    });
    rows.push(create("tr", {}, create("th", { scope: "row" }, gettext("layer {0}", heads[at].layer)), ...cells));
  }
  return create("table", {}, ...rows);
}

/** Returns the class of a column's cells: words begin at the left, numbers end at the right. */
const classOf = name => (typeof survey.heads[0]?.[name] === "string" ? "text" : "");

/** Draws the table of all heads, sorted by the column that was clicked. */
function drawRows() {
  const { by, descending } = sorted, heads = [...survey.heads];
  const order = (a, b) => a === b ? 0 : a === null ? -1 : b === null || a > b ? 1 : -1;
  if (by) heads.sort((a, b) => (descending ? -1 : 1) * order(a[by], b[by]));
  const titles = COLUMNS.map(name => {
    const button = create("button", { onclick: () => sortBy(name) }, gettext(name));
    const state = name !== by ? "none" : descending ? "descending" : "ascending";
    return create("th", { scope: "col", "aria-sort": state, className: classOf(name) }, button);
  });
  const rows = heads.map(one =>
    create("tr", {}, ...COLUMNS.map(name => create("td", { className: classOf(name) }, format(name, one[name])))));
  byId("rows").replaceChildren(create("table", {}, create("tr", {}, ...titles), ...rows));
}

/** Sorts by a column; a second click turns the order around. */
function sortBy(name) {
  sorted.descending = sorted.by === name ? !sorted.descending : typeof survey.heads[0][name] !== "string";
  sorted.by = name;
  drawRows();
  [...byId("rows").querySelectorAll("button")][COLUMNS.indexOf(name)].focus();
}

localise();
byId("heading").textContent = document.title = gettext("Heads of {0}", document.title.slice("Heads of ".length));
byId("about").textContent = [
  gettext("{0} pairs, {1} target pieces, loss {2} nats a target piece, without label smoothing", grouped(survey.pairs), grouped(survey.tokens), fixed(survey.loss, 4)),
  ...(survey.alignment ? [gettext("words aligned by {0}", visible(survey.alignment))] : []),
].join("; ");
byId("findings").replaceChildren(...findFindings().map(text => create("li", {}, text)));
byId("measure").onchange = drawGrids;
byId("theme").onclick = toggleTheme;
drawGrids();
drawRows();
