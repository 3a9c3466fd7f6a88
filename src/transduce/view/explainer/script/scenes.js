// The pictures of the film, as SVG. `progress` goes from 0 to 1 in 3/4 of the caption's time.

// Words stand in lines, or, in a narrow window, upright in columns as in the paper's Figures 3 to 5.
const WIDE = { width: 960, height: 400, middle: 480, isNarrow: false, above: 112, below: 282 }, NARROW = { width: 520, height: 560, middle: 260, isNarrow: true, above: 190, below: 370 };
const SCENE = { ...WIDE };
const write = (text, x, y, size = 22, more = {}) => createSvg("text", { x, y, "font-size": size, "text-anchor": "middle", ...more }, text);

/** Returns the words of pieces: [text, indices of its pieces]; a piece with a space begins one. */
function wordsOf(pieces) {
  const words = [];
  pieces.forEach((piece, i) => {
    if (!words.length || piece.startsWith("␣")) words.push([piece.replace("␣", ""), [i]]);
    else words.at(-1)[0] += piece, words.at(-1)[1].push(i);
  });
  return words;
}

const LETTERS_HIGH = 29, GAP = 24, pen = document.createElement("canvas").getContext("2d");

/** Returns texts in a row as [x, half of the width, size of letters], as wide as they are in bold, in the middle of the picture. */
function layOut(texts) {
  if (SCENE.isNarrow) return texts.map((_, i) => [((i + 0.5) * SCENE.width) / texts.length, Math.min(22, SCENE.width / texts.length / 2 - 2)]);
  pen.font = `bold ${LETTERS_HIGH}px ${getComputedStyle(document.body).fontFamily}`;
  const widths = texts.map(text => pen.measureText(visible(text)).width + GAP), total = widths.reduce((a, b) => a + b, 0), scale = Math.min(1, (SCENE.width - 20) / total);
  let left = SCENE.middle - (scale * total) / 2;
  return widths.map(width => [(left += scale * width) - (scale * width) / 2, (scale * (width - 8)) / 2, scale * LETTERS_HIGH]);
}

/** Returns words in a row at a height, those from `shown` on as empty boxes. */
function wordRow(row, y, { shown = row.length, bold = -1, accent = false } = {}) {
  const words = row.map(([word]) => word);
  if (SCENE.isNarrow) return layOut(words).map(([x, half], i) => upright(words[i], x, half, accent, i < shown, i === bold));
  return layOut(words).map(([x, half, size], i) => i < shown ? write(visible(words[i]), x, y, size, { class: `${accent ? "film-accent" : ""} ${i === bold ? "film-bold" : ""}` }) : emptyBox(x - half, y - 24, 2 * half, 32));
}

/** Returns a word that is read upwards, above or below the lines; or an empty box for one that is not there yet. */
function upright(word, x, half, isBelow, isShown = true, isBold = false) {
  const y = isBelow ? SCENE.below + 10 : SCENE.above - 10;
  if (!isShown) return emptyBox(x - half, y, 2 * half, 110);
  return write(visible(word), 0, 0, Math.min(26, 1.4 * half), { transform: `translate(${x + half / 2} ${y}) rotate(-90)`, "text-anchor": isBelow ? "end" : "start", class: `${isBelow ? "film-accent" : ""} ${isBold ? "film-bold" : ""}` });
}

const emptyBox = (x, y, width, height) => createSvg("rect", { x, y, width, height, rx: 6, class: "film-box" });

/** Returns lines from words of the output to words of the source, with their weights as opacity. */
function readingLines(film, weightsOf, shown) {
  const [above, below] = [film.sourceWords, film.targetWords].map(row => layOut(row.map(([word]) => word)));
  return film.targetWords.slice(0, shown).flatMap((_, t) => weightsOf(t).map((weight, s) => weight < 0.05 ? "" : createSvg("path", { d: `M${below[t][0]} ${SCENE.below}C${below[t][0]} ${SCENE.below - 82} ${above[s][0]} ${SCENE.above + 82} ${above[s][0]} ${SCENE.above}`, class: "film-line", opacity: weight.toFixed(3) })));
}

