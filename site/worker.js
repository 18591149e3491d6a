/**
 * The worker's end: starts Python once and then answers requests. The only file that knows Pyodide.
 */

import { DownloadError, download } from "./download.js";
import { answer, failed, fault, progress, ready } from "./protocol.js";

/** @typedef {import("./protocol.js").Boot} Boot */
/** @typedef {import("./protocol.js").ToWorker} ToWorker */
/** @typedef {import("./protocol.js").FromWorker} FromWorker */

/** Python cannot start here at all. Its message is a sentence for the reader. */
class StartError extends Error {}

/** @type {(text: string) => string} */
let handle;

const post = (/** @type {FromWorker} */ message) => self.postMessage(message);

self.onmessage = async (/** @type {MessageEvent<ToWorker>} */ { data }) => {
  if (data.kind === "boot") {
    try {
      handle = await startPython(data);
      post(ready());
    } catch (error) {
      post(failed(sentenceOf(error)));
    }
  } else {
    try {
      post(answer(data.id, handle(data.request)));
    } catch (error) {
      post(fault(data.id, lastLine(error)));
    }
  }
};

/**
 * @param {Boot} boot
 * @returns {Promise<(text: string) => string>}  the one door of the Python package
 */
async function startPython({ base, files, packages }) {
  if (typeof WebAssembly !== "object") {
    throw new StartError(
      "This browser does not run WebAssembly here, which Python needs. Lockdown Mode and enhanced security modes switch it off; allow this site in the browser's settings, then retry.",
    );
  }
  const arrived = await download(base, files, (received, total) =>
    post(progress("Downloading Python", received, total)),
  );
  serveFromMemory(base, arrived);
  post(progress("Starting Python", 0, 0));
  const { loadPyodide } = await importFromMemory(arrived, "pyodide.mjs");
  const { default: createPyodideModule } = await importFromMemory(arrived, "pyodide.asm.mjs");
  const pyodide = await loadPyodide({
    indexURL: base,
    packageBaseUrl: base,
    lockFileContents: new TextDecoder().decode(bytesOf(arrived, "pyodide-lock.json")),
    createPyodideModule,
  });
  post(progress("Loading NumPy and the lesson's package", 0, 0));
  await pyodide.loadPackage(packages, { messageCallback: () => {} });
  for (const name of packages) {
    // A package that cannot be loaded does not reject the promise above.
    if (!pyodide.loadedPackages[name])
      throw new Error(`Python started, but its package ${name} did not load.`);
  }
  return pyodide.runPython("from ferro_bench import Session\nSession().handle");
}

/**
 * Pyodide fetches its parts itself; hand it the bytes that are here and verified already, under the types it expects.
 * A server that sends `.wasm` as something else would otherwise leave it waiting for ever.
 *
 * @param {string} base
 * @param {Map<string, Uint8Array<ArrayBuffer>>} arrived
 */
function serveFromMemory(base, arrived) {
  const fetchFromNetwork = self.fetch;
  self.fetch = async (resource, options) => {
    const address = resource instanceof Request ? resource.url : String(resource);
    const bytes = address.startsWith(base) ? arrived.get(address.slice(base.length)) : undefined;
    if (!bytes) return fetchFromNetwork.call(self, resource, options);
    const type = address.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    return new Response(bytes, { headers: { "content-type": type } });
  };
}

/**
 * @param {Map<string, Uint8Array<ArrayBuffer>>} arrived
 * @param {string} name
 */
async function importFromMemory(arrived, name) {
  const address = URL.createObjectURL(new Blob([bytesOf(arrived, name)], { type: "text/javascript" }));
  try {
    return await import(address);
  } finally {
    URL.revokeObjectURL(address);
  }
}

/**
 * @param {Map<string, Uint8Array<ArrayBuffer>>} arrived
 * @param {string} name
 */
function bytesOf(arrived, name) {
  const bytes = arrived.get(name);
  if (!bytes) throw new Error(`The build lists no file ${name} for the runtime.`);
  return bytes;
}

/** @param {unknown} error */
function sentenceOf(error) {
  return error instanceof StartError || error instanceof DownloadError
    ? error.message
    : `Python could not start: ${lastLine(error)}`;
}

/**
 * Of a Python error the last line says what happened; the rest is the way there.
 * @param {unknown} error
 */
function lastLine(error) {
  console.error(error);
  const text = error instanceof Error ? error.message : String(error);
  return text.trim().split("\n").at(-1) ?? "";
}
