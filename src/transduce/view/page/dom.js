// Creates elements, reads data blocks, inflates zlib, saves files and PNGs, sets the link, and toggles the theme.

/** Returns the element of an id. */
const byId = id => document.getElementById(id);

/** Returns a new element with properties and children; strings become text, never markup. */
function create(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** Sets an attribute of an element, unless it has this value already; that saves a layout. */
function setOnce(element, name, value) {
  if (element.getAttribute(name) !== `${value}`) element.setAttribute(name, value);
}

/** Returns the value of a JSON data block. */
const readJson = id => JSON.parse(byId(id).textContent);

/** Returns the bytes of a base64 text. */
const readBase64 = text => Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), c => c.charCodeAt(0));

/** Returns the inflated bytes of a zlib stream. */
async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Returns a text with control, format and lone surrogate characters as codes such as [U+202E]. */
function visible(text) {
  const code = c => `[U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`;
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\uFFFE\uFFFF]/gu, code);
}

/** Returns an opaque SVG picture as PNG, `scale` times as large or as large as browsers can; all colour values are odd, to compress better. */
async function buildPng(svg, scale) {
  const image = create("img", { src: URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" })) });
  await image.decode();
  const by = Math.min(scale, 32767 / Math.max(image.width, image.height)); // Firefox draws no longer side
  const width = image.width * by, height = image.height * by, canvas = create("canvas", { width, height });
  const pen = canvas.getContext("2d", { alpha: false });
  pen.drawImage(image, 0, 0, width, height);
  URL.revokeObjectURL(image.src);
  const pixels = pen.getImageData(0, 0, width, height);
  pixels.data.forEach((_, i, data) => (data[i] |= 1));
  pen.putImageData(pixels, 0, 0);
  return new Promise(done => canvas.toBlob(done));
}

/** Puts a link into the address; later, if the browser has had too many (WebKit takes 100 in ten seconds). */
function putLink(link) {
  clearTimeout(putLink.timer);
  try {
    history.replaceState(null, "", link);
  } catch {
    putLink.timer = setTimeout(putLink, 1e4, link);
  }
}

/** Saves content as a file of the user. */
function download(name, content, type) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  create("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

const prefersDark = matchMedia("(prefers-color-scheme: dark)");

/** Changes between light and dark, from what is visible now. */
function toggleTheme() {
  const { dataset } = document.documentElement;
  dataset.theme = (dataset.theme || (prefersDark.matches ? "dark" : "light")) === "dark" ? "light" : "dark";
}
