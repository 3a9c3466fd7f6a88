// The guided tour: one focus a step. It can be printed; each step begins a page and has its picture.
const TOUR = header.tour?.map(({ title, text, link }) => [link, title, text]) ?? GUIDE;

/** Returns the state of a tour step, of its link or of its parts: layer 99 is the last, {n} the decoder's last. */
function tourState([wanted]) {
  if (typeof wanted === "string") return readHash(`#${wanted.split("#").at(-1)}`, { follow: false });
  const parts = { cell: "", ...wanted };
  if (parts.layer) parts.layer = Math.min(parts.layer, depthOf(parts.panel));
  for (const list of ["off", "edits"]) parts[list] = (wanted[list] ?? []).map(name => name.replace("{n}", DEPTHS.decoder));
  return parts;
}

/** Goes to a step of the tour; 0 ends it. What it returns is settled when the step is shown. */
async function goToTour(number) {
  const at = clamp(number, 0, TOUR.length);
  const shown = change(at ? { ...tourState(TOUR[at - 1]), tour: at } : { tour: 0, ...(state.tour ? { off: [], edits: [] } : {}) });
  if (at) byId("tour").scrollIntoView({ block: "nearest" });
  return shown;
}

/** Shows the step of the tour. */
function showTour() {
  const at = state.tour;
  byId("tour").hidden = !at;
  byId("begin-tour").hidden = at > 0;
  if (!at) return;
  const [, title, text] = TOUR[at - 1], panel = PANELS.find(one => one.id === TOUR[at - 1][0].panel) ?? panelNow();
  byId("tour-title").textContent = gettext("{0} of {1}: {2}", at, TOUR.length, title);
  byId("tour-text").textContent = text;
  byId("tour-section").textContent = panel.section ? `${gettext("Section {0}", panel.section)}. ${panel.equation}` : "";
  byId("tour-back").disabled = at === 1;
  byId("tour-next").disabled = at === TOUR.length;
}

/** Returns what a step shows as a slide for print: its text, the translation, the station's picture. */
function buildSlide() {
  const copy = id => {
    const found = byId(id).cloneNode(true);
    for (const one of [found, ...found.querySelectorAll("[id]")]) one.removeAttribute("id");
    return found;
  };
  const translated = create("p", {}, visible(state.text), " → ", create("strong", { dir: "auto" }, byId("translation").textContent));
  return create("section", { className: "slide" }, copy("tour-title"), copy("tour-text"), copy("tour-section"), translated, copy("off"), copy("boxes"), copy("cell"));
}

/** Fills the slides of all steps of the tour, prints them, and shows again what was shown. */
async function printTour() {
  const before = state, slides = [];
  for (const number of numbers(TOUR.length)) {
    await goToTour(number);
    slides.push(buildSlide());
  }
  byId("slides").replaceChildren(...slides);
  await change(before);
  print();
  byId("slides").replaceChildren();
}
