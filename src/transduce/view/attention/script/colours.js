// Chooses each head's colour, and adjusts it until its contrast with the page is high enough.

// The colours of the paper's figures (d3 category10) with those of heads that are off, and Okabe
// and Ito's for the colour-blind.
const PAPER = "1f77b4 ff7f0e 2ca02c d62728 9467bd 8c564b e377c2 7f7f7f bcbd22 17becf".split(" ");
const PAPER_OFF = "aec7d8 f1cdac b5cfb5 e0b8b8 d4cdd9 c4c4c4 edcfe4 cccccc".split(" ");
const OKABE = "0072b2 e69f00 009e73 d55e00 cc79a7 56b4e9 f0e442 000000".split(" ");
const MEAN = "#5e6ad2"; // the average of heads
const WHITE = "#ffffff";

/** Returns red, green and blue, from 0 to 255, of a colour such as "#1f77b4". */
const channels = hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));

/** Returns the relative luminance of a colour as WCAG defines it. */
function luminance(hex) {
  const [r, g, b] = channels(hex).map(one => (one <= 10 ? one / 3294 : ((one / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Returns the contrast of two colours, from 1 to 21. */
function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** Returns a colour that lies between two others. */
function mix(one, other, share) {
  const ends = channels(other), mixed = channels(one).map((c, i) => Math.round(c + (ends[i] - c) * share));
  return "#" + mixed.map(c => c.toString(16).padStart(2, "0")).join("");
}

/** Returns whether a background is dark. */
const isDark = paper => luminance(paper) < 0.5;

/** Returns the colour nearest to a head's that has a contrast of 3 with a light page, or of 6 with a dark one. */
function readable(hex, paper) {
  const [end, least] = isDark(paper) ? [WHITE, 6] : ["#000000", 3];
  let share = 0;
  while (contrast(mix(hex, end, share), paper) < least) share += 0.02;
  return mix(hex, end, share);
}

/** Returns the colour of a head; 0 is the average of heads. */
function headColour(number, second) {
  const list = second ? OKABE : PAPER;
  return number ? "#" + list[(number - 1) % list.length] : MEAN;
}

/** Returns the lighter colour of a head that is off. */
function offColour(number, second) {
  const known = !second && PAPER_OFF[(number - 1) % PAPER.length];
  return known ? "#" + known : mix(headColour(number, second), WHITE, 0.65);
}

/** Returns black or white, whichever is read better on a colour. */
const inkOn = hex => (contrast(hex, WHITE) >= 4.5 ? WHITE : "#000000");

/** Returns the colour of the page's text as it is now. */
const inkColour = () => getComputedStyle(document.body).color;

/** Returns the page's background as it is now. */
const paperColour = () => getComputedStyle(document.documentElement).getPropertyValue("--paper").trim();

/** Returns the power of a weight that is a line's opacity: 1, or less on a dark page, where half of a colour is hardly seen. */
const opacityPower = () => (isDark(paperColour()) ? 0.6 : 1);
