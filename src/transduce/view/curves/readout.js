const HEADS = ["run", "update", "target tokens", "time", "loss", "perplexity", "dev loss", "dev perplexity", "score",
  "learning rate", "equation 3", "gradient norm", "tokens/s"];

/** Returns the last validation at or before a step that has a value, or null. */
function lastValidation(run, step, name) {
  const known = run.validations.filter((found) => found.step <= step && found[name] !== null);
  return known.length ? known[known.length - 1] : null;
}

/** Returns a cell's number, and for a block also its smallest and largest value. */
function describeCell(run, name, i, map = same) {
  const [low, high, mean] = run.series[name].cell(i);
  if (mean !== mean) return run.skipped.data[i] ? "skipped" : "–";
  if (i >= run.blocks) return formatNumber(map(mean));
  return `${formatNumber(map(mean))} (${formatNumber(map(low), 3)} – ${formatNumber(map(high), 3)})`;
}

/** Returns the values of a run at a cell, as text, in the order of HEADS. */
function describePoint(run, i) {
  if (i < 0) return [run.name, "–"];
  const step = run.x.step.data[i];
  const dev = lastValidation(run, step, "nats");
  const score = lastValidation(run, step, "score");
  const first = i < run.blocks ? `${formatNumber(i ? run.x.step.data[i - 1] + 1 : 1, 16)} – ` : "";
  return [
    run.name, `${first}${formatNumber(step, 16)}`, formatNumber(run.x.tokens.data[i], 16),
    formatDuration(run.x.seconds.data[i]),
    describeCell(run, "loss", i), describeCell(run, "loss", i, perplexity),
    dev ? formatNumber(dev.nats) : "–", dev ? formatNumber(perplexity(dev.nats)) : "–",
    score ? formatNumber(score.score) : "–",
    describeCell(run, "learning_rate", i), formatNumber(run.rateAt(step)),
    describeCell(run, "gradient_norm", i), describeCell(run, "speed", i),
  ];
}

/** Fills a table with texts; the first cell of a row is its head. */
function fillTable(table, heads, rows) {
  const head = create("tr", {}, ...heads.map((text) => create("th", { scope: "col" }, text)));
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(...rows.map(([name, ...texts]) =>
    create("tr", {}, create("th", { scope: "row", title: name }, name), ...texts.map((text) => create("td", {}, text)))));
}

/** Shows the values of all shown runs at the point, or at the end if there is none. */
function showValues(app) {
  const { state } = app;
  const at = state.cursor === null ? Infinity : state.cursor;
  const rows = app.shown().map((run) => describePoint(run, run.count ? run.nearest(state.axis, at) : -1));
  fillTable(byId("values"), HEADS, rows);
  const where = state.axis === "seconds" ? formatDuration(at) : formatNumber(at, 16);
  byId("values-caption").textContent = state.cursor === null
    ? "Last update of each run" : `At ${AXIS_TITLES[state.axis]} ${where}; validations: the last before`;
}

/** Returns the mean loss of a run's last updates, at least a hundred of them if there are. */
function lastLoss(run) {
  const begin = Math.max(0, run.count - 100);
  return run.series.loss.summarise(begin, run.count)[2];
}

/** Returns the best validation by `better`, or null. */
function bestValidation(run, name, better) {
  const known = run.validations.filter((found) => found[name] !== null);
  return known.reduce((best, found) => (best && !better(found[name], best[name]) ? best : found), null);
}

/** Returns a value and the step at which it was found. */
const atStep = (found, name) => (found ? `${formatNumber(found[name])} at ${formatNumber(found.step, 16)}` : "–");

/** Returns the sum of a column. */
const total = (column) => column.data.subarray(0, column.length).reduce((sum, value) => sum + value, 0);

/** Returns the values of a run at its end, as text. */
function describeEnd(run) {
  const last = run.count - 1;
  const known = (name) => lastValidation(run, Infinity, name);
  const dev = bestValidation(run, "nats", (a, b) => a < b);
  const state = run.marks.finish.includes(run.x.step.data[last]) ? "finished" : "not finished";
  return [
    run.name, last < 0 ? "–" : `${formatNumber(run.x.step.data[last], 16)}, ${state}`,
    last < 0 ? "–" : formatNumber(run.x.tokens.data[last], 16), last < 0 ? "–" : formatDuration(run.x.seconds.data[last]),
    formatNumber(lastLoss(run)), known("nats") ? formatNumber(known("nats").nats) : "–", atStep(dev, "nats"),
    dev ? formatNumber(perplexity(dev.nats)) : "–", known("score") ? formatNumber(known("score").score) : "–",
    atStep(bestValidation(run, "score", (a, b) => a > b), "score"),
    formatNumber(total(run.skipped), 16), `${run.marks.resume.length} (${formatNumber(run.lost, 16)})`,
    formatNumber(run.unreadable, 16),
  ];
}

/** Shows how each run ended, or where it stands. */
function showEnds(app) {
  const heads = ["run", "updates", "target tokens", "time", "loss, mean of last 100", "dev loss", "best dev loss",
    "its perplexity", "score", "best score", "skipped updates", "restarts (updates lost)", "log lines not readable"];
  fillTable(byId("ends"), heads, app.runs.map(describeEnd));
}
