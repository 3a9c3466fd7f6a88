// Holds a column of values in blocks, with the smallest, largest and mean value of each.

const CHUNK = 64;

/** Returns float32 values from a zlib block in which bytes of one significance stand together. */
async function unpackColumn(packed, isSummed) {
  const bytes = await inflate(packed);
  const count = bytes.length / 4;
  const ordered = new Uint8Array(bytes.length);
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < 4; k++) ordered[4 * i + k] = bytes[k * count + i];
  }
  const words = new Uint32Array(ordered.buffer);
  for (let i = 1; isSummed && i < count; i++) words[i] += words[i - 1];
  return new Float32Array(ordered.buffer);
}

/** An array of numbers that doubles when it is full. */
class Column {
  constructor(values, kind = Float32Array) {
    this.data = kind.from(values);
    this.length = this.data.length;
  }

  /** Appends a value. */
  push(value) {
    if (this.length === this.data.length) {
      const larger = new this.data.constructor(Math.max(1024, 2 * this.length));
      larger.set(this.data);
      this.data = larger;
    }
    this.data[this.length++] = value;
  }

  /** Keeps the first values only. */
  cut(length) {
    this.length = Math.min(this.length, length);
  }
}

/** Returns a column of running totals, each divided by `unit`. */
function runningTotal(values, unit = 1) {
  const totals = new Float64Array(values.length);
  let total = 0;
  for (let i = 0; i < values.length; i++) totals[i] = (total += values[i]) / unit;
  return new Column(totals, Float64Array);
}

/** The mean of each cell, and the smallest and largest value of the first cells, which are blocks. */
class Series {
  constructor(mean, low = [], high = []) {
    this.mean = new Column(mean);
    this.low = low;
    this.high = high;
    this.chunks = { low: new Column([]), high: new Column([]), mean: new Column([]), done: 0 };
  }

  /** Appends the value of one more cell. */
  push(value) {
    this.mean.push(value);
  }

  /** Keeps the first cells only. */
  cut(length) {
    this.mean.cut(length);
    const whole = Math.min(this.chunks.done, Math.floor(length / CHUNK));
    for (const name of ["low", "high", "mean"]) this.chunks[name].cut(whole);
    this.chunks.done = whole;
  }

  /** Returns the smallest, the largest and the mean value of cell i. */
  cell(i) {
    const mean = this.mean.data[i];
    return i < this.low.length ? [this.low[i], this.high[i], mean] : [mean, mean, mean];
  }

  /** Returns summaries of chunks of 64 cells, computed once; an unfinished last chunk is left out. */
  summary() {
    for (let c = this.chunks.done; (c + 1) * CHUNK <= this.mean.length; c++) {
      const [low, high, mean] = this.summarise(c * CHUNK, (c + 1) * CHUNK);
      this.chunks.low.push(low);
      this.chunks.high.push(high);
      this.chunks.mean.push(mean);
      this.chunks.done = c + 1;
    }
    return this.chunks;
  }

  /** Returns the smallest, largest and mean value of the cells from begin to end, NaN if there are none. */
  summarise(begin, end) {
    let [low, high, sum, count] = [Infinity, -Infinity, 0, 0];
    for (let i = begin; i < end; i++) {
      const [least, most, mean] = this.cell(i);
      if (mean !== mean) continue;
      low = Math.min(low, least);
      high = Math.max(high, most);
      sum += mean;
      count++;
    }
    return count ? [low, high, sum / count] : [NaN, NaN, NaN];
  }
}