/** Returns a written word's weights on source words: sums over their pieces, means over its own. */
function wordWeights(film, t) {
  const { layer, heads, shifted } = header.reading, rows = film.targetWords[t][1].map(i => Math.min(i + Number(shifted), film.output.length - 1));
  return film.sourceWords.map(([, columns]) => rows.reduce((sum, row) => sum + heads.reduce((some, head) => some + columns.reduce((all, j) => all + film.trace[`decoder.${layer}.cross.weights.${head}`][row][j], 0), 0) / heads.length, 0) / rows.length);
}

/** Returns what a picture shows as a line of text below it, or as lines in a narrow window. */
const note = (...texts) => (SCENE.isNarrow ? texts.flatMap(text => text.match(/\S.*?(\.(?=\s|$)|[。।]|$)/gu)) : [texts.join(" ")]).map((text, i, all) => write(text, SCENE.middle, SCENE.height - 10 - 20 * (all.length - 1 - i), Math.min(15, (1.8 * SCENE.width) / text.length), { class: "quiet-text" }));

/** Returns a text as one line of 76 characters, or two of 38 if narrow; "…" is what has no room. */
function foldText(text) {
  const [most, count] = SCENE.isNarrow ? [38, 2] : [76, 1], lines = [""];
  for (const word of text.split(" ")) if (lines.at(-1) && `${lines.at(-1)} ${word}`.length > most) lines.push(word);
    else lines[lines.length - 1] = `${lines.at(-1)} ${word}`.trim();
  if (lines.length > count) lines[count - 1] = `${lines[count - 1]} ${lines[count]}`;
  return lines.slice(0, count).map(line => (line.length > most ? `${line.slice(0, most - 1)}…` : line));
}

/** Returns rows of a name and a text. */
const textRows = (rows, progress) => rows.slice(0, Math.ceil(progress * rows.length + 0.01)).flatMap(([name, text, accent], i) => {
  const y = SCENE.height / 2 + (SCENE.isNarrow ? 112 : 84) * (i - (rows.length - 1) / 2), size = (one, wanted) => Math.min(wanted, (1.5 * SCENE.width) / Math.max(1, one.length));
  return [write(name, SCENE.middle, y - 16, size(name, 16), { class: "quiet-text" }), ...foldText(visible(text)).map((line, k, [first, second = ""]) => write(line, SCENE.middle, y + 14 + 28 * k, Math.min(size(first, 26), size(second, 26)), { class: accent ? "film-accent" : "" }))];
});

/** Returns the boxes of a recurrent network: word i is reached when progress is i / n. */
function chain(film, progress, fades) {
  const words = film.sourceWords.slice(0, 8).map(([word]) => word), now = fades ? words.length - 1 : Math.floor(progress * words.length), step = SCENE.width / (words.length + 1);
  return words.flatMap((word, i) => {
    const x = step * (i + 1), opacity = fades ? Math.max(0.12, 1 - progress * (words.length - 1 - i) * 0.28) : i <= now ? 1 : 0.15;
    return [createSvg("g", { opacity }, SCENE.isNarrow ? upright(word, x, step * 0.4, true) : write(visible(word), x, 300, Math.min(20, (step / word.length) * 1.6)), createSvg("path", { d: `M${x} ${SCENE.isNarrow ? SCENE.below : 276}V236`, class: "film-arrow" }), createSvg("rect", { x: x - step * 0.3, y: 176, width: step * 0.6, height: 56, rx: 10, class: i === now && !fades ? "film-now" : "film-box" }), ...(i < words.length - 1 ? [createSvg("path", { d: `M${x + step * 0.3} 204h${step * 0.36}`, class: "film-arrow" })] : []))];
  });
}

/** Returns a matrix of weights from 0 to 1 at a place, with the pieces that read as names of its rows. */
const weightPicture = (rows, x, y, size, title, names) => {
  const cell = size / Math.max(rows.length, rows[0].length);
  return createSvg("g", { transform: `translate(${x} ${y})` }, ...names.map((name, i) => write(visible(name), -5, cell * (i + 0.75), Math.min(18, 0.65 * cell), { "text-anchor": "end" })), createSvg("rect", { width: cell * rows[0].length, height: cell * rows.length, class: "film-box" }), ...shadePaths(rows, cell, cell, 1).map(([shade, d]) => createSvg("path", { d, class: "above", "fill-opacity": shade / SHADES })), write(title, size / 2, -10, 15, { class: "quiet-text" }));
};

