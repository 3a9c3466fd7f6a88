// Handles mouse and keys in a panel to move the point, zoom by dragging, pan, and toggle runs.

const DRAG_PIXELS = 5; // a shorter drag is a click

/** Makes the panels: a canvas, one over it for the point, and a slider that takes mouse and keys. */
function buildPanels(app) {
  for (const panel of PANELS) {
    const [canvas, overlay] = [create("canvas"), create("canvas")];
    const plot = create("div", { className: "plot", tabIndex: 0, role: "slider", "aria-label": `${panel.title}: point` });
    const log = create("button", { className: "log", type: "button", "aria-label": `${gettext(panel.title)}: log y` }, "log");
    const className = panel.large ? "panel large" : "panel";
    const element = create("section", { className, id: `panel-${panel.id}`, "aria-label": panel.title }, canvas, overlay, plot, log);
    log.addEventListener("click", () => toggleLogY(app, panel));
    listenToMouse(app, panel, plot);
    plot.addEventListener("keydown", (event) => pressKey(app, panel, event));
    app.panels.set(panel.id, { element, canvas, overlay, plot, log, scales: null });
    byId("panels").append(element);
  }
}

/** Changes a panel between a linear and a logarithmic axis of y. */
function toggleLogY(app, panel) {
  const logY = new Set(app.state.logY);
  if (!logY.delete(panel.id)) logY.add(panel.id);
  app.change({ logY });
}

/** Moves the point with the mouse or a finger; a drag with the mouse button down zooms in. */
function listenToMouse(app, panel, plot) {
  let start = null;
  const xOf = (event) => {
    const { xScale } = app.panels.get(panel.id).scales;
    const pixel = event.clientX - plot.getBoundingClientRect().left;
    return [pixel, xScale.value(clamp(pixel, xScale.begin, xScale.end))];
  };
  plot.addEventListener("pointermove", (event) => {
    app.moveTo(xOf(event)[1]);
    showSelection(app, panel, start === null ? null : [start, xOf(event)[0]]);
  });
  plot.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && event.button === 0) start = xOf(event)[0];
    app.moveTo(xOf(event)[1]);
  });
  window.addEventListener("pointerup", (event) => {
    if (start !== null && Math.abs(xOf(event)[0] - start) >= DRAG_PIXELS) zoomToPixels(app, panel, start, xOf(event)[0]);
    start = null;
    showSelection(app, panel, null);
  });
  plot.addEventListener("dblclick", () => app.zoom(null));
  plot.addEventListener("pointerleave", () => start === null && document.activeElement !== plot && app.moveTo(null));
}

/** Zooms to what lies between two pixels of a panel. */
function zoomToPixels(app, panel, first, second) {
  const { xScale } = app.panels.get(panel.id).scales;
  const held = [first, second].map((pixel) => clamp(pixel, xScale.begin, xScale.end)).sort((a, b) => a - b);
  if (held[1] > held[0]) app.zoom(...held.map((pixel) => xScale.value(pixel)));
}

/** Shades what a drag has selected; null takes the shade away. */
function showSelection(app, panel, pixels) {
  app.selection = pixels;
  if (pixels === null) return;
  requestAnimationFrame(() => {
    const view = app.panels.get(panel.id);
    if (!app.selection || !view.scales) return;
    const [left, right] = [...app.selection].sort((a, b) => a - b);
    const { yScale } = view.scales;
    const pen = new CanvasPen(view.overlay.getContext("2d"));
    pen.rectangles([[left, yScale.end, right - left, yScale.begin - yScale.end]], { color: readColors().ink, alpha: 0.12 });
  });
}

/** Does what a key asks for in a panel. */
function pressKey(app, panel, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const action = keyActions(app, panel)[event.key] || runAction(app, event.key);
  if (!action) return;
  event.preventDefault();
  action(event);
}

/** Returns what each key does. */
function keyActions(app, panel) {
  const [low, high] = xRange(app.state, app.shown());
  return {
    ArrowLeft: (event) => stepPoint(app, event.shiftKey ? -0.05 : -1),
    ArrowRight: (event) => stepPoint(app, event.shiftKey ? 0.05 : 1),
    Home: () => app.moveTo(low),
    End: () => app.moveTo(high),
    PageUp: () => app.pan(0.5),
    PageDown: () => app.pan(-0.5),
    "+": () => app.zoomBy(0.5),
    "=": () => app.zoomBy(0.5),
    "-": () => app.zoomBy(2),
    0: () => app.zoom(null),
    Escape: () => app.moveTo(null),
    x: () => app.change(nextAxis(app)),
    l: () => app.change({ logX: !app.state.logX, from: null, to: null }),
    y: () => toggleLogY(app, panel),
    d: () => switchTheme(app),
    "?": () => toggleHelp(),
  };
}

/** Returns what a digit does: it shows or hides a run. */
function runAction(app, key) {
  const number = Number(key) - 1;
  return /^[1-9]$/.test(key) && number < app.runs.length ? () => toggleRun(app, number) : null;
}

/** Moves the point by whole cells of the first run, or by a part of what is shown. */
function stepPoint(app, size) {
  const scale = new Scale(...xRange(app.state, app.shown()), 0, 1, app.state.logX);
  const at = app.state.cursor === null ? scale.high : app.state.cursor;
  const run = app.shown().find((one) => one.count);
  if (Math.abs(size) < 1 || !run) return app.moveTo(scale.value(clamp(scale.pixel(at) + size, 0, 1)));
  const next = clamp(run.nearest(app.state.axis, at) + size, 0, run.count - 1);
  return app.moveTo(run.x[app.state.axis].data[next]);
}

/** Returns the change to the next axis of x, which shows everything. */
function nextAxis(app, axis = AXES[(AXES.indexOf(app.state.axis) + 1) % AXES.length]) {
  return { axis, from: null, to: null, cursor: null };
}

/** Shows or hides a run. */
function toggleRun(app, number) {
  const hidden = new Set(app.state.hidden);
  if (!hidden.delete(number)) hidden.add(number);
  app.change({ hidden });
}

/** Changes between light and dark. */
function switchTheme(app) {
  toggleTheme();
  app.draw();
  buildRuns(app);
}

/** Shows or hides the list of keys. */
function toggleHelp() {
  byId("help-text").hidden = !byId("help-text").hidden;
  byId("help").setAttribute("aria-expanded", String(!byId("help-text").hidden));
}
