// Stages of the training: the same sentence in the untrained, the early and the trained model.

const CURVE = { width: 480, height: 110, left: 4, bottom: 18 };

/** Returns the name of a stage with its step; "{0}" is how many snapshots were averaged. */
function stageName({ name, step }) {
  const text = gettext(name.replace(/\d+/, "{0}"), name.match(/\d+/));
  return step === null || step === undefined ? text : gettext("{0}, {1} updates", text, grouped(step));
}

/** Fills the buttons of the stages and the loss curve, if there are several. */
function fillStages() {
  byId("stages").hidden = header.stages.length < 2;
  if (byId("stages").hidden) return;
  fill("stage-buttons", ...header.stages.map((stage, i) => createButton(() => change({ stage: i }), { "data-stage": i }, stageName(stage))));
}

/** Shows the stage of the state. */
function showStage() {
  for (const button of document.querySelectorAll("[data-stage]")) button.setAttribute("aria-pressed", Number(button.dataset.stage) === state.stage);
  if (header.curve?.length > 1) fill("curve", drawCurve());
  fill("precision", gettext("{0} bits", { float16: 16, int8: 8, float32: 32 }[header.stages[state.stage].numbers]));
}

/** Returns the loss curve with a dot at each stage as SVG. */
function drawCurve() {
  const points = header.curve, last = points.at(-1)[0], top = points.reduce((a, [, y]) => Math.max(a, y), 0), low = points.reduce((a, [, y]) => Math.min(a, y), top);
  const x = step => CURVE.left + 6 + ((CURVE.width - 16 - CURVE.left) * step) / last, y = nats => 8 + ((CURVE.height - CURVE.bottom - 12) * (top - nats)) / (top - low || 1);
  const lossAt = step => points.reduce((a, b) => (Math.abs(b[0] - step) < Math.abs(a[0] - step) ? b : a))[1];
  const dots = header.stages.map((stage, i) => {
    const step = stage.step ?? last, dot = createSvg("circle", { cx: x(step), cy: y(lossAt(step)), r: i === state.stage ? 7 : 5, class: i === state.stage ? "dot now" : "dot" }, createSvg("title", {}, stageName(stage)));
    dot.addEventListener("click", () => change({ stage: i }));
    return dot;
  });
  const line = createSvg("path", { class: "line", d: points.map(([step, nats], i) => `${i ? "L" : "M"}${x(step).toFixed(1)} ${y(nats).toFixed(1)}`).join("") });
  const text = (content, left, anchor) => createSvg("text", { x: left, y: CURVE.height - 3, "text-anchor": anchor, class: "quiet-text" }, content);
  return createSvg("svg", { viewBox: `0 0 ${CURVE.width} ${CURVE.height}`, role: "img", "aria-label": gettext("Loss without smoothing from {0} to {1} nats a piece in {2} updates", show5(top), show5(low), last) }, line, ...dots, text(gettext("first update"), CURVE.left, "start"), text(gettext("{0} updates; loss without smoothing {1} nats", grouped(last), show5(points.at(-1)[1])), CURVE.width - 4, "end"));
}
