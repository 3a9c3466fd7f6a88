/** What the page knows of its server. */
const SERVER = readJson("server");
const AUTO = "auto"; // the source that stands for a language to be detected
const WAIT = 250; // milliseconds after a key
const ENDS = /[.!?…。！？\n]$/;
const CACHED = 400; // lines
const SIZES = [1.1, 1.4, 1.8, 0.9]; // of both texts, in rem; after the last comes the first
const SURE = 0.8, UNSURE = 0.5; // a word's probability: three levels

/** Returns the words of a text as the server counts them: what spaces separate. */
const wordsOf = text => text.split(/\s+/u).filter(Boolean);
