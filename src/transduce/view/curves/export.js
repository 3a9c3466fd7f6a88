// Exports all panels as one SVG or PNG picture, and the values in view as CSV.

const EXPORT = { width: 1200, large: 380, height: 260, gap: 8, scale: 2 };

/** Returns the place of each panel that has values in a picture of all, and its height. */
function layOut(app) {
  let [column, y] = [0, 34];
  const places = PANELS.filter((panel) => hasValues(panel, app.runs)).map((panel) => {
    const width = panel.large ? EXPORT.width : (EXPORT.width - EXPORT.gap) / 2;
    const height = panel.large ? EXPORT.large : EXPORT.height;
    const place = { panel, x: column * (width + EXPORT.gap), y, width, height };
    column = panel.large ? 0 : 1 - column;
    if (column === 0) y += height + EXPORT.gap;
    return place;
  });
  return { places, height: column ? y + EXPORT.height : y };
}

/** Draws all panels, under the names of the runs, as one picture. */
function drawAll(pen, app, { places, height }) {
  const colors = readColors();
  const runs = app.shown();
  pen.rectangles([[0, 0, EXPORT.width, height]], { color: colors.paper });
  runs.forEach((run, i) => {
    const x = MARGIN.left + (i * (EXPORT.width - MARGIN.left)) / runs.length;
    pen.shapes([markShape(run, x, 18, 5)], { color: runColor(colors, run) });
    pen.text(run.name, x + 10, 22, { color: colors.ink, size: 13 });
  });
  for (const { panel, x, y, width, height: tall } of places) {
    pen.moved(x, y, () => drawPanel(pen, panel, { state: app.state, runs, colors, width, height: tall }));
  }
}

/** Returns all panels as SVG. */
function drawSvg(app) {
  const [pen, plan] = [new SvgPen(), layOut(app)];
  drawAll(pen, app, plan);
  return pen.finish(EXPORT.width, plan.height);
}

/** Returns all panels on a canvas of twice their size. */
function drawPng(app) {
  const plan = layOut(app);
  const canvas = create("canvas", { width: EXPORT.width * EXPORT.scale, height: plan.height * EXPORT.scale });
  const context = canvas.getContext("2d");
  context.scale(EXPORT.scale, EXPORT.scale);
  drawAll(new CanvasPen(context), app, plan);
  return canvas;
}

/** Returns a value as CSV has it: with quotes where they are needed. */
function csvField(value) {
  const text = value === null || value !== value ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns what is shown, as CSV: a line for each update, or block of 64, and each validation. */
function writeCsv(app) {
  const heads = ["run", "kind", "first_step", "step", "target_tokens", "seconds"];
  for (const name of SERIES) heads.push(name, `${name}_low`, `${name}_high`);
  const rows = [[...heads, "skipped", "score", "score_name"]];
  for (const run of app.shown()) rows.push(...cellRows(run, app.state, app), ...validationRows(run, app.state, app));
  return rows.map((row) => row.map(csvField).join(",")).join("\n") + "\n";
}

/** Returns a line of CSV for each cell in view; float32 has eight digits. */
function cellRows(run, state, app) {
  const [low, high] = xRange(state, app.shown());
  const exact = (value) => (value === value ? Number(value.toPrecision(8)) : NaN);
  const rows = [];
  for (let i = 0; i < run.count; i++) {
    const x = run.x[state.axis].data[i];
    if (x < low || x > high) continue;
    const first = i ? run.x.step.data[i - 1] + 1 : 1;
    const values = SERIES.flatMap((name) => {
      const [least, most, mean] = run.series[name].cell(i);
      return [mean, least, most].map(exact);
    });
    const kind = i < run.blocks ? "block" : "update";
    rows.push([run.name, kind, kind === "block" ? first : run.x.step.data[i], run.x.step.data[i],
      run.x.tokens.data[i], Number(run.x.seconds.data[i].toFixed(3)), ...values, run.skipped.data[i], "", ""]);
  }
  return rows;
}

/** Returns a line of CSV for each validation in view; its loss is that of the development set. */
function validationRows(run, state, app) {
  const [low, high] = xRange(state, app.shown()), x = ({ step }) => run.xOfStep(state.axis, step);
  return run.validations.filter((one) => x(one) >= low && x(one) <= high).map(({ step, nats, score, name }) => [run.name, "validation", step, step, "", "", nats, nats, nats,
    ...Array(3 * (SERIES.length - 1) + 1).fill(""), score, name]);
}
