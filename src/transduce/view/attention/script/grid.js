// Draws a grid of thumbnails, with the attention matrix of every head of every layer.

const THUMB = 64; // most pixels of a side of a small matrix

/** Shows a small matrix of each head of each layer, and which heads are on; a click opens a head. */
async function fillGrid(turn) {
  const { kind, second } = state, { layers, heads, rows, columns, table } = KINDS[kind], paper = paperColour();
  const name = [kind, second, paper].join(), cells = [min(rows, THUMB), min(columns, THUMB)], found = [];
  if (page.grid !== name) {
    byId("work").style.setProperty("--heads", heads);
    for (const layer of layers) {
      const values = await openLayer(kind, layer);
      if (turn !== page.turn) return;
      for (const head of numbers(heads)) {
        const part = values.subarray((head - 1) * rows * columns, head * rows * columns);
        const ink = readable(headColour(head, second), paper);
        found.push(thumbButton(layer, head, paintThumb(part, table, [rows, columns], cells, channels(ink))));
      }
    }
    page.grid = name;
    fill("grid", ...found);
  }
  [...byId("grid").children].forEach((button, i) =>
    setOnce(button, "aria-pressed", layers[floor(i / heads)] === state.layer && state.heads.includes((i % heads) + 1)));
}

/** Returns the button of one head in the grid. */
function thumbButton(layer, head, canvas) {
  const [label, share] = tendencyOf(layer, head), said = `${gettext(label)} ${percent(share)}`;
  const onclick = () => change({ layer, heads: [head], view: page.before ?? plainState(state.kind).view });
  const title = `${gettext("Layer {0}, head {1}", layer, head)}: ${said}`;
  return create("button", { onclick, title }, canvas, create("span", {}, `${layer}.${head}`), create("small", {}, ` ${said}`));
}

/** Returns a canvas of a head's weights; a pixel shows the largest weight of its cells. */
function paintThumb(values, table, [rows, columns], [height, width], ink) {
  const image = new ImageData(width, height), most = new Float32Array(width * height);
  for (let q = 0; q < rows; q++)
    for (let k = 0, line = floor((q * height) / rows) * width; k < columns; k++) {
      const at = line + floor((k * width) / columns), weight = table[values[q * columns + k]];
      if (weight > most[at]) most[at] = weight;
    }
  most.forEach((weight, at) => image.data.set([...ink, 255 * Math.sqrt(weight)], 4 * at));
  const canvas = create("canvas", { width, height });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}
