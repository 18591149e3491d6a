/**
 * The page's end of one worker: starts it, notices when it fails or falls silent, asks it one question after the other,
 * and stops it. Which workers there are and what becomes of them is the pool's business.
 */

import { ask, boot, stop } from "./protocol.js";

/** @typedef {import("./protocol.js").Chunk} Chunk */
/** @typedef {import("./protocol.js").FromWorker} FromWorker */
/** @typedef {import("./protocol.js").RuntimeFile} RuntimeFile */
/** @typedef {import("./protocol.js").Supplies} Supplies */
/** @typedef {{ worker: string, base: string, files: RuntimeFile[], packages: string[] }} RuntimeConfig */
/** @typedef {{ state: "idle" | "loading" | "ready" | "failed", stage: string, received: number, total: number }} Status */
/** @typedef {(chunk: Chunk) => void} Listener */
/** @typedef {{ message: import("./protocol.js").Ask, deadline: number, onOutput?: Listener, stopping?: boolean, reply: Promise<any>, over: Promise<unknown>, resolve: (reply: any) => void, reject: (error: Error) => void }} Question */

/** Python said no, or could not be asked. Its message is a sentence for the reader. */
export class ClientError extends Error {}

/** The worker was lost over this question. */
export class LostError extends ClientError {}

/** The answer took longer than it may. */
export class DeadlineError extends LostError {}

/** Python raised where it should not have: by a mistake of ours, or because code had rebound what ours relies on. */
export class FaultError extends LostError {}

/** Somebody pressed Stop. */
export class StoppedError extends ClientError {
  constructor(sentence = "Stopped.") {
    super(sentence);
  }
}

/** How long the worker may be silent at each stage, in milliseconds. */
const SILENCE = { script: 9000, start: 60_000, answer: 10_000, stop: 250, stopped: 1000 };

/**
 * Fires `status` whenever `status` changes, `answer` after each answer, `lost` when a worker that was in use is gone, and `supply` (the message is its `detail`) when the
 * worker hands over what later workers start from.
 */
export class Client extends EventTarget {
  /** @type {Status} */
  status = { state: "idle", stage: "Python is not running.", received: 0, total: 0 };
  /** Python's memory at the last answer, in bytes. */
  heap = 0;
  /** Whether this worker has been asked anything. */
  used = false;
  /** Whether the last failure was for want of memory. */
  outOfMemory = false;
  /** @type {Question[]} */
  #waiting = [];
  /** @type {Question | undefined} */
  #asked;
  /** @type {Worker | undefined} */
  #worker;
  #token = "";
  #lastId = 0;
  #attempt = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #watchdog;
  #config;
  #makeWorker;
  #supplies;
  #attempts;
  #isTrusted;

  /**
   * @param {RuntimeConfig} config
   * @param {{ makeWorker?: (url: string) => Worker, supplies?: (attempt: number) => Supplies, attempts?: number, isTrusted?: boolean }} [options]
   *   `supplies` says what to start from at the first, second, ... attempt; there are no more than `attempts` in a row.
   *   A worker that is not trusted, because a reader's code runs in it, is ended by a fault
   */
  constructor(
    config,
    { makeWorker = moduleWorker, supplies = () => ({}), attempts = 1, isTrusted = true } = {},
  ) {
    super();
    this.#config = config;
    this.#makeWorker = makeWorker;
    this.#supplies = supplies;
    this.#attempts = attempts;
    this.#isTrusted = isTrusted;
  }

  /** Whether nothing has been asked that is not answered. */
  get quiet() {
    return !this.#asked && this.#waiting.length === 0;
  }

  /** Start, or start anew after a failure. */
  start() {
    this.#attempt = 0;
    this.#start();
  }

  #start() {
    this.#release();
    this.#attempt++;
    this.#setStatus("loading", "Downloading Python");
    const supplies = this.#supplies(this.#attempt);
    const { script } = supplies.kit ?? {};
    // The copy is for when the server is gone. Not every policy lets a page start a worker from one, so it comes second.
    const elsewise = script && (() => this.#launch(URL.createObjectURL(script), supplies));
    this.#launch(this.#config.worker, supplies, elsewise);
  }

