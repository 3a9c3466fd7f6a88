const ROW = 22, GAP_OF_EXPORT = { box: 120, gap: 150 }; // pixels of the two-column view
const MARGIN = 300; // pixels beyond what is in view that are drawn too, so that scrolling is smooth
const MOVING = 1500; // most lines that are drawn while the page scrolls

/** Returns where things are in two columns: readers at the left, what they read at the right. */
function columnLayout(rows, columns, box, gap) {
  return {
    width: 2 * box + gap, height: ROW * Math.max(rows, columns),
    start: (i) => [box, ROW * (i + 0.5)], end: (j) => [box + gap, ROW * (j + 0.5)],
    slot: (side, i, part, parts) => [side === "read" ? box + gap + (box * part) / parts : (box * part) / parts, ROW * i, box / parts, ROW],
    from: (region) => Math.floor(region.top / ROW), to: (region) => Math.ceil((region.top + region.height) / ROW),
  };
}

/** Calls visit(head index, reader, read, weight, opacity) for each line that is drawn of readers in [from, to). */
function eachLine(shown, chosen, threshold, from, to, visit) {
  const width = shown.columns.length, parts = shown.heads.length;
  const rows = chosen.side === "readers" ? chosen.units.filter((i) => i >= from && i < to) : null;
  const columns = chosen.side === "read" ? chosen.units : null;
  const count = rows ? rows.length : Math.min(to, shown.rows.length) - from;
  shown.heads.forEach((head, h) => {
    for (let r = 0; r < count; r++) {
      const row = rows ? rows[r] : from + r, factor = head.factors[row] / (chosen.side ? 1 : parts);
      for (let c = 0; c < (columns ? columns.length : width); c++) {
        const column = columns ? columns[c] : c, weight = head.values[row * width + column];
        if (weight >= threshold && weight > 0) visit(h, row, column, weight, Math.min(1, weight * factor));
      }
    }
  });
}

/** Calls visit(side, head index, unit, opacity) for each box behind a word that a chosen word reads, or that reads it. */
function eachBox(shown, chosen, threshold, visit) {
  if (!chosen.side) return;
  const other = chosen.side === "readers" ? "read" : "readers", width = shown.columns.length;
  const count = chosen.side === "readers" ? width : shown.rows.length;
  shown.heads.forEach((head, h) => {
    for (let i = 0; i < count; i++) {
      const weights = chosen.units.map((one) => {
        const row = chosen.side === "readers" ? one : i, at = row * width + (chosen.side === "readers" ? i : one);
        return head.values[at] >= threshold ? head.values[at] * head.factors[row] : 0;
      });
      const sum = weights.reduce((a, b) => a + b, 0);
      if (sum > 0) visit(other, h, i, Math.min(1, sum));
    }
  });
}

/** Draws lines and boxes of a region of the plot. */
function drawBipartite(context, { shown, chosen, layout, region, colours, threshold }) {
  eachBox(shown, chosen, threshold, (side, h, i, opacity) => {
    context.globalAlpha = 0.6 * opacity;
    context.fillStyle = colours[h];
    context.fillRect(...layout.slot(side, i, h, shown.heads.length));
  });
  const from = chosen.side ? 0 : clamp(layout.from(region), 0, shown.rows.length);
  const to = chosen.side ? shown.rows.length : clamp(layout.to(region), 0, shown.rows.length);
  let lines = 0;
  context.lineWidth = 2;
  eachLine(shown, chosen, threshold, from, to, (h, row, column, _, opacity) => {
    context.globalAlpha = opacity;
    context.strokeStyle = colours[h];
    context.beginPath();
    context.moveTo(...layout.start(row));
    context.lineTo(...layout.end(column));
    context.stroke();
    lines++;
  });
  return lines;
}

/** Returns the smallest weight of which at most MOVING lines are in a region. */
function movingThreshold(scene) {
  const { shown, chosen, layout, region, threshold } = scene;
  const weights = [], from = clamp(layout.from(region), 0, shown.rows.length), to = clamp(layout.to(region), 0, shown.rows.length);
  eachLine(shown, chosen, threshold, from, to, (_h, _r, _c, weight) => weights.push(weight));
  if (weights.length <= MOVING) return threshold;
  return weights.sort((a, b) => b - a)[MOVING];
}
