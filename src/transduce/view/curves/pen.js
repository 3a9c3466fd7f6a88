// Draws lines, shapes and text, with the same methods on a canvas and as SVG.

/** Draws on a canvas. */
class CanvasPen {
  constructor(context) {
    this.context = context;
  }

  /** Draws a line through points; NaN breaks it. */
  line(points, { color, width = 1, alpha = 1, dash = [] }) {
    const { context } = this;
    context.globalAlpha = alpha;
    context.strokeStyle = color;
    context.lineWidth = width;
    context.lineJoin = "round";
    context.setLineDash(dash);
    context.beginPath();
    let down = false;
    for (const [x, y] of points) {
      if (y !== y) down = false;
      else if (down) context.lineTo(x, y);
      else context.moveTo(x, y);
      down = y === y;
    }
    context.stroke();
    context.setLineDash([]);
  }

  /** Fills rectangles [x, y, width, height]. */
  rectangles(list, { color, alpha = 1 }) {
    this.context.globalAlpha = alpha;
    this.context.fillStyle = color;
    for (const sizes of list) this.context.fillRect(...sizes);
  }

  /** Fills closed shapes, each a list of points. */
  shapes(list, { color, alpha = 1 }) {
    const { context } = this;
    context.globalAlpha = alpha;
    context.fillStyle = color;
    for (const points of list) {
      context.beginPath();
      for (const point of points) context.lineTo(...point);
      context.fill();
    }
  }

  /** Writes text, squeezed into a `room` in pixels if it is wider; `align` is start, middle or end. */
  text(text, x, y, { color, align = "start", size = 12, bold = false, room }) {
    const { context } = this;
    context.globalAlpha = 1;
    context.fillStyle = color;
    context.font = `${bold ? "600 " : ""}${size}px system-ui, sans-serif`;
    context.textAlign = align === "middle" ? "center" : align;
    context.fillText(text, x, y, room);
  }

  /** Draws with `draw` within a rectangle only. */
  clip(x, y, width, height, draw) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    draw();
    this.context.restore();
  }

  /** Draws with `draw`, moved to the right and down. */
  moved(x, y, draw) {
    this.context.save();
    this.context.translate(x, y);
    draw();
    this.context.restore();
  }
}

/** Returns text as it may stand in XML. */
function escapeXml(text) {
  const codes = { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[<>&"']/g, (character) => codes[character]);
}

/** Writes SVG, with the same methods as CanvasPen. */
class SvgPen {
  constructor() {
    this.parts = [];
    this.clips = 0;
  }

  /** Returns a coordinate with two decimals. */
  static round(value) {
    return String(Math.round(value * 100) / 100);
  }

  line(points, { color, width = 1, alpha = 1, dash = [] }) {
    const { round } = SvgPen;
    let down = false;
    const path = points.map(([x, y]) => {
      const command = y !== y ? "" : `${down ? "L" : "M"}${round(x)} ${round(y)}`;
      down = y === y;
      return command;
    });
    const dashed = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : "";
    this.parts.push(`<path d="${path.join("")}" fill="none" stroke="${color}" stroke-width="${width}" ` +
      `stroke-opacity="${alpha}" stroke-linejoin="round"${dashed}/>`);
  }

  rectangles(list, { color, alpha = 1 }) {
    const { round } = SvgPen;
    const path = list.map(([x, y, width, height]) =>
      `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`);
    this.parts.push(`<path d="${path.join("")}" fill="${color}" fill-opacity="${alpha}"/>`);
  }

  shapes(list, { color, alpha = 1 }) {
    const corner = ([x, y]) => `${SvgPen.round(x)} ${SvgPen.round(y)}`;
    const path = list.map((points) => `M${points.map(corner).join("L")}z`);
    this.parts.push(`<path d="${path.join("")}" fill="${color}" fill-opacity="${alpha}"/>`);
  }

  text(text, x, y, { color, align = "start", size = 12, bold = false }) {
    this.parts.push(`<text x="${SvgPen.round(x)}" y="${SvgPen.round(y)}" fill="${color}" font-size="${size}" ` +
      `text-anchor="${align}"${bold ? ' font-weight="600"' : ""}>${escapeXml(text)}</text>`);
  }

  clip(x, y, width, height, draw) {
    const name = `clip-${this.clips++}`;
    this.parts.push(`<clipPath id="${name}"><rect x="${x}" y="${y}" width="${width}" height="${height}"/></clipPath>`);
    this.parts.push(`<g clip-path="url(#${name})">`);
    draw();
    this.parts.push("</g>");
  }

  moved(x, y, draw) {
    this.parts.push(`<g transform="translate(${x} ${y})">`);
    draw();
    this.parts.push("</g>");
  }

  /** Returns the whole picture. */
  finish(width, height) {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
      `viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif">${this.parts.join("")}</svg>\n`;
  }
}
