// Draws a panel with axes, curves, validations, scheduled rate, restarts and skipped updates.

const MARGIN = { left: 54, right: 14, top: 30, bottom: 34 };
const NARROW = 400; // pixels of a panel; below it the title is small
const BUTTON = 48; // pixels at the right of the title, for the button that chooses a log scale
const AXIS_TITLES = { step: "update", tokens: "target tokens", seconds: "time of training" };

/** Returns the range of x that all shown runs fill, or the one that was zoomed to. */
function xRange(state, runs) {
  if (state.from !== null) return [state.from, state.to];
  const ends = runs.filter((run) => run.count).map((run) => run.x[state.axis].data[run.count - 1]);
  const begins = runs.filter((run) => run.count).map((run) => run.x[state.axis].data[0]);
  const low = state.logX ? Math.max(1e-3, Math.min(...begins, 1)) : 0;
  return [low, Math.max(low * 10, ...ends, 1)];
}

/** Draws a panel with all shown runs, and returns its scales. */
function drawPanel(pen, panel, view) {
  const { state, runs, colors, width, height } = view;
  const xScale = new Scale(...xRange(state, runs), MARGIN.left, width - MARGIN.right, state.logX);
  const log = state.logY.has(panel.id);
  const traces = runs.map((run) => traceRun(panel, run, state, xScale));
  const range = paddedRange(...valueRange(traces, xScale, log), log);
  const yScale = new Scale(...range, height - MARGIN.bottom, MARGIN.top, log);
  pen.rectangles([[0, 0, width, height]], { color: colors.paper });
  drawAxes(pen, panel, { ...view, xScale, yScale });
  const [inner, tall] = [width - MARGIN.left - MARGIN.right, height - MARGIN.top - MARGIN.bottom];
  pen.clip(MARGIN.left, MARGIN.top - 4, inner, tall + 4, () => {
    for (const trace of traces) drawTrace(pen, trace, { colors, xScale, yScale, state });
    if (panel.id === "rate") for (const run of runs) drawSchedule(pen, run, { colors, xScale, yScale, state });
    for (const run of runs) drawMarks(pen, panel, run, { colors, xScale, yScale, state });
  });
  return { xScale, yScale };
}

/** Returns what a panel shows of a run: its updates, these smoothed, and its validations. */
function traceRun(panel, run, state, xScale) {
  const trace = { run, raw: null, smooth: null, dev: devPoints(panel, run, state.axis) };
  if (!panel.series || !run.count) return trace;
  trace.raw = traceSeries(run, run.series[panel.series], state.axis, xScale, panel.map);
  if (state.smooth > 0) {
    const smoothed = run.smooth(panel.series, state.smooth);
    trace.smooth = traceSeries(run, smoothed, state.axis, xScale, panel.map);
  }
  return trace;
}

/** Returns the values of a run's validations as points. */
function devPoints(panel, run, axis) {
  if (!panel.dev) return [];
  const known = run.validations.filter((found) => found[panel.dev] !== null);
  return known.map((found) => [run.xOfStep(axis, found.step), panel.map(found[panel.dev])]);
}

/** Returns the smallest and the largest value in view. */
function valueRange(traces, xScale, log) {
  let [low, high] = [Infinity, -Infinity];
  const add = (value) => {
    if (!Number.isFinite(value) || (log && value <= 0)) return;
    low = Math.min(low, value);
    high = Math.max(high, value);
  };
  const inside = ([x]) => x >= xScale.low && x <= xScale.high;
  for (const { raw, dev } of traces) {
    for (const [, , least, most] of raw ? raw.bars : []) [least, most].forEach(add);
    for (const [, y] of raw ? raw.points.filter(inside) : []) add(y);
    for (const [, y] of dev.filter(inside)) add(y);
  }
  return [low, high];
}

/** Returns points in pixels; those that have none are NaN. */
function toPixels(points, xScale, yScale) {
  return points.map(([x, y]) => {
    const pixel = yScale.pixel(y);
    return [xScale.pixel(x), Number.isFinite(pixel) ? pixel : NaN];
  });
}

