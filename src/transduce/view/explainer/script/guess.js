// Predict first: a question about the station's numbers, which are hidden until it is answered. All
// questions and answers are computed from what the model did with the sentence.

const guess = { isOn: false, at: 0, given: new Map() }; // given: what was answered, by question

const length = row => Math.sqrt(row.reduce((sum, x) => sum + x * x, 0));
const numbered = pieces => pieces.map((piece, i) => `${i + 1} ${piece}`);

/** Returns a question for the largest value, with at most `most` choices; null if all are equal. */
function askLargest(text, choices, values, most = 6) {
  if (new Set(values).size < 2) return null;
  const kept = choices.map((_, i) => i).sort((a, b) => values[b] - values[a]).slice(0, most).sort((a, b) => a - b), top = Math.max(...values);
  const why = kept.map(i => `${choices[i]}: ${show5(values[i])}`).join("; ");
  return { text, choices: kept.map(i => choices[i]), find: () => [kept.flatMap((i, n) => (values[i] === top ? [n] : [])), why] };
}

/** Returns a question for the update, of some, whose learning rate is largest. */
function askRate(text, updates) {
  const asked = [...new Set(updates)].sort((a, b) => a - b);
  return askLargest(text, asked.map(grouped), asked.map(update => learningRate(update, state.warmup)));
}

/** Returns a question for a number among others. */
function askNumber(text, number, others) {
  const choices = [...new Set([number, ...others])].sort((a, b) => a - b);
  return choices.length < 2 ? null : { text, choices, find: () => [[choices.indexOf(number)], ""] };
}

/** Returns a question for the quarter that a share is in. */
const askShare = (text, share) => ({ text, choices: ["0–25 %", "25–50 %", "50–75 %", "75–100 %"], find: () => [[Math.min(3, Math.floor(4 * share))], `${show5(100 * share)} %`] });

/** Returns a question for whether the translation is another one with other settings, which are tried. */
function askChange(text, parts) {
  const asked = { ...state, ...parts }, find = async () => {
    const turn = page.turn, found = await searchNow(asked, () => turn === page.turn);
    return found && [[String(found.output) === String(page.result.output) ? 1 : 0], decodeIds(VOCABULARIES.target, found.output)];
  };
  return { text, choices: [gettext("yes"), gettext("no")], find };
}

/** Returns the name of the residual stream after a layer of a stack; layer 0 is the input. */
const streamAfter = (stack, layer) => streamBefore(`${stack}.${layer + 1}.self`);

/** Returns a question for the layer of a stack that changes a row most. */
function askLayer(stack, i, piece) {
  const { trace } = page.result, layers = numbers(DEPTHS[stack]);
  const far = layers.map(n => length(trace[streamAfter(stack, n)][i].map((x, j) => x - trace[streamAfter(stack, n - 1)][i][j])));
  return askLargest(gettext("Which layer changes the vector of “{0}” most?", piece), layers.map(n => gettext("layer {0}", n)), far);
}

/** Returns a question for which continuation is cut: the best one, beside the last three kept. */
function askCut() {
  const { steps } = page.result.search, at = Math.min(state.step, steps.length - 1), { candidates } = steps[at];
  const cut = candidates.find(one => one.fate === "cut"), kept = candidates.filter(one => one.fate !== "cut").slice(-3);
  if (!cut || !kept.length) return null;
  const choices = [cut, ...kept].map(one => piecesText(one.ids)).sort();
  return { text: gettext("Which of these is cut at step {0}?", at + 1), choices, find: () => [[choices.indexOf(piecesText(cut.ids))], gettext("log P {0}", show5(cut.logProb))] };
}

