// Lists alternative translations from a chosen word on, and replaces the sentence with one.

/** Returns the sentence that a word stands in. */
const sentenceAt = ([l, s]) => state.lines[l].answer.sentences[s];

/** Hides the list of other translations. */
function closeChoices() {
  byId("choices").hidden = true;
  state.word = null;
}

/** Requests translations that keep the words before a word of the output, and lists them. */
async function openChoices(at) {
  const sentence = sentenceAt(at), words = wordsOf(sentence.outputs[0].text);
  state.word = at;
  const prefix = words.slice(0, at[2]).join(" ");
  try {
    const found = await ask({ q: sentence.source, prefix, alternatives: 5 });
    if (state.word !== at) return;
    listChoices(at, found.sentences[0].outputs, words[at[2]]);
  } catch (error) {
    say(error.message);
  }
}

/** Lists outputs for a sentence, each with its score, and a button for the attention page. */
function listChoices(at, outputs, word) {
  byId("place").replaceChildren(
    gettext("Translations of this sentence with the same words before “{0}”, with their scores", word), " ",
    create("button", { type: "button", id: "look", onclick: () => lookInside(at) }, gettext("look inside")));
  byId("list").replaceChildren(...outputs.map(one => create("li", {},
    create("button", { type: "button", lang: pair().target, dir: "auto", onclick: () => choose(at, one.text) }, one.text),
    create("span", { className: "quiet" }, ` ${one.score.toFixed(2)}`))));
  byId("choices").hidden = false;
}

/** Puts a chosen output in the place of a sentence's translation. */
async function choose(at, text) {
  const { line, answer } = state.lines[at[0]], before = answer.sentences[at[1]], key = keyOf(line);
  let found = before;
  try {
    found = (await ask({ q: before.source, prefix: text })).sentences[0];
  } catch (error) {
    say(error.message);
    return;
  }
  const sentences = answer.sentences.with(at[1], found);
  let start = 0;
  for (const one of answer.sentences.slice(0, at[1])) start = answer.text.indexOf(one.outputs[0].text, start) + one.outputs[0].text.length;
  start = answer.text.indexOf(before.outputs[0].text, start);
  const rest = answer.text.slice(start + before.outputs[0].text.length);
  keep(key, { text: answer.text.slice(0, start) + found.outputs[0].text + rest, sentences });
  if (key === keyOf(line)) show(state.lines.map(one => one.line));
}

/** Opens the attention page of a sentence. */
function lookInside(at) {
  const form = byId("inside"), values = { q: sentenceAt(at).source, ...pair(), api_key: byId("key").value };
  for (const [name, value] of Object.entries(values)) form.elements[name].value = value;
  form.submit();
}