/** Draws a run: bars from smallest to largest, the line of updates, and the validations. */
function drawTrace(pen, { run, raw, smooth, dev }, { colors, xScale, yScale }) {
  const color = runColor(colors, run);
  if (raw) {
    const bars = raw.bars.map((bar) => barPixels(bar, xScale, yScale)).filter((bar) => bar.every(Number.isFinite));
    if (bars.length) pen.rectangles(bars, { color, alpha: smooth ? 0.15 : 0.3 });
    const width = raw.single ? 1 : 1.2;
    pen.line(toPixels(raw.points, xScale, yScale), { color, width, alpha: smooth ? 0.3 : 0.85 });
    drawLonePoints(pen, raw, { color, xScale, yScale });
  }
  if (smooth) pen.line(toPixels(smooth.points, xScale, yScale), { color, width: 2 });
  if (dev.length) {
    const points = toPixels(dev, xScale, yScale).filter(([, y]) => y === y);
    pen.line(points, { color, width: 2 });
    const inView = points.filter(([x]) => x >= xScale.begin && x <= xScale.end);
    const room = (xScale.end - xScale.begin) / inView.length;
    if (room >= 5) pen.shapes(points.map(([x, y]) => markShape(run, x, y, 4)), { color });
  }
}

/** Draws updates as points, too, where they are far from each other. */
function drawLonePoints(pen, raw, { color, xScale, yScale }) {
  if (!raw.single || raw.points.length * 8 > xScale.end - xScale.begin) return;
  const points = toPixels(raw.points, xScale, yScale).filter(([, y]) => y === y);
  pen.rectangles(points.map(([x, y]) => [x - 1.5, y - 1.5, 3, 3]), { color });
}

/** Returns a bar as a rectangle that is at least a pixel wide and high. */
function barPixels([begin, end, low, high], xScale, yScale) {
  const left = xScale.pixel(Math.max(begin, xScale.low));
  const right = xScale.pixel(end);
  const top = yScale.pixel(high);
  return [left, top, Math.max(1, right - left), Math.max(1, yScale.pixel(low) - top)];
}

/** Draws equation 3 for a run's recipe as a dashed line. */
function drawSchedule(pen, run, { colors, xScale, yScale, state }) {
  if (!run.header.schedule || !run.count) return;
  const points = [];
  for (let pixel = xScale.begin; pixel <= xScale.end; pixel += 2) {
    const x = xScale.value(pixel);
    const step = state.axis === "step" ? x : run.x.step.data[Math.max(0, run.nearest(state.axis, x))];
    points.push([x, run.rateAt(Math.max(1, step))]);
  }
  pen.line(toPixels(points, xScale, yScale), { color: colors.ink, width: 1.2, dash: [5, 4] });
}

/** Draws marks of a run: restarts as lines, skipped updates, and what was saved at the bottom. */
function drawMarks(pen, panel, run, { colors, xScale, yScale, state }) {
  const color = runColor(colors, run);
  const at = (step) => xScale.pixel(run.xOfStep(state.axis, step));
  const [top, bottom] = [yScale.end, yScale.begin];
  for (const step of run.marks.resume) {
    pen.line([[at(step), top], [at(step), bottom]], { color, width: 1, dash: [1, 3] });
    pen.shapes([[[at(step) - 4, top - 4], [at(step) + 4, top - 4], [at(step), top + 3]]], { color });
  }
  if (panel.id !== "loss") return;
  pen.rectangles(run.marks.snapshot.map((step) => [at(step) - 0.5, bottom - 5, 1, 5]), { color, alpha: 0.8 });
  pen.rectangles(run.marks.checkpoint.map((step) => [at(step) - 1, bottom - 3, 2, 3]), { color: colors.quiet });
  pen.rectangles(skippedBars(run, state.axis, xScale, top), { color: colors.alarm });
  const failed = run.marks.failure.map((step) => [at(step) - 1, bottom - 9, 2, 9]);
  if (failed.length) pen.rectangles(failed, { color: colors.alarm });
  const averaged = averagedSteps(run);
  if (averaged) pen.rectangles([[at(averaged[0]), bottom - 2, at(averaged[1]) - at(averaged[0]), 2]], { color });
}

