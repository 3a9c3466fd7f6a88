const REMEMBERED = 50; // texts
const history = []; // texts and translations, oldest first; nothing of them is stored

/** Keeps a translated text if the user wants it; a text that was typed on replaces its beginning. */
function remember(text, translation) {
  if (!byId("keep").checked || !text.trim()) return;
  const { source, target } = pair(), last = history.at(-1);
  const isSamePair = last?.source === source && last.target === target;
  if (isSamePair && last.text !== text && last.text.startsWith(text)) return;
  if (isSamePair && text.startsWith(last.text)) history.pop();
  history.push({ text, translation, source, target });
  if (history.length > REMEMBERED) history.shift();
  drawHistory();
}

/** Forgets all texts when the user no longer wants them kept, or keeps what is there now. */
function keepHistory() {
  history.length = 0;
  if (byId("keep").checked) remember(byId("text").value, joinLines());
  drawHistory();
}

/** Lists the kept texts, newest first; each one can be translated again. */
function drawHistory() {
  byId("past").hidden = !history.length;
  byId("past-list").replaceChildren(...history.toReversed().map(one => create("li", {},
    create("button", { type: "button", dir: "auto", onclick: () => restore(one) }, one.text),
    create("span", { className: "quiet", dir: "auto" }, ` ${one.translation}`))));
}

/** Takes a kept text and its languages again. */
function restore({ text, source, target }) {
  byId("source").value = source;
  showTargets();
  byId("target").value = target;
  showTargets();
  byId("text").value = text;
  showLeft();
  translate();
}
