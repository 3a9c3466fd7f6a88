// Stages of the training: the same sentence in the untrained, the early and the trained model.

/** Returns the name of a stage with its step; "{0}" is how many snapshots were averaged. */
function stageName({ name, step }) {
  const text = gettext(name.replace(/\d+/, "{0}"), name.match(/\d+/));
  return step === null || step === undefined ? text : gettext("{0}, {1} updates", text, grouped(step));
}

/** Fills the buttons that choose a stage, at its station. */
function fillStages({ id }) {
  byId("stage-buttons").hidden = id !== "stages";
  fill("stage-buttons", ...header.stages.map((stage, i) => createButton(() => change({ stage: i }, { remember: true }), { "aria-pressed": i === state.stage }, stageName(stage))));
}

/** Returns the panel of the stages: the loss curve with a dot for each. */
function showStages() {
  const { stages, curve } = header, last = curve.at(-1)?.[0], pointAt = step => curve.reduce((a, b) => (Math.abs(b[0] - step) < Math.abs(a[0] - step) ? b : a));
  const chart = curve.length > 1 ? drawChart([["line", curve, gettext("loss without smoothing")]], stages.map(({ step }, i) => [...pointAt(step ?? last), i === state.stage ? "dot now" : "dot"]), last, [gettext("update"), gettext("nats a piece")], gettext("Loss without smoothing from {0} to {1} nats a piece in {2} updates", show5(curve[0][1]), show5(curve.at(-1)[1]), last)) : [];
  return [createBox(...chart)];
}
