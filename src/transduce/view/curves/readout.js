// Fills the table of each run's values at the point, with its best validations and totals.

const HEADS = ["update", "target tokens", "time", "loss", "perplexity", "dev loss", "dev perplexity", "score",
  "learning rate", "equation 3", "gradient norm", "tokens/s"];
const WHOLE = ["updates in all", "loss, mean of last 100", "best dev loss", "its perplexity", "best score", "skipped updates",
  "restarts (updates lost)", "log lines not readable"];

/** Returns the last validation at or before a step that has a value, or null. */
function lastValidation(run, step, name) {
  const known = run.validations.filter((found) => found.step <= step && found[name] !== null);
  return known.length ? known[known.length - 1] : null;
}

/** Returns a cell's number, and for a block also its smallest and largest value. */
function describeCell(run, name, i, map = same) {
  const [low, high, mean] = run.series[name].cell(i);
  if (mean !== mean) return run.skipped.data[i] ? gettext("skipped") : "–";
  if (i >= run.blocks) return formatNumber(map(mean));
  return `${formatNumber(map(mean))} (${formatNumber(map(low), 3)} – ${formatNumber(map(high), 3)})`;
}

/** Returns the values of a run at a cell, as text, in the order of HEADS. */
function describePoint(run, i) {
  if (i < 0) return HEADS.map(() => "–");
  const step = run.x.step.data[i];
  const dev = lastValidation(run, step, "nats");
  const score = lastValidation(run, step, "score");
  const first = i < run.blocks ? `${formatNumber(i ? run.x.step.data[i - 1] + 1 : 1, 16)} – ` : "";
  return [
    `${first}${formatNumber(step, 16)}`, formatNumber(run.x.tokens.data[i], 16),
    formatDuration(run.x.seconds.data[i]),
    describeCell(run, "loss", i), describeCell(run, "loss", i, perplexity),
    dev ? formatNumber(dev.nats) : "–", dev ? formatNumber(perplexity(dev.nats)) : "–",
    score ? formatNumber(score.score) : "–",
    describeCell(run, "learning_rate", i), formatNumber(run.rateAt(step)),
    describeCell(run, "gradient_norm", i), describeCell(run, "speed", i),
  ];
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
const atStep = (found, name) => (found ? gettext("{0} at {1}", formatNumber(found[name]), formatNumber(found.step, 16)) : "–");

/** Returns the sum of a column. */
const total = (column) => column.data.subarray(0, column.length).reduce((sum, value) => sum + value, 0);

/** Returns what holds for a run as a whole, as text, in the order of WHOLE. */
function describeWhole(run) {
  const last = run.count - 1;
  const dev = bestValidation(run, "nats", (a, b) => a < b);
  const state = gettext(run.marks.finish.includes(run.x.step.data[last]) ? "finished" : "not finished");
  return [
    last < 0 ? "–" : `${formatNumber(run.x.step.data[last], 16)}, ${state}`, formatNumber(lastLoss(run)), atStep(dev, "nats"),
    dev ? formatNumber(perplexity(dev.nats)) : "–", atStep(bestValidation(run, "score", (a, b) => a > b), "score"),
    formatNumber(total(run.skipped), 16), `${run.marks.resume.length} (${formatNumber(run.lost, 16)})`,
    formatNumber(run.unreadable, 16),
  ];
}

/** Shows a column for each shown run: its values at the point, or at the end if there is none, and those of the whole. */
function showValues(app) {
  const { state } = app, at = state.cursor === null ? Infinity : state.cursor, runs = app.shown();
  const columns = runs.map((run) => [...describePoint(run, run.count ? run.nearest(state.axis, at) : -1), ...describeWhole(run)]);
  const cells = (i) => columns.map((column) => create("td", {}, column[i]));
  const row = (name, i) => create("tr", {}, create("th", { scope: "row" }, gettext(name)), ...cells(i));
  byId("values").tHead.replaceChildren(create("tr", {}, create("td"), ...runs.map((run) => create("th", { scope: "col", title: run.name }, run.name))));
  byId("values").tBodies[0].replaceChildren(...HEADS.map(row));
  byId("values").tBodies[1].replaceChildren(...WHOLE.map((name, i) => row(name, HEADS.length + i)));
  const where = state.axis === "seconds" ? formatDuration(at) : formatNumber(at, 16);
  byId("values-caption").textContent = state.cursor === null
    ? gettext("Last update of each run") : gettext("At {0} {1}; validations: the last before", gettext(AXIS_TITLES[state.axis]), where);
}
