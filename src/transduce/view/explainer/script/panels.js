// Shows one station of the model with its equation and matrices, and how a number is computed.

/** Makes nodes and texts the content of the element of an id; the focus stays on the control of the same name, or place. */
function fill(id, ...content) {
  const parent = byId(id), old = document.activeElement, controls = () => [...parent.querySelectorAll("button, summary, [tabindex]")], at = controls().indexOf(old);
  parent.replaceChildren(...content);
  if (at < 0) return;
  const found = controls(), isSame = one => one && (one.ariaLabel ?? one.textContent) === (old.ariaLabel ?? old.textContent);
  (isSame(found[at]) ? found[at] : found.find(isSame) ?? found[at])?.focus({ preventScroll: true });
}

/** Sets the value of a field, unless it is being written. */
function setValue(id, value) {
  if (document.activeElement !== byId(id)) byId(id).value = value;
}

/** Returns a button that does something when it is pressed. */
const createButton = (act, properties, ...children) => create("button", { type: "button", onclick: act, ...properties }, ...children);

/** Returns a box of a station with some content. */
const createBox = (...content) => create("section", { className: "box" }, ...content);

/** Returns an element of a class that can be scrolled, also by the keyboard. */
const createRegion = (className, label, ...children) => create("div", { className, tabIndex: 0, role: "region", "aria-label": label }, ...children);

/** Returns the head of a row of a table. */
const rowHead = (...content) => create("th", { scope: "row", dir: "auto" }, ...content);

/** Returns the head of a table: a row of names. */
const headRow = names => create("thead", {}, create("tr", {}, ...names.map(name => create("th", { scope: "col" }, name))));

/** Returns the readable piece of the target's vocabulary with an id. */
const writtenPiece = id => readablePiece(VOCABULARIES.target, id);

/** Returns the panel of the state. */
const panelNow = () => PANELS.find(panel => panel.id === state.panel);

/** Returns the readable pieces of a side, in the order of its rows.
 * Before the page has computed anything, they are those of PyTorch's example; a refused sentence has none. */
function piecesOf(side) {
  const { source, output } = page.result ?? (byId("problem").textContent ? { source: [], output: [] } : header.example);
  return side === "source" ? source.map(id => readablePiece(VOCABULARIES.source, id)) : [BEGIN, ...output.slice(0, -1)].map(writtenPiece);
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

/** Returns the title of a box of a name; it says if x is not added, or if the norm comes first. */
function titleOf(name, title) {
  const [, sub, what] = /(.+)\.(sum|norm)$/.exec(name) ?? [];
  if (what === "norm" && header.sizes.norm === "pre") return gettext("normalised, as the sub-layer reads it");
  return what && isBare(sub, page.result.off) ? { sum: gettext("the output alone: x is not added"), norm: gettext("normalised, with nothing added") }[what] : title.replace("{h}", state.head);
}

/** Returns what a box shows: its rows, sides, marked row and picked cell. */
function buildBox([template, title]) {
  const name = template.replace("{l}", state.layer).replace("{h}", state.head), all = page.result.trace[name], [side, across] = sidesOf(name);
  const [first, width] = columnsOf(name, all.at(-1).length), rows = all.map(row => row.subarray(first, Math.min(row.length, first + width)));
  const [picked, i, j] = state.cell.split(":"), cell = picked === name && Number(i) < rows.length && j - first >= 0 && j - first < rows[i].length ? [Number(i), j - first] : null;
  const scores = page.result.trace[name.replace(".weights.", ".scores.")], isShut = (i, j) => Boolean(across) && !(scores[i][j] > -Infinity);
  return { name, title: titleOf(name, title), rows, first, side, across, isShut, wide: !across, marked: Math.min(state[side], rows.length - 1), cell };
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
    fill("readout", found ? gettext("{0}, row {1}, column {2}: {3}", box.title, visible(piecesOf(box.side)[found[0]]), columnName(box, found[1]), show5(box.rows[found[0]][found[1]])) : "");
  });
  const picture = create("div", { className: box.across ? "picture across" : "picture" }, labelList(piecesOf(box.side), box.marked), svg);
  if (box.across) picture.prepend(create("div", { className: "corner" }), labelList(piecesOf(box.across), -1));
  if (box.side !== box.across && box.across) picture.append(labelList(page.result.output.map(id => `→ ${writtenPiece(id)}`), box.marked)); // what each row of cross-attention chooses
  const scroll = box.across ? createRegion("scroll", gettext("Picture of {0}", box.title), picture) : create("div", { className: "scroll" }, picture);
  return create("section", { className: "box", "data-name": box.name }, head, scroll, create("p", { className: "legend" }, ...legendOf(box)), boxTable(box));
}

