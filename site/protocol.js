/**
 * Everything that crosses between the page and a worker. Requests to Python and its replies travel inside `ask` and
 * `answer` as JSON text; what they may say is written down in `src/ferro_bench/session.py`.
 *
 * A reader's code can post to the page whatever it likes. So every message of a worker carries the token that `boot`
 * told it, which such code does not get to see; the page drops a message without it. Both ends ignore a kind that they
 * do not know.
 */

/**
 * A file the runtime consists of, as the build knows it.
 * @typedef {{ name: string, bytes: number, sha256: string }} RuntimeFile
 */

/**
 * What one worker hands on, so that the next need neither download nor compile it again: the verified files, Python
 * compiled, the worker's own script, and the names of the standard library's modules that a start ends up with.
 * @typedef {{ files: Map<string, Blob>, wasm?: WebAssembly.Module, script?: Blob, modules: string[] }} Kit
 */

/**
 * How to start: from a kit or from the network; from a snapshot of Python's memory or from nothing; and whether to serve,
 * or only to make such a snapshot.
 * @typedef {{ kit?: Kit, snapshot?: Blob, task?: "serve" | "snapshot" }} Supplies
 */

/**
 * Page to worker.
 * @typedef {{ kind: "boot", base: string, files: RuntimeFile[], packages: string[], token: string } & Supplies} Boot
 * @typedef {{ kind: "ask", id: number, request: string }} Ask
 * @typedef {{ kind: "stop", id: number }} Stop  cancel this question, if it awaits something
 * @typedef {Boot | Ask | Stop} ToWorker
 */

/**
 * A piece of what Python printed while it worked on a question; `note` is the worker's own word on it.
 * @typedef {{ stream: "stdout" | "stderr" | "note", text: string }} Chunk
 */

/**
 * Worker to page.
 * @typedef {{ kind: "progress", stage: string, received: number, total: number }} Progress
 * @typedef {{ kind: "kit", kit: Kit }} Handover
 * @typedef {{ kind: "snapshot", snapshot: Blob }} Snapshot
 * @typedef {{ kind: "ready" }} Ready
 * @typedef {{ kind: "failed", sentence: string, outOfMemory: boolean }} Failed  Python did not start, or is beyond use
 * @typedef {{ kind: "begun", id: number }} Begun  the question has reached Python
 * @typedef {{ kind: "output", id: number, chunks: Chunk[] }} Output
 * @typedef {{ kind: "stopping", id: number }} Stopping  the `stop` was heard; an answer or a fault follows
 * @typedef {{ kind: "answer", id: number, reply: string, heap: number }} Answer  `heap`: Python's memory, in bytes
 * @typedef {{ kind: "fault", id: number, sentence: string }} Fault  Python raised where it should not have
 * @typedef {Progress | Handover | Snapshot | Ready | Failed | Begun | Output | Stopping | Answer | Fault} FromWorker
 */

/** @type {(base: string, files: RuntimeFile[], packages: string[], token: string, supplies?: Supplies) => Boot} */
export const boot = (base, files, packages, token, supplies) => ({
  kind: "boot",
  base,
  files,
  packages,
  token,
  ...supplies,
});

/** @type {(id: number, request: object) => Ask} */
export const ask = (id, request) => ({ kind: "ask", id, request: JSON.stringify(request) });

/** @type {(id: number) => Stop} */
export const stop = (id) => ({ kind: "stop", id });

/** @type {(stage: string, received: number, total: number) => Progress} */
export const progress = (stage, received, total) => ({ kind: "progress", stage, received, total });

/** @type {(kit: Kit) => Handover} */
export const handover = (kit) => ({ kind: "kit", kit });

/** @type {(snapshot: Blob) => Snapshot} */
export const snapshot = (snapshot) => ({ kind: "snapshot", snapshot });

/** @type {() => Ready} */
export const ready = () => ({ kind: "ready" });

/** @type {(sentence: string, outOfMemory?: boolean) => Failed} */
export const failed = (sentence, outOfMemory = false) => ({ kind: "failed", sentence, outOfMemory });

/** @type {(id: number) => Begun} */
export const begun = (id) => ({ kind: "begun", id });

/** @type {(id: number, chunks: Chunk[]) => Output} */
export const output = (id, chunks) => ({ kind: "output", id, chunks });

/** @type {(id: number) => Stopping} */
export const stopping = (id) => ({ kind: "stopping", id });

/** @type {(id: number, reply: string, heap: number) => Answer} */
export const answer = (id, reply, heap) => ({ kind: "answer", id, reply, heap });

/** @type {(id: number, sentence: string) => Fault} */
export const fault = (id, sentence) => ({ kind: "fault", id, sentence });
