// Receives new log lines by server-sent events, and reconnects when the connection is lost.

const RETRY_MILLISECONDS = 2000;

/** Keeps the page up to date with the logs: only new bytes are sent. */
class Live {
  constructor(app, address) {
    Object.assign(this, { app, address, late: null });
    document.addEventListener("visibilitychange", () => document.hidden || this.redraw());
    this.connect();
  }

  /** Asks for what each log has after what is here. */
  connect() {
    const offsets = this.app.runs.map((run) => run.offset).join(",");
    const source = new EventSource(`${this.address}?from=${offsets}`);
    source.addEventListener("open", () => this.say(gettext("live")));
    source.addEventListener("lines", (event) => this.receive(event));
    source.addEventListener("changed", () => location.reload());
    source.addEventListener("error", () => this.lose(source));
  }

  /** Takes new lines of a log: first the run and the offset after them, then the lines. */
  receive(event) {
    const [place, ...lines] = event.data.split("\n");
    const [number, offset] = place.split(" ").map(Number);
    const run = this.app.runs[number];
    if (!run || !(offset > run.offset)) return;
    run.offset = offset;
    if (!lines.every((line) => run.appendLine(line))) location.reload();
    this.redraw();
  }

  /** Says that the connection is lost; the browser tries again, or else this page does. */
  lose(source) {
    this.say(gettext("connection lost; trying again"));
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(() => this.connect(), RETRY_MILLISECONDS);
  }

  /** Draws new updates: at most ten times a second, and not while the page is hidden. */
  redraw() {
    if (this.late !== null || document.hidden) return;
    const wait = Math.max(0, this.app.drawn + FRAME_MILLISECONDS - performance.now());
    this.late = setTimeout(() => {
      this.late = null;
      this.app.drawn = performance.now();
      this.app.draw();
      this.say(gettext("live"));
    }, wait);
  }

  /** Shows a state of the connection and how far the runs are. */
  say(state) {
    const ends = this.app.runs.map((run) => formatNumber(run.count ? run.x.step.data[run.count - 1] : 0, 16));
    byId("status").textContent = gettext("{0} (update {1})", state, ends.join(", "));
  }
}
