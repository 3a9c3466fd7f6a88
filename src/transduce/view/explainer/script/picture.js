// Matrices of numbers as pictures: blue above 0, orange below, one path for each shade. Weights have
// a fixed scale from 0 to 1; −∞ is hatched.

const SHADES = 12;

/** Returns the number that has a picture's full colour: 1 for weights, else the largest of the rows. */
const scaleOf = ({ name, rows }) => (name.includes(".weights.") ? 1 : largest(rows));

/** Returns the largest finite size of the numbers of rows. */
const largest = rows => rows.reduce((most, row) => row.reduce((a, x) => (Number.isFinite(x) ? Math.max(a, Math.abs(x)) : a), most), 0);

/** Returns the cells of rows by shade: [shade from -SHADES to SHADES, path]. */
function shadePaths(rows, width, height, scale) {
  const paths = new Map();
  rows.forEach((row, i) => {
    row.forEach((x, j) => {
      const shade = Number.isFinite(x) && scale ? Math.round((x / scale) * SHADES) : 0;
      if (shade) paths.set(shade, `${paths.get(shade) ?? ""}M${j * width} ${i * height}h${width}v${height}h-${width}z`);
    });
  });
  return [...paths].sort(([a], [b]) => a - b);
}

const SVG = "http://www.w3.org/2000/svg";

/** Sets attributes of an element. */
function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

/** Returns a new SVG element. */
function createSvg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  setAll(element, attributes);
  element.append(...children);
  return element;
}

const MATHML = "http://www.w3.org/1998/Math/MathML";

/** Returns a new MathML element. */
function createMath(tag, ...children) {
  const element = document.createElementNS(MATHML, tag);
  element.append(...children);
  return element;
}

/** Returns a text as MathML parts: a_b, a^b, a^(…) and a_b^c are set low and high, all else is text. */
function mathParts(text) {
  const found = text.split(/([A-Za-z\d]+|\))(?=[_^])(?:_([a-z]+))?(?:\^(\([^()]+\)|[−α\d.]+))?/u), parts = [];
  for (let i = 0; i < found.length; i += 4) {
    const [plain, base, low, high] = found.slice(i, i + 4);
    if (plain) parts.push(createMath("mtext", plain));
    if (base) parts.push(createMath(`m${low ? "sub" : ""}${high ? "sup" : ""}`, createMath("mi", base), ...(low ? [createMath("mtext", low)] : []), ...(high ? [createMath("mrow", ...mathParts(high.replace(/^\((.*)\)$/u, "$1")))] : [])));
  }
  return parts;
}

/** Returns a text as nodes, with MathML for what is set low and high. */
const typeset = text => mathParts(text).map(part => (part.localName === "mtext" ? part.textContent : createMath("math", part)));

/** Returns the hatching of the cells of rows that are shut, as a path. */
const hatchPath = (rows, isShut, width, height) => rows.flatMap((row, i) => Array.from(row, (_, j) => (isShut(i, j) ? `M${j * width} ${(i + 1) * height}l${width} ${-height}m${-width / 2} 0l${-width / 2} ${height / 2}m${width} 0l${-width / 2} ${height / 2}` : ""))).join("");

/** Returns the picture of a box {name, rows, isShut, wide, marked, cell} as an SVG element. */
function drawMatrix({ name, rows, isShut = () => false, wide, marked, cell }) {
  const count = Math.max(...rows.map(row => row.length)), [width, height] = wide ? [4, 20] : [22, 22];
  const paths = shadePaths(rows, width, height, scaleOf({ name, rows })).map(([shade, d]) => createSvg("path", { d, class: shade > 0 ? "above" : "below", "fill-opacity": Math.abs(shade) / SHADES }));
  const svg = createSvg("svg", { viewBox: `0 0 ${count * width} ${rows.length * height}`, preserveAspectRatio: "none", "aria-hidden": "true", class: wide ? "wide" : "square" }, ...paths);
  const shut = hatchPath(rows, isShut, width, height);
  if (shut) svg.append(createSvg("path", { d: shut, class: "hatch" }));
  if (!wide) svg.setAttribute("width", count * width);
  svg.setAttribute("height", rows.length * height);
  if (marked >= 0 && marked < rows.length) svg.append(createSvg("rect", { x: 0, y: marked * height, width: count * width, height, class: "marked" }));
  if (cell) svg.append(createSvg("rect", { x: cell[1] * width, y: cell[0] * height, width, height, class: "picked" }));
  return svg;
}

/** Returns the row and column of a box under the mouse. */
function cellUnder(event, rows) {
  const { left, top, width, height } = event.currentTarget.getBoundingClientRect(), count = Math.max(...rows.map(row => row.length));
  const i = Math.floor(((event.clientY - top) / height) * rows.length), j = Math.floor(((event.clientX - left) / width) * count);
  return i >= 0 && i < rows.length && j >= 0 && j < rows[i].length ? [i, j] : null;
}

/** Returns a number rounded to some digits. */
const round = (x, digits) => Number(x.toPrecision(digits));

/** Returns a number with five digits, as the page shows it; one below 0.001 as in 3·10⁻⁴. */
function show5(x) {
  if (!Number.isFinite(x)) return x === undefined ? "" : "−∞";
  const [digits, power] = x && Math.abs(x) < 0.001 ? x.toExponential(4).split("e-") : [x.toPrecision(5)];
  return String(Number(digits)).replace("-", "−").replace(".", POINT) + (power ? `·10⁻${power.replace(/\d/g, d => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d])}` : "");
}

/** Returns the legend of a box: what its colours say, and their scale. */
function legendOf({ name, rows, isShut }) {
  const scale = round(scaleOf({ name, rows }), 3), chip = kind => create("span", { className: `chip ${kind}`, "aria-hidden": "true" });
  const hasBelow = rows.some(row => row.some(x => x < 0 && x > -Infinity)), hasShut = rows.some((row, i) => row.some((_, j) => isShut(i, j)));
  return [`${show5(hasBelow ? -scale : 0)} `, chip(hasBelow ? "from-below" : ""), ` ${show5(scale)}`, ...(hasShut ? [" · ", chip("hatched"), gettext("masked: −∞, weight 0")] : [])];
}
