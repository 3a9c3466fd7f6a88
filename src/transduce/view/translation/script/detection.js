/** Returns whether the language of the text is to be detected. */
const isDetecting = () => byId("source").value === AUTO;

/** Detects the source language among those with the chosen target, unless there is no text. */
async function detect(text, signal) {
  if (!text.trim()) return null;
  return (await post("detect", { q: text, target: byId("target").value }, signal))[0];
}

/** Keeps and shows a detected language, or that none is detected. */
function showDetected(found) {
  const name = found && nameOf(found.language);
  state.detected = found?.language || null;
  const option = byId("source").querySelector(`[value=${AUTO}]`);
  if (option) option.textContent = found ? gettext("detected: {0} ({1} %)", name, Math.round(found.confidence)) : gettext("detect language");
  showLanguages();
}
