/** Returns the bytes of a text in which each character holds the next seven bits. */
function readSevenBits(text) {
  const bytes = new Uint8Array(Math.floor((text.length * 7) / 8));
  let [bits, length] = [0, 0];
  for (let i = 0; i < text.length; i++) {
    bits = (bits << 7) | (text.charCodeAt(i) & 127);
    if (i % 8) bytes[length++] = bits >> (7 - (i % 8));
  }
  return bytes;
}