/** Returns the name of a column: a piece, or a number. */
const columnName = (box, j) => (box.across ? visible(piecesOf(box.across)[j] ?? "") : j + 1);

/** Returns a box's marked row as a table, filled when opened; it stays open while its name does. */
function boxTable(box) {
  const row = box.marked, details = create("details", {}, create("summary", {}, gettext("Row {0} as a table", visible(piecesOf(box.side)[row]))));
  const fillTable = () => {
    if (!details.open || details.children.length > 1) return;
    const open = (x, j) => createButton(() => change({ cell: `${box.name}:${row}:${j + box.first}` }), {}, show5(x));
    details.append(buildTable(gettext("{0}, row {1}", box.title, visible(piecesOf(box.side)[row])), [], Array.from(box.rows[row], (x, j) => [columnName(box, j), open(x, j)])));
  };
  details.addEventListener("toggle", fillTable);
  details.open = document.querySelector(`#boxes [data-name="${box.name}"] details[open]`);
  fillTable();
  return details;
}

/** Returns what a station says if what it shows is off, else "". */
function describeLack({ id, side, headed, boxes: [[first] = [""]] }) {
  const off = page.result?.off ?? new Set(), [name, , , sub] = /^((en|de)coder\.\d+\.([a-z]+))?/.exec(first.replace("{l}", state.layer));
  if (name && isSilent(name, off)) return gettext("Off in this layer: {0}. It gives 0, so nothing is added to any row.", KINDS[sub]);
  if (id === "masked" && off.has("mask")) return gettext("The mask is off: every written piece reads the later ones, too, as it never did in training.");
  if (id === "norm" && isBare(name, off)) return gettext("The residual is off: what attention read takes the place of x, and is not added to it.");
  if (headed && off.has(`${name}.${state.head}`)) return gettext("Head {0} is off: 0 takes the place of what it reads.", state.head);
  return !sub && off.has(`${side}.position`) && first ? gettext("The positions are off: 0 is added, so nothing says where a piece stands.") : "";
}

/** Shows the panel of the state: title, texts, equation, boxes. */
function showPanel() {
  const panel = panelNow();
  fill("panel-title", panel.title);
  fill("section", panel.section ? gettext("Section {0}", panel.section) : "");
  fill("equation", ...typeset(panel.equation));
  byId("equation").hidden = !panel.equation;
  const lack = describeLack(panel);
  fill("plain", lack || panel.plain);
  fill("readout");
  fill("exact", ...typeset(lack ? "" : panel.exact));
  fillChoices("layers", panel.layered ? depthOf(panel.id) : 0, "layer", gettext("layer"));
  fillChoices("heads", panel.headed ? header.sizes.heads : 0, "head", gettext("head"));
  fillStages(panel);
  for (const one of findAll(".strip")) one.hidden = ["stages", "rate"].includes(panel.id); // which show no row
  showSlider(panel);
  showOffer(panel);
  if (!page.result) return;
  const special = { pieces: showPieces, softmax: showSoftmax, beam: showBeam, stages: showStages, smoothing: showSmoothing, rate: showRate }[panel.id];
  fill("boxes", ...(special ? special() : panel.boxes.map(box => showBox(buildBox(box)))));
  document.querySelector(".tree")?.parentNode.scrollTo(1e6, 0); // to the step, which is its last
  showCell();
}

/** Fills the buttons that choose a layer or a head. */
function fillChoices(id, count, name, title) {
  byId(id).hidden = count < 2;
  fill(id, create("span", { className: "quiet" }, title), ...numbers(count).map(i => createButton(() => choose(name, i), { "aria-pressed": state[name] === i, "aria-label": gettext(`${name} {0}`, i) }, i)));
}

/** Chooses a layer or a head; a number that is open goes along, but not to another head's columns. */
function choose(name, wanted) {
  const i = clamp(wanted, 1, name === "head" ? header.sizes.heads : depthOf(state.panel)), cell = name === "layer" ? state.cell.replace(/\.\d+/, `.${i}`) : /\.[qkv]:/.test(state.cell) ? "" : state.cell.replace(/\.\d+:/, `.${i}:`);
  change({ [name]: i, cell });
}

