// Exports the current view as SVG or PNG, and the shown heads' attention weights as CSV.

const FONT = "Arial, Helvetica, sans-serif";
const round = x => Number(x.toFixed(2));

/** Returns what is shown as SVG, an alignment as lines; rows have the size of the paper's figures. */
function buildSvg() {
  const { shown } = page, paper = paperColour(), ink = inkColour();
  const colours = isView("rows") && !state.second && paper === WHITE ? shown.heads.map(head => headColour(head.number)) : drawingColours();
  const scene = { shown, chosen: chosenNow(), threshold: state.threshold, colours, power: opacityPower() };
  const [body, width, height] = isView("grid") ? gridSvg() : isView("matrix") ? matrixSvg(scene) : bipartiteSvg(scene);
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="${FONT}" fill="${ink}"><rect width="100%" height="100%" fill="${paper}"/>${body}</svg>\n`;
}

/** Returns a word as an SVG text; upwards if it is turned. */
function wordSvg(text, x, y, size, anchor, turned) {
  const at = turned ? `transform="translate(${round(x)} ${round(y)}) rotate(-90)"` : `x="${round(x)}" y="${round(y)}"`;
  const safe = text.replace(/[<>&"]/g, c => `&#${c.charCodeAt(0)};`);
  return `<text ${at} font-size="${size}" text-anchor="${anchor}">${safe}</text>`;
}

/** Returns lines, boxes and words as SVG, with the width and the height. */
function bipartiteSvg(scene) {
  const { shown, chosen, colours, threshold, power } = scene, upright = isView("rows");
  const layout = upright ? rowLayout(shown, 15, 80, 100) : columnLayout(shown, 120, 150), width = layout.width + (upright ? 30 : 0);
  const flip = (x, wide = 0) => round(page.mirror ? width - x - wide : x), left = upright ? 15 : 0, parts = [];
  const box = ([x, y, w, h], style) => `<rect x="${flip(left + x, w)}" y="${round(y)}" width="${round(w)}" height="${round(h)}" ${style}/>`;
  if (chosen.side) for (const i of chosen.units) parts.push(box(layout.slot(chosen.side, i, 0, 1), 'fill="#d3d3d3"'));
  eachBox(shown, chosen, threshold, (side, h, i, opacity) => parts.push(box(layout.slot(side, i, h, shown.heads.length), `fill="${colours[h]}" fill-opacity="${round(opacity)}"`)));
  const groups = {};
  eachLine(shown, chosen, threshold, 0, shown.height, (h, row, column, _, opacity) => {
    const name = `stroke="${colours[h]}" stroke-opacity="${(opacity ** power).toFixed(3)}"`, [x, y] = layout.start(row), [u, v] = layout.end(column);
    (groups[name] ??= []).push(`<path d="M${flip(left + x)} ${y}L${flip(left + u)} ${v}"/>`);
  });
  for (const [name, paths] of Object.entries(groups)) parts.push(`<g ${name} stroke-width="2">${paths.join("")}</g>`);
  const [near, far] = page.mirror ? ["start", "end"] : ["end", "start"];
  for (const [units, point, by, anchor] of [[shown.rows, layout.start, -1, upright ? "start" : near], [shown.columns, layout.end, 1, upright ? "end" : far]])
    units.forEach((unit, i) => {
      const [x, y] = point(i);
      parts.push(upright ? wordSvg(unit.text, flip(left + x) + 3.5, y + 2 * by, 10, anchor, true) : wordSvg(unit.text, flip(x + 4 * by), y + 5, 15, anchor));
    });
  return [parts.join(""), width, layout.height];
}

/** Returns a canvas as an SVG picture of a place and a size. */
const imageSvg = (canvas, x, y, width, height, transform = "") =>
  `<image transform="${transform}" x="${x}" y="${y}" width="${width}" height="${height}" preserveAspectRatio="none" image-rendering="pixelated" href="${canvas.toDataURL()}"/>`;

/** Returns the matrix as SVG: a picture with one pixel for each cell, and the words. */
function matrixSvg({ shown }) {
  const { label, cell, width, height } = matrixLayout(shown, page.scene.layout.cell), size = min(12, cell);
  const image = imageSvg(page.image.canvas, label, label, width - label, height - label, page.mirror ? `translate(${width} 0) scale(-1 1)` : "");
  const x = at => (page.mirror ? width - at : at), rows = shown.rows.map((unit, i) => wordSvg(unit.text, x(label - 4), label + cell * (i + 0.5) + size / 3, size, page.mirror ? "start" : "end"));
  const columns = shown.columns.map((unit, j) => wordSvg(unit.text, x(label + cell * (j + 0.5)) + size / 3, label - 4, size, "start", true));
  return [image + (cell < NARROW ? "" : rows.concat(columns).join("")), width, height];
}

/** Returns the grid of all heads as SVG. */
function gridSvg() {
  const { heads, layers } = kindNow(), parts = [...byId("grid").children].map((button, i) => {
    const x = 100 * (i % heads) + 5, y = 110 * floor(i / heads) + 5;
    return imageSvg(button.firstChild, x, y, 90, 80) + wordSvg(button.textContent, x, y + 93, 9, "start");
  });
  return [parts.join(""), 100 * heads, 110 * layers.length];
}

/** Returns the weights that are drawn as CSV. */
function buildCsv() {
  const { shown } = page, rows = ["kind,layer,head,reader,reader_text,read,read_text,weight"], quote = text => `"${text.replaceAll('"', '""')}"`;
  eachLine(shown, chosenNow(), state.threshold, 0, shown.height, (h, q, k, weight) => {
    const row = shown.rows[q], column = shown.columns[k];
    rows.push([state.kind, state.layer, shown.heads[h].number || "mean", row.index + 1, quote(row.text), column.index + 1, quote(column.text), weight.toFixed(6)].join());
  });
  return rows.join("\r\n") + "\r\n";
}

/** Saves what is shown as a file of a kind. */
async function save(kind) {
  const build = { svg: buildSvg, csv: buildCsv, png: () => buildPng(buildSvg(), byId("zoom").value) }[kind];
  download(`attention-${state.kind}-layer${state.layer}.${kind}`, await build());
}
