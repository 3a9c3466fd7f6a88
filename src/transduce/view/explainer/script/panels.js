// The panel in the middle: the numbers of one station of the model.

/** Returns the panel of the state. */
const panelNow = () => PANELS.find(panel => panel.id === state.panel);

/** Returns the readable pieces of a side, in the order of its rows.
 * Before the page has computed anything, they are those of PyTorch's example. */
function piecesOf(side) {
  const { source, output } = page.result ?? header.example;
  return side === "source" ? source.map(id => readablePiece(VOCABULARIES.source, id)) : [BEGIN, ...output.slice(0, -1)].map(id => readablePiece(VOCABULARIES.target, id));
}

/** Returns the sides of the rows and, for attention, of the columns of a name. */
function sidesOf(name) {
  const [stack, , part, what] = name.split("."), side = stack === "encoder" || stack === "source" ? "source" : "target";
  const rows = part === "cross" && (what === "k" || what === "v") ? "source" : side;
  return [rows, what === "scores" || what === "weights" ? (part === "cross" ? "source" : side) : ""];
}

/** Returns the first column and the width of what a box shows of a name: a head's part, or all. */
function columnsOf(name, wide) {
  const { d_k, d_v } = header.sizes, what = name.split(".")[3], size = { q: d_k, k: d_k, v: d_v }[what];
  return size ? [(state.head - 1) * size, size] : [0, wide];
}

/** Returns what a box shows: its rows, sides, marked row and picked cell. */
function buildBox([template, title]) {
  const name = template.replace("{l}", state.layer).replace("{h}", state.head), all = page.result.trace[name], [side, across] = sidesOf(name);
  const [first, width] = columnsOf(name, all.at(-1).length), rows = all.map(row => row.subarray(first, Math.min(row.length, first + width)));
  const [picked, i, j] = state.cell.split(":"), cell = picked === name && Number(i) < rows.length && j - first >= 0 && j - first < rows[i].length ? [Number(i), j - first] : null;
  const scores = page.result.trace[name.replace(".weights.", ".scores.")], isShut = (i, j) => Boolean(across) && !(scores[i][j] > -Infinity);
  return { name, title: title.replace("{h}", state.head), rows, first, side, across, isShut, wide: !across, marked: state[side], cell };
}

/** Returns the names of rows as a list beside a picture. */
const labelList = (pieces, marked) => create("div", { className: "labels", "aria-hidden": "true" }, ...pieces.map((piece, i) => create("span", { className: i === marked ? "label now" : "label", dir: "auto" }, visible(piece))));

/** Returns a box with its title, picture and table. */
function showBox(box) {
  const svg = drawMatrix(box), head = create("h3", {}, ...typeset(box.title), create("span", { className: "quiet" }, ` ${box.rows.length} × ${Math.max(...box.rows.map(row => row.length))}`));
  svg.addEventListener("click", event => {
    const found = cellUnder(event, box.rows);
    if (found) change({ cell: `${box.name}:${found[0]}:${found[1] + box.first}`, [box.side]: found[0] });
  });
  svg.addEventListener("mousemove", event => {
    const found = cellUnder(event, box.rows);
    byId("readout").textContent = found ? gettext("{0}, row {1}, column {2}: {3}", box.title, visible(piecesOf(box.side)[found[0]]), columnName(box, found[1]), show5(box.rows[found[0]][found[1]])) : "";
  });
  const picture = create("div", { className: box.across ? "picture across" : "picture" }, labelList(piecesOf(box.side), box.marked), svg);
  if (box.across) picture.prepend(create("div", { className: "corner" }), labelList(piecesOf(box.across), -1));
  const region = box.across ? { tabIndex: 0, role: "region", "aria-label": gettext("Picture of {0}", box.title) } : {};
  const scroll = create("div", { className: "scroll", ...region }, picture);
  return create("section", { className: "box", "data-name": box.name }, head, scroll, create("p", { className: "legend" }, ...legendOf(box)), boxTable(box));
}

/** Returns the name of a column: a piece, or a number. */
const columnName = (box, j) => (box.across ? visible(piecesOf(box.across)[j] ?? "") : j + 1);

