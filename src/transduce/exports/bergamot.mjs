// Translates lines by Bergamot's WebAssembly outside of a browser, and prints a JSON list of texts:
// node bergamot.mjs REGISTRY.json BEAM < LINES. Without arguments it prints the package's version.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { runInThisContext } from "node:vm";

const require = createRequire(join(process.cwd(), "/")), name = "@browsermt/bergamot-translator";
let about, reason;
process.on("uncaughtException", error => {
  console.error(reason ?? error.message);
  process.exit(1);
});
try {
  about = require.resolve(`${name}/package.json`);
} catch {
  throw new Error(`no node_modules/${name} in or above ${process.cwd()}`);
}
const [registry, beam] = process.argv.slice(2), worker = join(dirname(about), "worker");
if (registry === undefined) {
  process.stdout.write(JSON.parse(readFileSync(about, "utf8")).version);
  process.exit();
}

const bergamot = await loadEngine();
const [{ config, ...files }] = Object.values(JSON.parse(readFileSync(registry, "utf8")));
const settings = {
  "beam-size": Number(beam), normalize: 0, "word-penalty": 0, "max-length-break": 256, "max-length-factor": 64,
  "mini-batch-words": 16384, workspace: 128, "skip-cost": true, "cpu-threads": 0, quiet: true, "quiet-translation": true,
  alignment: "soft", "ssplit-mode": "sentence", ...config,
};
const vocabularies = new bergamot.AlignedMemoryList();
for (const part of ["vocab", "srcvocab", "trgvocab"]) if (files[part]) vocabularies.push_back(read(files[part].name, 64));
const yaml = Object.entries(settings).map(([key, value]) => `${key}: ${value}\n`).join("");
const model = new bergamot.TranslationModel(yaml, read(files.model.name, 256), read(files.lex.name, 64), vocabularies, null);
const service = new bergamot.BlockingService({ cacheSize: 0 }), texts = [];
for (const line of readFileSync(0, "utf8").split("\n")) {
  const lines = new bergamot.VectorString(), options = new bergamot.VectorResponseOptions();
  lines.push_back(line);
  options.push_back({ qualityScores: false, alignment: false, html: false });
  const found = service.translate(model, lines, options);
  texts.push(found.get(0).getTranslatedText());
  [lines, options, found].forEach(one => one.delete());
}
process.stdout.write(JSON.stringify(texts));

/** Returns a file's bytes in the engine's memory, at a multiple of `alignment`. */
function read(file, alignment) {
  const data = readFileSync(join(dirname(registry), file)), memory = new bergamot.AlignedMemory(data.length, alignment);
  memory.getByteArrayView().set(data);
  return memory;
}

/** Returns the engine; its own fallback functions compute 8-bit products. */
async function loadEngine() {
  const binary = readFileSync(join(worker, "bergamot-translator-worker.wasm"));
  const operations = ["prepare_a", "prepare_b", "prepare_b_from_transposed", "prepare_b_from_quantized_transposed", "prepare_bias", "multiply_and_add_bias", "select_columns_of_b"];
  const products = Object.fromEntries(operations.map(operation => {
    const fallback = `int8_${operation}`.replace(/_(.)/g, (_, letter) => letter.toUpperCase()) + "Fallback";
    return [`int8_${operation}`, (...values) => globalThis.Module.asm[fallback](...values)];
  }));
  Object.assign(globalThis, { require, __dirname: worker });
  return new Promise((resolve, reject) => {
    globalThis.Module = {
      print() {},
      printErr: text => (reason ??= /Error: (.*)/.exec(text)?.[1]),
      onAbort: reject,
      instantiateWasm(imports, accept) {
        WebAssembly.instantiate(binary, { ...imports, wasm_gemm: products }).then(({ instance }) => accept(instance), reject);
        return {};
      },
      onRuntimeInitialized: () => resolve(globalThis.Module),
    };
    runInThisContext(readFileSync(join(worker, "bergamot-translator-worker.js"), "utf8"));
  });
}
