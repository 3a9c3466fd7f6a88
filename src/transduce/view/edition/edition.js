// Marks the current section in the contents, and moves between sections and code lines by key.

const sections = [...document.querySelectorAll("main > section[id]")].filter(one => byId(one.id).querySelector("h2, h3"));
const entries = new Map([...document.querySelectorAll("nav > ol > li > a")].map(one => [one.hash.slice(1), one]));
let current = null;

/** Returns the last section that begins above the upper third of the window, if one does. */
const findCurrent = () => sections.findLast(one => one.getBoundingClientRect().top < innerHeight / 3);

/** Marks the current section in the contents, and shows its name in the bar. */
function markCurrent() {
  const section = findCurrent() ?? sections[0];
  if (section === current) return;
  entries.get(current?.id)?.removeAttribute("aria-current");
  const entry = entries.get(section.id);
  setOnce(entry, "aria-current", "location");
  byId("here").textContent = entry.textContent.trim();
  const list = document.querySelector("nav"), { top, bottom } = entry.getBoundingClientRect();
  if (top < list.offsetTop || bottom > innerHeight - 80) list.scrollTop += top - innerHeight / 3;
  current = section;
}

/** Opens or closes the contents where they do not stand at the side. */
function showContents(open) {
  setOnce(byId("contents"), "aria-expanded", open);
  document.body.classList.toggle("open", open);
}

/** Does what a key stands for: goes to a section or line, changes the theme, closes the contents. */
function move(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input")) return;
  const line = event.target.closest(".code summary");
  if (event.key === "n" || event.key === "p") {
    const next = sections[sections.indexOf(findCurrent()) + (event.key === "n" ? 1 : -1)];
    if (next) location.hash = next.id;
  } else if (event.key === "d") toggleTheme();
  else if (event.key === "Escape") showContents(false);
  else if (line && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    const lines = [...document.querySelectorAll(".code summary")];
    lines[lines.indexOf(line) + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
    event.preventDefault();
  }
}

/** Lets the keyboard reach what can be scrolled, unless it holds a link or a line that opens. */
function reachScrolled() {
  for (const one of document.querySelectorAll(".code, pre, .equation, .row > div:first-child"))
    if (one.scrollWidth > one.clientWidth && !one.querySelector("summary, a")) one.tabIndex = 0;
}

for (const code of document.querySelectorAll(".code"))
  [...code.querySelectorAll("summary")].slice(1).forEach(one => (one.tabIndex = -1));
localise("script, .row, nav, figure, #tiny");
byId("theme").onclick = toggleTheme;
byId("contents").onclick = () => showContents(!document.body.classList.contains("open"));
document.querySelector("nav").onclick = event => event.target.closest("a") && showContents(false);
addEventListener("keydown", move);
addEventListener("resize", reachScrolled);
document.addEventListener("toggle", reachScrolled, true);
document.addEventListener("click", event => {
  const { to } = event.target.dataset;
  if (to) event.preventDefault(), (location.hash = to);
});
addEventListener("scroll", () => requestAnimationFrame(markCurrent), { passive: true });
reachScrolled();
markCurrent();
