/**
 * A run with the reader's own code: it answers like Python does, from a worker that is trusted with nothing but numbers.
 * What it says about passing is not heard; the verdict is found where no reader's code has run, from the parameters alone
 * and from what the same code finds in an experiment that is drawn anew.
 */

import { DeadlineError } from "./client.js";

/** @typedef {import("./pool.js").Pool} Pool */

/** How long the reader's functions may take for what one request asks, in milliseconds. */
const PATIENCE = 10_000;

/** Fires `lost` when the run is gone, because its Python had to be started anew. */
export class Own extends EventTarget {
  #pool;
  #sources;
  /** @type {{ bench?: string, settings?: object }} */
  #problem = {};
  /** @type {Record<string, string>} */
  #cells = {};
  /** @type {Promise<any> | undefined} */
  #reply;

  /**
   * @param {Pool} pool
   * @param {() => Record<string, string>} sources  name and text of each cell
   */
  constructor(pool, sources) {
    super();
    this.#pool = pool;
    this.#sources = sources;
    pool.addEventListener("rebuilt", (event) => {
      if (/** @type {CustomEvent} */ (event).detail.role === "learner") this.dispatchEvent(new Event("lost"));
    });
  }

  /** Whether a cell is running, for which this has to wait. */
  get isHeldUp() {
    return !this.#pool.learner.quiet;
  }

  /**
   * @param {any} request
   * @returns {Promise<any>}
   */
  async ask(request) {
    if (request.kind === "open") {
      this.#problem = { bench: request.bench, settings: request.settings };
      this.#cells = this.#sources();
      const opened = await this.#run({ ...request, cells: this.#cells });
      return { ...opened, ...(await this.#judge({ parameters: opened.parameters })) };
    }
    const reply = await this.#run(request);
    return reply.result ? { ...reply, result: await this.#conclude(reply.result) } : reply;
  }

  /** End what the reader's code is doing for this, and nothing else. */
  stop() {
    if (this.#reply) this.#pool.stop("learner", this.#reply);
  }

  /** @param {{ parameters: object, ending: string, how: string }} found */
  async #conclude(found) {
    if (found.ending === "diverged") return this.#judge(found);
    const seed = crypto.getRandomValues(new Uint32Array(1))[0];
    const { inputs } = await this.#pool.clean.ask({ kind: "rehearsal", seed });
    const { c } = await this.#run({ kind: "rehearse", inputs, cells: this.#cells });
    return this.#judge({ ...found, rehearsal: { seed, c } });
  }

  /** @param {{ parameters: object, ending?: string, how?: string, rehearsal?: object }} found */
  #judge({ parameters, ending, how, rehearsal }) {
    return this.#pool.clean.ask({
      kind: "judge",
      ...this.#problem,
      parameters,
      ending,
      how,
      ...(rehearsal && { rehearsal }),
    });
  }

  /** @param {object} request */
  async #run(request) {
    this.#reply = this.#pool.run(request, { deadline: PATIENCE });
    try {
      return await this.#reply;
    } catch (error) {
      if (!(error instanceof DeadlineError)) throw error;
      throw new DeadlineError(
        `Your code did not come to an end within ${PATIENCE / 1000} seconds. Look for a loop that never ends, and check the cells first.`,
      );
    }
  }
}
