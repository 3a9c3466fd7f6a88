// Translates the page's own words: the block "texts" has those of each language by their English.
const { language: FIXED, texts: TEXTS } = readJson("texts");
const LOCALE = FIXED || Object.keys(TEXTS).find(code => navigator.language.split("-")[0] === code) || "en";
const POINT = (1.5).toLocaleString(LOCALE)[1];

/** Returns a text of the page in the reader's language, with values in the places {0}, {1}. */
const gettext = (text, ...values) => (TEXTS[LOCALE]?.[text] || text).replace(/\{(\d)\}/g, (_, n) => values[n]);

/** Returns a whole number as the reader's language groups its digits. */
const grouped = number => number.toLocaleString(LOCALE);

/** Puts all texts of the markup into the reader's language, but not in elements of a selector. */
function localise(others = "script") {
  const locale = new Intl.Locale(LOCALE), { direction } = locale.getTextInfo?.() ?? locale.textInfo ?? {};
  Object.assign(document.documentElement, { lang: LOCALE, dir: direction ?? "" });
  if (!TEXTS[LOCALE]) return;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), tidy = text => text.replace(/\s+/g, " ").trim();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = tidy(node.data);
    if (TEXTS[LOCALE][text] && !node.parentNode.closest(others)) node.data = node.data.replace(node.data.trim(), () => gettext(text));
  }
  for (const name of ["title", "aria-label", "placeholder"])
    for (const one of document.querySelectorAll(`[${name}]`)) one.setAttribute(name, gettext(tidy(one.getAttribute(name))));
  document.title = gettext(document.title);
}
