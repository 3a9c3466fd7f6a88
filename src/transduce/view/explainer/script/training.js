// Label smoothing    (section 5.4) and the learning rate    (section 5.3) of a training step.

/** Returns the probability that smoothing ε spreads over all pieces; "t2t" spreads ε over the wrong ones. */
const smoothingMass = (smoothing, form, pieces) => (form === "t2t" ? (smoothing * pieces) / (pieces - 1) : smoothing);

/** Returns x log x, which is 0 at 0. */
const xlogx = x => (x > 0 ? x * Math.log(x) : 0);

/** Returns the loss of one step, its two parts, and the smoothed target    (section 5.4)
 *
 * right, wrong: what the target gives the right piece and any other; least: the target's entropy,
 * below which no model's loss can be.
 */
function smoothedLoss(logits, target, mass) {
  const logP = logSoftmax(Float64Array.from(logits)), count = logP.length, nats = -logP[target], other = -logP.reduce((a, b) => a + b, 0) / count;
  const wrong = mass / count, right = 1 - mass + wrong;
  return { logP, nats, other, wrong, right, loss: (1 - mass) * nats + mass * other, least: -xlogx(right) - (count - 1) * xlogx(wrong) };
}

/** Returns the smoothed loss where P of the right piece is `share`, and all others are equally likely. */
const lossAt = (share, right, wrong, count) => -right * Math.log(share) - (count - 1) * wrong * Math.log((1 - share) / (count - 1));

/** Returns the learning rate of a step: equation 3 times the recipe's factor    (section 5.3) */
const learningRate = (step, warmup) => header.training.learning_rate_factor * header.sizes.d_model ** -0.5 * Math.min(step ** -0.5, step * warmup ** -1.5);

const CHART = { width: 480, height: 196, left: 84, right: 12, top: 28, bottom: 24 };

/** Returns lines [class, points [x, y], name] from x = 0 to `last` as SVG and a legend, with a dot at each point of `dots`. */
function drawChart(lines, dots, last, [across, upwards], label) {
  const { width, height, left, right, top, bottom } = CHART, most = [...lines.flatMap(([, points]) => points), ...dots].reduce((a, [, y]) => Math.max(a, y), 0);
  const x = value => (left + ((width - left - right) * value) / last).toFixed(1), y = value => (top + (height - top - bottom) * (1 - value / most)).toFixed(1);
  const text = (content, at, high, anchor) => createSvg("text", { x: at, y: high, "text-anchor": anchor, class: "quiet-text" }, content);
  const paths = lines.map(([name, points]) => createSvg("path", { class: name, d: points.map(([a, b], i) => `${i ? "L" : "M"}${x(a)} ${y(b)}`).join("") }));
  const circles = dots.map(([a, b, name = "dot now"]) => createSvg("circle", { cx: x(a), cy: y(b), r: 5, class: name }));
  const names = [text(show5(most), left - 6, top + 4, "end"), text("0", left - 6, height - bottom, "end"), text("0", left, height - 6, "middle"), text(across, (left + width) / 2, height - 6, "middle"), text(grouped(last), width - right, height - 6, "end"), text(upwards, 6, 14, "start")];
  const legend = create("p", { className: "legend" }, ...lines.flatMap(([kind, , name]) => [create("span", { className: `key ${kind}` }), ` ${name} `]));
  const svg = createSvg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": label }, createSvg("path", { class: "line", d: `M${left} ${top}V${height - bottom}H${width - right}` }), ...paths, ...circles, ...names);
  return [svg, legend];
}

/** Returns a bar as wide as a share. */
function shareBar(share, className = "share") {
  const bar = create("span", { className });
  bar.style.width = `${Math.max(0.5, 100 * share)}%`;
  return bar;
}

/** Returns a table of rows, the first cell of each a header. */
function buildTable(caption, heads, rows) {
  const body = rows.map(([first, ...cells]) => create("tr", {}, rowHead(first), ...cells.map(cell => create("td", {}, typeof cell === "number" ? show5(cell) : cell))));
  return createRegion("rows", caption, create("table", {}, create("caption", {}, caption), heads.length ? headRow(heads) : "", create("tbody", {}, ...body)));
}

