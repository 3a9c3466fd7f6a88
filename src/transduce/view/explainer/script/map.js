// Figure 1 as the map: its blocks open the stations, and the sentence's pieces flow through it.

// The groups of the figure that belong to each station, the one with the station's button first.
const PLACES = {
  pieces: ["inputs"], input: ["input-embedding", "input-positions"], attention: ["encoder-self-attention"], norm: ["encoder-self-attention-norm"],
  forward: ["encoder-feed-forward", "encoder-feed-forward-norm", "encoder-norm"], target: ["output-embedding", "output-positions", "outputs"],
  masked: ["decoder-self-attention", "decoder-self-attention-norm"], cross: ["decoder-cross-attention", "decoder-cross-attention-norm", "memory"],
  decoder: ["decoder-feed-forward", "decoder-feed-forward-norm", "decoder-norm"], softmax: ["softmax", "linear", "output-probabilities"], beam: ["search"],
};
const MAP = { left: 40, width: 720, more: 82, line: 22, letters: 26, lines: 3 };

/** Opens a station, and brings it into view. */
function openStation(id) {
  change({ panel: id, cell: "" });
  byId("station").scrollIntoView({ block: "start", behavior: prefersStill.matches ? "auto" : "smooth" });
}

const prefersStill = matchMedia("(prefers-reduced-motion: reduce)");

/** Returns the figure of the page's language as an SVG element in the page's colours. */
function readFigure() {
  const { figures, night } = header.map, svg = document.importNode(new DOMParser().parseFromString(figures[LOCALE] ?? figures.en, "image/svg+xml").documentElement, true);
  for (const one of svg.querySelectorAll("title, desc, svg > rect, marker ~ rect")) one.remove();
  for (const name of ["fill", "stroke"])
    for (const one of svg.querySelectorAll(`[${name}^="#"]`)) one.style[name] = `light-dark(${one.getAttribute(name)}, ${night[one.getAttribute(name)]})`;
  const [, , , height] = svg.getAttribute("viewBox").split(" ").map(Number);
  svg.setAttribute("viewBox", `${MAP.left} ${-MAP.more + 40} ${MAP.width} ${height + MAP.more - 50}`);
  for (const name of ["width", "height"]) svg.removeAttribute(name);
  setAll(svg, { id: "figure", role: "group", "aria-label": gettext("Figure 1 of the paper, with this model's layers, and the search above it") });
  return svg;
}

/** Makes the blocks of the figure buttons that open stations. */
function fillMap() {
  const svg = readFigure();
  fill("map", svg);
  for (const [id, names] of Object.entries(PLACES))
    names.map(name => svg.querySelector(`#model-${name}`)).filter(Boolean).forEach((group, i) => {
      group.classList.add("place");
      group.dataset.panel = id;
      group.addEventListener("click", () => openStation(id));
      if (i) return;
      const { title } = PANELS.find(one => one.id === id), written = [...group.querySelectorAll("text")].map(one => one.textContent).join(" ");
      setAll(group, { role: "button", tabindex: 0, "aria-label": `${written}: ${title}` });
      group.append(createSvg("title", {}, title));
      group.addEventListener("keydown", event => {
        if (event.key === "Enter" || event.key === " ") event.preventDefault(), openStation(id);
      });
    });
  svg.querySelector("g").append(createSvg("g", { class: "flow", "aria-hidden": "true" }), ...svg.querySelectorAll(".block, .positions, .end")); // pieces flow below names
  byId("thumb").append(createSvg("svg", { viewBox: svg.getAttribute("viewBox"), "aria-hidden": "true" }, createSvg("use", { href: "#figure" })));
  byId("training-stations").append(...PANELS.filter(panel => !PLACES[panel.id]).map(({ id, title }) => createButton(() => openStation(id), { "data-panel": id }, title)));
}

/** Writes pieces below or above an end of the figure, in lines; those that find no room become "…". */
function writePieces(name, pieces) {
  const group = byId("figure").querySelector(`#model-${name}`), label = group.querySelector("rect, text"), lines = [""];
  for (const piece of pieces) if (`${lines.at(-1)}${piece}`.length > MAP.letters) lines.push(piece);
    else lines[lines.length - 1] += ` ${piece}`;
  const shown = lines.length > MAP.lines ? [...lines.slice(0, MAP.lines - 1), `${lines[MAP.lines - 1]} …`] : lines, isTop = name === "search";
  const x = group.querySelector("text").getAttribute("x"), y = Number(label.getAttribute("y"));
  for (const old of byId("figure").querySelectorAll(`.pieces.${name}`)) old.remove();
  group.after(...shown.map((line, i) => createSvg("text", { x, y: isTop ? y + 14 - MAP.line * (shown.length - i) : y + MAP.line * (i + 1), "text-anchor": "middle", "font-size": 17, class: `pieces ${name}` }, visible(line))));
}

