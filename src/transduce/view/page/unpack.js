// Unpacks the page's compressed data blocks and script, and adds them to the document.

/** Adds a script element with a text; the browser runs it only if the policy names its hash. */
const addScript = ([type, id, text]) => document.body.append(Object.assign(document.createElement("script"), { type, id, text }));

/** Adds the data blocks and the script that the packed block holds. */
async function unpack() {
  const text = document.getElementById("packed").textContent, filled = readSevenBits(text.slice(0, -1));
  const bytes = filled.subarray(0, filled.length - text.at(-1));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  JSON.parse(await new Response(stream).text()).forEach(addScript);
}

unpack().catch(() => document.body.prepend("This browser cannot unpack: use --plain."));
