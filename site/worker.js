/**
 * The worker's end: starts Python once and then answers requests, one after the other. The only file that knows Pyodide.
 */

import { DownloadError, download } from "./download.js";
import { Output } from "./output.js";
import * as say from "./protocol.js";

/** @typedef {import("./protocol.js").Ask} Ask */
/** @typedef {import("./protocol.js").Boot} Boot */
/** @typedef {import("./protocol.js").Kit} Kit */
/** @typedef {import("./protocol.js").ToWorker} ToWorker */
/** @typedef {import("./protocol.js").FromWorker} FromWorker */
/** @typedef {Promise<string> & { copy(): Task, cancel(): void, destroy(): void }} Task  a task of Python's event loop */

/** Python cannot start here at all. Its message is a sentence for the reader. */
class StartError extends Error {}

const NO_MEMORY = "There was not enough memory for Python. Close other tabs or programs, then try again.";

// A reader's code runs in here as well. What it may not have is kept out of its reach: the token stays in this closure,
// and the two functions are taken away.
const toPage = self.postMessage.bind(self);
let token = "";
const post = (/** @type {FromWorker} */ message) => toPage({ ...message, token });
for (const name of ["postMessage", "close"]) Reflect.defineProperty(self, name, { value: undefined });

/** @type {any} */
let pyodide;
/** @type {(text: string) => Task} */
let door;
/** @type {{ id: number, task: Task, stopped: boolean } | undefined} */
let running;
let queue = Promise.resolve();

const output = new Output((chunks) => running && post(say.output(running.id, chunks)));

// A listener, for code could put another function in the place of `onmessage`.
self.addEventListener("message", (/** @type {MessageEvent<ToWorker>} */ { data }) => {
  if (data?.kind === "boot") queue = queue.then(() => start(data));
  if (data?.kind === "ask") queue = queue.then(() => answer(data));
  if (data?.kind === "stop" && data.id === running?.id) {
    post(say.stopping(data.id));
    running.stopped = true;
    running.task.cancel();
  }
});

/** @param {Boot} boot */
async function start(boot) {
  token ||= boot.token;
  try {
    await startPython(boot);
  } catch (error) {
    post(say.failed(sentenceOf(error), isForMemory(error)));
  }
}

/** @param {Ask} ask */
async function answer({ id, request }) {
  post(say.begun(id));
  await provide(request);
  running = { id, task: door(request), stopped: false };
  output.begin();
  let reply;
  try {
    const text = await running.task.copy(); // waiting uses a proxy up, and there may be something to cancel
    reply = say.answer(id, text, pyodide._module.HEAPU8.length);
  } catch (error) {
    reply = say.fault(id, running.stopped ? "Stopped." : lastLine(error));
  }
  output.end();
  running.task.destroy();
  running = undefined;
  post(reply);
}

/**
 * The installer of further packages lies in the site and is loaded for code that names it.
 * @param {string} request
 */
async function provide(request) {
  if (!request.includes("micropip") || pyodide.loadedPackages.micropip) return;
  await pyodide.loadPackage("micropip", { messageCallback() {}, errorCallback() {} });
}

/** @param {Boot} boot */
async function startPython({ base, files, packages, kit, snapshot, task }) {
  if (typeof WebAssembly !== "object") {
    throw new StartError(
      "This browser does not run WebAssembly here, which Python needs. Lockdown Mode and enhanced security modes switch it off; allow this site in the browser's settings, then retry.",
    );
  }
  const blobs = kit?.files ?? (await fetchAll(base, files));
  post(say.progress("Starting Python", 0, 0));
  serveFromMemory(base, blobs);
  const wasm = takeOver(kit?.wasm);
  const { loadPyodide } = await importFromMemory(blobs, "pyodide.mjs");
  const { default: createPyodideModule } = await importFromMemory(blobs, "pyodide.asm.mjs");
  const loading = loadPyodide({
    indexURL: base,
    packageBaseUrl: base,
    lockFileContents: await blobOf(blobs, "pyodide-lock.json").text(),
    createPyodideModule,
    ...(task === "snapshot" && { _makeSnapshot: true }),
    ...(snapshot && { _loadSnapshot: await snapshot.arrayBuffer() }),
  });
  pyodide = await Promise.race([loading, wasm.failure]);
  if (task === "snapshot") {
    pyodide.runPython(`${WARM_UP}(${JSON.stringify(kit?.modules ?? [])})`);
    post(say.snapshot(new Blob([pyodide.makeMemorySnapshot()])));
    return;
  }
  post(say.progress("Loading NumPy and the lesson's package", 0, 0));
  await pyodide.loadPackage(packages, { messageCallback: () => {} });
  for (const name of packages) {
    // A package that cannot be loaded does not reject the promise above.
    if (!pyodide.loadedPackages[name])
      throw new Error(`Python started, but its package ${name} did not load.`);
  }
  for (const [stream, set] of /** @type {const} */ ([
    ["stdout", pyodide.setStdout],
    ["stderr", pyodide.setStderr],
  ])) {
    set({
      write(/** @type {Uint8Array} */ bytes) {
        output.write(stream, bytes);
        return bytes.length;
      },
    });
  }
  door = inPython(OPEN_DOOR);
  pyodide._api.on_fatal = (/** @type {unknown} */ error) =>
    post(say.failed(lastWords(error), isForMemory(error)));
  // What goes wrong in a callback that a reader's code left behind does not mean that this worker is lost.
  self.addEventListener("error", (event) => event.preventDefault());
  if (!kit) {
    const modules = JSON.parse(inPython(MODULES));
    handOver({ files: blobs, wasm: wasm.module, script: await ownScript(), modules });
  }
  post(say.ready());
}

