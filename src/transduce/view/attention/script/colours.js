// The colours of the paper's figures (d3 category10), and Okabe and Ito's for the colour-blind.
const PAPER = ["1f77b4", "ff7f0e", "2ca02c", "d62728", "9467bd", "8c564b", "e377c2", "7f7f7f", "bcbd22", "17becf"];
const MEAN = "#5e6ad2";
const OKABE = ["0072b2", "e69f00", "009e73", "d55e00", "cc79a7", "56b4e9", "f0e442", "000000"];

/** Returns red, green and blue, from 0 to 255, of a colour such as "#1f77b4". */
const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

const toHex = (rgb) => "#" + rgb.map((one) => Math.round(one).toString(16).padStart(2, "0")).join("");

/** Returns the relative luminance of a colour as WCAG defines it. */
function luminance(hex) {
  const linear = channels(hex).map((one) => (one / 255 <= 0.04045 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

/** Returns the contrast of two colours, from 1 to 21. */
function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

const mix = (one, other, share) => toHex(channels(one).map((c, i) => c + (channels(other)[i] - c) * share));

/** Returns the colour that is nearest to a head's and has a contrast of 3 with the page. */
function readable(hex, paper) {
  const end = luminance(paper) > 0.5 ? "#000000" : "#ffffff";
  let share = 0;
  while (contrast(mix(hex, end, share), paper) < 3) share += 0.02;
  return mix(hex, end, share);
}

/** Returns the colour of a head; 0 is the average of heads. */
function headColour(number, palette) {
  if (!number) return MEAN;
  const list = palette === 2 ? OKABE : PAPER;
  return "#" + list[(number - 1) % list.length];
}

/** Returns a colour of the paper's figures for a head that is off: lighter and less saturated. */
function offColour(hex) {
  const [r, g, b] = channels(hex).map((one) => one / 255);
  const high = Math.max(r, g, b), low = Math.min(r, g, b), light = (high + low) / 2, range = high - low;
  const saturation = range ? range / (1 - Math.abs(2 * light - 1)) : 0;
  const hue = !range ? 0 : high === r ? ((g - b) / range + 6) % 6 : high === g ? (b - r) / range + 2 : (r - g) / range + 4;
  const shift = 0.6 * (1 - light), s = Math.max(0, saturation - shift), l = light + shift;
  const channel = (n) => {
    const k = (n + hue * 2) % 12;
    return 255 * (l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
  };
  return toHex([channel(0), channel(8), channel(4)]);
}

/** Returns black or white, whichever is read better on a colour. */
const inkOn = (hex) => (contrast(hex, "#ffffff") >= 4.5 ? "#ffffff" : "#000000");

/** Returns the page's background as it is now. */
const paperColour = () => getComputedStyle(document.documentElement).getPropertyValue("--paper").trim();
