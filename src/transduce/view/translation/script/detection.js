// Detects the source language through the server, and shows it with its confidence.

/** Returns whether the language of the text is to be detected. */
const isDetecting = () => byId("source").value === AUTO;

/** Returns the detected source of the chosen target, or null without text; `reads` is a likelier language. */
async function detect(text, signal) {
  if (!text.trim()) return null;
  const found = (await post("detect", { q: text, target: byId("target").value }, signal))[0];
  if (found.confidence > SERVER.doubtful) return found;
  const [likeliest] = await post("detect", { q: text }, signal);
  return likeliest.confidence < SERVER.sure ? found : { ...found, reads: likeliest.language };
}

/** Keeps and shows a detected language, or that none is detected. */
function showDetected(found) {
  const name = found && nameOf(found.language);
  state.detected = found?.language || null;
  const option = byId("source").querySelector(`[value=${AUTO}]`);
  if (!option) return showLanguages();
  if (!found) option.textContent = gettext("detect language");
  else if (found.reads) option.textContent = gettext("reads like {0}, but is taken as {1}", nameOf(found.reads), name);
  else option.textContent = gettext("detected: {0} ({1} %)", name, Math.round(found.confidence));
  showLanguages();
}
