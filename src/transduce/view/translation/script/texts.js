// Sets the page's delays, limits and thresholds, and splits a text into words.

/** What the page knows of its server. */
const SERVER = readJson("server");
const AUTO = "auto"; // the source that stands for a language to be detected
const WAIT = 250; // milliseconds after a key
const ENDS = /[.!?…。！？\n]$/;
const CACHED = 400; // lines
const SIZES = [1.1, 1.4, 1.8, 0.9]; // of both texts, in rem; after the last comes the first
const LINKED = 0.3; // the least weight of a link that is shown
const PIECES = 3, LETTERS = 2; // a word of this many pieces, with fewer letters each, was not learned as a word
const LONG = 8, SHORT = 0.5; // a sentence of this many words, and the part of its length that is suspicious
const SURE = 0.8, UNSURE = 0.5; // a word's probability: three levels

/** Returns the words of a text as the server counts them: what spaces separate. */
const wordsOf = text => text.split(/\s+/u).filter(Boolean);
