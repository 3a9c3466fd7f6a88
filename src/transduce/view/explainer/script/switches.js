// What if: parts of the model switched off, and the translation before and after.

/** Returns the words for a name that can be switched off. */
function describeSwitch(name) {
  const fixed = { mask: "the decoder's mask", "source.position": "positions of the source", "target.position": "positions of the output" }[name];
  if (fixed) return fixed;
  const [stack, layer, part, what] = name.split("."), kinds = { self: "self-attention", cross: "cross-attention", ff: "feed-forward" };
  if (!part) return `${stack} layer ${layer}`;
  const whole = `${stack} layer ${layer}, ${kinds[part]}`;
  return what === "residual" ? `${whole}: its residual` : what ? `${whole}: head ${what}` : whole;
}

/** Returns a button that switches a name off and on again. */
function switchButton(name, text) {
  const button = create("button", { type: "button", "data-name": name, className: "switch", "aria-label": describeSwitch(name), title: describeSwitch(name) }, text);
  button.addEventListener("click", () => change({ off: state.off.includes(name) ? state.off.filter(one => one !== name) : [...state.off, name] }, { remember: true }));
  return button;
}

/** Fills the list of all switches, once. */
function fillSwitches() {
  const { layers, heads } = header.sizes, kinds = { self: "self-attention", cross: "cross-attention", ff: "feed-forward" };
  byId("inputs").replaceChildren(...["source.position", "target.position", "mask"].map(name => switchButton(name, describeSwitch(name))));
  const rows = Object.entries(PARTS).flatMap(([stack, parts]) => numbers(layers).flatMap(layer => parts.map((part, i) => {
    const name = `${stack}.${layer}.${part}`, of = part === "ff" ? [] : numbers(heads).map(head => switchButton(`${name}.${head}`, head));
    const first = create("td", {}, i ? "" : switchButton(`${stack}.${layer}`, `${stack} ${layer}`));
    return create("tr", {}, first, create("td", {}, switchButton(name, kinds[part])), create("td", {}, switchButton(`${name}.residual`, "residual")), create("td", {}, ...of));
  })));
  const head = create("tr", {}, ...["layer", "sub-layer", "around it", "heads"].map(text => create("th", { scope: "col" }, text)));
  byId("parts").replaceChildren(create("caption", {}, "Press a part to switch it off"), create("thead", {}, head), create("tbody", {}, ...rows));
}

/** Returns the words for a number that is set by hand. */
function describeEdit(text) {
  const [, name, i, j, number] = EDIT.exec(text);
  return `${name}, row ${Number(i) + 1}, column ${Number(j) + 1} is ${show5(Number(number))}`;
}

/** Shows which parts are off, and both translations. */
function showSwitches() {
  for (const button of document.querySelectorAll(".switch")) button.setAttribute("aria-pressed", state.off.includes(button.dataset.name));
  const edited = state.edits.length ? `Set by hand: ${state.edits.map(describeEdit).join("; ")}.` : "", forced = state.prefix ? `The output begins with “${visible(state.prefix)}”.` : "", off = state.off.length ? `Off: ${state.off.map(describeSwitch).join("; ")}.` : "";
  byId("off").textContent = [off, edited, forced].filter(Boolean).join(" ");
  byId("switched").hidden = !byId("off").textContent;
  byId("undo").disabled = !page.undo.length;
  const text = one => (one?.search.best ? decodeIds(VOCABULARIES.target, one.output) : "(no output)");
  byId("translation").textContent = text(page.result);
  byId("score").textContent = page.result.search.best ? `score ${show5(page.result.search.best.score)}` : "";
  byId("before").hidden = !page.before;
  byId("changed").hidden = !page.before;
  if (!page.before) return;
  const same = text(page.before) === text(page.result);
  byId("before-text").textContent = text(page.before);
  byId("changed").textContent = same ? "The translation is the same." : `It changed; score before ${show5(page.before.search.best?.score)}.`;
}

/** Goes back to the state before the last switch. */
function undo() {
  const before = page.undo.pop();
  if (before) change(before);
}