/** Returns the panel of label smoothing at the chosen step: the written piece stands for the right one. */
function showSmoothing() {
  const { trace, output } = page.result, t = Math.min(state.target, output.length - 1), logits = trace.logits[t], count = logits.length, { smoothing_form: form } = header.training;
  const mass = smoothingMass(state.smoothing, form, count), now = smoothedLoss(logits, output[t], mass);
  const ids = likeliest(now.logP, 7);
  if (!ids.includes(output[t])) ids.push(output[t]);
  const aims = ids.map(id => (id === output[t] ? now.right : now.wrong)), shares = ids.map(id => Math.exp(now.logP[id])), rest = list => Math.max(0, 1 - list.reduce((a, b) => a + b, 0));
  const short = x => show5(round(x, 4)), row = (name, aim, share) => [name, short(aim), short(share), create("div", { className: "pair" }, shareBar(aim, "share aim"), shareBar(share)), short(share - aim)];
  const pieces = ids.map((id, i) => row(`${writtenPiece(id)}${id === output[t] ? " ✓" : ""}`, aims[i], shares[i]));
  if (count > ids.length) pieces.push(row(gettext("{0} others", grouped(count - ids.length)), rest(aims), rest(shares)));
  const begin = piecesOf("target").slice(0, t + 1).join(" "), lossLine = (right, wrong) => Array.from({ length: 200 }, (_, i) => [(i + 0.5) / 200, lossAt((i + 0.5) / 200, right, wrong, count)]);
  const lines = [["line best", lossLine(now.right, now.wrong), gettext("smoothed loss")], ["line", lossLine(1, 0), gettext("loss without smoothing")]], share = Math.exp(-now.nats);
  const sums = [[gettext("loss without smoothing: −log P of the right piece"), now.nats], [gettext("mean of −log P over all pieces"), now.other], [gettext("smoothed loss = {0} · first + {1} · second", show5(1 - mass), show5(mass)), now.loss], [gettext("its floor: the least that any model can reach"), now.least]];
  const chart = drawChart(lines, [[now.right, now.least, "dot"], [share, now.loss]], 1, [gettext("P of the right piece"), gettext("loss, in nats")], gettext("The smoothed loss is least, {0}, where P of the right piece is {1}", show5(now.least), show5(now.right)));
  const told = gettext("Ring: the least loss, at P = {0} = {1}. Dot: this step. The curves share the rest equally among the other pieces.", form === "t2t" ? "1 − ε" : "1 − ε + ε / V", short(now.right));
  return [
    createBox(...chart, create("p", { className: "quiet" }, told), buildTable(gettext("Losses of this step, in nats"), [], sums)),
    createBox(buildTable(gettext("After {0}", begin), [gettext("piece"), gettext("target q"), gettext("model P"), gettext("q (orange), P (blue)"), "P − q"], pieces)),
  ];
}

/** Returns the panel of the learning rate: the recipe's warm-up and the chosen one. */
function showRate() {
  const { warmup: recipes, steps } = header.training, { warmup } = state;
  const line = peak => [...Array.from({ length: 121 }, (_, i) => (i * steps) / 120), peak].filter(step => step <= steps).sort((a, b) => a - b).map(step => [step, step ? learningRate(step, peak) : 0]);
  const heads = [gettext("update"), gettext("with warm-up {0}", grouped(warmup)), gettext("the recipe's: {0}", grouped(recipes))];
  const lines = [["line", line(recipes), heads[2]], ["line best", line(warmup), heads[1]]], top = Math.min(warmup, steps), asked = [...new Set([1, top, Math.min(recipes, steps), Math.ceil(steps / 2), steps])].sort((a, b) => a - b);
  const rows = asked.map(step => [grouped(step), learningRate(step, warmup), learningRate(step, recipes)]);
  const chart = drawChart(lines, [[top, learningRate(top, warmup)]], steps, [gettext("update"), gettext("learning rate")], gettext("The learning rate is largest at update {0}: {1}", top, show5(learningRate(top, warmup))));
  return [createBox(...chart), createBox(buildTable(gettext("Rate by update"), heads, rows))];
}

/** Returns a number from 0 to 1 as the page writes it. */
const oneDigit = number => number.toFixed(1).replace(".", POINT);

/** Returns [least, most, step, name, text] of a slider, by the part of the state that it sets. */
const SLIDERS = {
  alpha: () => [0, Math.max(1, header.search.alpha), 0.1, "α", oneDigit(state.alpha)],
  smoothing: () => [0, 1, 0.01, "ε", state.smoothing.toFixed(2).replace(".", POINT)],
  warmup: () => {
    const { warmup } = header.training, step = [1000, 100, 10].find(one => warmup % one === 0 && 10 * one <= warmup) ?? 1;
    return [step, 4 * Math.max(warmup, 2), step, gettext("warm-up"), grouped(state.warmup)];
  },
};

/** Shows the slider of a panel that has one. */
function showSlider({ slider }) {
  byId("slide").hidden = !slider;
  if (!slider) return;
  const [min, max, step, name, value] = SLIDERS[slider]();
  Object.assign(byId("slider"), { min, max, step });
  if (Number(byId("slider").value) !== state[slider]) byId("slider").value = state[slider];
  fill("slide-name", name);
  fill("slide-value", value);
  byId("as-recipe").disabled = state[slider] === firstState()[slider];
}
