/** A range of values on a line of pixels, linear or logarithmic. */
class Scale {
  constructor(low, high, begin, end, log) {
    Object.assign(this, { low, high, begin, end, log });
    this.from = log ? Math.log(low) : low;
    this.size = (log ? Math.log(high) : high) - this.from || 1;
  }

  /** Returns the pixel of a value. */
  pixel(value) {
    const position = ((this.log ? Math.log(value) : value) - this.from) / this.size;
    return this.begin + position * (this.end - this.begin);
  }

  /** Returns the value at a pixel. */
  value(pixel) {
    const position = this.from + ((pixel - this.begin) / (this.end - this.begin)) * this.size;
    return this.log ? Math.exp(position) : position;
  }

  /** Returns round values for the axis. */
  ticks(count) {
    return (this.log ? logTicks : linearTicks)(this.low, this.high, count);
  }
}

/** Returns a range of values with some room around it; logarithmic ones are positive. */
function paddedRange(low, high, log) {
  if (!(low <= high)) return log ? [0.1, 1] : [0, 1];
  if (log) {
    const room = Math.max(1.02, (high / low) ** 0.04);
    return [low / room, high * room];
  }
  const room = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
  return [low >= 0 && low - room < 0 ? 0 : low - room, high + room];
}
