/** Reads the runs, draws them, and keeps them up to date if a server stands behind the page. */
async function main() {
  const header = readJson("curves");
  localise();
  const app = new App(await readRuns(header.runs));
  buildPanels(app);
  buildRuns(app);
  listenToControls(app);
  document.title = document.title.replace(/^Training curves: (.*)$/, (_, runs) => gettext("Training curves: {0}", runs));
  byId("heading").textContent = document.title;
  app.drawNow();
  performance.mark("drawn");
  new ResizeObserver(() => app.draw()).observe(byId("panels"));
  prefersDark.addEventListener("change", () => {
    buildRuns(app);
    app.draw();
  });
  addEventListener("hashchange", () => app.change(readLink(location.hash, app.runs.length)));
  if (header.events) app.live = new Live(app, header.events);
  window.transduce = { app, drawSvg: () => drawSvg(app), writeCsv: () => writeCsv(app) };
}

main();
