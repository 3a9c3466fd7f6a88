// Tints aligned words by cross-attention, and writes the alignment as pairs such as "0-0 1-2".

/** Tints the words of the other sentence by the average weight of the heads that are on. */
function tintWords() {
  const chosen = chosenNow(), ranked = chosen.side && isView("align") ? rankOthers(page.shown, chosen) : [];
  for (const side of SIDES) for (const option of byId(side).children) option.style.removeProperty("--w");
  const others = chosen.side === "readers" ? "read" : "readers", most = ranked[0]?.mean || 1;
  for (const { at, mean } of ranked) byId(`${others}-${at}`).style.setProperty("--w", (mean / most).toFixed(2));
}

/** Returns the alignment as text, "0-0 1-2": for each output word the source word it reads most. */
function alignmentText() {
  const { rows, columns } = page.shown, pairs = [];
  rows.forEach((unit, row) => {
    const best = rankOthers(page.shown, { side: "readers", units: [row] }).find(one => !one.unit.mark);
    if (!unit.mark && best?.mean) pairs.push([columns[best.at].index, unit.index]);
  });
  return pairs.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(pair => pair.join("-")).join(" ");
}