/** Returns the marked row of a box as a table that is filled when it is opened. */
function boxTable(box) {
  const row = Math.min(box.marked, box.rows.length - 1), details = create("details", {}, create("summary", {}, gettext("Row {0} as a table", visible(piecesOf(box.side)[row]))));
  details.addEventListener("toggle", () => {
    if (!details.open || details.children.length > 1) return;
    const cells = Array.from(box.rows[row], (x, j) => {
      const open = create("button", { type: "button" }, show5(x));
      open.addEventListener("click", () => change({ cell: `${box.name}:${row}:${j + box.first}` }));
      return create("tr", {}, create("th", { scope: "row" }, String(columnName(box, j))), create("td", {}, open));
    });
    const table = create("table", {}, create("caption", {}, gettext("{0}, row {1}", box.title, visible(piecesOf(box.side)[row]))), create("tbody", {}, ...cells));
    details.append(create("div", { className: "rows", tabIndex: 0, role: "region", "aria-label": gettext("Numbers of {0}", box.title) }, table));
  });
  return details;
}

/** Shows the panel of the state: title, texts, equation, boxes. */
function showPanel() {
  const panel = panelNow();
  byId("panel-title").textContent = panel.title;
  byId("section").textContent = panel.section ? gettext("Section {0}", panel.section) : "";
  byId("equation").replaceChildren(...typeset(panel.equation));
  byId("equation").hidden = !panel.equation;
  const missing = { masked: ["mask", gettext("The mask is off: every written piece reads the later ones, too, as it never did in training.")], norm: [`encoder.${state.layer}.self.residual`, gettext("The residual is off: what attention read takes the place of x, and is not added to it.")] }[panel.id], lack = missing && page.result.off.has(missing[0]) ? missing[1] : "";
  byId("plain").textContent = lack || panel.plain;
  byId("exact").replaceChildren(...typeset(lack ? "" : panel.exact));
  fillChoices("layers", panel.layered ? depthOf(panel.id) : 0, "layer", gettext("layer"));
  fillChoices("heads", panel.headed ? header.sizes.heads : 0, "head", gettext("head"));
  showSlider(panel);
  const special = { pieces: showPieces, softmax: showSoftmax, beam: showBeam, smoothing: showSmoothing, rate: showRate }[panel.id];
  byId("boxes").replaceChildren(...(special ? special() : panel.boxes.map(box => showBox(buildBox(box)))));
  document.querySelector(".tree")?.parentNode.scrollTo(1e6, 0); // to the step, which is its last
  showCell();
}

/** Fills the buttons that choose a layer or a head. */
function fillChoices(id, count, name, title) {
  byId(id).hidden = count < 2;
  byId(id).replaceChildren(create("span", { className: "quiet" }, title), ...numbers(count).map(i => {
    const button = create("button", { type: "button", "aria-pressed": state[name] === i, "aria-label": gettext(`${name} {0}`, i) }, i);
    button.addEventListener("click", () => choose(name, i));
    return button;
  }));
}

/** Chooses a layer or a head; a number that is open goes along, but not to another head's columns. */
function choose(name, wanted) {
  const i = clamp(wanted, 1, name === "head" ? header.sizes.heads : depthOf(state.panel)), cell = name === "layer" ? state.cell.replace(/\.\d+/, `.${i}`) : /\.[qkv]:/.test(state.cell) ? "" : state.cell.replace(/\.\d+:/, `.${i}:`);
  change({ [name]: i, cell });
}

/** Returns how the chosen source piece came about, merge by merge. */
function showPieces() {
  const { source } = page.result, vocabulary = VOCABULARIES.source, words = normalise(state.text).match(WORDS) ?? [], rows = words.map(word => {
    const stages = vocabulary.kind === "byte-pair" ? mergeWord(vocabulary, toBytes(word)) : [encodeWord(vocabulary, toBytes(word))];
    const steps = stages.map(ids => ids.map(id => readablePiece(vocabulary, id)).join(" "));
    return create("tr", {}, create("th", { scope: "row" }, create("bdi", {}, visible(word))), create("td", { dir: "auto" }, steps.join(" → ")), create("td", {}, stages.at(-1).join(" ")));
  });
  const head = create("tr", {}, ...[gettext("word"), gettext("from its bytes to its pieces"), gettext("ids")].map(text => create("th", { scope: "col" }, text)));
  return [create("section", { className: "box" }, create("h3", {}, gettext("{0} pieces, with </s>; the vocabulary has {1}", source.length, grouped(vocabulary.symbols.length))), create("div", { className: "rows", tabIndex: 0, role: "region", "aria-label": gettext("Words and their pieces") }, create("table", {}, create("thead", {}, head), create("tbody", {}, ...rows))))];
}

