const survey = readJson("survey");
const NAMES = {
  encoder: "encoder self-attention", decoder: "decoder self-attention", cross: "output to source",
};
const DIGITS = { layer: 0, head: 0, share: 2, entropy: 2, distance: 2, aligned: 2, loss: 4 };
const COLUMNS = ["kind", "layer", "head", "tendency", "share", "entropy", "distance", "aligned", "loss"];
const sorted = { by: "", descending: false };

/** Returns a value of a head as text; nothing for a head without it. */
function format(name, value) {
  if (value === null) return "";
  return name in DIGITS ? value.toFixed(DIGITS[name]) : visible(String(value));
}

/** Draws a grid of layers and heads for each kind of attention, tinted by the chosen measure. */
function drawGrids() {
  const name = byId("measure").value, grids = [];
  const most = Math.max(1e-9, ...survey.heads.map(one => one[name] ?? 0));
  for (const kind of Object.keys(NAMES)) {
    const heads = survey.heads.filter(one => one.kind === kind && one[name] !== null);
    if (heads.length) grids.push(create("h2", {}, NAMES[kind]), buildGrid(heads, name, most));
  }
  byId("grids").replaceChildren(...grids);
}

/** Returns the table of one kind: a row for each layer, a column for each head. */
function buildGrid(heads, name, most) {
  const width = Math.max(...heads.map(one => one.head)), rows = [];
  const titles = Array.from({ length: width }, (_, n) => create("th", { scope: "col" }, `head ${n + 1}`));
  rows.push(create("tr", {}, create("td"), ...titles));
  for (let at = 0; at < heads.length; at += width) {
    const cells = heads.slice(at, at + width).map(one => {
      const cell = create("td", { title: one.tendency }, format(name, one[name]));
      cell.style.setProperty("--w", Math.max(0, one[name] / most).toFixed(3));
      return cell;
    });
    rows.push(create("tr", {}, create("th", { scope: "row" }, `layer ${heads[at].layer}`), ...cells));
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
    const button = create("button", { onclick: () => sortBy(name) }, name);
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

byId("heading").textContent = document.title;
byId("about").textContent = `${survey.pairs} ${survey.pairs === 1 ? "pair" : "pairs"}, ${survey.tokens} target pieces, loss ` +
  `${survey.loss.toFixed(4)} nats per piece` +
  (survey.alignment ? `; words aligned by ${visible(survey.alignment)}` : "");
byId("measure").onchange = drawGrids;
byId("theme").onclick = toggleTheme;
drawGrids();
drawRows();