/** @param {string} code */
const inPython = (code) => pyodide.runPython(code, { globals: pyodide.globals.get("dict")() });

// `random` is in the same state in every worker that starts from a snapshot. Reading input fails by the way that any
// read takes, so that the traceback shows the reader's line.
const OPEN_DOOR = `
import asyncio, io, random, sys
from ferro_bench import Session

class NoInput(io.TextIOBase):
    def readline(self, size=-1, /):
        raise OSError(
            "This page cannot ask for input: write the value into the code instead, as in n = 5."
        )

    read = readline

random.seed()
sys.stdin = NoInput()
for stream in (sys.stdout, sys.stderr):
    stream.reconfigure(line_buffering=True)
session = Session()

async def door(text):
    try:
        return await session.answer(text)
    finally:
        sys.__stdout__.flush()
        sys.__stderr__.flush()

lambda text: asyncio.ensure_future(door(text))
`;

const MODULES = `
import json, sys
json.dumps([name for name in sys.modules if name.partition(".")[0] in sys.stdlib_module_names])
`;

// A module that does not import here is imported when it is needed.
const WARM_UP = `
def warm_up(names):
    from importlib import import_module
    for name in names:
        try:
            import_module(name)
        except Exception:
            pass

warm_up`;

/**
 * @param {string} base
 * @param {Boot["files"]} files
 */
async function fetchAll(base, files) {
  const arrived = await download(base, files, (received, total) =>
    post(say.progress("Downloading Python", received, total)),
  );
  return new Map([...arrived].map(([name, bytes]) => [name, new Blob([bytes], { type: typeOf(name) })]));
}

/** What Pyodide expects a file to be served as; a server that says otherwise would leave it waiting for ever. */
const typeOf = (/** @type {string} */ name) =>
  name.endsWith(".wasm")
    ? "application/wasm"
    : name.endsWith(".mjs")
      ? "text/javascript"
      : "application/octet-stream";

/**
 * Pyodide fetches its parts itself; hand it those that are here and verified already.
 *
 * @param {string} base
 * @param {Map<string, Blob>} blobs
 */
function serveFromMemory(base, blobs) {
  const fetchFromNetwork = self.fetch;
  self.fetch = async (resource, options) => {
    const address = resource instanceof Request ? resource.url : String(resource);
    const blob = address.startsWith(base) ? blobs.get(address.slice(base.length)) : undefined;
    return blob
      ? new Response(blob, { headers: { "content-type": blob.type } })
      : fetchFromNetwork.call(self, resource, options);
  };
}

/**
 * Take over the compiling of Python itself, which is the first thing that Pyodide has compiled: give it what another
 * worker compiled, or keep what it compiles for the next. A failure is passed on, for Pyodide swallows it and waits.
 *
 * @param {WebAssembly.Module} [compiled]
 */
function takeOver(compiled) {
  /** @type {(reason: unknown) => void} */
  let fail = () => {};
  const wasm = {
    module: compiled,
    failure: new Promise((_, reject) => {
      fail = reject;
    }),
  };
  const instantiateStreaming = WebAssembly.instantiateStreaming;
  WebAssembly.instantiateStreaming = async (source, imports) => {
    WebAssembly.instantiateStreaming = instantiateStreaming;
    try {
      if (compiled) return { module: compiled, instance: await WebAssembly.instantiate(compiled, imports) };
      const result = await instantiateStreaming.call(WebAssembly, source, imports);
      wasm.module = result.module;
      return result;
    } catch (error) {
      fail(error);
      throw error;
    }
  };
  return wasm;
}

/** It is in the browser's cache, and does without it later where the server is gone by then. */
async function ownScript() {
  const response = await fetch(self.location.href).catch(() => undefined);
  return response?.ok ? response.blob() : undefined;
}

/** @param {Kit} kit */
function handOver(kit) {
  try {
    post(say.handover(kit));
  } catch {
    post(say.handover({ ...kit, wasm: undefined })); // not every browser lets go of what it compiled
  }
}

/**
 * @param {Map<string, Blob>} blobs
 * @param {string} name
 */
async function importFromMemory(blobs, name) {
  const address = URL.createObjectURL(blobOf(blobs, name));
  try {
    return await import(address);
  } finally {
    URL.revokeObjectURL(address);
  }
}

/**
 * @param {Map<string, Blob>} blobs
 * @param {string} name
 */
function blobOf(blobs, name) {
  const blob = blobs.get(name);
  if (!blob) throw new Error(`The build lists no file ${name} for the runtime.`);
  return blob;
}

/** @param {unknown} error */
function sentenceOf(error) {
  if (error instanceof StartError || error instanceof DownloadError) return error.message;
  return isForMemory(error) ? NO_MEMORY : `Python could not start: ${lastLine(error)}`;
}

/** @param {unknown} error */
const isForMemory = (error) => /out of memory|allocat|MemoryError/i.test(String(error));

/**
 * Why Python is beyond use.
 * @param {unknown} error
 */
function lastWords(error) {
  const what = lastLine(error);
  if (isForMemory(error)) return "Python ran out of memory and had to be started anew.";
  if (/exit\(/.test(what)) return "The code ended Python itself, which had to be started anew.";
  if (/call stack|recursion/i.test(what)) {
    return "Python ran out of stack, which a recursion without an end leads to, and had to be started anew.";
  }
  return `Python broke down and had to be started anew (${what}).`;
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
