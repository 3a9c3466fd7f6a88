// Starts the translation page, and connects its fields, buttons and keys to their actions.

const on = (id, name, act) => byId(id).addEventListener(name, act);
const onWord = act => ({ target }) => { const word = target.closest(".word"); if (word) act(placeOf(word)); };

on("form", "submit", event => { event.preventDefault(); translate(); });
on("text", "input", event => (event.inputType === "insertFromPaste" ? (showLeft(), translate()) : translateSoon()));
on("text", "keydown", event => {
  if (event.isComposing) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); translate(); }
  if (event.key === "Escape") clear();
});
addEventListener("resize", fitText);
addEventListener("hashchange", openLink);
document.addEventListener("selectionchange", markAtCursor);
on("output", "mouseover", onWord(at => mark(at, 1)));
on("output", "mouseleave", unmark);
on("output", "click", onWord(openChoices));
on("output", "keydown", onOutputKey);
on("output", "blur", unmark);
on("source", "change", () => { showTargets(); translate(); });
on("target", "change", () => { showTargets(); translate(); });
on("keep", "change", changeKeeping);
on("sure", "change", ({ target }) => byId("output").classList.toggle("sure", target.checked));
for (const [id, act] of Object.entries({ swap, clear, share, copy, theme: toggleTheme, size: changeSize })) { on(id, "click", act); byId(id).hidden = false; }
byId("send").hidden = true;
byId("sure-label").hidden = byId("keep-label").hidden = false;
byId("key-label").hidden = !SERVER.needsKey;
localiseAll();
showTargets();
openLink();