/** Returns a bar at the top for each visible cell in which an update was skipped. */
function skippedBars(run, axis, xScale, top) {
  const [first, last] = visibleCells(run, axis, xScale.low, xScale.high);
  const bars = new Map();
  for (let i = first; i <= last; i++) {
    const x = Math.floor(xScale.pixel(run.x[axis].data[i]));
    if (run.skipped.data[i] > 0) bars.set(x, [x - 1, top - 4, 2, 8]);
  }
  return [...bars.values()];
}

/** Returns the first and the last step of the snapshots whose mean is the model, or null. */
function averagedSteps(run) {
  const last = run.header.average_last;
  const saved = run.marks.snapshot;
  if (!last || last < 2 || saved.length < last) return null;
  return [saved[saved.length - last], saved[saved.length - 1]];
}

/** Draws title, grid and numbers of a panel. */
function drawAxes(pen, panel, { colors, width, height, xScale, yScale, state, runs }) {
  const narrow = width < NARROW;
  const left = narrow ? 8 : MARGIN.left;
  pen.text(panelTitle(panel, runs), left, 16, { color: colors.ink, size: narrow ? 11 : 13, bold: true, room: width - left - BUTTON });
  const room = (xScale.end - xScale.begin) / 80;
  const right = width - MARGIN.right;
  const ticks = yScale.ticks(Math.max(2, (yScale.begin - yScale.end) / 45));
  const labels = formatTicks(ticks);
  for (const [i, tick] of ticks.entries()) {
    const y = Math.round(yScale.pixel(tick)) + 0.5;
    pen.line([[MARGIN.left, y], [right, y]], { color: colors.edge, alpha: 0.7 });
    pen.text(labels[i], MARGIN.left - 6, y + 4, { color: colors.quiet, align: "end", size: 11 });
  }
  const xs = xTicks(state, xScale, room), names = formatTicks(xs, (value, digits) => xLabel(state, value, digits));
  for (const [i, tick] of xs.entries()) {
    const x = Math.round(xScale.pixel(tick)) + 0.5;
    pen.line([[x, yScale.end], [x, yScale.begin]], { color: colors.edge, alpha: 0.7 });
    const align = x > right - 14 ? "end" : "middle";
    pen.text(names[i], align === "end" ? width - 2 : x, yScale.begin + 14, { color: colors.quiet, align, size: 11 });
  }
  pen.text(gettext(AXIS_TITLES[state.axis]), right, height - 5, { color: colors.quiet, align: "end", size: 11 });
}

/** Returns the title of a panel: the score's is the name of its metric. */
function panelTitle(panel, runs) {
  const names = runs.flatMap((run) => run.validations.map((found) => found.name)).filter(Boolean);
  const title = panel.id === "score" && names.length ? [...new Set(names)].slice(0, 3).map(visible).join(", ") : gettext(panel.title);
  return `${title} · ${gettext(panel.unit)}`;
}

/** Returns round values of x; times are round in minutes, hours or days. */
function xTicks(state, xScale, room) {
  if (state.axis !== "seconds" || state.logX) return xScale.ticks(room);
  const unit = timeUnit(xScale.high - xScale.low)[1];
  return linearTicks(xScale.low / unit, xScale.high / unit, room).map((tick) => tick * unit);
}

/** Returns the unit of time for a range of seconds. */
function timeUnit(seconds) {
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  return units.find(([, size]) => seconds >= 2 * size) || units[3];
}

/** Returns a value of x as the axis shows it. */
function xLabel(state, value, digits) {
  if (state.axis !== "seconds") return formatShort(value, digits);
  const [name, size] = timeUnit(value / 2 || 1);
  return value === 0 ? "0" : `${Number((value / size).toPrecision(digits))} ${name}`.replace(".", POINT);
}
