// The film of one minute: captions of a script, and for each a picture of what the model computed.

const FILM = { seconds: 60, perSecond: 15 };
const film = { time: 0, isPlaying: false, lines: [], data: null, last: 0 };

/** Returns the lines that this page can show, with begin and end: reading time and equal rest. */
function timeLines() {
  const { reading, experiments, stages } = header, has = { "": true, turn: reading.turns > 0, positions: experiments.positions.text, stages: stages.length > 1 };
  const lines = header.film.filter(line => has[line.needs]).map(line => ({ ...line, text: gettext(line.text) })), characters = lines.reduce((sum, line) => sum + line.text.length, 0);
  const perSecond = Math.max(FILM.perSecond, characters / FILM.seconds), read = line => line.text.length / perSecond, rest = (FILM.seconds - characters / perSecond) / lines.length;
  let now = 0;
  return lines.map(line => ({ ...line, begin: now, end: (now += read(line) + rest) }));
}

/** Computes what the pictures show: the sentence, its stages, and what changes without some parts. */
async function computeFilm() {
  const last = header.stages.length - 1, base = { ...firstState(), text: header.reading.text }, always = () => true;
  const search = parts => searchNow({ ...base, ...parts }, always);
  const found = await search({}), { model, source, output } = found, trace = await runSliced(traceModel(model, source, output, new Set()), always), stages = [], { positions } = header.experiments;
  for (let stage = 0; stage < last; stage++) stages.push(textOf(await search({ stage })));
  const swapped = []; // texts of the same words in another order, each with its translation, and with that without positions
  for (const text of [positions.text || header.reading.text, positions.twin].filter(Boolean)) swapped.push([text, textOf(await search({ text })), textOf(await search({ text, off: positions.off }))]);
  const sourcePieces = source.slice(0, -1).map(id => readablePiece(VOCABULARIES.source, id)), targetPieces = output.slice(0, -1).map(writtenPiece);
  const { layer } = header.reading, weightsOf = head => trace[`decoder.${layer}.cross.weights.${head}`], peak = head => largest(weightsOf(head));
  const strongest = numbers(header.sizes.heads).reduce((a, b) => (peak(b) > peak(a) ? b : a));
  const row = weightsOf(strongest).findIndex(one => one.includes(peak(strongest))), read = [...sourcePieces, "</s>"][weightsOf(strongest)[row].indexOf(peak(strongest))], wrote = [...targetPieces, "</s>"][row];
  return {
    read, wrote, trace, output, sourcePieces, targetPieces, sourceWords: wordsOf(sourcePieces), targetWords: wordsOf(targetPieces), text: textOf(found), stages: [...stages, textOf(found)], taken: `${layer}.${strongest}`,
    without: textOf(await search({ off: [`decoder.${layer}.cross.${strongest}`] })),
    swapped,
  };
}

/** Shows the film as it is at its time. */
function showFilm() {
  const line = film.lines.find(one => film.time < one.end) ?? film.lines.at(-1), progress = prefersStill.matches ? 1 : clamp((film.time - line.begin) / (0.75 * (line.end - line.begin)), 0, 1);
  const children = SCENES[line.picture](film.data, progress).filter(Boolean), isDrawing = DRAWINGS.includes(line.picture);
  if (byId("film-caption").textContent !== line.text) fill("film-caption", line.text);
  fill("film-note", line.picture === "table" ? gettext("The paper's Table 2, not this model") : isDrawing ? gettext("A drawing, not this model") : gettext("Computed by the model in this page"));
  const svg = createSvg("svg", { viewBox: `0 0 ${SCENE.width} ${SCENE.height}`, role: "img", "aria-label": line.text, "data-picture": line.picture }, ...children);
  fill("film-picture", svg);
  byId("film-scrub").value = film.time;
  byId("film-scrub").setAttribute("aria-valuetext", gettext("{0} of {1} seconds", Math.round(film.time), FILM.seconds));
  fill("film-time", `${Math.floor(film.time)} / ${FILM.seconds} s`);
  byId("film-tour").hidden = film.time < FILM.seconds;
  fill("film-play", film.isPlaying ? gettext("Pause") : gettext("Play"));
}

/** Goes on while the film plays; a frame that comes late counts a quarter of a second at most. */
function nextFrame(now) {
  if (!film.isPlaying) return;
  film.time = Math.min(FILM.seconds, film.time + Math.min(0.25, (now - film.last) / 1000));
  film.last = now;
  if (film.time >= FILM.seconds) film.isPlaying = false;
  showFilm();
  requestAnimationFrame(nextFrame);
}

/** Plays from where the film is, or from its beginning when it has ended; or pauses. */
function playOrPause() {
  film.isPlaying = !film.isPlaying;
  if (film.isPlaying && film.time >= FILM.seconds) film.time = 0;
  showFilm();
  if (film.isPlaying) requestAnimationFrame(now => nextFrame((film.last = now)));
}

/** Opens the film and plays it, when its pictures are computed. */
async function openFilm() {
  byId("film").showModal();
  document.querySelector(".flow").replaceChildren();
  Object.assign(SCENE, innerWidth < 700 ? NARROW : WIDE);
  fill("film-caption", gettext("The model computes its pictures …"));
  byId("film-play").disabled = byId("film-scrub").disabled = true;
  film.lines = timeLines();
  film.data ??= await computeFilm();
  byId("film-play").disabled = byId("film-scrub").disabled = false;
  film.time = 0;
  film.isPlaying = false;
  if (byId("film").open) playOrPause();
  byId("film-play").focus();
}

/** Listens to the controls of the film. */
function listenToFilm() {
  on("film-scrub", "input", () => {
    film.time = byId("film-scrub").valueAsNumber;
    showFilm();
  });
  on("film", "close", () => (film.isPlaying = false));
}
