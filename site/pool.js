/**
 * The page's workers, by what they are trusted with. `clean` trains the built-in benches and never runs a reader's code.
 * `learner` runs a reader's cells. `grader` lives for one check of a reader's code. There is at most one of each, and a
 * worker that is beyond use is replaced; the page is told, because what earlier cells had defined is then gone.
 *
 * The clean worker hands on what it started from, so that later ones start from memory; a snapshot of a Python that never
 * ran a reader's code lets them start faster still.
 */

import { Client, ClientError, LostError, StoppedError } from "./client.js";

/** @typedef {import("./client.js").Listener} Listener */
/** @typedef {import("./client.js").RuntimeConfig} RuntimeConfig */
/** @typedef {import("./protocol.js").FromWorker} FromWorker */
/** @typedef {import("./protocol.js").Kit} Kit */
/** @typedef {import("./protocol.js").Supplies} Supplies */
/** @typedef {"learner" | "grader"} Role  of a worker that runs a reader's code */
/** @typedef {{ role: Role, reason: string }} Rebuilt */

/** Python's memory never shrinks: above this many bytes the learner's worker is replaced between two runs. */
const HEAP_LIMIT = 300e6;

/** On a device with no more memory than this [GB] there is neither a snapshot nor a grader in waiting. */
const LITTLE_MEMORY = 2;

/** How often Python is started in a row before a failure counts. */
const ATTEMPTS = 2;

/**
 * Fires `rebuilt` (its `detail` has the role and a sentence with the reason) when a worker that had run a reader's code
 * is gone. The role may be asked again at once.
 */
export class Pool extends EventTarget {
  /** How far the snapshot is. @type {"none" | "making" | "ready" | "unusable"} */
  snapshot = "none";
  /** The snapshot: one Blob, which costs nothing to post. @type {Blob | undefined} */
  #memory;
  /** @type {Kit | undefined} */
  #kit;
  #prepared = false;
  #expectsCheck = false;
  /** @type {Promise<unknown>} */
  #lastCheck = Promise.resolve();
  /** @type {Promise<any> | undefined} */
  #checking;
  /** @type {Set<Promise<any>>} */
  #checks = new Set();
  /** @type {WeakSet<Promise<any>>} */
  #stopped = new WeakSet();
  #config;
  #makeWorker;
  #whenIdle;
  /** Whether memory is short, so that nothing is made in advance. */
  #isFrugal;

