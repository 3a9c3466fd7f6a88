// Remembers translated texts while the page is open, and lists them so that one can be restored.

const REMEMBERED = 50; // texts
const past = []; // texts with their translations and languages, oldest first; stored nowhere

/** Keeps a translated text if the user wants it; it replaces the last kept text if it begins with that. */
function remember(text, translation) {
  if (!byId("keep").checked || !text.trim()) return;
  const { source, target } = pair(), isSamePair = one => one?.source === source && one.target === target;
  const last = isSamePair(past.at(-1)) ? past.at(-1) : null;
  if (last && last.text !== text && last.text.startsWith(text)) return;
  if (last && text.startsWith(last.text)) past.pop();
  const again = past.findIndex(one => isSamePair(one) && one.text === text);
  if (again >= 0) past.splice(again, 1);
  past.push({ text, translation, source, target });
  if (past.length > REMEMBERED) past.shift();
  drawPast();
}

/** Forgets all texts when the user no longer wants them kept, or keeps what is there now. */
function changeKeeping() {
  past.length = 0;
  if (byId("keep").checked) remember(byId("text").value, joinLines());
  drawPast();
}

/** Lists the kept texts, newest first; each one can be translated again. */
function drawPast() {
  byId("past").hidden = !past.length;
  byId("past-list").replaceChildren(...past.toReversed().map(one => create("li", {},
    create("button", { type: "button", lang: one.source, dir: "auto", onclick: () => restore(one) }, one.text),
    create("span", { className: "quiet", lang: one.target, dir: "auto" }, ` ${one.translation}`))));
}

/** Takes a kept text and its languages again. */
function restore({ text, source, target }) {
  choosePair(source, target);
  replaceText(text);
}
