const SIDES = ["readers", "read"];
const VERBS = { readers: "Words that read", read: "Words that are read" };

/** Fills one list with units; words become text, never markup. */
function fillList(side, units, language) {
  const option = (unit, i) => create("div", { id: `${side}-${i}`, role: "option", dir: "auto", title: unit.text, className: "unit" }, unit.text);
  byId(side).replaceChildren(...units.map(option));
  byId(side).setAttribute("aria-label", VERBS[side]);
  byId(side).lang = language || "";
}

/** Marks the chosen units of both lists, and the one that the keyboard stands on. */
function markLists(chosen, active) {
  for (const side of SIDES) {
    const list = byId(side), on = new Set(chosen[side]);
    [...list.children].forEach((option, i) => {
      option.setAttribute("aria-selected", on.has(i));
      option.classList.toggle("active", active.side === side && active.unit === i);
    });
    if (active.side === side && list.children[active.unit]) list.setAttribute("aria-activedescendant", `${side}-${active.unit}`);
    else list.removeAttribute("aria-activedescendant");
  }
}

/** Returns the side and the number of the unit that an event happened on, or null. */
function unitAt(event) {
  const option = event.target.closest?.(".unit");
  if (!option) return null;
  const [side, unit] = option.id.split("-");
  return { side, unit: Number(unit) };
}

/** Returns a list with a number added, or removed if it is there. */
const toggled = (list, one) => (list.includes(one) ? list.filter((other) => other !== one) : [...list, one].sort((a, b) => a - b));

/** Returns whether a text begins in a script that is written from right to left. */
function isRightToLeft(text) {
  const first = text.match(/\p{L}/u);
  return !!first && /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u.test(first[0]);
}