/** Returns the questions of each station, by kind: null where the model or the place has none. */
function buildQuestions() {
  const { trace, output, source, settings } = page.result, { layer, head, panel } = state, { heads } = header.sizes;
  const side = panelNow().side, pieces = piecesOf(side), at = Math.min(state[side], pieces.length - 1), piece = pieces[at];
  const cut = cutText(VOCABULARIES.source, normalise(state.text)), words = cut.map(([word]) => word), counts = cut.map(([, ids]) => ids.length);
  const stack = side === "source" ? "encoder" : "decoder", row = (part, h = head) => trace[`${stack}.${layer}.${part}.weights.${h}`][at], off = `decoder.${layer}.cross.${head}`;
  const reads = (text, of, values) => askLargest(gettext(text, piece, head, layer), numbered(of), Array.from(values));
  const longest = () => askLargest(gettext("Which piece has the longest vector, once its position is added?"), numbered(pieces), trace[`${side}.input`].map(length));
  const norms = names => names.map(name => length(trace[name][at])), sub = `${stack}.${layer}`, { steps } = header.training, { warmup } = state;
  const lossOf = smoothing => {
    const mass = smoothingMass(smoothing, header.training.smoothing_form, trace.logits[at].length);
    return { mass, ...smoothedLoss(trace.logits[at], output[at], mass) };
  };
  const open = page.result.off.has("mask") ? pieces.length : at + 1, epsilon = header.training.label_smoothing || 0.1, written = pieces.slice(0, at + 1).join(" ");
  const stations = {
    pieces: {
      count: () => askNumber(gettext("Into how many pieces is the sentence cut, with </s>?"), source.length, [words.length + 1, source.length + 2, toBytes(state.text).length + 1]),
      parts: () => askLargest(gettext("Which word is cut into the most pieces?"), numbered(words), counts),
    },
    input: { longest, order: () => !state.off.includes("source.position") && askChange(gettext("Does the translation change without the source's positions?"), { off: [...state.off, "source.position"] }) },
    attention: {
      reads: () => reads("Which piece does “{0}” read most in head {1} of layer {2}?", pieces, row("self")),
      sharp: () => askLargest(gettext("Which head of layer {0} gives one piece the largest weight when “{1}” reads?", layer, piece), numbers(heads).map(h => gettext("head {0}", h)), numbers(heads).map(h => Math.max(...row("self", h))), 9),
    },
    norm: {
      residual: () => askLargest(gettext("Which is longer at “{0}”: what came in, or what attention adds?", piece), [gettext("what came in"), gettext("what attention adds")], norms([streamBefore(`${sub}.self`), `${sub}.self.output`])),
      encoder: () => askLayer("encoder", at, piece),
    },
    forward: { zeros: () => askShare(IS_RELU ? gettext("How many numbers of the wide layer are 0 at “{0}”?", piece) : gettext("How many numbers of the wide layer are below 0 at “{0}”?", piece), trace[`${sub}.ff.inner`][at].filter(x => (IS_RELU ? x === 0 : x < 0)).length / header.sizes.d_ff) },
    target: { longest },
    masked: {
      seen: () => askNumber(gettext("How many pieces may “{0}” read?", piece), trace[`${sub}.self.scores.${head}`][at].filter(x => x > -Infinity).length, [1, at + 2, pieces.length]),
      back: () => reads("Which written piece does “{0}” read most in head {1} of layer {2}?", pieces.slice(0, open), row("self").slice(0, open)),
    },
    cross: {
      source: () => reads("Which source piece does head {1} of layer {2} read most, after “{0}”?", piecesOf("source"), row("cross")),
      aligned: () => at > 0 && reads("To which source piece does “{0}” belong, by the mean of all heads of layer {2} when “{0}” is read (shifted attention)?", piecesOf("source"), row("cross").map((_, j) => numbers(heads).reduce((sum, h) => sum + row("cross", h)[j], 0) / heads)),
      without: () => !state.off.includes(off) && askChange(gettext("Does the translation change without this head, {0} of layer {1}?", head, layer), { off: [...state.off, off] }),
    },
    decoder: {
      adds: () => askLargest(gettext("Which sub-layer of layer {0} adds the longest vector at “{1}”?", layer, piece), [gettext("self-attention"), gettext("cross-attention"), gettext("feed-forward")], norms(["self", "cross", "ff"].map(part => `${sub}.${part}.output`))),
      decoder: () => askLayer("decoder", at, piece),
    },
    softmax: {
      next: () => {
        const ids = likeliest(trace.probabilities[at], 4);
        const sorted = ids.sort((a, b) => (writtenPiece(a) < writtenPiece(b) ? -1 : 1));
        return askLargest(gettext("Which piece is likeliest after “{0}”?", written), sorted.map(writtenPiece), sorted.map(id => trace.probabilities[at][id]));
      },
      sure: () => askShare(gettext("How likely is the likeliest piece after “{0}”?", written), Math.max(...trace.probabilities[at])),
    },
    beam: {
      cut: askCut,
      greedy: () => settings.beam > 1 && askChange(gettext("Does a beam of 1 find another translation?"), { beam: 1 }),
    },
    smoothing: {
      loss: () => askLargest(gettext("Which loss is largest after “{0}”?", written), [gettext("without smoothing"), `ε = ${oneDigit(0.1)}`, `ε = ${oneDigit(0.5)}`], [0, 0.1, 0.5].map(one => lossOf(one).loss)),
      aim: () => {
        const { right, nats } = lossOf(epsilon);
        return askLargest(gettext("Which gives “{0}” more after “{1}”: the target with ε = {2}, or the model?", writtenPiece(output[at]), written, show5(epsilon)), [gettext("the target"), gettext("the model")], [right, Math.exp(-nats)]);
      },
      parts: () => {
        const { mass, nats, other } = lossOf(epsilon);
        return askLargest(gettext("Which part of the loss with ε = {0} is larger after “{1}”?", show5(epsilon), written), [gettext("that of the right piece"), gettext("that of the mean over all pieces")], [(1 - mass) * nats, mass * other]);
      },
    },
    rate: {
      peak: () => askRate(gettext("At which update is the learning rate largest?"), [1, Math.min(warmup, steps), Math.ceil(steps / 2), steps]),
      halfway: () => askRate(gettext("Where is the learning rate larger: half-way through the warm-up, or as far beyond its end?"), [Math.ceil(warmup / 2), warmup + Math.floor(warmup / 2)]),
      later: () => askNumber(gettext("How many times smaller is the learning rate at update {1} than at the end of the warm-up, update {0}?", grouped(warmup), grouped(4 * warmup)), Math.round(learningRate(warmup, warmup) / learningRate(4 * warmup, warmup)), [4, 8, 16]),
    },
  };
  return stations[panel];
}

