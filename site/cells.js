/**
 * What has run in the learner's Python. When that Python had to be started anew, the same is run again, so that a later
 * cell finds what earlier ones had defined.
 */

import { StoppedError } from "./client.js";

/** @typedef {import("./pool.js").Pool} Pool */
/** @typedef {import("./client.js").Listener} Listener */
/** @typedef {{ reason: string, again: string[], lost: string[] }} Renewed  cells that ran again, and those that did not */

/** How long a cell may take when it is run again, in milliseconds; it has run through before. */
const PATIENCE = 10_000;

/** Fires `renewed` with a `Renewed` as its detail. */
export class Cells extends EventTarget {
  /** The cell that is running. */
  running = "";
  /** Name and source of each cell that ran through, in the order of their last run. @type {Map<string, string>} */
  #ran = new Map();
  /** Cells that ran through and are not run again, for they would bring about what Python was started anew for. */
  #heavy = new Set();
  /** Settled when nothing is being stopped. A cell that runs after that finds the others run again. */
  #atRest = Promise.resolve();
  #pool;
  #renewals = 0;

  /** @param {Pool} pool */
  constructor(pool) {
    super();
    this.#pool = pool;
    pool.addEventListener("rebuilt", (event) => {
      const { role, reason } = /** @type {CustomEvent} */ (event).detail;
      if (role === "learner") this.#renew(reason);
    });
  }

  /**
   * @param {string} cell
   * @param {string} source
   * @param {{ onOutput: Listener, signal: AbortSignal }} options  `signal` stops it, or keeps it from starting
   * @returns {Promise<any>}  the outcome, see `ran` in `src/ferro_bench/session.py`
   */
  async run(cell, source, { onOutput, signal }) {
    await this.#atRest;
    if (signal.aborted) throw new StoppedError();
    this.#ran.delete(cell); // whatever it did before, it is now to do something else
    this.#heavy.delete(cell);
    const reply = this.#pool.run({ kind: "run", cell, source }, { onOutput });
    signal.addEventListener("abort", () => {
      this.#atRest = this.#pool.stop("learner", reply);
    });
    this.running ||= cell;
    try {
      const outcome = await reply;
      if (this.#pool.isSwollen) this.#heavy.add(cell);
      else if (!outcome.trouble) this.#ran.set(cell, source);
      return outcome;
    } finally {
      if (this.running === cell) this.running = "";
    }
  }

  /** Begin with a Python in which nothing has run. */
  startAnew() {
    this.#ran.clear();
    this.#heavy.clear();
    this.#pool.startAnew();
  }

  /** @param {string} reason */
  async #renew(reason) {
    const renewal = ++this.#renewals;
    const ran = [...this.#ran];
    this.#ran.clear(); // one that brings Python down again is not tried a third time
    const outcomes = await Promise.allSettled(
      ran.map(([cell, source]) => this.#pool.run({ kind: "run", cell, source }, { deadline: PATIENCE })),
    );
    const succeeded = outcomes.map((outcome) => outcome.status === "fulfilled" && !outcome.value.trouble);
    const again = ran.filter((_, i) => succeeded[i]);
    const since = [...this.#ran]; // what the reader ran meanwhile ran later
    if (renewal === this.#renewals) this.#ran = new Map([...again, ...since]);
    const names = (/** @type {boolean} */ wanted) =>
      ran.filter((_, i) => succeeded[i] === wanted).map(([cell]) => cell);
    const detail = { reason, again: names(true), lost: [...names(false), ...this.#heavy] };
    this.dispatchEvent(new CustomEvent("renewed", { detail }));
  }
}
