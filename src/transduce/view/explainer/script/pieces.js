// Text to pieces and back: the same normalisation and vocabulary as in Python.

const INVISIBLE = /[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu;
const BLANKS = /[\s\x1c-\x1f\x85]+/u;
const WORDS = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;
const MAX_MARKS = /(\p{Mn}{30})\p{Mn}+/gu;
const MAX_WORD_BYTES = 100; // of a word that word-pieces are cut from
const END = 0, BEGIN = 1, FIRST_BYTE = 2;
const NAMES = ["</s>", "<s>", "<unk>"]; // of the symbols without text, by id

/** Returns a text in NFC without invisible characters, with single spaces. */
function normalise(text) {
  const whole = text.replace(INVISIBLE, "").replace(/\p{Cs}/gu, "\ufffd");
  const marked = whole.replace(MAX_MARKS, "$1").normalize("NFC").replace(MAX_MARKS, "$1");
  return marked.split(BLANKS).filter(Boolean).join(" ");
}

/** Returns the UTF-8 bytes of a text as a string of one character for each byte. */
const toBytes = text => String.fromCharCode(...new TextEncoder().encode(text));

/** Returns a vocabulary from the page's data: byte pairs [left id, right id], pieces as bytes, or pieces with scores. */
function readVocabulary({ kind, learned, charsmap, runs }) {
  if (kind === "unigram") return readUnigram(learned, charsmap, runs);
  const letters = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)); // in the order of their ids
  const symbols = ["", "", ...letters], ids = new Map(letters.map((letter, i) => [letter, i + FIRST_BYTE])), ranks = new Map();
  const add = symbol => ids.has(symbol) || ids.set(symbol, symbols.push(symbol) - 1);
  learned.forEach((one, rank) => {
    if (kind === "word-piece") return add(String.fromCharCode(...one));
    const [left, right] = one.map(id => symbols[id]);
    add(left + right);
    return ranks.set(`${one[0]} ${one[1]}`, [rank, ids.get(left + right)]);
  });
  return { kind, symbols, ids, ranks };
}

/** Returns the words of a normalised text, each with its ids: [word, ids]. */
function cutText(vocabulary, text) {
  if (vocabulary.kind === "unigram") return splitWords(vocabulary, text).map(word => [word.replace(SPACE, " "), cutByScores(vocabulary, word)]);
  return (text.match(WORDS) ?? []).map(word => [word, encodeWord(vocabulary, toBytes(word))]);
}

/** Returns the ids of a normalised text, without END. */
const encodeText = (vocabulary, text) => cutText(vocabulary, text).flatMap(([, ids]) => ids);

/** Returns the ids of one word of bytes. */
function encodeWord(vocabulary, word) {
  if (vocabulary.kind === "word-piece") return cutWord(vocabulary, word);
  return mergeWord(vocabulary, word).at(-1);
}

/** Returns the ids of a word after each merge: at first its bytes, at last its pieces. */
function mergeWord({ ids, ranks }, word) {
  const stages = [[...word].map(letter => ids.get(letter))];
  for (;;) {
    const now = stages.at(-1);
    let best = null, at = -1;
    for (let i = 0; i + 1 < now.length; i++) {
      const found = ranks.get(`${now[i]} ${now[i + 1]}`);
      if (found && (!best || found[0] < best[0])) [best, at] = [found, i];
    }
    if (!best) return stages;
    stages.push([...now.slice(0, at), best[1], ...now.slice(at + 2)]);
  }
}

/** Returns the ids of a word's longest known pieces, from left to right. */
function cutWord({ ids }, word) {
  const found = [];
  for (let begin = 0; begin < word.length; ) {
    let end = Math.min(word.length, begin - (begin % MAX_WORD_BYTES) + MAX_WORD_BYTES);
    while (!ids.has(word.slice(begin, end))) end -= 1;
    found.push(ids.get(word.slice(begin, end)));
    begin = end;
  }
  return found;
}

/** Returns the text of ids; bytes that are no UTF-8 become U+FFFD. */
function decodeIds({ symbols }, ids) {
  const bytes = Uint8Array.from(ids.map(id => symbols[id]).join(""), letter => letter.charCodeAt(0));
  return normalise(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
}

/** Returns a piece as readable text, such as "␣dog", "<C3>" or "</s>". */
function readablePiece({ symbols }, id) {
  if (!symbols[id]) return NAMES[id];
  const bytes = Uint8Array.from(symbols[id], letter => letter.charCodeAt(0)), code = byte => `<${byte.toString(16).toUpperCase().padStart(2, "0")}>`;
  try {
    return visible(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)).replaceAll(" ", "␣");
  } catch {
    return [...bytes].map(byte => (byte >= 0x21 && byte < 0x7f ? String.fromCharCode(byte) : code(byte))).join("");
  }
}