/** Returns the questions that the station has now: {key, text, choices, find}; those answered are as they were asked. */
function questionsNow() {
  const place = writeHash({ ...state, tour: 0, cell: "", smoothing: 0, warmup: 0 });
  return Object.entries(buildQuestions() ?? {}).flatMap(([kind, build]) => {
    const key = `${kind} ${place}`, question = guess.given.get(key) ?? build();
    return question ? [{ ...question, kind, key }] : [];
  });
}

/** Returns the question that is asked now, or undefined. */
function questionNow() {
  const questions = questionsNow();
  return questions[guess.at % questions.length];
}

/** Shows the question of the station, and hides what would answer it. */
function showGuess() {
  const question = guess.isOn ? questionNow() : undefined, isOpen = question && !question.right, hidden = findAll(".results, .strips, .work");
  const isLost = isOpen && hidden.some(one => one.contains(document.activeElement));
  for (const one of hidden) one.hidden = isOpen;
  if (isOpen) page.timer = clearInterval(page.timer);
  byId("guess").hidden = !question;
  if (!question) return;
  fill("guess-text", question.text);
  fill("guess-choices", ...question.choices.map((choice, i) => {
    const mark = question.right?.includes(i) ? " ✓" : question.right && question.picked === i ? " ✗" : "";
    return createButton(() => isOpen && answer(question, i), { dir: "auto", "aria-pressed": question.picked === i, "aria-disabled": !isOpen }, `${choice}${mark}`);
  }));
  const names = question.right?.map(i => question.choices[i]).join(", "), isRight = question.right?.includes(question.picked);
  fill("guess-told", isOpen ? "" : [question.picked < 0 ? "" : isRight ? gettext("Right.") : gettext("No."), gettext("It is {0}.", names), question.why].filter(Boolean).join(" "));
  const answered = [...guess.given.values()].filter(one => one.picked >= 0), right = answered.filter(one => one.right.includes(one.picked)).length;
  fill("guess-score", answered.length ? gettext("{0} of {1} right", right, answered.length) : "");
  byId("guess-show").hidden = !isOpen;
  byId("guess-more").hidden = state.panel === "rate" && questionsNow().every(one => one.right); // it has no other row to go on to
  if (isLost) byId("guess-text").focus();
}

/** Answers a question with a choice, or with -1 to see the answer only. */
async function answer(question, picked) {
  byId("busy").hidden = false;
  const found = await question.find();
  byId("busy").hidden = page.ready;
  if (!found) return;
  const [right, why] = found;
  guess.given.set(question.key, { ...question, picked, right, why });
  show();
  if (picked < 0) byId(byId("guess-more").hidden ? "guess-end" : "guess-more").focus();
}

/** Asks a question of the station that was not answered yet, or goes on to the next place. */
function askMore() {
  const questions = questionsNow(), open = questions.findIndex(one => !one.right), { side } = panelNow(), isBeam = state.panel === "beam";
  guess.at = Math.max(0, open);
  if (open >= 0) showGuess();
  else if (isBeam) change({ step: (state.step + 1) % page.result.search.steps.length });
  else moveTo(side, (state[side] + 1) % piecesOf(side).length);
  byId("guess-text").focus();
}

/** Begins or ends asking before numbers are shown. */
function toggleGuess() {
  guess.isOn = !guess.isOn;
  show();
  if (guess.isOn) byId("guess").scrollIntoView({ block: "center" });
}
