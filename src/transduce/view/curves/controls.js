// Builds the run buttons, and connects the controls for axis, smoothing, zoom, export and theme.

/** Makes the buttons of the runs, each with its colour and mark. */
function buildRuns(app) {
  const colors = readColors();
  byId("runs").replaceChildren(...app.runs.map((run) => {
    const button = create("button", { type: "button", title: run.name }, runSymbol(run, runColor(colors, run)),
      create("span", { className: "name" }, run.name));
    button.addEventListener("click", () => toggleRun(app, run.number));
    return button;
  }));
  showControls(app);
}

/** Returns a run's mark as a small picture. */
function runSymbol(run, color) {
  const name = "http://www.w3.org/2000/svg";
  const [svg, shape] = [document.createElementNS(name, "svg"), document.createElementNS(name, "polygon")];
  for (const [key, value] of [["width", 14], ["height", 14], ["aria-hidden", "true"]]) svg.setAttribute(key, value);
  shape.setAttribute("points", markShape(run, 7, 7, 6).map((corner) => corner.join(",")).join(" "));
  shape.setAttribute("fill", color);
  svg.append(shape);
  return svg;
}

/** Shows the state in the controls. */
function showControls(app) {
  const { state } = app;
  byId("axis").value = state.axis;
  byId("log-x").setAttribute("aria-pressed", String(state.logX));
  byId("smooth").value = state.smoothLevel;
  byId("smooth-text").textContent = state.smooth ? gettext("over {0} updates", formatNumber(state.smooth, 16)) : gettext("off");
  [...byId("runs").children].forEach((button, n) => button.setAttribute("aria-pressed", String(!state.hidden.has(n))));
  for (const [id, view] of app.panels) view.log.setAttribute("aria-pressed", String(state.logY.has(id)));
}

/** Makes the controls do what they say. */
function listenToControls(app) {
  const click = (id, action) => byId(id).addEventListener("click", action);
  byId("axis").addEventListener("change", () => app.change(nextAxis(app, byId("axis").value)));
  byId("smooth").addEventListener("input", () => app.change({ smoothLevel: Number(byId("smooth").value) }));
  click("log-x", () => app.change({ logX: !app.state.logX, from: null, to: null }));
  click("zoom-in", () => app.zoomBy(0.5));
  click("zoom-out", () => app.zoomBy(2));
  click("zoom-all", () => app.zoom(null));
  click("save-svg", () => download("curves.svg", drawSvg(app), "image/svg+xml"));
  click("save-png", () => drawPng(app).toBlob((blob) => download("curves.png", blob)));
  click("save-csv", () => download("curves.csv", writeCsv(app), "text/csv"));
  click("theme", () => switchTheme(app));
  click("help", toggleHelp);
}
