/** The interface in other languages: each English text of the page, and what stands in its place. */
const INTERFACES = {
  de: {
    "Translate": "Übersetzen",
    "from": "von",
    "to": "nach",
    "key": "Schlüssel",
    "Swap languages and texts": "Sprachen und Texte tauschen",
    "light / dark": "hell / dunkel",
    "Text size": "Schriftgröße",
    "Text": "Text",
    "Text to translate": "Text, der übersetzt wird",
    "Type or paste text": "Text eingeben oder einfügen",
    "clear": "leeren",
    "Clear (Escape)": "Leeren (Escape)",
    "link": "Link",
    "Put the text into the address of this page": "Den Text in die Adresse dieser Seite schreiben",
    "translate": "übersetzen",
    "Translation": "Übersetzung",
    "Translation: arrows go from word to word, Enter shows what else could stand there":
      "Übersetzung: Pfeile gehen von Wort zu Wort, Enter zeigt, was sonst dort stehen könnte",
    "the model's own probability": "Wahrscheinlichkeit nach Angabe des Modells",
    "copy": "kopieren",
    "history": "Verlauf",
    "Keep the texts translated until this page is left": "Übersetzte Texte behalten, bis diese Seite verlassen wird",
    "Texts translated before": "Zuvor übersetzte Texte",
    "Other translations": "Andere Übersetzungen",
    "detect language": "Sprache erkennen",
    "detected: {0} ({1} %)": "erkannt: {0} ({1} %)",
    "{0} characters left": "noch {0} Zeichen",
    "The address of this page now holds the text.": "Die Adresse dieser Seite enthält jetzt den Text.",
    "Copied.": "Kopiert.",
    "Ctrl+C copies what is selected.": "Strg+C kopiert, was ausgewählt ist.",
    "The server cannot be reached.": "Der Server ist nicht erreichbar.",
    "Translations of this sentence with the same words before “{0}”, with their scores":
      "Übersetzungen dieses Satzes mit denselben Wörtern vor „{0}“, mit ihren Bewertungen",
    "look inside": "ins Modell schauen",
  },
};
const LOCALE = Object.keys(INTERFACES).find(code => navigator.language.split("-")[0] === code) || "en";

/** Returns a text of the interface in the user's language, with values in the places {0}, {1}. */
const translateInterface = (text, ...values) => (INTERFACES[LOCALE]?.[text] || text).replace(/\{(\d)\}/g, (_, n) => values[n]);

/** Returns the name of a language in the user's language. */
function nameOf(code) {
  const known = SERVER.names[code] || code;
  return LOCALE === "en" || known === code ? known : new Intl.DisplayNames([LOCALE], { type: "language" }).of(code);
}

/** Puts all texts of the markup into the user's language. */
function localise() {
  if (LOCALE === "en") return;
  document.documentElement.lang = LOCALE;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.data.trim();
    if (INTERFACES[LOCALE][text] && !node.parentNode.closest("#text, #output, script")) node.data = node.data.replace(text, translateInterface(text));
  }
  for (const name of ["title", "aria-label", "placeholder"]) {
    for (const one of document.querySelectorAll(`[${name}]`)) one.setAttribute(name, translateInterface(one.getAttribute(name).replace(/\s+/g, " ")));
  }
  for (const one of byId("source").options) if (one.value !== AUTO) one.textContent = nameOf(one.value);
  document.title = translateInterface(document.title);
}
