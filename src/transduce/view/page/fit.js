// Makes the text box as high as its text, also where style sheets cannot (Safari before 26.2).

/** Gives the text box the height of its text. */
function fitText() {
  const box = byId("text");
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
}