/** Returns the likeliest next pieces of the chosen step as bars. */
function showSoftmax() {
  const { trace, output } = page.result, t = Math.min(state.target, output.length - 1), row = trace.probabilities[t];
  const best = bestContinuations([{ logProb: 0 }], [row], 12).map(([p, , id]) => [id, p]), written = output[t];
  if (!best.some(([id]) => id === written)) best.push([written, row[written]]);
  const rows = best.map(([id, p]) => {
    const open = create("button", { type: "button" }, show5(p)), bar = create("span", { className: "share" });
    bar.style.width = `${Math.max(0.5, 100 * p)}%`;
    open.addEventListener("click", () => change({ cell: `probabilities:${t}:${id}` }));
    const force = create("button", { type: "button", title: gettext("Continue the translation with this piece") }, gettext("take"));
    force.addEventListener("click", () => change({ prefix: decodeIds(VOCABULARIES.target, [...output.slice(0, t), id]) }, { remember: true }));
    return create("tr", {}, create("th", { scope: "row", dir: "auto", className: id === written ? "now" : "" }, readablePiece(VOCABULARIES.target, id), id === written ? " ✓" : ""), create("td", {}, open), create("td", { className: "track" }, bar), create("td", {}, id > BEGIN ? force : ""));
  });
  const pieces = piecesOf("target").slice(0, t + 1).join(" "), caption = create("caption", {}, gettext("After {0}", pieces));
  return [create("section", { className: "box full" }, create("table", { className: "bars" }, caption, create("tbody", {}, ...rows)))];
}

/** Shows how the chosen number follows from numbers before it. */
function showCell() {
  const [name, i, j] = state.cell.split(":"), rows = page.result.trace[name], row = rows?.[i];
  byId("cell").hidden = !row || !(j < row.length);
  if (byId("cell").hidden) return;
  const ids = { source: page.result.source, target: [BEGIN, ...page.result.output.slice(0, -1)] };
  const found = explainCell(page.result.model, page.result.trace, name, Number(i), Number(j), ids), [side, across] = sidesOf(name);
  const column = across ? piecesOf(across)[j] : name === "probabilities" || name === "logits" ? readablePiece(VOCABULARIES.target, Number(j)) : placeOf(name, j)[1];
  const place = [visible(piecesOf(side)[i] ?? ""), visible(String(column)), show5(row[j])];
  byId("cell-title").textContent = `${placeOf(name, j)[0]}: ${across ? gettext("“{0}” reads “{1}”: {2}", ...place) : gettext("row “{0}”, column {1}: {2}", ...place)}`;
  byId("cell-formula").replaceChildren(...typeset(found.formula));
  const edit = state.edits.find(text => text.startsWith(`${state.cell}=`)), canEdit = isEditable(page.result.trace, name, i, j);
  byId("edit").hidden = !canEdit;
  byId("edit-undo").hidden = !edit;
  if (canEdit && document.activeElement !== byId("edit-value")) byId("edit-value").value = Number(row[j].toFixed(6));
  byId("cell-rows").replaceChildren(...(found.terms ? termRows(found) : found.steps.map(([text, x]) => create("tr", {}, create("th", { scope: "row" }, ...typeset(text)), create("td", {}, show5(x))))));
}

/** Sets the open number to what is typed, or with `null` to what is computed. */
function editCell(number) {
  const others = state.edits.filter(text => !text.startsWith(`${state.cell}=`));
  change({ edits: number === null ? others : [...others, `${state.cell}=${clamp(number, -999999, 999999).toFixed(6)}`] }, { remember: true });
}

const TERMS = 8; // of a sum that are shown; the others are added up

/** Returns the rows of a sum: its largest terms, the others together, bias, total. */
function termRows({ terms, bias, total, divisor, value }) {
  const sorted = [...terms].sort(([, a, b], [, c, d]) => Math.abs(c * d) - Math.abs(a * b)), rest = sorted.slice(TERMS);
  const line = (text, x) => create("tr", {}, create("th", { scope: "row" }, text), create("td", {}, show5(x)));
  const rows = sorted.slice(0, TERMS).map(([k, a, b]) => line(gettext("{0} · {1} ({2})", show5(a), show5(b), typeof k === "string" ? k : gettext("number {0}", k)), a * b));
  if (rest.length) rows.push(line(gettext("{0} smaller terms", rest.length), rest.reduce((sum, [, a, b]) => sum + a * b, 0)));
  if (bias) rows.push(line(gettext("bias"), bias));
  rows.push(line(gettext("sum"), total));
  if (divisor) rows.push(line(gettext("divided by {0}", show5(divisor)), total / divisor));
  return value === total || divisor ? rows : [...rows, line(gettext("result"), value)];
}