/** Returns a table of words and their pieces: byte pairs merge by merge, unigrams with scores. */
function showPieces() {
  const { source } = page.result, vocabulary = VOCABULARIES.source, { kind, scores } = vocabulary, name = id => readablePiece(vocabulary, id) + (scores && id !== UNKNOWN ? ` (${show5(scores[id])})` : "");
  const rows = cutText(vocabulary, normalise(state.text)).map(([word, ids]) => {
    const stages = kind === "byte-pair" ? mergeWord(vocabulary, toBytes(word)) : [ids];
    return create("tr", {}, rowHead(visible(word)), create("td", { dir: "auto" }, stages.map(stage => stage.map(name).join(" ")).join(" → ")), create("td", {}, ids.join(" ")));
  });
  const head = headRow([gettext("word"), scores ? gettext("its pieces, with their scores") : gettext("from its bytes to its pieces"), gettext("ids")]);
  return [createBox(create("h3", {}, gettext("{0} pieces, with </s>; the vocabulary has {1}", source.length, grouped(vocabulary.symbols.length))), createRegion("rows", gettext("Words and their pieces"), create("table", {}, head, create("tbody", {}, ...rows))))];
}

/** Returns the likeliest next pieces of the chosen step as bars. */
function showSoftmax() {
  const { trace, output } = page.result, t = Math.min(state.target, output.length - 1), row = trace.probabilities[t];
  const best = likeliest(row, 12), written = output[t];
  if (!best.includes(written)) best.push(written);
  const rows = best.map(id => {
    const open = createButton(() => change({ cell: `probabilities:${t}:${id}` }), {}, show5(row[id]));
    const begun = [...output.slice(0, t), id], said = decodeIds(VOCABULARIES.target, begun);
    const isSayable = String(encodeText(VOCABULARIES.target, normalise(said))) === String(begun); // as a text gives the pieces
    const force = createButton(() => changeInSight({ prefix: said }), { title: gettext("Continue the translation with this piece") }, gettext("choose"));
    return create("tr", {}, create("th", { scope: "row", dir: "auto", className: id === written ? "now" : "" }, writtenPiece(id), id === written ? " ✓" : ""), create("td", {}, open), create("td", { className: "track" }, shareBar(row[id])), create("td", {}, isSayable ? force : ""));
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
  const column = across ? piecesOf(across)[j] : name === "probabilities" || name === "logits" ? writtenPiece(Number(j)) : placeOf(name, j)[1];
  const place = [visible(piecesOf(side)[i] ?? ""), visible(String(column)), show5(row[j])];
  fill("cell-title", `${placeOf(name, j)[0]}: ${across ? gettext("“{0}” reads “{1}”: {2}", ...place) : gettext("row “{0}”, column {1}: {2}", ...place)}`);
  fill("cell-formula", ...typeset(found.formula));
  const edit = state.edits.find(text => text.startsWith(`${state.cell}=`)), canEdit = isEditable(page.result.trace, name, i, j);
  byId("edit").hidden = !canEdit;
  byId("edit-undo").hidden = !edit;
  if (canEdit) setValue("edit-value", Number(row[j].toFixed(6)));
  fill("cell-rows", ...(found.terms ? termRows(found) : found.steps.map(([text, x]) => create("tr", {}, rowHead(...typeset(text)), create("td", {}, show5(x))))));
}

/** Sets the open number to what is typed, or with `null` to what is computed. */
function editCell(number) {
  const others = state.edits.filter(text => !text.startsWith(`${state.cell}=`));
  changeInSight({ edits: number === null ? others : [...others, `${state.cell}=${clamp(number, -999999, 999999).toFixed(6)}`] });
}

const TERMS = [8, 3]; // of a sum that are shown; 3 on a tour in a narrow window

/** Returns the rows of a sum: its largest terms, the others together, bias, total. */
function termRows({ terms, bias, total, divisor, value }) {
  const sorted = [...terms].sort(([, a, b], [, c, d]) => Math.abs(c * d) - Math.abs(a * b)), count = TERMS[Number(state.tour > 0 && innerWidth < 1280)], rest = sorted.slice(count);
  const line = (text, x, ...product) => create("tr", {}, create("th", { scope: "row", dir: "auto", colSpan: 2 - product.length }, text), ...[...product, show5(x)].map(one => create("td", {}, one)));
  const rows = sorted.slice(0, count).map(([k, a, b]) => line(typeof k === "string" ? k : gettext("number {0}", k), a * b, `${show5(a)} · ${show5(b)}`));
  if (rest.length) rows.push(line(gettext("{0} smaller terms", rest.length), rest.reduce((sum, [, a, b]) => sum + a * b, 0)));
  if (bias) rows.push(line(gettext("bias"), bias));
  rows.push(line(gettext("sum"), total));
  if (divisor) rows.push(line(gettext("divided by {0}", show5(divisor)), total / divisor));
  return value === total || divisor ? rows : [...rows, line(gettext("result"), value)];
}
