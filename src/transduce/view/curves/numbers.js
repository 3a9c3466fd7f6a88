// Formats numbers and durations, and finds round ticks for linear and logarithmic axes.

/** Returns a number as 1,234 or 0.00123 or 1.2e-7: `digits` significant digits, or all whole digits if more. */
function formatNumber(value, digits = 4) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return value.toExponential(Math.min(digits - 1, 3)).replace(".", POINT);
  const rounded = size >= 10 ** digits ? Math.round(value) : Number(value.toPrecision(digits));
  return rounded.toLocaleString(LOCALE, { maximumFractionDigits: 8 });
}

/** Returns numbers as an axis shows them, with as many digits as tell them apart. */
function formatTicks(values, format = formatShort) {
  for (let digits = 3; digits < 8; digits++) {
    const labels = values.map((value) => format(value, digits));
    if (new Set(labels).size === values.length) return labels;
  }
  return values.map((value) => format(value, 8));
}

/** Returns a number in few characters: 1.5k, 2M. */
function formatShort(value, digits = 4) {
  for (const [unit, letter] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(value) >= unit) return `${Number((value / unit).toPrecision(digits))}${letter}`.replace(".", POINT);
  }
  const size = Math.abs(value);
  const rounded = Number(value.toPrecision(digits));
  return (size !== 0 && size < 1e-3 ? rounded.toExponential() : String(rounded)).replace(".", POINT);
}

/** Returns a duration in seconds as two units: 3 h 20 min. */
function formatDuration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const first = Math.max(0, units.findIndex(([, size]) => seconds >= size));
  if (seconds < 60) return `${Number(seconds.toPrecision(3))} s`.replace(".", POINT);
  const [name, size] = units[first];
  const [next, part] = units[first + 1];
  const rest = Math.floor((seconds % size) / part);
  const whole = `${Math.floor(seconds / size)} ${name}`;
  return rest ? `${whole} ${rest} ${next}` : whole;
}

/** Returns round numbers between two values, about `count` of them. */
function linearTicks(low, high, count) {
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const ticks = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9 && n + 1 > n; n++) ticks.push(n * step);
  return ticks.map((tick) => Number(tick.toPrecision(12)));
}

/** Returns round numbers of a logarithmic axis: powers of ten, and 2 and 5 where there is room. */
function logTicks(low, high, count) {
  const decades = Math.log10(high / low);
  if (decades < 0.7) return linearTicks(low, high, count).filter((tick) => tick > 0);
  const factors = decades * 3 <= count * 1.5 ? [1, 2, 5] : [1];
  const skip = Math.max(1, Math.ceil(decades / Math.max(1, count)));
  const ticks = [];
  for (let n = Math.floor(Math.log10(low)); n <= Math.ceil(Math.log10(high)); n++) {
    if (n % skip === 0) ticks.push(...factors.map((factor) => factor * 10 ** n));
  }
  return ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
}

/** Returns the index of the first of `count` ascending values that is at least `value`. */
function lowerBound(values, count, value) {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
