// Draws the part of the plot in view on a canvas, and redraws it on scrolling and resizing.

const MARGIN = 300; // pixels beyond what is in view that are drawn too, so that scrolling is smooth
const page = { active: { side: "", unit: 0 }, turn: 0 };

/** Returns where an element is on the screen. */
const boxOf = id => byId(id).getBoundingClientRect();

/** Returns the part of the plot that is in view, widened by a margin, in pixels of the plot. */
function regionInView(margin) {
  const plot = boxOf("plot"), stage = boxOf("stage");
  const left = floor(clamp(max(stage.left, 0) - plot.left - margin, 0, plot.width));
  const top = floor(clamp(-plot.top - margin, 0, plot.height));
  const right = clamp(min(stage.right, innerWidth) - plot.left + margin, left, plot.width);
  const bottom = clamp(innerHeight - plot.top + margin, top, plot.height);
  return { left, top, width: ceil(right - left), height: ceil(bottom - top) };
}

const isInside = (a, b) => b && a.top >= b.top && a.left >= b.left && a.top + a.height <= b.top + b.height && a.left + a.width <= b.left + b.width;

/** Places the canvas over a region of the plot; returns its pen in pixels of the plot. */
function placeCanvas({ left, top, width, height }) {
  const canvas = byId("canvas"), scale = min(2, devicePixelRatio), whole = byId("plot").clientWidth;
  canvas.width = max(1, width * scale);
  canvas.height = max(1, height * scale);
  canvas.style.cssText = `left:${left}px;top:${top}px;width:${width}px;height:${height}px`;
  const pen = canvas.getContext("2d"), [sign, start] = page.mirror ? [-scale, whole - left] : [scale, -left];
  pen.setTransform(sign, 0, 0, scale, start * scale, -top * scale);
  return pen;
}

/** Returns the colours in which the shown heads are drawn on the page. */
function drawingColours() {
  const paper = paperColour();
  return page.shown.heads.map(head => readable(headColour(head.number, state.second), paper));
}

/** Draws what is in view; while the page moves, only the strongest lines. */
function draw(moving = false, margin = MARGIN) {
  const { shown } = page;
  if (!shown || isView("grid")) return;
  if (isView("align")) return tintWords();
  const region = regionInView(margin), layout = isView("rows") ? rowLayout(shown, COLUMN, BOX, GAP)
    : isView("matrix") ? matrixLayout(shown, page.cell)
    : columnLayout(shown, byId("readers").offsetWidth, byId("between").offsetWidth);
  const scene = { shown, chosen: chosenNow(), layout, region, colours: drawingColours(), threshold: state.threshold, power: opacityPower() };
  if (moving && !isView("matrix")) scene.threshold = movingThreshold(scene);
  page.lines = (isView("matrix") ? drawMatrix : drawBipartite)(placeCanvas(region), scene);
  page.scene = scene;
  page.region = moving ? null : region;
}

/** Measures a cell, and gives the plot the sizes that its style sheet needs. */
function sizePlot() {
  const { shown } = page, stage = byId("stage"), { cell, label } = isView("matrix") ? matrixLayout(shown, fitCell(shown, stage.clientWidth)) : {};
  page.cell = cell;
  if (cell) stage.style.cssText = `--cell:${cell}px;--label:${label}px`;
  setOnce(byId("work"), "class", state.view + (cell < NARROW ? " narrow" : ""));
}

/** Draws in the next frame, once. */
function drawSoon(moving) {
  page.pending ||= requestAnimationFrame(() => {
    page.pending = 0;
    draw(moving === true);
  });
}

/** Draws while the page scrolls what is not drawn yet, and all when it stands still. */
function followScroll() {
  clearTimeout(page.still);
  page.still = setTimeout(drawSoon, 100);
  if (!isInside(regionInView(0), page.region)) drawSoon(true);
}
