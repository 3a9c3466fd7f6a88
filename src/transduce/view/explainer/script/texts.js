// What the page says. A panel has its title, the paper's section and equation, a plain sentence and
// an exact one, and the names of the numbers that it shows ({l}: layer, {h}: head).
const BIASED = header.sizes.attention_biases, IS_RELU = header.sizes.activation === "relu";
const ACTIVATED = { relu: x => `max(0, ${x})`, swish: x => `swish(${x})` }, INNER = ACTIVATED[header.sizes.activation]("xW₁ + b₁");
const FFN = IS_RELU ? `FFN(x) = ${INNER} W₂ + b₂     (2)` : `FFN(x) = ${INNER} W₂ + b₂,  swish(x) = x / (1 + exp(−x))`;
const LOGIT = header.sizes.output_bias ? gettext("decoder output · E(w) + b(w)") : gettext("decoder output · E(w)");
const SCORES = { gnmt: "log P(Y) / ((5 + |Y|) / 6)^α", average: "log P(Y) / |Y|", none: "log P(Y)", reward: "log P(Y) + γ |Y|" };
const CUTS = {
  "byte-pair": gettext("Byte-pair encoding: bytes are joined pair by pair, in the order in which the pairs were learned."),
  "word-piece": gettext("Word-pieces: the longest known piece is cut off a word again and again, from left to right."),
  unigram: gettext("SentencePiece's unigram model: each piece has a score, the logarithm of how likely it is. A word is cut into the pieces with the largest sum. Where a letter is unknown, <unk> stands for it."),
};