const BLOCKS = { self: "self-attention", cross: "cross-attention", ff: "feed-forward" };

/** Marks what a name that is off stands for in the figure: "partly" if some layer computes it. */
function markOff(name) {
  const [stack, layer, part, what] = name.split("."), off = new Set(state.off);
  const mark = (selector, kind = "off") => byId("figure").querySelector(`#model-${selector}`)?.classList.add(kind);
  if (name === "mask") mark("decoder-self-attention text");
  else if (layer === "position") mark(`${stack === "source" ? "input" : "output"}-positions`);
  else if (what === "residual") mark(`${stack}-${BLOCKS[part]}-residual`);
  else for (const one of part ? [part] : PARTS[stack]) mark(`${stack}-${BLOCKS[one]}`, numbers(DEPTHS[stack]).every(n => isSilent(`${stack}.${n}.${one}`, off)) ? "off" : "partly");
}

/** Shows where the reader is, what is off, and the pieces of the sentence at both ends. */
function showMap() {
  const now = panelNow();
  for (const one of findAll(".place, #training-stations button")) {
    one.classList.toggle("now", one.dataset.panel === now.id);
    if (one.hasAttribute("tabindex") || one.nodeName === "BUTTON") setOnce(one, "aria-current", one.dataset.panel === now.id ? "step" : "false");
  }
  for (const one of findAll("#figure :is(.off, .partly)")) one.classList.remove("off", "partly");
  state.off.forEach(markOff);
  fill("here-name", now.title);
  byId("station-back").disabled = now === PANELS[0];
  byId("station-next").disabled = now === PANELS.at(-1);
  const read = piecesOf("source"), written = piecesOf("target"), key = `${read}|${written}`;
  if (showMap.key === key) return;
  showMap.key = key;
  writePieces("inputs", read);
  writePieces("outputs", written);
  writePieces("search", read.length ? [...written.slice(1), "</s>"] : []);
  flow();
}

/** Sends the pieces through the figure once, behind its blocks: the source, a dot for each piece, all at once to the decoder, then, piece by piece, what it writes upwards. */
function flow() {
  const svg = byId("figure"), layer = svg.querySelector(".flow"), at = (name, what = "text") => ["x", "y", "height"].map(size => Number(svg.querySelector(`#model-${name} > ${what}`).getAttribute(size)));
  layer.replaceChildren();
  if (prefersStill.matches || !svg.animate) return;
  const [x] = at("inputs"), [, top, height] = at("encoder", "rect"), [right, low] = at("outputs"), [, high] = at("output-probabilities"), memory = svg.querySelector("#model-memory path").getAttribute("d");
  const send = (pieces, path, delay, duration) => {
    const alone = pieces.length === 1, width = alone ? 10 * pieces[0].length + 14 : 14, pill = createSvg("g", {}, ...pieces.map((_, i) =>
      createSvg("rect", { x: -width / 2 + 16 * (i - (pieces.length - 1) / 2), y: alone ? -14 : -7, width, height: alone ? 26 : 14, rx: 13 })));
    if (alone) pill.append(createSvg("text", { y: 4, "text-anchor": "middle", "font-size": 17 }, visible(pieces[0])));
    layer.append(pill);
    Object.assign(pill.style, { offsetPath: `path("${path}")`, offsetRotate: "0deg" });
    pill.animate([{ offsetDistance: "0%", opacity: 0 }, { opacity: 1, offset: 0.1 }, { opacity: 1, offset: 0.85 }, { offsetDistance: "100%", opacity: 0 }], { delay, duration, fill: "both", easing: "ease-in-out" }).finished.then(() => pill.remove(), () => {});
  };
  const source = piecesOf("source").slice(0, 12), target = piecesOf("target").slice(1, 12);
  send(source, `M${x} ${top + height - 14}L${x} ${memory.slice(1).split(/[LQ]/)[0].split(" ")[1]}${memory.replace("M", "L")}`, 0, 2600);
  target.forEach((piece, i) => send([piece], `M${right} ${low - 28}L${right} ${high + 22}`, 2000 + 240 * i, 1800));
}
