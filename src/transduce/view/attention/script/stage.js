const page = { state: null, shown: null, hover: null, active: { side: "", unit: 0 }, turn: 0, scene: null, lines: 0, filled: "" };

/** Returns which of the shown units are chosen: those under the mouse, or those of the state. */
function chosenNow() {
  if (page.hover) return { side: page.hover.side, units: [page.hover.unit] };
  for (const side of SIDES) {
    const units = page[side].flatMap((unit, i) => (page.state[side].includes(unit.index) ? [i] : []));
    if (units.length) return { side, units };
  }
  return { side: "", units: [] };
}

/** Returns the part of the plot that is in view, in pixels of the plot. */
function visibleRegion() {
  const plot = byId("plot").getBoundingClientRect(), stage = byId("stage").getBoundingClientRect();
  const left = Math.max(stage.left, 0) - plot.left, top = Math.max(stage.top, 0) - plot.top;
  const right = Math.min(stage.right, innerWidth) - plot.left, bottom = Math.min(stage.bottom, innerHeight) - plot.top;
  return { left, top, width: Math.max(0, right - left), height: Math.max(0, bottom - top) };
}

/** Returns a region with a margin around it, inside of the plot. */
function widen({ left, top, width, height }, margin) {
  const plot = byId("plot"), x = clamp(left - margin, 0, plot.scrollWidth), y = clamp(top - margin, 0, plot.scrollHeight);
  const right = clamp(left + width + margin, 0, plot.scrollWidth), bottom = clamp(top + height + margin, 0, plot.scrollHeight);
  return { left: Math.floor(x), top: Math.floor(y), width: Math.ceil(right - x), height: Math.ceil(bottom - y) };
}

const isInside = (a, b) => b && a.top >= b.top && a.left >= b.left && a.top + a.height <= b.top + b.height && a.left + a.width <= b.left + b.width;

/** Places the canvas over a region of the plot; returns its context in pixels of the plot. */
function placeCanvas(region, mirror) {
  const canvas = byId("canvas"), scale = Math.min(2, devicePixelRatio || 1);
  canvas.width = Math.max(1, region.width * scale);
  canvas.height = Math.max(1, region.height * scale);
  Object.assign(canvas.style, { left: `${region.left}px`, top: `${region.top}px`, width: `${region.width}px`, height: `${region.height}px` });
  const context = canvas.getContext("2d");
  if (mirror) context.setTransform(-scale, 0, 0, scale, (byId("plot").clientWidth - region.left) * scale, -region.top * scale);
  else context.setTransform(scale, 0, 0, scale, -region.left * scale, -region.top * scale);
  return context;
}

/** Returns the colours in which the shown heads are drawn on the page. */
function drawingColours() {
  const paper = paperColour();
  return page.shown.heads.map((head) => readable(headColour(head.number, page.state.palette), paper));
}

/** Draws what is in view; while the page moves, only the strongest lines. */
function draw(moving = false, region = widen(visibleRegion(), MARGIN)) {
  if (!page.shown) return;
  const { shown, state } = page;
  const scene = { shown, chosen: chosenNow(), layout: measureLayout(), region, colours: drawingColours(), threshold: state.threshold };
  if (moving) scene.threshold = movingThreshold(scene);
  page.lines = drawBipartite(placeCanvas(region, page.mirror), scene);
  page.scene = scene;
  page.region = moving ? null : region;
}

/** Returns the layout of the plot as the browser has laid it out. */
function measureLayout() {
  return columnLayout(page.shown.rows.length, page.shown.columns.length, byId("readers").offsetWidth, byId("between").offsetWidth);
}

/** Draws in the next frame, once. */
function drawSoon() {
  if (!page.pending) page.pending = requestAnimationFrame(() => { page.pending = 0; draw(); });
}

/** Draws while the page scrolls if what is in view is not drawn yet, and fully when it stands still. */
function followScroll() {
  clearTimeout(page.still);
  page.still = setTimeout(drawSoon, 100);
  if (!isInside(visibleRegion(), page.region) && !page.pending) page.pending = requestAnimationFrame(() => { page.pending = 0; draw(true); });
}