const PANELS = [
  { id: "pieces", title: "Pieces", section: "5.1", equation: "", side: "source",
    plain: gettext("The sentence is cut into pieces. This vocabulary has {0} of them, learned from the training text; a word that is not among them is cut into parts, even a common one.", grouped(VOCABULARIES.source.symbols.length)),
    exact: `${CUTS[VOCABULARIES.source.kind]} ${gettext("</s> ends the sentence.")}`, boxes: [] },
  { id: "input", title: "Embedding + position", section: "3.4, 3.5", side: "source",
    equation: "x = √d_model · E(w) + PE(pos),  PE(pos, 2i) = sin(pos / 10000^(2i/d_model)),  PE(pos, 2i+1) = cos(…)",
    plain: "Each piece becomes a list of numbers. Waves that depend on the place alone are added, because nothing else tells the model the order.",
    exact: "One matrix E serves source, target and softmax, if they share it. Sines and cosines alternate: i counts their pairs, from 0.",
    boxes: [["source.embedding", "embedding √d_model E(w)"], ["source.position", "position PE"], ["source.input", "their sum"]] },
  { id: "attention", title: "Encoder attention", section: "3.2.1, 3.2.2", side: "source", layered: true, headed: true,
    equation: "Attention(Q, K, V) = softmax(QKᵀ / √dₖ) V     (1)",
    plain: "Each piece asks a question (query) of all pieces. Where question and key agree, it reads the value. Several heads ask different questions.",
    exact: `${gettext("Row i of the weights is how much piece i reads of each piece; a row sums to 1.")} ${BIASED ? gettext("Each projection adds a bias, which the paper's do not have.") : gettext("Projections have no biases here.")}`,
    boxes: [["encoder.{l}.self.q", "queries of head {h}"], ["encoder.{l}.self.k", "keys of head {h}"], ["encoder.{l}.self.scores.{h}", "scores q · k / √dₖ"], ["encoder.{l}.self.weights.{h}", "weights: softmax of each row"], ["encoder.{l}.self.v", "values of head {h}"], ["encoder.{l}.self.joined", "heads joined"], ["encoder.{l}.self.output", BIASED ? gettext("joined heads times Wᴼ, plus bᴼ") : gettext("joined heads times Wᴼ")]] },
  { id: "norm", title: "Add and normalise", section: "3.1", side: "source", layered: true,
    equation: "LayerNorm(x + Sublayer(x))",
    plain: "What attention found is added to what was there (the residual), so the piece stays in its row. The norm keeps all rows at one scale, however much is added.",
    exact: "Each row gets mean 0 and variance 1, then a learned gain and bias. The paper normalises after the sum (post-norm).",
    boxes: [["encoder.{l}.self.sum", "x + attention"], ["encoder.{l}.self.norm", "normalised"]] },
  { id: "forward", title: "Feed-forward", section: "3.3", side: "source", layered: true,
    equation: FFN,
    plain: IS_RELU ? gettext("Each place is then worked on alone, by the same two layers: wide, with negatives cut to 0, and narrow again.") : gettext("Each place is then worked on alone, by the same two layers: wide, with negatives brought near 0, and narrow again."),
    exact: "d_model to d_ff and back. The result is added and normalised once more, and is what the next layer reads.",
    boxes: [["encoder.{l}.ff.inner", INNER], ["encoder.{l}.ff.output", "times W₂, plus b₂"], ["encoder.{l}.ff.norm", "added and normalised"]] },
  { id: "target", title: "Decoder input", section: "3.1", side: "target",
    equation: gettext("input = <s>, y₁, …, yₙ₋₁"),
    plain: "The decoder reads <s>, the mark of a beginning, and then what it has written so far. From <s> it predicts the first piece, from each further row the next.",
    exact: "The output shifted right. Embeddings and positions as on the source side.",
    boxes: [["target.embedding", "embedding"], ["target.position", "position"], ["target.input", "their sum"]] },
  { id: "masked", title: "Masked attention", section: "3.2.3", side: "target", layered: true, headed: true,
    equation: gettext("softmax(QKᵀ / √dₖ + M) V, M = −∞ for later places"),
    plain: "The written pieces read each other, but never a later one. So what is written later changes no earlier row.",
    exact: "Scores of later places are −∞, so their weights are exactly 0.",
    boxes: [["decoder.{l}.self.scores.{h}", "scores, head {h}"], ["decoder.{l}.self.weights.{h}", "weights"], ["decoder.{l}.self.joined", "heads joined"], ["decoder.{l}.self.norm", "added and normalised"]] },
  { id: "cross", title: "Cross-attention", section: "3.2.3", side: "target", layered: true, headed: true,
    equation: "MultiHead(X, Z, Z)",
    plain: "Queries come from what is written, keys and values from the source; the paper calls this “encoder-decoder attention”. The weights say which source pieces are read most for the next one.",
    exact: "Queries come from the decoder, keys and values from the encoder's output Z; nothing is masked.",
    boxes: [["decoder.{l}.cross.q", "queries of head {h}"], ["decoder.{l}.cross.k", "keys, from the source"], ["decoder.{l}.cross.scores.{h}", "scores"], ["decoder.{l}.cross.weights.{h}", "weights on source pieces"], ["decoder.{l}.cross.v", "values, from the source"], ["decoder.{l}.cross.joined", "heads joined"], ["decoder.{l}.cross.norm", "added and normalised"]] },
  { id: "decoder", title: "Decoder feed-forward", section: "3.3", side: "target", layered: true,
    equation: FFN,
    plain: "The same two layers as in the encoder, with their own weights. The last layer's result predicts the next piece.",
    exact: "Each decoder layer has three sub-layers, each with its residual and norm.",
    boxes: [["decoder.{l}.ff.inner", INNER], ["decoder.{l}.ff.norm", "added and normalised"], ["decoder.output", "the decoder's output"]] },
  { id: "softmax", title: "Next piece", section: "3.4", side: "target",
    equation: `P(w) = softmax(${LOGIT})`,
    plain: "The result is compared with the vector of every piece; the more alike, the likelier is the piece.",
    exact: `${gettext("Logits are dot products with all rows of the output matrix; softmax makes them probabilities.")} ${header.sizes.output_bias ? gettext("This model adds a bias to each logit (3.4).") : ""}`, boxes: [] },
  { id: "beam", title: "Beam search", section: "6.1", side: "target", slider: header.experiments.alpha && "alpha",
    equation: `score(Y) = ${SCORES[header.search.penalty]}`,
    plain: `${gettext("Not only the likeliest piece is followed: some beginnings stay alive side by side, and the best whole output wins.")} ${header.experiments.alpha ? gettext("A larger α favours longer ones.") : ""}`,
    exact: "Of the 2 · beam best continuations (1 if the beam is 1) those with </s> are finished, the best others stay live. |Y| counts the pieces of an output, with </s>.", boxes: [] },
  { id: "stages", title: "Stages", section: "5", side: "target", equation: "",
    plain: "The model was kept at some points of its training. Press one: every station then computes with it, and its translation stands beside that of the trained model.",
    exact: "The curve is the mean of −log P of the right pieces. Training lowers the smoothed loss, which cannot reach 0.", boxes: [] },
  { id: "smoothing", title: "Label smoothing", section: "5.4", side: "target", slider: "smoothing",
    equation: `loss = −Σ q(w) log P(w),  ${header.training.smoothing_form === "t2t" ? gettext("q(w) = 1 − ε if w is right, else ε / (V − 1)") : gettext("q(w) = (1 − ε) [w is right] + ε / V")}`,
    plain: "Training compares the model's probabilities P with a target q that spreads ε over the pieces. Where P of the right piece (✓) is above q, the model is surer than asked, and the loss grows again. The page knows no right answers: what was written stands for them.",
    exact: `${gettext("To see another piece as the right one, “choose” it at “Next piece”. P − q is the gradient of the loss for each logit. A nat is a unit of the natural logarithm.")} ${header.training.smoothing_form === "t2t" ? gettext("This recipe spreads ε over the V − 1 wrong pieces, as the authors' code does.") : gettext("This recipe spreads ε over all V pieces, as Szegedy et al. do.")}`, boxes: [] },
  { id: "rate", title: "Learning rate", section: "5.3", side: "target", slider: "warmup",
    equation: "lrate = d_model^−0.5 · min(step^−0.5, step · warmup^−1.5)     (3)",
    plain: "The learning rate grows for a fixed number of updates, the warm-up, and then becomes smaller and smaller. The peak is where the warm-up ends.",
    exact: `${gettext("Grey: the recipe's warm-up. A warm-up that is four times as long halves the peak.")} ${header.training.learning_rate_factor === 1 ? "" : gettext("The recipe multiplies equation 3 by a factor.")}`, boxes: [] },
].filter(({ id }) => id !== "stages" || header.stages.length > 1).map(panel => {
  for (const name of ["title", "plain", "exact"]) panel[name] = gettext(panel[name]);
  for (const box of panel.boxes) box[1] = gettext(box[1]);
  return panel;
});
