// Decodes a checkpoint's weights (float32, float16 or int8) from a zlib block in base64.

/** Returns the value of each float16, by its bits. */
function halfTable() {
  return Float32Array.from({ length: 65536 }, (_, bits) => {
    const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, fraction = bits & 1023;
    return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -24 * fraction);
  });
}

/** Returns the numbers of one tensor that is stored as float16, its high bytes before its low ones. */
function readHalves(bytes, count) {
  const table = (readHalves.table ??= halfTable());
  return Float32Array.from({ length: count }, (_, i) => table[(bytes[i] << 8) | bytes[count + i]]);
}

/** Returns the numbers of one tensor that is stored as a scale for each row and a byte a number. */
function readBytes(bytes, count, rows) {
  const scales = new Float32Array(bytes.slice(0, 4 * rows).buffer), width = count / rows;
  const signed = new Int8Array(bytes.buffer, bytes.byteOffset + 4 * rows, count);
  return Float32Array.from(signed, (value, i) => value * scales[Math.floor(i / width)]);
}

const READERS = {
  float32: (bytes, count) => new Float32Array(bytes.slice(0, 4 * count).buffer),
  float16: readHalves,
  int8: readBytes,
};

/** Returns the weights {data, shape} of a checkpoint by name. */
async function openWeights({ block, tensors }) {
  const bytes = await inflate(readBase64(byId(block).textContent)), found = {};
  for (const { name, shape, type, offset, size } of tensors) {
    const count = shape.reduce((a, b) => a * b, 1);
    found[name] = { data: READERS[type](bytes.subarray(offset, offset + size), count, shape[0]), shape };
  }
  return found;
}
