// The guided tour: one focus a step.

/** Returns the state of a tour step: layer 99 is the last, {n} its number. */
function tourState([wanted]) {
  const { layers } = header.sizes, parts = { cell: "", ...wanted };
  if (parts.layer) parts.layer = Math.min(parts.layer, layers);
  parts.off = (wanted.off ?? []).map(name => name.replace("{n}", layers));
  return parts;
}

/** Goes to a step of the tour; 0 ends it. */
function goToTour(number) {
  const at = clamp(number, 0, TOUR.length);
  change(at ? { ...tourState(TOUR[at - 1]), tour: at } : { tour: 0, off: state.tour && state.off.length ? [] : state.off });
  if (at) byId("tour").scrollIntoView({ block: "nearest" });
}

/** Shows the step of the tour. */
function showTour() {
  const at = state.tour;
  byId("tour").hidden = !at;
  byId("begin-tour").hidden = at > 0;
  if (!at) return;
  const [, title, text] = TOUR[at - 1], panel = PANELS.find(one => one.id === TOUR[at - 1][0].panel);
  byId("tour-title").textContent = `${at} of ${TOUR.length}: ${title}`;
  byId("tour-text").textContent = text;
  byId("tour-section").textContent = panel.section ? `Section ${panel.section}. ${panel.equation}` : "";
  byId("tour-back").disabled = at === 1;
  byId("tour-next").disabled = at === TOUR.length;
}
