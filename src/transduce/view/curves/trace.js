// Downsamples a series to a panel's pixels, as a line of means with bars from minimum to maximum.

const POINTS_PER_PIXEL = 1.5; // with more points in a pixel, a band and their mean are drawn
const CELLS_PER_PIXEL = 96; // with more cells in a pixel, chunks of 64 cells are read instead

/** Returns the first and the last cell that a range of an axis touches, and one more on both sides. */
function visibleCells(run, axis, low, high) {
  const xs = run.x[axis].data;
  const first = Math.max(0, lowerBound(xs, run.count, low) - 1);
  return [first, Math.min(run.count - 1, lowerBound(xs, run.count, high))];
}

/** Returns what is to be drawn of a series: a line of points, and vertical bars from low to high. */
function traceSeries(run, series, axis, xScale, map) {
  const [first, last] = visibleCells(run, axis, xScale.low, xScale.high);
  const width = Math.max(1, xScale.end - xScale.begin);
  if (last - first <= POINTS_PER_PIXEL * width) return tracePoints(run, series, axis, [first, last], map);
  return traceColumns(run, series, axis, xScale, map);
}

/** Returns each cell as a point of the line, and blocks as bars, too. */
function tracePoints(run, series, axis, [first, last], map) {
  const trace = { points: [], bars: [], single: true };
  const xs = run.x[axis].data;
  for (let i = first; i <= last; i++) {
    const [low, high, mean] = series.cell(i);
    const begin = i ? xs[i - 1] : 0;
    const x = i < series.low.length ? (begin + xs[i]) / 2 : xs[i];
    trace.points.push([x, map(mean)]);
    if (i < series.low.length && low === low) trace.bars.push([begin, xs[i], map(low), map(high)]);
  }
  return trace;
}

/** Returns for each column of pixels the mean of its cells, and a bar from smallest to largest. */
function traceColumns(run, series, axis, xScale, map) {
  const columns = new Map();
  const pixel = (x) => Math.floor(xScale.pixel(clamp(x, xScale.low, xScale.high)));
  const add = ([begin, middle, end], [low, high, mean]) => {
    if (mean !== mean) return;
    for (let at = pixel(begin); at <= pixel(end); at++) widenColumn(columns, at, low, high);
    const found = columns.get(pixel(middle));
    found.sum += mean;
    found.count++;
  };
  eachCell(run, series, axis, xScale, add);
  const trace = { points: [], bars: [], single: false };
  for (const [at, { low, high, sum, count }] of [...columns].sort(([a], [b]) => a - b)) {
    if (count) trace.points.push([xScale.value(at + 0.5), map(sum / count)]);
    trace.bars.push([xScale.value(at), xScale.value(at + 1), map(low), map(high)]);
  }
  return trace;
}

/** Widens a column of pixels to a smallest and a largest value. */
function widenColumn(columns, at, low, high) {
  const found = columns.get(at);
  if (!found) columns.set(at, { low, high, sum: 0, count: 0 });
  else {
    found.low = Math.min(found.low, low);
    found.high = Math.max(found.high, high);
  }
}

/** Calls `add` with the place (begin, middle, end) and the values of each visible cell, or chunk of cells. */
function eachCell(run, series, axis, xScale, add) {
  const [first, last] = visibleCells(run, axis, xScale.low, xScale.high);
  const many = last - first > CELLS_PER_PIXEL * (xScale.end - xScale.begin);
  const [begin, end] = many ? wholeChunks(series, first, last) : [first, first];
  eachSingle(run, series, axis, xScale, [first, begin * (many ? CHUNK : 1)], add);
  if (many) eachChunk(run, series, axis, xScale, [begin, end], add);
  eachSingle(run, series, axis, xScale, [many ? end * CHUNK : first, last + 1], add);
}

/** Returns the first chunk of 64 cells within a range of cells, and the one after the last. */
function wholeChunks(series, first, last) {
  const begin = Math.ceil(first / CHUNK);
  return [begin, Math.max(begin, Math.min(series.summary().done, Math.floor((last + 1) / CHUNK)))];
}

/** Calls `add` for the cells of a range that are in view; a block fills the place of its updates. */
function eachSingle(run, series, axis, xScale, [begin, end], add) {
  const xs = run.x[axis].data;
  for (let i = begin; i < end; i++) {
    const begin = i < run.blocks ? (i ? xs[i - 1] : 0) : xs[i];
    if (xs[i] >= xScale.low && begin <= xScale.high) add([begin, (begin + xs[i]) / 2, xs[i]], series.cell(i));
  }
}

/** Calls `add` for chunks of a range, each at its middle. */
function eachChunk(run, series, axis, xScale, [begin, end], add) {
  const xs = run.x[axis].data;
  const chunks = series.summary();
  for (let c = begin; c < end; c++) {
    const x = xs[c * CHUNK + CHUNK / 2];
    add([x, x, x], [chunks.low.data[c], chunks.high.data[c], chunks.mean.data[c]]);
  }
}

/** Returns a value, held between two others. */
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
