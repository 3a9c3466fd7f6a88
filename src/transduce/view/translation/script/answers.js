// Translates the text line by line through the server, and warns of unknown words and omissions.

/** Sends a request to a path; returns the answer, or throws what the server says. */
async function post(path, fields, signal) {
  const body = JSON.stringify({ ...fields, api_key: byId("key").value });
  let response, answer;
  try {
    response = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body, signal });
    answer = await response.json();
  } catch (error) {
    throw error.name === "AbortError" ? error : new Error(gettext("The server cannot be reached."));
  }
  if (!response.ok) throw new Error(answer.error ?? `HTTP ${response.status}`);
  return answer;
}

/** Sends a request for translations between the languages chosen. */
const ask = (fields, signal) => post("translate", { ...fields, ...pair(), detail: true }, signal);

/** Translates the lines that are not known yet, and shows all, unless something was typed meanwhile. */
async function translate() {
  clearTimeout(state.timer);
  const number = ++state.number, text = byId("text").value, lines = text.split("\n");
  state.abort?.abort();
  if ([...text].length > SERVER.characters) {
    byId("output").classList.add("late");
    say(gettext("The text has {0} characters, and this server takes {1}.", grouped([...text].length), grouped(SERVER.characters)));
    return;
  }
  state.abort = new AbortController();
  try {
    if (isDetecting()) {
      byId("output").classList.add("late");
      const found = await detect(text, state.abort.signal);
      if (number !== state.number) return;
      showDetected(found);
    }
    for (const key of new Set(lines.map(keyOf))) if (cache.has(key)) keep(key, cache.get(key));
    const missing = [...new Set(lines.filter(line => line.trim() && !cache.has(keyOf(line))))];
    const keys = missing.map(keyOf);
    byId("output").classList.toggle("late", missing.length > 0);
    for (let at = 0; at < missing.length; at += SERVER.texts) {
      const some = missing.slice(at, at + SERVER.texts);
      const found = await ask({ q: some }, state.abort.signal);
      some.forEach((_, i) => keep(keys[at + i], { text: found.translatedText[i], sentences: found.sentences[i] }));
    }
    if (number === state.number) show(lines);
  } catch (error) {
    if (number !== state.number || error.name === "AbortError") return;
    say(error.message);
  }
}

/** Translates soon, or at once where a sentence ends. */
function translateSoon() {
  const { value } = byId("text");
  clearTimeout(state.timer);
  showLeft();
  if (ENDS.test(value)) translate();
  else state.timer = setTimeout(translate, WAIT);
}

/** Shows the translation of lines that are all known. */
function show(lines) {
  const answers = lines.map(line => cache.get(keyOf(line)) || { text: line, sentences: [] });
  state.lines = lines.map((line, i) => ({ line, answer: answers[i] }));
  byId("output").classList.remove("late");
  drawOutput();
  drawMirror();
  remember(lines.join("\n"), joinLines());
  closeChoices();
  const sentences = answers.flatMap(one => one.sentences);
  say([...new Set([...sentences.flatMap(one => one.warnings), ...listDoubts(sentences)])].join("; "));
}

/** Returns what may be wrong with translations: words that were not learned, and much that is missing. */
function listDoubts(sentences) {
  const unknown = [...new Set(sentences.flatMap(findUnknown))], found = [];
  if (unknown.length) found.push(gettext("The model may only guess these words, which it reads almost letter by letter: {0}", unknown.map(visible).join(", ")));
  for (const { source, outputs: [{ text }] } of sentences) {
    const count = wordsOf(source).length;
    if (count >= LONG && wordsOf(text).length < SHORT * count)
      found.push(gettext("Much shorter than its source, so something may be missing: “{0}”", visible(text)));
  }
  return found;
}

/** Returns the words of a sentence that the model reads in many small pieces. */
function findUnknown({ source, source_pieces: pieces = [] }) {
  const counts = [];
  for (const piece of pieces) {
    if (!counts.length || piece.startsWith("␣")) counts.push(0);
    counts[counts.length - 1]++;
  }
  const words = wordsOf(source), letters = word => word.replace(/^\P{L}+|\P{L}+$/gu, "");
  if (words.length !== counts.length) return [];
  return words.map(letters).filter((word, i) => /^\p{L}+$/u.test(word) && counts[i] >= PIECES && [...word].length < LETTERS * counts[i]);
}
