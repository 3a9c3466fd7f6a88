const SHOWN = 10; // most words in the table of the strongest

const percent = (share) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;

/** Returns the average over heads, summed over the chosen units, for each unit of the other side; strongest first. */
function rankOthers(shown, chosen) {
  const byRow = chosen.side === "readers", width = shown.columns.length;
  const others = byRow ? shown.columns : shown.rows;
  const ranked = others.map((unit, i) => {
    const weights = shown.heads.map(({ values }) => chosen.units.reduce((sum, one) => sum + values[byRow ? one * width + i : i * width + one], 0));
    const best = weights.indexOf(Math.max(...weights));
    return { unit, mean: weights.reduce((a, b) => a + b, 0) / weights.length, best, most: weights[best] };
  });
  return ranked.sort((a, b) => b.mean - a.mean || a.unit.index - b.unit.index);
}

/** Shows the table of what the chosen words read, or of what reads them. */
function showChosen() {
  const chosen = chosenNow(), panel = byId("chosen");
  if (!chosen.side) return panel.replaceChildren(create("p", { className: "quiet" }, "Choose a word to see what it reads, or what reads it; Shift adds words."));
  const own = page[chosen.side], words = chosen.units.map((i) => own[i].text);
  const title = create("caption", {}, create("bdi", {}, words.join(" ")), chosen.side === "readers" ? " reads" : " is read by");
  const names = ["Word", "Weight", "Strongest head"].map((name) => create("th", { scope: "col" }, name));
  const rows = rankOthers(page.shown, chosen).slice(0, SHOWN).filter((one) => one.mean > 0).map(({ unit, mean, best, most }) =>
    create("tr", {}, create("td", {}, create("bdi", {}, unit.text)), create("td", {}, mean.toFixed(3)), create("td", {}, `${page.shown.heads[best].number || "average"}: ${most.toFixed(3)}`)));
  return panel.replaceChildren(create("table", {}, title, create("thead", {}, create("tr", {}, ...names)), create("tbody", {}, ...rows)));
}

/** Says how much weight the threshold hides, and how much lies on hidden marks. */
function showMass() {
  const { threshold } = page.state, { small, marks } = hiddenMass(page.shown, threshold);
  const hidden = page.state.marks ? "" : `, ${percent(marks)} on hidden marks`;
  byId("mass").textContent = `${threshold.toFixed(3)}: hides ${percent(small)} of the weight${hidden}`;
}
