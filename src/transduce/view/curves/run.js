// Reads a training run, appends new log lines, smooths its series, and computes equation 3's rate.

const AXES = ["step", "tokens", "seconds"];
const SERIES = ["loss", "gradient_norm", "learning_rate", "speed"];
const MARKS = ["resume", "snapshot", "checkpoint", "failure", "finish"];

/** The learning rate of a step by equation 3, times the recipe's factor. */
function scheduledRate({ d_model, warmup, factor }, step) {
  return factor * d_model ** -0.5 * Math.min(step ** -0.5, step * warmup ** -1.5);
}

/** A run: cells of updates, validations and marks; it grows while the run goes on. */
class Run {
  constructor(header, columns, number) {
    this.header = header;
    this.number = number;
    this.name = visible(header.name);
    this.blocks = header.blocks;
    this.x = { step: runningTotal(columns.steps), tokens: runningTotal(columns.tokens) };
    this.x.seconds = runningTotal(columns.milliseconds, 1000);
    this.skipped = new Column(columns.skipped);
    this.unreadable = header.unreadable;
    this.lost = header.lost;
    this.offset = header.offset;
    this.validations = header.validations.map(([step, nats, score, name]) => ({ step, nats, score, name }));
    this.marks = Object.fromEntries(MARKS.map((kind) => [kind, [...(header.marks[kind] || [])]]));
    this.series = Object.fromEntries(SERIES.map((name) => [name, this.readSeries(columns, name)]));
    this.smoothed = new Map();
  }

  /** The number of cells. */
  get count() {
    return this.x.step.length;
  }

  /** Returns a series from its columns, or what follows from others: speed, and the schedule. */
  readSeries(columns, name) {
    const mean = columns[name] || this.deriveMean(columns, name);
    if (columns[`${name}_low`]) return new Series(mean, columns[`${name}_low`], columns[`${name}_high`]);
    const edges = Array.from({ length: this.blocks }, (_, i) => this.scheduleEdges(i));
    return new Series(mean, edges.map(([low]) => low), edges.map(([, high]) => high));
  }

  /** Returns tokens a second of each cell, or the rate of equation 3 in its middle. */
  deriveMean(columns, name) {
    if (name === "speed") return columns.tokens.map((tokens, i) => this.speedOf(tokens, columns.milliseconds[i] / 1000));
    return columns.steps.map((size, i) => this.rateAt(this.x.step.data[i] - (size - 1) / 2));
  }

  /** Returns tokens a second, or NaN where the clock did not move. */
  speedOf(tokens, seconds) {
    return seconds > 0 ? tokens / seconds : NaN;
  }

  /** Returns the learning rate of equation 3 at a step, or NaN if the recipe is not known. */
  rateAt(step) {
    return this.header.schedule ? scheduledRate(this.header.schedule, step) : NaN;
  }

  /** Returns the smallest and the largest rate of equation 3 within a block. */
  scheduleEdges(i) {
    const first = i ? this.x.step.data[i - 1] + 1 : 1;
    const ends = [this.rateAt(first), this.rateAt(this.x.step.data[i])];
    const peak = this.header.schedule ? this.header.schedule.warmup : 0;
    const inside = peak > first && peak < this.x.step.data[i] ? [this.rateAt(peak)] : [];
    return [Math.min(...ends), Math.max(...ends, ...inside)];
  }

  /** Appends an update of the log; counts one with an impossible step, and ignores one out of order. */
  appendUpdate(event) {
    const last = (axis) => (this.count ? this.x[axis].data[this.count - 1] : 0);
    if (!(Number.isSafeInteger(event.step) && event.step >= 1)) return this.refuse();
    if (event.step <= last("step")) return undefined;
    const tokens = Math.max(0, numberOr(event.target_tokens, 0));
    const seconds = Math.max(0, numberOr(event.seconds, last("seconds")) - last("seconds"));
    this.series.loss.push(numberOr(event.nats, NaN));
    this.series.gradient_norm.push(numberOr(event.gradient_norm, NaN));
    this.series.learning_rate.push(numberOr(event.learning_rate, NaN));
    this.series.speed.push(this.speedOf(tokens, seconds));
    this.skipped.push(event.applied === false ? 1 : 0);
    this.x.tokens.push(last("tokens") + tokens);
    this.x.seconds.push(last("seconds") + seconds);
    this.x.step.push(event.step);
    return undefined;
  }

