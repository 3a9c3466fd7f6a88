// Holds the page's runs and state, redraws its panels, zooms, pans, and moves the point.

const FRAME_MILLISECONDS = 100; // at most ten drawings of new updates a second

/** The page: its runs, what is shown of them, and the panels that draw it. */
class App {
  constructor(runs) {
    this.runs = runs;
    PANELS[0].log = isSteep(runs);
    this.state = readLink(location.hash, runs.length);
    this.panels = new Map();
    this.drawn = 0;
    this.waiting = false;
    this.frames = 0;
  }

  /** Returns the runs that are not hidden. */
  shown() {
    return this.runs.filter((run) => !this.state.hidden.has(run.number));
  }

  /** Changes the state, redraws, and puts the state into the address. */
  change(changes) {
    Object.assign(this.state, changes);
    this.state.smooth = smoothWindow(this.state.smoothLevel);
    putLink(writeLink(this.state));
    showControls(this);
    this.draw();
  }

  /** Draws in the next frame; more calls until then are one. */
  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.drawNow();
    });
  }

  /** Draws all panels and fills the tables. */
  drawNow() {
    this.frames++;
    const colors = readColors();
    for (const panel of PANELS) this.drawPanel(panel, colors);
    this.point();
  }

  /** Draws one panel on its canvas; a panel of which no run has a value is hidden. */
  drawPanel(panel, colors) {
    const view = this.panels.get(panel.id);
    view.element.hidden = !hasValues(panel, this.runs);
    if (view.element.hidden) return;
    const { width, height } = view.element.getBoundingClientRect();
    const pen = new CanvasPen(sizedContext(view.canvas, width, height));
    view.scales = drawPanel(pen, panel, { state: this.state, runs: this.shown(), colors, width, height });
  }

  /** Shows the point in all panels, and its values. */
  point() {
    const colors = readColors();
    for (const panel of PANELS) drawPoint(this, panel, colors);
    showValues(this);
  }

  /** Moves the point to a value of x, a whole number unless it is a time, or takes it away. */
  moveTo(cursor) {
    this.state.cursor = cursor === null || this.state.axis === "seconds" ? cursor : Math.round(cursor);
    if (!this.pointing) requestAnimationFrame(() => {
      this.pointing = false;
      putLink(writeLink(this.state));
      this.point();
    });
    this.pointing = true;
  }

  /** Shows a range of x, or everything. */
  zoom(from, to) {
    if (from === null) return this.change({ from: null, to: null });
    const [low, high] = heldRange(from, to, this.state.logX);
    return this.change({ from: low, to: high });
  }

  /** Zooms by a factor about the point, or about the middle. */
  zoomBy(factor) {
    const scale = new Scale(...xRange(this.state, this.shown()), 0, 1, this.state.logX);
    const inside = this.state.cursor !== null && this.state.cursor >= scale.low && this.state.cursor <= scale.high;
    const middle = inside ? scale.pixel(this.state.cursor) : 0.5;
    this.zoom(scale.value(middle - middle * factor), scale.value(middle + (1 - middle) * factor));
  }

  /** Moves what is shown by a part of its width. */
  pan(part) {
    const scale = new Scale(...xRange(this.state, this.shown()), 0, 1, this.state.logX);
    this.zoom(scale.value(part), scale.value(1 + part));
  }
}

/** Returns whether any run has a value for a panel. */
function hasValues(panel, runs) {
  if (panel.dev && runs.some((run) => run.validations.some((found) => found[panel.dev] !== null))) return true;
  return Boolean(panel.series) && runs.some((run) => run.count);
}

/** Returns a drawing context of a canvas as large as its element, in the pixels of the screen. */
function sizedContext(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  return context;
}

/** Draws the point: a line at x, and each run's value there. */
function drawPoint(app, panel, colors) {
  const view = app.panels.get(panel.id);
  if (view.element.hidden || !view.scales) return;
  const { width, height } = view.element.getBoundingClientRect();
  const pen = new CanvasPen(sizedContext(view.overlay, width, height));
  const { xScale, yScale } = view.scales;
  describeSlider(app, panel, view);
  if (app.state.cursor === null) return;
  const x = xScale.pixel(app.state.cursor);
  if (x < xScale.begin - 1 || x > xScale.end + 1) return;
  pen.line([[x, yScale.end], [x, yScale.begin]], { color: colors.ink, alpha: 0.6 });
  for (const run of app.shown()) drawValue(pen, panel, run, { app, colors, xScale, yScale });
}

/** Draws a run's value at the point. */
function drawValue(pen, panel, run, { app, colors, xScale, yScale }) {
  if (!panel.series || !run.count) return;
  const i = run.nearest(app.state.axis, app.state.cursor);
  const value = panel.map(run.series[panel.series].cell(i)[2]);
  const [x, y] = [xScale.pixel(run.x[app.state.axis].data[i]), yScale.pixel(value)];
  if (Number.isFinite(x + y)) pen.shapes([markShape({ number: 0 }, x, y, 4)], { color: runColor(colors, run) });
}

/** Says in a panel's slider where the point is, and what the values are there. */
function describeSlider(app, panel, view) {
  const [low, high] = xRange(app.state, app.shown());
  const at = app.state.cursor === null ? high : clamp(app.state.cursor, low, high);
  const values = app.shown().filter((run) => run.count).map((run) => {
    const i = run.nearest(app.state.axis, at);
    const found = panel.series ? describeCell(run, panel.series, i, panel.map)
      : formatNumber((lastValidation(run, run.x.step.data[i], "score") || {}).score);
    return `${run.name}: ${found}`;
  });
  const where = app.state.axis === "seconds" ? formatDuration(at) : `${gettext(AXIS_TITLES[app.state.axis])} ${formatNumber(Math.round(at), 16)}`;
  view.plot.setAttribute("aria-valuemin", low);
  view.plot.setAttribute("aria-valuemax", high);
  view.plot.setAttribute("aria-valuenow", at);
  view.plot.setAttribute("aria-valuetext", `${where}; ${values.join("; ")}`);
}