  /**
   * @param {RuntimeConfig} config
   * @param {{ makeWorker?: (url: string) => Worker, whenIdle?: (act: () => void) => void, deviceMemory?: number }} [options]
   */
  constructor(config, { makeWorker, whenIdle = onceIdle, deviceMemory = memoryOfDevice() } = {}) {
    super();
    this.#config = config;
    this.#makeWorker = makeWorker;
    this.#whenIdle = whenIdle;
    this.#isFrugal = deviceMemory <= LITTLE_MEMORY;

    this.clean = this.#newClient({ supplies: () => ({ kit: this.#kit }) });
    const forReaders = {
      supplies: (/** @type {number} */ attempt) => this.#supplies(attempt),
      attempts: ATTEMPTS,
      isTrusted: false,
    };
    this.learner = this.#newClient(forReaders);
    this.grader = this.#newClient(forReaders);

    this.clean.addEventListener("supply", (event) => {
      const message = /** @type {CustomEvent<FromWorker>} */ (event).detail;
      if (message.kind === "kit") this.#kit = message.kit;
    });
    this.clean.addEventListener("status", () => this.#followClean());
    this.learner.addEventListener("status", () => {
      if (this.learner.status.state === "ready") this.#whenIdle(() => this.#makeSnapshot());
    });
    this.learner.addEventListener("answer", () => this.#afterRun());
    this.learner.addEventListener("lost", () => this.#renewLearner(this.learner.status.stage));
    this.grader.addEventListener("lost", () => this.#announce("grader", this.grader.status.stage));
  }

  /** Start the clean worker; the others start when they are needed, or soon will be. */
  start() {
    this.clean.start();
  }

  /** A reader may soon run code: have a worker ready by then, and a snapshot for those after it. */
  prepare() {
    this.#prepared = true;
    this.#whenIdle(() => this.#wake("learner"));
  }

  /**
   * Run a reader's code. It may take for ever, or until `stop("learner")`.
   *
   * @param {object} request
   * @param {{ deadline?: number, onOutput?: Listener }} [options]
   * @returns {Promise<any>}  the reply
   */
  run(request, { deadline = Number.POSITIVE_INFINITY, onOutput } = {}) {
    return this.#ask("learner", request, { deadline, onOutput });
  }

  /**
   * Judge a reader's code: ask questions one after the other, in a worker that ends with the last of them. One that takes
   * too long or breaks Python costs the worker, and the next is asked of another. There is one check at a time; a further
   * one waits.
   *
   * @param {object[]} requests
   * @param {number} [deadline]  of each, from when Python is asked, in milliseconds
   * @returns {Promise<any[]>}  for each request the reply, or the `LostError` that it ended in
   */
  check(requests, deadline) {
    /** @type {Promise<any[]>} */
    const verdict = this.#lastCheck.then(async () => {
      const replies = [];
      this.#checking = verdict;
      try {
        for (const request of requests) {
          if (this.#stopped.has(verdict)) throw new StoppedError();
          replies.push(await this.#ask("grader", request, { deadline }).catch(onlyLost));
        }
        return replies;
      } finally {
        // While it is still loading only the question was stopped: it will do for the next one.
        if (this.grader.status.state !== "loading") this.grader.end();
        this.#standBy();
      }
    });
    this.#lastCheck = verdict.catch(() => {});
    this.#checks.add(verdict);
    this.#lastCheck.then(() => this.#checks.delete(verdict));
    return verdict;
  }

  /**
   * Stop a run or a check, or all of a role's.
   *
   * @param {Role} role
   * @param {Promise<any>} [reply]  what `run` or `check` returned; without it all are meant
   * @returns {Promise<void>}  resolved when it is at rest, and ready for what is asked next
   */
  async stop(role, reply) {
    if (role === "learner") return this.learner.stop(reply);
    for (const check of reply ? [reply] : this.#checks) this.#stopped.add(check);
    if (!this.#checking || !this.#stopped.has(this.#checking)) return;
    // A grader ends with its check; there is nothing in it to be gentle with.
    if (this.grader.used) this.grader.end(new StoppedError());
    else await this.grader.stop();
  }

  /** Give the reader a Python in which nothing has run yet. */
  startAnew() {
    if (this.learner.status.state === "idle") return; // there is none yet
    this.learner.end(new StoppedError());
    this.#renewLearner("As you asked.");
  }

  // Starting

  /** @param {{ supplies: (attempt: number) => Supplies, attempts?: number, isTrusted?: boolean }} options */
  #newClient(options) {
    const client = new Client(this.#config, { makeWorker: this.#makeWorker, ...options });
    client.addEventListener("status", () => {
      this.#isFrugal ||= client.outOfMemory;
    });
    return client;
  }

  /**
   * @param {number} attempt
   * @returns {Supplies}
   */
  #supplies(attempt) {
    if (attempt > 1 && this.#memory) {
      // What did not start from the snapshot is started without it, and so is everything later.
      this.#memory = undefined;
      this.snapshot = "unusable";
    }
    return { kit: this.#kit, snapshot: this.#memory };
  }

  #followClean() {
    const { state, stage } = this.clean.status;
    for (const role of /** @type {const} */ (["learner", "grader"])) {
      if (this[role].quiet) continue;
      if (state === "ready") this.#wake(role);
      if (state === "failed" && !this.#kit) this[role].end(new ClientError(stage));
    }
    if (state === "ready" && this.#prepared) this.prepare();
  }

  /**
   * Start a worker that is not there, if there is something to start it from; the clean worker comes first.
   * @param {Role} role
   */
  #wake(role) {
    if (this.#kit && this[role].status.state === "idle") this[role].start();
  }

  /**
   * @param {Role} role
   * @param {object} request
   * @param {{ deadline?: number, onOutput?: Listener }} options
   */
  #ask(role, request, options) {
    const { state, stage } = this.clean.status;
    if (!this.#kit && state === "failed") return Promise.reject(new ClientError(stage));
    if (this[role].status.state === "failed") this[role].end(); // what failed then may work now
    const reply = this[role].ask(request, options);
    this.#wake(role);
    return reply;
  }

  // Replacing

  /** Whether the last run left more in memory than is good for the next. */
  get isSwollen() {
    return this.learner.heap > HEAP_LIMIT;
  }

  #afterRun() {
    this.#expectsCheck = true;
    this.#standBy();
    if (!this.isSwollen) return;
    // Later, so that whoever waits for this answer has it first, and may ask the next question.
    setTimeout(() => {
      if (this.learner.quiet && this.isSwollen) this.#renewLearner(SWOLLEN);
    });
  }

  /** @param {string} reason */
  #renewLearner(reason) {
    const { grader } = this;
    const isSpare = grader.status.state === "ready" && !grader.used && this.#checks.size === 0;
    // A grader in waiting has run nothing yet. The reader waits now, and a check comes later.
    if (isSpare) this.learner.adopt(grader);
    else this.learner.start();
    this.#announce("learner", reason);
    this.#standBy();
  }

  /**
   * @param {Role} role
   * @param {string} reason
   */
  #announce(role, reason) {
    this.dispatchEvent(new CustomEvent("rebuilt", { detail: { role, reason } }));
  }

  // What is made in advance

  /** In a worker of its own, because the option that makes one is no good for anything else. */
  #makeSnapshot() {
    if (this.snapshot !== "none" || this.#isFrugal) return;
    this.snapshot = "making";
    const maker = this.#newClient({ supplies: () => ({ kit: this.#kit, task: "snapshot" }) });
    const finish = (/** @type {Blob | undefined} */ memory) => {
      if (this.snapshot !== "making") return;
      this.#memory = memory;
      this.snapshot = memory ? "ready" : "unusable";
      maker.end();
      this.#standBy();
    };
    maker.addEventListener("supply", (event) => {
      const message = /** @type {CustomEvent<FromWorker>} */ (event).detail;
      if (message.kind === "snapshot") finish(message.snapshot);
    });
    maker.addEventListener("status", () => {
      if (maker.status.state === "failed") finish(undefined);
    });
    maker.start();
  }

  /** Whoever runs code will soon want it checked. */
  #standBy() {
    this.#whenIdle(() => {
      const settled = this.snapshot === "ready" || this.snapshot === "unusable";
      if (this.#expectsCheck && settled && !this.#isFrugal) this.#wake("grader");
    });
  }
}

const SWOLLEN = "Python had taken much memory, which it gives back only by being started anew.";

/**
 * A worker that was lost over a question says something about the code; any other failure is ours.
 * @param {unknown} error
 */
function onlyLost(error) {
  if (error instanceof LostError) return error;
  throw error;
}

/** In gigabytes; a browser that does not say is taken to have enough. */
const memoryOfDevice = () => /** @type {any} */ (navigator).deviceMemory ?? Number.POSITIVE_INFINITY;

/** @param {() => void} act */
function onceIdle(act) {
  if ("requestIdleCallback" in globalThis) requestIdleCallback(act, { timeout: 2000 });
  else setTimeout(act, 200);
}
