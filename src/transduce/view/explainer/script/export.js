// Exports the panel as an SVG or PNG file.

const INKS = ["--paper", "--ink", "--quiet", "--accent", "--below", "--edge"];
const escapeXml = text => text.replace(/[<>&"]/g, c => `&#${c.charCodeAt(0)};`);

/** Returns the page's colours by name. */
function coloursNow() {
  const colours = getComputedStyle(document.documentElement);
  return Object.fromEntries(INKS.map(name => [name.slice(2), colours.getPropertyValue(name).trim()]));
}

/** Gives the elements of a copied picture their colours as attributes: a picture has no style sheet. */
function paint(copy) {
  const { paper, ink, quiet, accent, below, edge } = coloursNow(), none = "none";
  const looks = {
    above: { fill: accent }, below: { fill: below }, marked: { fill: none, stroke: ink }, hatch: { fill: none, stroke: quiet, "stroke-width": 1 }, picked: { fill: none, stroke: ink, "stroke-width": 3 },
    line: { fill: none, stroke: quiet, "stroke-width": 1.5 }, "line best": { fill: none, stroke: accent, "stroke-width": 2.5 }, "quiet-text": { fill: quiet }, dot: { fill: paper, stroke: accent, "stroke-width": 2 }, "dot now": { fill: accent },
  };
  for (const element of copy.querySelectorAll("*")) {
    const box = element.nodeName === "rect" && element.parentNode.nodeName === "g" ? { fill: paper, stroke: element.parentNode.classList.contains("best") ? accent : edge } : {};
    setAll(element, { ...looks[element.getAttribute("class")], ...box });
    element.removeAttribute("class");
  }
}

/** Returns the text of an SVG element inside of a larger picture. */
function nested(svg, x, y, width, height) {
  const copy = svg.cloneNode(true);
  paint(copy);
  for (const name of ["aria-hidden", "class"]) copy.removeAttribute(name);
  setAll(copy, { x, y, width, height });
  return new XMLSerializer().serializeToString(copy);
}

/** Returns the size of a table and its SVG: a text for each cell, a bar for each share. */
function tableSvg(table, top) {
  const { accent } = coloursNow(), rows = [...table.rows].map(row => [...row.cells].slice(0, 3)), parts = [];
  const widths = [0, 1, 2].map(c => 16 + 7 * Math.max(...rows.map(cells => cells[c]?.textContent.length ?? 0))), left = c => widths.slice(0, c).reduce((a, b) => a + b, 10);
  rows.forEach((cells, i) => cells.forEach((cell, c) => {
    const share = cell.querySelector(".share"), y = top + 20 * i + 14;
    if (share) parts.push(`<rect x="${left(c)}" y="${y - 11}" width="${(3 * parseFloat(share.style.width)).toFixed(1)}" height="12" fill="${accent}"/>`);
    else parts.push(`<text x="${left(c)}" y="${y}">${escapeXml(cell.textContent)}</text>`);
  }));
  return [left(3) + (table.querySelector(".share") ? 300 : 0), 20 * rows.length + 10, parts.join("")];
}

/** Returns a text for SVG, with what stands after ^ and _ set high and low. */
const raise = text => escapeXml(text).replace(/(?:(\^)|_)(?:\(([^()]*)\)|([−α\d.]+|[a-z]+))/gu, (_, high, inner, word) => `<tspan dy="${high ? -5 : 3}" font-size="9">${(inner ?? word).replace("_", "")}</tspan><tspan dy="${high ? 5 : -3}">\u200b</tspan>`);

/** Returns the panel as SVG: its title, equation, and each box below the other. */
function buildSvg() {
  const panel = panelNow(), { ink, paper } = coloursNow(), parts = [], line = (text, x, y, more = "", spell = escapeXml) => parts.push(`<text x="${x}" y="${y}" ${more}>${spell(text)}</text>`);
  let y = 46, width = 560;
  line(`${panel.title} (${gettext("Section {0}", panel.section)})`, 10, 18, 'font-weight="bold"');
  line(panel.equation, 10, 36, "", raise);
  for (const box of panel.boxes.map(buildBox)) {
    const size = [box.wide ? 440 : 22 * Math.max(...box.rows.map(row => row.length)), (box.wide ? 20 : 22) * box.rows.length], labels = box.across ? 70 : 0;
    line(box.title, 10, y + 14, 'font-weight="bold"', raise);
    piecesOf(box.side).forEach((piece, i) => line(piece, 104, y + 34 + labels + i * (size[1] / box.rows.length), 'text-anchor="end"'));
    if (box.across) piecesOf(box.across).forEach((piece, j) => line(piece, 0, 0, `transform="translate(${126 + 22 * j} ${y + 20 + labels - 4}) rotate(-60)"`));
    parts.push(nested(drawMatrix(box), 110, y + 20 + labels, ...size));
    y += 34 + labels + size[1];
    width = Math.max(width, 150 + size[0]);
  }
  for (const table of panel.boxes.length || panel.id === "beam" ? [] : byId("boxes").querySelectorAll("table")) {
    const [wide, high, text] = tableSvg(table, y);
    parts.push(text);
    [width, y] = [Math.max(width, wide + 20), y + high];
  }
  const tree = byId("boxes").querySelector(".tree, .chart");
  if (tree) {
    const [wide, high] = ["width", "height"].map(name => Number(tree.getAttribute(name)));
    parts.push(nested(tree, 10, y, wide, high));
    [width, y] = [Math.max(width, wide + 20), y + high];
  }
  return `<svg xmlns="${SVG}" width="${width}" height="${y + 10}" viewBox="0 0 ${width} ${y + 10}" font-family="sans-serif" font-size="12" fill="${ink}"><rect width="100%" height="100%" fill="${paper}"/>${parts.join("")}</svg>\n`;
}

/** Saves the panel as a file of a kind. */
async function save(kind) {
  const isSvg = kind === "svg";
  if (page.result) download(`explainer-${state.panel}.${kind}`, isSvg ? buildSvg() : await buildPng(buildSvg(), 2), isSvg ? "image/svg+xml" : "image/png");
}
