// Handles languages, swapping, sharing by link, copying, text size, and keys in the translation.

/** Shows the whole text, and how many characters are left. */
function showLeft() {
  fitText();
  byId("left").textContent = gettext("{0} characters left", (SERVER.characters - [...byId("text").value].length).toLocaleString(LOCALE));
}

/** Lists the targets of the source chosen, and says which language each box holds. */
function showTargets() {
  const { value } = byId("source"), { target } = pair();
  const targets = new Set(SERVER.pairs.filter(one => value === AUTO || one[0] === value).map(one => one[1]));
  byId("target").replaceChildren(...[...targets].map(code => create("option", { value: code, selected: code === target }, nameOf(code))));
  showDetected(null);
}

/** Says which language each box holds, and whether they can be swapped. */
function showLanguages() {
  const { source, target } = pair();
  byId("text").lang = source === AUTO ? "" : source;
  byId("output").lang = target;
  const none = !SERVER.pairs.some(([from, to]) => from === target && to === source);
  byId("swap").disabled = none;
  byId("swap").title = none && source !== AUTO ? gettext("No model translates from {0} to {1}.", nameOf(target), nameOf(source)) : gettext("Swap languages and texts");
  const model = SERVER.models[SERVER.pairs.findIndex(([from, to]) => from === source && to === target)];
  byId("about").textContent = [
    ...(model ? [gettext("{0} to {1}, by the model {2}.", nameOf(source), nameOf(target), visible(model))] : []),
    gettext("At most {0} characters.", grouped(SERVER.characters)),
  ].join(" ");
}

/** Chooses a pair of languages. */
function choosePair(source, target) {
  byId("source").value = source;
  showTargets();
  byId("target").value = target;
  showTargets();
}

/** Puts a text in the place of what is typed, and translates it. */
function replaceText(text) {
  byId("text").value = text;
  showLeft();
  translate();
}

/** Swaps the languages, and takes the translation as the text. */
function swap() {
  const { source, target } = pair(), typed = byId("text").value;
  const text = typed === state.lines.map(one => one.line).join("\n") ? joinLines() : typed;
  choosePair(target, source);
  replaceText(text);
}

/** Empties both boxes; Ctrl+Z brings the text back. */
function clear() {
  byId("text").focus();
  byId("text").select();
  document.execCommand("delete");
  translate();
}

/** Puts text and languages into the address; what follows # is sent to no server. */
function share() {
  history.pushState(null, "", "#" + new URLSearchParams({ ...pair(), q: byId("text").value }));
  say(gettext("The address of this page now holds the text."));
}

/** Takes text and languages from the address, and translates. */
function openLink() {
  const given = new URLSearchParams(location.hash.slice(1));
  const known = SERVER.pairs.some(([from, to]) => from === given.get("source") && to === given.get("target"));
  if (known) choosePair(given.get("source"), given.get("target"));
  if (given.has("q")) byId("text").value = given.get("q");
  showLeft();
  translate();
}

/** Shows both texts in the next size of SIZES. */
function changeSize() {
  const now = SIZES.indexOf(Number(byId("form").style.getPropertyValue("--size")) || SIZES[0]);
  byId("form").style.setProperty("--size", SIZES[(now + 1) % SIZES.length]);
  fitText();
}

/** Copies the translation. */
async function copy() {
  try {
    await navigator.clipboard.writeText(joinLines());
    say(gettext("Copied."));
  } catch {
    getSelection().selectAllChildren(byId("output"));
    say(gettext("Ctrl+C copies what is selected."));
  }
}

/** Goes from word to word of the translation with arrows, and asks with Enter. */
function onOutputKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const words = [...byId("output").querySelectorAll(".word")];
  const now = words.findIndex(one => one.classList.contains("here"));
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (step && words.length) mark(placeOf(words[Math.max(0, Math.min(words.length - 1, now + step))]), 1);
  else if (event.key === "Enter" && now >= 0) openChoices(placeOf(words[now]));
  else return;
  event.preventDefault();
}
