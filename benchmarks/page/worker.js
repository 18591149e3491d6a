/** Loads the built site's runtime, then times the gradient in Python and in JavaScript. Answers with plain data. */

import { gradient } from "./by_hand.js";

const SAMPLE = 30; // ms; a sample is as many calls as take about so long
const ROUNDS = 9;

self.onmessage = async ({ data }) => {
  try {
    self.postMessage({ results: await run(data) });
  } catch (error) {
    self.postMessage({ error: String(error) });
  }
};

/** @param {{ runtime: string, sources: Record<string, string>, steps: number[], at: number }} task */
async function run({ runtime, sources, steps, at }) {
  const base = new URL(runtime, self.location.href).href;
  const { loadPyodide } = await import(`${base}pyodide.mjs`);
  const lockFileContents = await (await fetch(`${base}pyodide-lock.json`)).text();
  const pyodide = await loadPyodide({ indexURL: base, packageBaseUrl: base, lockFileContents });
  await pyodide.loadPackage(["numpy", "ferro-bench"], { messageCallback: () => {} });
  pyodide.FS.mkdir("benchmarks");
  for (const [name, text] of Object.entries(sources)) pyodide.FS.writeFile(`benchmarks/${name}`, text);
  const python = pyodide.runPython("from benchmarks import in_page\nin_page");
  const results = {
    python: pyodide.runPython("import sys; sys.version.split()[0]"),
    compiling: JSON.parse(python.compiling()), // before all else, so that the first one is cold
    gradients: steps.map((count) => compare(python, count, at)),
    fit: JSON.parse(python.fit()),
  };
  // The heap only grows, so its size is its peak.
  return { ...results, heap: pyodide._module.HEAPU8.length };
}

/** Several samples of each way in turn, so that what disturbs one disturbs the other. */
function compare(python, steps, at) {
  const { forces, measured, gradients } = JSON.parse(python.prepare(steps));
  const data = [Float64Array.from(forces), Float64Array.from(measured)];
  const room = [new Float64Array(steps), new Float64Array(steps)];
  const js = () => gradient(at, ...data, ...room);
  const rounds = Math.ceil(2000 / steps);
  for (let i = 0; i < 20 * rounds; i++) js(); // until it is compiled
  gradients["by hand in JavaScript"] = js();
  const times = Object.fromEntries(Object.keys(gradients).map((name) => [name, []]));
  for (let i = 0; i < ROUNDS; i++) {
    for (const [name, seconds] of Object.entries(JSON.parse(python.sample(SAMPLE / 1000)))) {
      times[name].push(1000 * seconds);
    }
    times["by hand in JavaScript"].push(sample(js));
  }
  return { steps, gradients, times };
}

/** @param {() => number} way  @returns {number}  ms a call */
function sample(way) {
  const start = performance.now();
  let calls = 0;
  for (let now = start; now - start < SAMPLE; now = performance.now()) {
    for (let i = 0; i < 20; i++) way();
    calls += 20;
  }
  return (performance.now() - start) / calls;
}
