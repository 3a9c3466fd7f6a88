const SWITCHES = [
  ["all", "All heads", (state) => ({ heads: numbers(KINDS[state.kind].heads) })],
  ["mean", "Average", (state) => ({ mean: !state.mean }), (state) => state.mean],
  ["words", "Words", (state) => ({ units: state.units === "words" ? "pieces" : "words" }), (state) => state.units === "words"],
  ["marks", "Marks", (state) => ({ marks: !state.marks }), (state) => state.marks],
  ["scale", "Row maximum", (state) => ({ scale: state.scale === "max" ? "raw" : "max" }), (state) => state.scale === "max"],
  ["palette", "Colours", (state) => ({ palette: 3 - state.palette }), (state) => state.palette === 2],
  ["theme", "Dark", () => (toggleTheme(), {}), () => paperColour() !== "#ffffff"],
];

/** Makes a group of buttons, of which one or several are pressed. */
function fillGroup(id, names, act) {
  byId(id).replaceChildren(...names.map(([value, text]) => {
    const button = create("button", { type: "button" }, text);
    button.dataset.value = value;
    button.addEventListener("click", () => act(value));
    return button;
  }));
}

/** Makes all controls once. */
function buildControls() {
  fillGroup("kinds", header.kinds.map((one) => [one.kind, READS[one.kind]]), (kind) => change({ kind, ...clampTo(kind) }));
  fillGroup("views", Object.entries(VIEWS), (view) => change({ view }));
  fillGroup("switches", SWITCHES, (name) => change(SWITCHES.find((one) => one[0] === name)[2](page.state)));
  const layers = [...new Set(header.kinds.flatMap((one) => one.layers))];
  byId("layer").replaceChildren(...layers.map((one) => create("option", { value: one }, String(one))));
  byId("layer").addEventListener("change", (event) => change({ layer: Number(event.target.value) }));
  byId("threshold").addEventListener("input", (event) => change({ threshold: fromSlider(event.target.value) }));
  fillGroup("heads", numbers(Math.max(...header.kinds.map((one) => one.heads))).map((one) => [one, String(one)]), toggleHead);
  for (const button of byId("heads").children) button.addEventListener("dblclick", () => change({ heads: [Number(button.dataset.value)] }));
}

// The slider moves by equal steps of the root, since small weights matter most.
const fromSlider = (value) => Number((0.5 * (value / 50) ** 2).toFixed(4));
const toSlider = (threshold) => Math.round(50 * Math.sqrt(threshold / 0.5));

/** Returns what changes with the kind: nothing is chosen, and heads that it has not are left out. */
function clampTo(kind) {
  const heads = page.state.heads.filter((one) => one <= KINDS[kind].heads);
  return { readers: [], read: [], heads: heads.length ? heads : numbers(KINDS[kind].heads) };
}

/** Turns a head on or off; when the last one goes off, all are on. */
function toggleHead(head) {
  const heads = toggled(page.state.heads, Number(head));
  change({ heads: heads.length ? heads : numbers(KINDS[page.state.kind].heads) });
}

/** Shows the state in the controls. */
function showControls() {
  const { state } = page;
  const press = (id, is) => { for (const one of byId(id).children) one.setAttribute("aria-pressed", is(one.dataset.value)); };
  press("kinds", (value) => value === state.kind);
  press("views", (value) => value === state.view);
  press("heads", (value) => state.heads.includes(Number(value)));
  for (const [name, , , is] of SWITCHES) {
    const button = byId("switches").querySelector(`[data-value="${name}"]`);
    if (is) button.setAttribute("aria-pressed", is(state));
  }
  byId("layer").value = state.layer;
  byId("threshold").value = toSlider(state.threshold);
  byId("threshold").setAttribute("aria-valuetext", String(state.threshold));
  for (const square of byId("heads").children) paintSquare(square);
}

/** Paints a head's square: in its colour if the head is on, lighter if it is off. */
function paintSquare(square) {
  const number = Number(square.dataset.value), on = page.state.heads.includes(number);
  const colour = headColour(number, page.state.palette), fill = on ? colour : offColour(colour);
  square.hidden = number > KINDS[page.state.kind].heads;
  square.setAttribute("aria-label", `Head ${number}`);
  Object.assign(square.style, { background: fill, color: inkOn(fill) });
}
