// Draws the translation, styles unsure words, and highlights aligned words in both texts.

/** Appends a text to an element; `build` makes a span of each word of a sentence, the rest stays text. */
function appendWords(element, text, sentences, build) {
  let at = 0;
  sentences.forEach((sentence, s) => {
    const found = text.indexOf(sentence, at);
    if (found < 0) return;
    element.append(text.slice(at, found));
    let inner = 0;
    wordsOf(sentence).forEach((word, w) => {
      const start = sentence.indexOf(word, inner);
      element.append(sentence.slice(inner, start), build(word, s, w));
      inner = start + word.length;
    });
    element.append(sentence.slice(inner));
    at = found + sentence.length;
  });
  element.append(text.slice(at));
}

/** Returns the probability of each word of a sentence's best output: the product of its pieces'. */
function sureness(sentence) {
  const sums = [];
  let begins = true; // a sentence that was too long is in parts, each of which ends in </s>
  (sentence.target_pieces || []).forEach((piece, i) => {
    if (piece !== "</s>") {
      if (begins || piece.startsWith("␣")) sums.push(0);
      sums[sums.length - 1] += sentence.log_probs[i];
    }
    begins = piece === "</s>";
  });
  return sums.map(Math.exp);
}

/** Draws the translation; each word knows its line, sentence and number. */
function drawOutput() {
  byId("output").replaceChildren();
  state.lines.forEach(({ answer }, l) => {
    const sure = answer.sentences.map(sureness);
    appendWords(byId("output"), answer.text, answer.sentences.map(one => one.outputs[0].text), (word, s, w) => {
      const p = sure[s][w], level = p === undefined || p >= SURE ? "" : p >= UNSURE ? " unsure" : " doubtful";
      return create("span", { className: `word${level}`, title: p === undefined ? "" : `${Math.round(100 * p)} %`, "data-at": [l, s, w].join() }, word);
    });
    if (l + 1 < state.lines.length) byId("output").append("\n");
  });
}

/** Draws the typed text again behind itself, so that words of it can be marked. */
function drawMirror() {
  byId("mirror").replaceChildren();
  state.lines.forEach(({ line, answer }, l) => {
    appendWords(byId("mirror"), line, answer.sentences.map(one => one.source), (word, s, w) =>
      create("span", { "data-at": [l, s, w].join() }, word));
    byId("mirror").append("\n");
  });
}

/** Returns the span of a word in the output or in the mirror. */
const wordAt = (box, at) => byId(box).querySelector(`[data-at="${at.join()}"]`);

/** Takes all marks away. */
function unmark() {
  for (const one of document.querySelectorAll(".linked, .here")) one.classList.remove("linked", "here");
}

/** Marks the words linked to a word: `side` 1 for a word of the translation, 0 for one of the text. */
function mark([l, s, w], side) {
  unmark();
  const sentence = state.lines[l]?.answer.sentences[s];
  wordAt(side ? "output" : "mirror", [l, s, w])?.classList.add(side ? "here" : "linked");
  (sentence?.alignment || []).forEach((link, i) => {
    if (link[side] !== w || sentence.weights[i] < LINKED) return;
    const other = wordAt(side ? "mirror" : "output", [l, s, link[1 - side]]);
    other?.classList.add("linked");
    other?.style.setProperty("--weight", sentence.weights[i]);
  });
}

/** Returns where a span stands: line, sentence, word. */
const placeOf = span => span.dataset.at.split(",").map(Number);

/** Marks what is linked to the word of the text at the cursor. */
function markAtCursor() {
  const offset = byId("text").selectionStart;
  if (document.activeElement !== byId("text") || offset !== byId("text").selectionEnd) return;
  let at = 0;
  const walker = document.createTreeWalker(byId("mirror"), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    at += node.data.length;
    if (at < offset || !node.parentNode.dataset.at) continue;
    if (at - node.data.length <= offset) mark(placeOf(node.parentNode), 0);
    return;
  }
}
