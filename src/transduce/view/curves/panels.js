// Lists the panels (loss, perplexity, learning rate and so on), and the runs' colours and marks.

/** Returns e to the power of a loss, held below the largest number that can be drawn. */
const perplexity = (nats) => Math.exp(Math.min(600, nats));
const same = (value) => value;

/** What can be drawn: a series of updates and a value of validations, on one axis. */
const PANELS = [
  { id: "loss", title: "Loss", unit: "nats a target piece, without label smoothing", series: "loss", dev: "nats", map: same, log: false, large: true },
  { id: "perplexity", title: "Perplexity", unit: "e to the loss", series: "loss", dev: "nats", map: perplexity, log: true },
  { id: "score", title: "Score", unit: "of the development set", series: null, dev: "score", map: same, log: false },
  { id: "rate", title: "Learning rate", unit: "dashed: equation 3", series: "learning_rate", dev: null, map: same, log: false },
  { id: "gradient", title: "Gradient norm", unit: "before the update", series: "gradient_norm", dev: null, map: same, log: true },
  { id: "speed", title: "Speed", unit: "target tokens a second", series: "speed", dev: null, map: same, log: false },
];

const STEEP = 5; // a loss that falls to this part of its first value is drawn on a logarithmic axis

/** Returns whether a logarithmic axis shows more of the runs' losses: they fall by a factor. */
function isSteep(runs) {
  return runs.some((run) => {
    const [first, last] = [run.series.loss.summarise(0, 5), run.series.loss.summarise(Math.max(0, run.count - 100), run.count)];
    return last[2] > 0 && first[2] > STEEP * last[2];
  });
}

const LIGHT = ["#0a58ca", "#b35900", "#1a7f37", "#c0262d", "#7a3fd0", "#8c564b", "#b02a86", "#57606a"];
const DARK = ["#6cb6ff", "#ff9f45", "#57c472", "#ff7b72", "#c297ff", "#d09a8c", "#f08bd0", "#b1bac4"];

/** Returns the colours of the page as it is now, light or dark. */
function readColors() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  const dark = style.getPropertyValue("--dark").trim() === "1";
  return {
    paper: read("paper"), ink: read("ink"), quiet: read("quiet"), edge: read("edge"),
    alarm: dark ? "#ff7b72" : "#b3261e", runs: dark ? DARK : LIGHT,
  };
}

/** Returns the colour of a run. */
const runColor = (colors, run) => colors.runs[run.number % colors.runs.length];

/** Returns points of a small mark around a pixel; runs differ in its shape, too. */
function markShape(run, x, y, size) {
  const corners = [8, 4, 3, 5][run.number % 4];
  const turn = corners === 4 && run.number % 8 < 4 ? Math.PI / 4 : -Math.PI / 2;
  return Array.from({ length: corners }, (_, i) => {
    const angle = turn + (2 * Math.PI * i) / corners;
    return [x + size * Math.cos(angle), y + size * Math.sin(angle)];
  });
}
