// Names languages in the user's language, and localises the page.

/** Returns the name of a language in the user's language. */
function nameOf(code) {
  const known = SERVER.names[code] || code;
  return LOCALE === "en" || known === code ? known : new Intl.DisplayNames([LOCALE], { type: "language" }).of(code);
}

/** Puts all texts of the markup, and the names of languages, into the user's language. */
function localiseAll() {
  localise("#text, #output, script");
  if (LOCALE === "en") return;
  for (const one of byId("source").options) if (one.value !== AUTO) one.textContent = nameOf(one.value);
}
