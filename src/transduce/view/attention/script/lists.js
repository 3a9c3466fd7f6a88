// Lists the words of both sides, and selects among them by hovering, clicks and arrow keys.

const otherSide = side => (side === "read" ? "readers" : "read");

/** Fills one list with units; words become text, never markup. */
function fillList(side, units) {
  const option = (unit, i) => create("div", { id: `${side}-${i}`, role: "option", title: [unit.text, side === "readers" && stepOf(unit)].filter(Boolean).join(": "), className: "unit" }, create("bdi", {}, unit.text));
  fill(side, ...units.map(option));
  byId(side).setAttribute("aria-label", gettext(side === "read" ? "Words that are read" : "Words that read"));
}

/** Marks the chosen units of both lists, and the one that the keyboard stands on. */
function markLists() {
  const chosen = chosenLists(), { active } = page;
  for (const side of SIDES) {
    const list = byId(side), on = new Set(chosen[side]), at = active.side === side ? active.unit : -1;
    [...list.children].forEach((option, i) => {
      setOnce(option, "aria-selected", on.has(i));
      option.classList.toggle("active", i === at);
    });
    setOnce(list, "aria-activedescendant", at < 0 ? "" : `${side}-${at}`);
  }
}

/** Returns the chosen units of both sides as numbers among those shown. */
function chosenLists() {
  const shownOf = side => page[side].flatMap((unit, i) => (state[side].includes(unit.index) ? [i] : []));
  return { readers: shownOf("readers"), read: shownOf("read") };
}

/** Returns the side and the units whose weights are shown: under the mouse, or chosen. */
function chosenNow() {
  const { hover } = page;
  if (hover?.cell) return { side: "readers", units: [hover.cell[0]] };
  if (hover) return { side: hover.side, units: [hover.unit] };
  const lists = chosenLists(), side = SIDES.find(one => lists[one].length) ?? "";
  return { side, units: lists[side] ?? [] };
}

/** Returns what is under the mouse: a unit {side, unit}, a cell of the matrix {cell}, or null. */
function hoverAt(event) {
  const option = event.target.closest(".unit");
  if (option) return { side: option.parentNode.id, unit: Number(option.id.split("-")[1]) };
  const cell = isView("matrix") && page.shown && cellAt(event);
  return cell ? { cell } : null;
}

/** Returns a list with a number added, or removed if it is there. */
const toggled = (list, one) => (list.includes(one) ? list.filter(other => other !== one) : [...list, one].sort((a, b) => a - b));

/** Chooses a unit: "only" it, "add" it to those chosen, or "toggle" it; the other side lets go. */
function choose({ side, unit }, how) {
  const index = page[side][unit].index, now = state[side];
  const lists = { only: [index], toggle: toggled(now, index), add: now.includes(index) ? now : toggled(now, index) };
  page.active = { side, unit };
  page.hover = null;
  const other = isView("matrix") ? {} : { [otherSide(side)]: [] };
  change({ [side]: lists[how], ...other });
  byId(`${side}-${unit}`).scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** Chooses what was clicked; a second click lets go. */
function onClick(event) {
  const found = hoverAt(event);
  if (found?.cell) return change({ readers: [page.readers[found.cell[0]].index], read: [page.read[found.cell[1]].index] });
  if (!found) return null;
  const only = String(state[found.side]) === String(page[found.side][found.unit].index);
  return choose(found, event.shiftKey || only ? "toggle" : "only");
}

/** Moves through a list of words; an arrow across the list goes to the other one. */
function onListKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const side = event.currentTarget.id, { view } = state, by = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: page.mirror ? 1 : -1, ArrowRight: page.mirror ? -1 : 1 }[event.key];
  const at = page.active.side === side ? page.active.unit : -1, last = page[side].length - 1;
  const flat = view === "rows" || (view === "matrix" && side === "read"), unit = by ? at + by : { Home: 0, End: last }[event.key];
  if (by && view !== "align" && /Left|Right/.test(event.key) !== flat) enterList(otherSide(side));
  else if (event.key === "Enter" || event.key === " ") choose({ side, unit: max(0, at) }, "toggle");
  else if (unit !== undefined) choose({ side, unit: clamp(unit, 0, last) }, event.shiftKey ? "add" : "only");
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Gives the focus to a list. */
function enterList(side) {
  byId(side).focus();
  page.active = { side, unit: chosenLists()[side][0] ?? 0 };
  markLists();
}
