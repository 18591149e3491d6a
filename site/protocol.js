/**
 * Everything that crosses between the page and its worker. Requests to Python and its replies travel inside `ask` and
 * `answer` as JSON text; what they may say is written down in `src/ferro_bench/session.py`.
 */

/**
 * A file the runtime consists of, as the build knows it.
 * @typedef {{ name: string, bytes: number, sha256: string }} RuntimeFile
 */

/**
 * Page to worker.
 * @typedef {{ kind: "boot", base: string, files: RuntimeFile[], packages: string[] }} Boot
 * @typedef {{ kind: "ask", id: number, request: string }} Ask
 * @typedef {Boot | Ask} ToWorker
 */

/**
 * Worker to page.
 * @typedef {{ kind: "progress", stage: string, received: number, total: number }} Progress
 * @typedef {{ kind: "ready" }} Ready
 * @typedef {{ kind: "failed", sentence: string }} Failed  the runtime did not start
 * @typedef {{ kind: "answer", id: number, reply: string }} Answer
 * @typedef {{ kind: "fault", id: number, sentence: string }} Fault  Python raised where it should not have
 * @typedef {Progress | Ready | Failed | Answer | Fault} FromWorker
 */

/** @type {(base: string, files: RuntimeFile[], packages: string[]) => Boot} */
export const boot = (base, files, packages) => ({ kind: "boot", base, files, packages });

/** @type {(id: number, request: object) => Ask} */
export const ask = (id, request) => ({ kind: "ask", id, request: JSON.stringify(request) });

/** @type {(stage: string, received: number, total: number) => Progress} */
export const progress = (stage, received, total) => ({ kind: "progress", stage, received, total });

/** @type {() => Ready} */
export const ready = () => ({ kind: "ready" });

/** @type {(sentence: string) => Failed} */
export const failed = (sentence) => ({ kind: "failed", sentence });

/** @type {(id: number, reply: string) => Answer} */
export const answer = (id, reply) => ({ kind: "answer", id, reply });

/** @type {(id: number, sentence: string) => Fault} */
export const fault = (id, sentence) => ({ kind: "fault", id, sentence });