  /**
   * @param {string} url
   * @param {Supplies} supplies
   * @param {() => void} [elsewise]  what to do if the script cannot be had
   */
  #launch(url, supplies, elsewise) {
    const { base, files, packages } = this.#config;
    const script = this.#config.worker.split("/").at(-1);
    const token = randomToken();
    try {
      const worker = this.#makeWorker(url);
      this.#listen(worker, token, elsewise);
      this.#watch(SILENCE.script, () => this.#lose(`The script ${script} did not start.`));
      worker.postMessage(boot(base, files, packages, token, supplies));
    } catch (error) {
      this.#lose(`This browser refused to start a worker. ${/** @type {Error} */ (error).message}`);
    }
  }

  /**
   * @param {Worker} worker
   * @param {string} token
   * @param {() => void} [elsewise]
   */
  #listen(worker, token, elsewise) {
    const script = this.#config.worker.split("/").at(-1);
    this.#worker = worker;
    this.#token = token;
    // What a terminated worker had under way may still arrive.
    worker.onmessage = ({ data }) => {
      if (worker === this.#worker && data?.token === token) this.#receive(data);
    };
    worker.onerror = (event) => {
      event.preventDefault?.();
      if (worker !== this.#worker) return;
      const reason = event.message
        ? ` (${event.message})`
        : ": it is missing, blocked, or sent as something else than a script";
      if (this.status.state === "ready") this.#lose("Python has ended unexpectedly.");
      else if (elsewise && !event.message) elsewise();
      else this.#lose(`The script ${script} did not run${reason}.`);
    };
  }

  /**
   * Take over the worker of a client that is ready and of which nothing has been asked.
   * @param {Client} other
   */
  adopt(other) {
    const worker = /** @type {Worker} */ (other.#worker);
    other.#worker = undefined;
    other.end();
    this.#release();
    this.#listen(worker, other.#token);
    this.#setStatus("ready", "Python is ready");
    this.#askNext();
  }

  /**
   * Ask Python. Before it is ready the question waits; after a failure it is refused.
   *
   * @param {object} request
   * @param {{ deadline?: number, onOutput?: Listener }} [options]  `deadline`: how long the answer may take from when
   *   Python is asked, in milliseconds; then the worker is ended. `onOutput` hears what Python prints meanwhile.
   * @returns {Promise<any>}  the reply
   */
  ask(request, { deadline = SILENCE.answer, onOutput } = {}) {
    if (this.status.state === "failed") return Promise.reject(new ClientError(this.status.stage));
    const message = ask(++this.#lastId, request);
    /** @type {any} */
    const question = { message, deadline, onOutput };
    const reply = new Promise((resolve, reject) => Object.assign(question, { resolve, reject }));
    question.reply = reply;
    question.over = reply.catch(() => {});
    this.#waiting.push(question);
    this.#askNext();
    return reply;
  }

  #askNext() {
    if (this.status.state !== "ready" || this.#asked) return;
    const question = this.#waiting.shift();
    if (!question) return;
    this.#asked = question;
    this.used = true;
    const { message, deadline } = question;
    // Where an answer may take for ever, at least its beginning must not.
    const patience = Number.isFinite(deadline) ? deadline : SILENCE.answer;
    const sentence = `Python has stopped answering: there was nothing for ${patience / 1000} seconds.`;
    this.#watch(patience, () => this.#lose(sentence, DeadlineError));
    this.#worker?.postMessage(message);
  }

  /**
   * Stop a question, or all of them. A worker that does not hear of it, because Python is busy and does not await
   * anything, or that goes on in spite of it, is ended; a question that waits is only dropped. The others wait on.
   *
   * @param {Promise<any>} [reply]  what `ask` returned for the question; without it all are meant
   * @returns {Promise<void>}  resolved when nothing that was stopped is going on any more, and a worker that had to be
   *   ended has been replaced
   */
  async stop(reply) {
    const isMeant = (/** @type {Question} */ question) => !reply || question.reply === reply;
    const dropped = this.#waiting.filter(isMeant);
    this.#waiting = this.#waiting.filter((question) => !isMeant(question));
    for (const question of dropped) question.reject(new StoppedError());
    const asked = this.#asked;
    if (!asked || !(asked.stopping || isMeant(asked))) return;
    if (!asked.stopping) {
      asked.stopping = true;
      this.#watch(SILENCE.stop, () => this.#lose(BUSY, StoppedError));
      this.#worker?.postMessage(stop(asked.message.id));
    }
    await asked.over;
  }

  /**
   * End the worker; another one may be started.
   * @param {ClientError} [error]  for whoever still waits
   */
  end(error = new ClientError("Python was ended.")) {
    this.#release();
    this.#reject(error);
    this.#setStatus("idle", "Python is not running.");
  }

  /** @param {FromWorker} message */
  #receive(message) {
    switch (message.kind) {
      case "progress":
        this.#watch(SILENCE.start, () => this.#lose(`Python did not get past this stage: ${message.stage}.`));
        this.#setStatus("loading", message.stage, message.received, message.total);
        break;
      case "kit":
      case "snapshot":
        this.dispatchEvent(new CustomEvent("supply", { detail: message }));
        break;
      case "ready":
        clearTimeout(this.#watchdog);
        this.#setStatus("ready", "Python is ready");
        this.#askNext();
        break;
      case "failed":
        this.outOfMemory ||= message.outOfMemory;
        this.#lose(message.sentence);
        break;
      case "begun":
        if (
          isAbout(message, this.#asked) &&
          !Number.isFinite(this.#asked.deadline) &&
          !this.#asked.stopping
        ) {
          clearTimeout(this.#watchdog);
        }
        break;
      case "output":
        if (isAbout(message, this.#asked)) for (const chunk of message.chunks) this.#asked.onOutput?.(chunk);
        break;
      case "stopping":
        if (isAbout(message, this.#asked)) {
          this.#watch(SILENCE.stopped, () => this.#lose(UNWILLING, StoppedError));
        }
        break;
      case "answer": {
        const reply = parsed(message.reply);
        if (!this.#isTrusted && !isModest(reply)) {
          this.#lose("What Python answered was not what was asked for.", FaultError);
          break;
        }
        this.#settle(message.id, (question) => {
          this.heap = message.heap;
          if (reply.kind === "refused" || reply.kind === "unreadable")
            question.reject(new ClientError(reply.sentence));
          else question.resolve(reply);
        });
        break;
      }
      case "fault":
        if (!isAbout(message, this.#asked)) break;
        if (this.#isTrusted || this.#asked.stopping) {
          this.#settle(message.id, ({ reject, stopping }) =>
            reject(stopping ? new StoppedError() : new ClientError(message.sentence)),
          );
        } else this.#lose(message.sentence, FaultError);
        break;
    }
  }

  /**
   * @param {number} id
   * @param {(question: Question) => void} how
   */
  #settle(id, how) {
    const question = this.#asked;
    if (question?.message.id !== id) return;
    this.#asked = undefined;
    clearTimeout(this.#watchdog);
    how(question);
    this.#askNext();
    this.dispatchEvent(new Event("answer"));
  }

  /**
   * The worker is of no more use.
   * @param {string} sentence
   * @param {new (sentence: string) => ClientError} [Reason]  of the question that it was asked
   */
  #lose(sentence, Reason = LostError) {
    const { used } = this;
    const starting = this.status.state === "loading";
    this.#release();
    if (starting && this.#attempt < this.#attempts) {
      this.#start();
      return;
    }
    this.#asked?.reject(new Reason(sentence));
    this.#asked = undefined;
    if (Reason !== StoppedError) this.#reject(new ClientError(sentence));
    this.#setStatus("failed", sentence); // after that whoever hears of it may start anew at once
    if (used) this.dispatchEvent(new Event("lost"));
  }

  /** Let go of the worker. */
  #release() {
    clearTimeout(this.#watchdog);
    this.#worker?.terminate();
    this.#worker = undefined;
    this.used = false;
    this.heap = 0;
  }

  /** @param {ClientError} error */
  #reject(error) {
    const questions = [...(this.#asked ? [this.#asked] : []), ...this.#waiting.splice(0)];
    this.#asked = undefined;
    for (const { reject } of questions) reject(error);
  }

  /**
   * @param {number} milliseconds
   * @param {() => void} bark
   */
  #watch(milliseconds, bark) {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(bark, milliseconds);
  }

  /** @type {(state: Status["state"], stage: string, received?: number, total?: number) => void} */
  #setStatus(state, stage, received = 0, total = 0) {
    this.status = { state, stage, received, total };
    this.dispatchEvent(new Event("status"));
  }
}

const BUSY = "Stopped. Python was in the middle of a computation and had to be started anew.";
const UNWILLING = "Stopped. The code went on in spite of it, so Python had to be started anew.";

/** How deep and how many the values in a reply of ours can be, with room to spare. */
const DEEPEST = 16;
const MOST = 300_000;

/**
 * A reader's code may have put something else in the place of what writes replies; whoever hands one on to other
 * workers must be able to rely on its size. A reply that finds our requests unreadable is of that kind too.
 *
 * @param {any} reply
 */
function isModest(reply) {
  let count = 0;
  const fits = (/** @type {any} */ value, /** @type {number} */ depth) => {
    if (++count > MOST || depth > DEEPEST) return false;
    if (typeof value !== "object" || value === null) return true;
    for (const key in value) if (!fits(value[key], depth + 1)) return false;
    return true;
  };
  return reply.kind !== "unreadable" && fits(reply, 0);
}

/**
 * A reader's code may have put something else in the place of what writes replies.
 * @param {unknown} text
 */
function parsed(text) {
  try {
    return Object(JSON.parse(String(text)));
  } catch {
    return { kind: "refused", sentence: "Python's answer could not be read." };
  }
}

/**
 * @param {{ id: number }} message
 * @param {Question | undefined} question
 * @returns {question is Question}
 */
function isAbout({ id }, question) {
  return question?.message.id === id;
}

const moduleWorker = (/** @type {string} */ url) => new Worker(url, { type: "module" });

/** Not `randomUUID`, which browsers offer on https and localhost only. */
const randomToken = () => Array.from(crypto.getRandomValues(new Uint32Array(4)), String).join("-");
