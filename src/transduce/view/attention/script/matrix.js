// Draws attention as a matrix (heat map) with a crosshair, and finds the cell under the mouse.

const LABEL = 112, NARROW = 10; // pixels of a label; cells below this size have none

/** Returns where the cells of a matrix are, in pixels of the plot. */
function matrixLayout(shown, cell) {
  const label = cell < NARROW ? 12 : LABEL;
  return { label, cell, width: label + cell * shown.width, height: label + cell * shown.height };
}

/** Returns the size of a cell, at least 2 pixels, to fit a matrix into a width; narrow ones have no labels. */
function fitCell(shown, width) {
  const fit = (label, most) => clamp(floor((width - label) / shown.width), 2, most), cell = fit(LABEL, ROW);
  return cell < NARROW ? fit(12, NARROW - 1) : cell;
}

/** Returns a canvas with a pixel for each cell: the heads' colours blended, opaque if any weight is 1. */
function paintMatrix({ shown, colours, threshold }) {
  const width = shown.width, height = shown.height;
  const image = new ImageData(width, height), inks = colours.map(channels), sums = [0, 0, 0];
  for (let at = 0; at < width * height; at++) {
    let clear = 1, total = 0;
    sums.fill(0);
    for (let h = 0; h < inks.length; h++) {
      const { values, factors } = shown.heads[h];
      if (values[at] < threshold || !values[at]) continue;
      const weight = min(1, values[at] * factors[floor(at / width)]);
      clear *= 1 - weight;
      total += weight;
      for (let c = 0; c < 3; c++) sums[c] += weight * inks[h][c];
    }
    for (let c = 0; c < 3 && total; c++) image.data[4 * at + c] = sums[c] / total;
    image.data[4 * at + 3] = 255 * (1 - clear);
  }
  const canvas = create("canvas", { width, height });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

/** Draws a matrix and its crosshair. */
function drawMatrix(pen, scene) {
  const { shown, layout: { label, cell }, colours, threshold } = scene, name = [colours, threshold].join();
  if (page.image?.shown !== shown || page.image.name !== name) page.image = { shown, name, canvas: paintMatrix(scene) };
  const width = cell * shown.width, height = cell * shown.height;
  pen.imageSmoothingEnabled = false;
  pen.drawImage(page.image.canvas, label, label, width, height);
  pen.strokeStyle = inkColour();
  pen.strokeRect(label - 0.5, label - 0.5, width + 1, height + 1);
  const { readers, read } = crosshair();
  for (const row of readers) pen.strokeRect(0, label + row * cell, label + width, cell);
  for (const column of read) pen.strokeRect(label + column * cell, 0, cell, label + height);
  return 0;
}

/** Returns the rows and columns that are marked: those under the mouse, or those chosen. */
function crosshair() {
  const { hover } = page;
  if (hover?.cell) return { readers: [hover.cell[0]], read: [hover.cell[1]] };
  return hover ? { readers: [], read: [], [hover.side]: [hover.unit] } : chosenLists();
}

/** Returns the row and the column of the cell at a point of the screen, or null. */
function cellAt(event) {
  const box = boxOf("between"), { cell } = page.scene.layout;
  const row = floor((event.clientY - box.top) / cell);
  const column = floor((page.mirror ? box.right - event.clientX : event.clientX - box.left) / cell);
  return page.shown.rows[row] && page.shown.columns[column] ? [row, column] : null;
}
