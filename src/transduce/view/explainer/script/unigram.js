// SentencePiece's unigram model: a text is rewritten by the model's own table and cut into words at
// its spaces, and each word into the pieces whose scores have the largest sum.

const SPACE = "▁", UNKNOWN = 2, UNKNOWN_PENALTY = 10, RESERVED = /<(?=\/?s>|unk>)/gu;
const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Returns a vocabulary from its pieces [text, score], its table in base64, and a pattern of letters that are one unknown piece; "" for none. */
function readUnigram(learned, charsmap, runs) {
  const lowest = learned.reduce((least, [, score]) => Math.min(least, score), Infinity), longest = learned.reduce((most, [text]) => Math.max(most, [...text].length), 0);
  const all = [...NAMES.map(name => [name, lowest]), ...learned];
  return {
    kind: "unigram", lowest, longest, runs: runs && new RegExp(runs.replaceAll("\\x{", "\\u{"), "gu"), table: charsmap && readTable(charsmap), scores: all.map(([, score]) => score),
    ids: new Map(all.map(([text], id) => [text, id])), symbols: all.map(([text], id) => (id > UNKNOWN ? toBytes(text.replaceAll(SPACE, " ")) : "")),
  };
}

/** Returns a table as the units of a double-array trie, and the bytes of its replacements, each closed by 0. */
function readTable(charsmap) {
  const bytes = readBase64(charsmap), end = 4 + new DataView(bytes.buffer).getUint32(0, true);
  return { units: new Uint32Array(bytes.slice(4, end).buffer), replacements: Uint8Array.from([...bytes.subarray(end), 0]) };
}

/** Returns the replacement of the shortest beginning of a text that the table has, if it has one. */
function lookUp({ units, replacements }, text) {
  const offset = unit => (unit >>> 10) << ((unit & 512) >> 6);
  let at = offset(units[0]);
  for (const byte of new TextEncoder().encode(text)) {
    const unit = units[at ^ byte];
    if ((unit & 0x800000ff) !== byte) return undefined;
    at ^= byte ^ offset(unit);
    const begin = units[at] & 0x7fffffff;
    if (unit & 256) return new TextDecoder("utf-8", { ignoreBOM: true }).decode(replacements.subarray(begin, replacements.indexOf(0, begin)));
  }
  return undefined;
}

/** Returns a text rewritten by a table: whole graphemes of fewer than 6 bytes, else letter by letter. */
const rewrite = (table, text) => Array.from(GRAPHEMES.segment(text), ({ segment }) => (toBytes(segment).length < 6 ? lookUp(table, segment) : undefined) ?? Array.from(segment, letter => lookUp(table, letter) ?? letter).join("")).join("");

/** Returns the words of a normalised text, each with the ▁ of the space before it. */
function splitWords({ table, runs }, text) {
  const spelt = text.replace(RESERVED, "< "), single = (table ? rewrite(table, spelt) : spelt).replace(/ +/gu, " ");
  const found = (runs ? single.replace(runs, "\uffff") : single).replaceAll(" ", SPACE);
  return (found && !found.startsWith(SPACE) ? SPACE + found : found).match(/▁?[^▁]+|▁/gu) ?? [];
}

/** Returns the ids of the pieces of a word whose scores have the largest sum; unknown letters side by side are one piece. */
function cutByScores({ ids, scores, lowest, longest }, word) {
  const letters = [...word], best = [{ sum: 0 }], found = []; // best[n]: how the first n letters are cut
  const offer = (begin, piece, end, score, sum = best[begin].sum + score) => best[end]?.sum >= sum || (best[end] = { sum, begin, piece });
  letters.forEach((letter, begin) => {
    for (let end = begin + 1, piece = ""; end <= Math.min(letters.length, begin + longest); end++) {
      piece += letters[end - 1];
      if (ids.has(piece)) offer(begin, piece, end, scores[ids.get(piece)]);
    }
    if (!ids.has(letter)) offer(begin, letter, begin + 1, lowest - UNKNOWN_PENALTY);
  });
  for (let end = letters.length; end; end = best[end].begin) {
    const { piece } = best[end], id = ids.get(piece) ?? UNKNOWN;
    if (id !== UNKNOWN || found[0] !== UNKNOWN) found.unshift(id);
  }
  return found;
}