// Table 2, English to German: model, BLEU, training cost in FLOPs; ensembles are what was best before.
const TABLE2 = [["GNMT + RL ensemble", 26.3, "1.8 × 10²⁰"], ["ConvS2S ensemble", 26.36, "7.7 × 10¹⁹"], ["Transformer (base)", 27.3, "3.3 × 10¹⁸"], ["Transformer (big)", 28.4, "2.3 × 10¹⁹"]];

const SCENES = {
  sentence: (film, progress) => [...wordRow(film.sourceWords, 104), ...(progress > 0.45 ? wordRow(film.targetWords, 304, { accent: true }) : [])],
  order: (film, progress) => [...SCENES.sentence(film, 1), ...readingLines(film, t => wordWeights(film, t).map((weight, s, all) => (weight === Math.max(...all) ? 1 : 0)), Math.ceil(progress * film.targetWords.length)), ...note(gettext("Lines: each word's largest weight (decoder layer {0}).", header.reading.layer))],
  recurrent: (film, progress) => chain(film, progress, false),
  fading: (film, progress) => chain(film, progress, true),
  pieces: (film, progress) => {
    const pieces = film.sourcePieces, places = layOut(pieces), rows = film.trace["source.input"], scale = largest(rows), count = Math.min(Math.ceil(progress * 12) || 1, header.sizes.d_model);
    const named = ([x, half, size], piece) => (SCENE.isNarrow ? [upright(piece, x, half, false)] : [emptyBox(x - half, 54, 2 * half, 36), write(visible(piece), x, 78, Math.min(20, size))]);
    const told = note(gettext("Below each piece: the first {0} of its {1} numbers. Blue is above 0, orange below.", count, header.sizes.d_model));
    return [...told, ...pieces.flatMap((piece, i) => [...named(places[i], piece), ...Array.from(rows[i].slice(0, count), (x, j) => createSvg("rect", { x: places[i][0] - 11, y: SCENE.above + 21 * j, width: 22, height: 18, class: x > 0 ? "above" : "below", "fill-opacity": (0.1 + (0.9 * Math.abs(x)) / scale).toFixed(3) }))])];
  },
  heads: (film, progress) => {
    const count = Math.min(8, header.sizes.heads), across = Math.min(SCENE.isNarrow ? 2 : 4, count), down = Math.ceil(count / across), height = SCENE.height - (SCENE.isNarrow ? 100 : 50), size = Math.min(180, height / down - 40), step = (SCENE.width - 90) / across, layer = DEPTHS.encoder;
    const name = i => (i % across ? [] : [...film.sourcePieces, "</s>"]);
    return [
      ...numbers(count).slice(0, Math.ceil(progress * count + 0.01)).map((head, i) => weightPicture(film.trace[`encoder.${layer}.self.weights.${head}`], 80 + step * (i % across) + (step - size) / 2, (height / down) * (Math.floor(i / across) + 0.5) - size / 2 + 10, size, gettext("head {0}", head), name(i))),
      ...note(gettext("The last encoder layer."), gettext("Row: the piece that reads. Column: a piece that is read. Blue: how much, from 0 to 1.")),
    ];
  },
  write: (film, progress) => {
    const at = Math.min(film.targetWords.length - 1, Math.floor(progress * film.targetWords.length)), now = at < 0 ? [] : wordWeights(film, at);
    return [...wordRow(film.sourceWords, 104, { bold: now.indexOf(Math.max(...now)) }), ...wordRow(film.targetWords, 304, { shown: at + 1, bold: at, accent: true }), ...readingLines(film, t => (t === at ? now : []), at + 1)];
  },
  mask: film => {
    const given = ["<s>", ...film.targetPieces], next = [...film.targetPieces, "</s>"], rows = film.trace["decoder.1.self.weights.1"], height = SCENE.height - (SCENE.isNarrow ? 190 : 150), cell = Math.min(height, SCENE.width - 220) / rows.length, size = cell * rows.length, letter = Math.min(18, 0.65 * cell), at = Math.min(2, rows.length - 1), x = SCENE.middle - size / 2, y = 100;
    return [
      weightPicture(rows, x, y, size, "", given),
      ...given.map((piece, j) => write(visible(piece), 0, 0, letter, { transform: `translate(${x + cell * (j + 0.6)} ${y - 8}) rotate(-50)`, "text-anchor": "start" })),
      ...next.map((piece, i) => write(`→ ${visible(piece)}`, x + size + 8, y + cell * (i + 0.75), letter, { "text-anchor": "start", class: "film-accent" })),
      createSvg("path", { transform: `translate(${x} ${y})`, d: hatchPath(rows, (i, j) => j > i, cell, cell), class: "hatch" }),
      createSvg("rect", { x, y: y + cell * at, width: size, height: cell, class: "film-ring" }),
      ...note(gettext("All rows at once; blue: how much each reads."), gettext("The framed row is to predict “{0}”. So “{0}” and all after it are masked (hatched) there.", visible(next[at]))),
    ];
  },
  swap: ({ swapped }, progress) => {
    const one = swapped[0]?.[2], isSame = swapped.every(([, , after]) => after === one);
    const without = isSame ? [[swapped.length > 1 ? gettext("both, without positions") : gettext("without positions"), one]] : swapped.map(([text, , after]) => [gettext("{0} Without positions:", text), after]);
    return textRows([...swapped.map(([text, before]) => [text, before, true]), ...without], progress + 0.3);
  },
  stages: (film, progress) => textRows(film.stages.map((text, i) => [stageName(header.stages[i]), text, i === film.stages.length - 1]), progress),
  table: (_, progress) => [...TABLE2.flatMap(([name, bleu, cost], i) => {
    const { isNarrow } = SCENE, x = isNarrow ? 60 : 350, y = (isNarrow ? 60 : 40) + (isNarrow ? 120 : 80) * i;
    return [write(name, isNarrow ? x : x - 20, isNarrow ? y - 8 : y + 23, 22, { "text-anchor": isNarrow ? "start" : "end" }), createSvg("rect", { x, y, width: Math.max(1, (isNarrow ? 15 : 19) * bleu * Math.min(1, 2 * progress)), height: 32, rx: 4, class: i > 1 ? "above" : "film-box" }), write(`${bleu.toFixed(i === 1 ? 2 : 1).replace(".", POINT)} BLEU, ${cost.replace(".", POINT)} FLOPs`, x, y + 54, isNarrow ? 20 : 17, { "text-anchor": "start", class: "quiet-text" })];
  }), ...note(gettext("English to German. BLEU: how near it comes to people's translations, at most 100. FLOPs: the arithmetic of its training."))],
  figure: () => SCENES.map(null, -1),
  map: (_, progress) => {
    const [left, top, width, high] = byId("figure").getAttribute("viewBox").split(" ").map(Number), scale = Math.min(SCENE.height / high, (SCENE.width - 160) / width);
    const x = SCENE.middle - (scale * width) / 2, y = (SCENE.height - scale * high) / 2, figure = createSvg("use", { href: "#figure", x, y, width: scale * width, height: scale * high });
    if (progress < 0) return [figure];
    const isEncoder = progress < 0.5, [from, to] = isEncoder ? [46, 397] : [398, 754];
    const name = (text, at, anchor, isOn) => write(text, at, y + 0.3 * scale * high, 26, { "text-anchor": anchor, class: isOn ? "film-accent film-bold" : "quiet-text" });
    return [figure, createSvg("rect", { x: x + scale * (from - left), y: y + 2, width: scale * (to - from), height: scale * high - 4, rx: 10, class: "film-ring" }), name("BERT", x + scale * 200, "middle", isEncoder), name("GPT", x + scale * (754 - left) + 12, "start", !isEncoder)];
  },
  without: (film, progress) => textRows([[gettext("sentence"), header.reading.text], [gettext("its translation"), film.text, true], [film.without === film.text ? gettext("the same without head {0} (cross-attention), whose largest weight is on “{1}” for “{2}”", film.taken, visible(film.read), visible(film.wrote)) : gettext("without head {0} (cross-attention), whose largest weight is on “{1}” for “{2}”", film.taken, visible(film.read), visible(film.wrote)), film.without, true]], progress + 0.65),
};
const DRAWINGS = ["recurrent", "fading", "table"]; // not of this model