  /** Counts a line that is no event. */
  refuse() {
    this.unreadable++;
  }

  /** Appends a validation, unless one of this step is known. */
  appendValidation(event) {
    if (this.validations.some((known) => known.step === event.step)) return;
    const score = event.score && typeof event.score === "object" ? event.score : {};
    this.validations.push({
      step: event.step,
      nats: numberOr(event.nats, null),
      score: numberOr(score.value, null),
      name: typeof score.name === "string" ? score.name : null,
    });
  }

  /** Drops what a resume at a step makes void; returns false, and drops nothing, if it would cut a block of 64. */
  resume(step) {
    const kept = lowerBound(this.x.step.data, this.count, step + 1);
    if (kept < this.count && kept < this.blocks) return false;
    this.lost += this.count - kept;
    for (const column of [...Object.values(this.x), this.skipped]) column.cut(kept);
    for (const series of Object.values(this.series)) series.cut(kept);
    this.validations = this.validations.filter((found) => found.step <= step);
    for (const kind of MARKS) this.marks[kind] = this.marks[kind].filter((mark) => mark <= step);
    this.smoothed.clear();
    return true;
  }

  /** Appends a line of the log; returns false if the page must be loaded again. */
  appendLine(line) {
    const event = parseEvent(line);
    if (event === null) {
      if (line.trim()) this.refuse();
      return true;
    }
    if (event.event === "update") this.appendUpdate(event);
    else if (!(Number.isSafeInteger(event.step) && event.step >= 0)) return true;
    else if (event.event === "validation") this.appendValidation(event);
    else if (event.event === "resume" && !this.resume(event.step)) return false;
    const isNew = event.event === "resume" || !this.marks[event.event]?.includes(event.step);
    if (MARKS.includes(event.event) && isNew) {
      this.marks[event.event].push(event.step);
    }
    return true;
  }

  /** Returns a value of an axis at a step: that of the first cell that ends at it or later. */
  xOfStep(axis, step) {
    if (axis === "step" || !this.count) return step;
    const i = Math.min(this.count - 1, lowerBound(this.x.step.data, this.count, step));
    return this.x[axis].data[i];
  }

  /** Returns the index of the cell nearest to a value of an axis, or -1 without cells. */
  nearest(axis, value) {
    const xs = this.x[axis].data;
    const i = Math.min(this.count - 1, lowerBound(xs, this.count, value));
    return i > 0 && value - xs[i - 1] < xs[i] - value ? i - 1 : i;
  }

  /** Returns a series smoothed over about `window` updates, brought up to date. */
  smooth(name, window) {
    const key = `${name} ${window}`;
    if (!this.smoothed.has(key)) this.smoothed.set(key, { series: new Series([]), level: NaN, weight: 0 });
    const state = this.smoothed.get(key);
    const means = this.series[name].mean;
    for (let i = state.series.mean.length; i < means.length; i++) this.smoothNext(state, i, means.data[i], window);
    return state.series;
  }

  /** Adds one cell to a smoothed series: a mean whose weights fall by e over `window` updates. */
  smoothNext(state, i, value, window) {
    const size = i < this.blocks ? this.header.block_size : 1;
    if (value === value) {
      const kept = Math.exp(-size / window) * state.weight;
      const share = 1 - Math.exp(-size / window);
      state.level = state.weight ? (state.level * kept + value * share) / (kept + share) : value;
      state.weight = kept + share;
    }
    state.series.push(state.level);
  }
}

/** Returns a value if it is a finite number, else another. */
function numberOr(value, other) {
  return typeof value === "number" && Number.isFinite(value) ? value : other;
}

/** Returns the event of a line of JSON, or null if it holds none. */
function parseEvent(line) {
  try {
    const event = JSON.parse(line);
    return event && typeof event === "object" && typeof event.event === "string" ? event : null;
  } catch {
    return null;
  }
}

/** Returns the runs of the page from its data blocks. */
async function readRuns(headers) {
  return Promise.all(headers.map(async (header, number) => {
    const bytes = readSevenBits(byId(`run-${number}`).textContent);
    const read = async ([name, [offset, length, isSummed]]) =>
      [name, await unpackColumn(bytes.subarray(offset, offset + length), isSummed)];
    const columns = await Promise.all(Object.entries(header.columns).map(read));
    return new Run(header, Object.fromEntries(columns), number);
  }));
}
