// Draws attention weights as lines between two columns or rows of words, with boxes by head.

const ROW = 22; // pixels of a word in two columns
const COLUMN = 21, BOX = 112, GAP = 140; // of words in two rows: 1.4 times the paper's figures
const MOVING = 1500; // most lines that are drawn while the page scrolls

/** Returns where things are in two columns: readers at the left, what they read at the right. */
const columnLayout = (shown, box, gap) => ({
  width: 2 * box + gap, height: ROW * max(shown.height, shown.width),
  start: i => [box, ROW * (i + 0.5)], end: j => [box + gap, ROW * (j + 0.5)],
  slot: (side, i, part, parts) => [(side === "read" ? box + gap : 0) + (box * part) / parts, ROW * i, box / parts, ROW],
  span: ({ top, height }) => [floor(top / ROW), ceil((top + height) / ROW)],
});

/** Returns where things are in two rows, as in the paper's figures: readers above. */
const rowLayout = (shown, column, box, gap) => ({
  width: column * max(shown.height, shown.width), height: 2 * box + gap,
  start: i => [column * (i + 0.5), box], end: j => [column * (j + 0.5), box + gap],
  slot: (side, i, part, parts) => [column * i, (side === "read" ? box + gap : 0) + (box * part) / parts, column, box / parts],
  span: ({ left, width }) => [floor(left / column), ceil((left + width) / column)],
});

/** Calls visit(head index, reader, read, weight, opacity) for each line of readers in [from, to). */
function eachLine(shown, chosen, threshold, from, to, visit) {
  const width = shown.width, readers = chosen.side === "readers" && chosen.units, read = chosen.side === "read" && chosen.units;
  shown.heads.forEach((head, h) => {
    for (let r = 0; r < (readers ? readers.length : to - from); r++) {
      const row = readers ? readers[r] : from + r, factor = head.factors[row] / (chosen.side ? 1 : shown.heads.length);
      for (let c = 0; c < (read ? read.length : width); c++) {
        const column = read ? read[c] : c, weight = head.values[row * width + column];
        if (weight >= threshold && weight > 0) visit(h, row, column, weight, min(1, weight * factor));
      }
    }
  });
}

/** Calls visit(side, head index, unit, opacity) for each box behind a word of the other side. */
function eachBox(shown, chosen, threshold, visit) {
  if (!chosen.side) return;
  const byReader = chosen.side === "readers", width = shown.width;
  shown.heads.forEach((head, h) => {
    for (let i = 0; i < (byReader ? width : shown.height); i++) {
      let sum = 0;
      for (const one of chosen.units) {
        const row = byReader ? one : i, weight = head.values[row * width + (byReader ? i : one)];
        if (weight >= threshold) sum += weight * head.factors[row];
      }
      if (sum > 0) visit(byReader ? "read" : "readers", h, i, min(1, sum));
    }
  });
}

/** Returns the readers of which lines are drawn: those in a region, or all if a word is chosen. */
function readersIn({ shown, chosen, layout, region }) {
  const count = shown.height, left = page.mirror ? layout.width - region.left - region.width : region.left;
  return chosen.side ? [0, count] : layout.span({ ...region, left }).map(one => clamp(one, 0, count));
}

/** Draws the lines and boxes of a region of the plot; returns how many lines. */
function drawBipartite(pen, scene) {
  const { shown, chosen, layout, colours, threshold, power } = scene;
  eachBox(shown, chosen, threshold, (side, h, i, opacity) => {
    pen.globalAlpha = 0.6 * opacity;
    pen.fillStyle = colours[h];
    pen.fillRect(...layout.slot(side, i, h, shown.heads.length));
  });
  let lines = 0;
  pen.lineWidth = 2;
  eachLine(shown, chosen, threshold, ...readersIn(scene), (h, row, column, _, opacity) => {
    pen.globalAlpha = opacity ** power;
    pen.strokeStyle = colours[h];
    pen.beginPath();
    pen.moveTo(...layout.start(row));
    pen.lineTo(...layout.end(column));
    pen.stroke();
    lines++;
  });
  return lines;
}

/** Returns the smallest threshold at which at most MOVING lines are in a region. */
function movingThreshold(scene) {
  const weights = [];
  eachLine(scene.shown, scene.chosen, scene.threshold, ...readersIn(scene), (_h, _r, _c, weight) => weights.push(weight));
  return weights.length > MOVING ? weights.sort((a, b) => b - a)[MOVING] : scene.threshold;
}
