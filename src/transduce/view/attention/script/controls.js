// Handles the controls for kind, view, layer, heads and threshold, and shows the state in them.

const allHeads = kind => numbers(KINDS[kind].heads);

/** Turns all heads on ("all"), changes the theme ("theme"), or turns a flag of the state. */
function flip(name) {
  change(name === "all" ? { heads: allHeads(state.kind) } : name === "theme" ? toggleTheme() : { [name]: !state[name] });
}

/** Returns the changes of state for another kind: no words are chosen, and heads that it lacks go. */
function kindChange(kind) {
  const heads = state.heads.filter(one => one <= KINDS[kind].heads);
  return { kind, readers: [], read: [], heads: heads.length ? heads : allHeads(kind) };
}

/** Returns the changes of state for another view; "align" also sets cross-attention and its heads. */
const viewChange = view => (view !== "align" || isView(view) ? { view } : { ...(state.kind === "cross" ? {} : kindChange("cross")), ...ALIGNED, view });

/** Turns a head on or off; when the last one goes off, all are on. */
function toggleHead(head) {
  const heads = toggled(state.heads, Number(head));
  change({ heads: heads.length ? heads : allHeads(state.kind) });
}

/** Calls act with the value of a button of a group that is clicked. */
const onGroup = (id, act) => on(id, "click", ({ target }) => target.closest("button") && act(target.closest("button").dataset.value));

const openHelp = () => byId("help").showModal();

/** Makes the controls work. */
function buildControls() {
  for (const button of byId("kinds").children) button.hidden = !KINDS[button.dataset.value];
  for (const button of byId("views").children) button.hidden = !VIEWS.includes(button.dataset.value);
  onGroup("kinds", kind => change(kindChange(kind)));
  onGroup("views", view => change(viewChange(view)));
  onGroup("switches", flip);
  onGroup("extras", flip);
  onGroup("heads", toggleHead);
  onGroup("saves", kind => kind && save(kind));
  on("heads", "dblclick", ({ target }) => target.dataset.value && change({ heads: [Number(target.dataset.value)] }));
  on("layer", "change", ({ target }) => change({ layer: Number(target.value) }));
  on("threshold", "input", ({ target }) => change({ threshold: fromSlider(target.value) }));
  on("help-button", "click", openHelp);
}

// The slider moves by equal steps of the root, since small weights matter most.
const fromSlider = value => Number((0.5 * (value / 50) ** 2).toFixed(4));
const toSlider = threshold => Math.round(50 * Math.sqrt(threshold / 0.5));

/** Shows the state in the controls. */
function showControls() {
  const kind = kindNow();
  const press = (id, is) => [...byId(id).children].forEach(one => setOnce(one, "aria-pressed", is(one.dataset.value)));
  press("kinds", value => value === state.kind);
  press("views", value => value === state.view);
  for (const id of ["switches", "extras"])
    press(id, value => (value === "theme" ? isDark(paperColour()) : value === "all" ? state.heads.length === kind.heads : state[value]));
  fill("layer", ...kind.layers.map(one => create("option", { value: one, selected: one === state.layer }, one)));
  const slider = byId("threshold");
  slider.value = toSlider(state.threshold);
  slider.ariaValueText = state.threshold;
  if (byId("heads").children.length !== kind.heads) fill("heads", ...numbers(kind.heads).map(head => create("button", { "data-value": head }, head)));
  press("heads", value => state.heads.includes(Number(value)));
  [...byId("heads").children].forEach((square, i) => paintSquare(square, i + 1));
}

/** Paints a head's square: in its colour if the head is on, lighter if it is off. */
function paintSquare(square, head) {
  const { heads, second, layer } = state, [label, share] = tendencyOf(layer, head);
  const colour = heads.includes(head) ? headColour(head, second) : offColour(head, second);
  square.ariaLabel = gettext("Head {0}", head);
  square.title = `${square.ariaLabel}: ${gettext(label)} ${percent(share)}`;
  Object.assign(square.style, { background: colour, color: inkOn(colour) });
}
