/**
 * A run with the reader's own code: it answers like Python does, from a worker that is trusted with nothing but numbers.
 * What it says about passing is not heard; the verdict is found where no reader's code has run, from the parameters alone.
 */

import { DeadlineError } from "./client.js";

/** @typedef {import("./pool.js").Pool} Pool */

/** How long the reader's functions may take for what one request asks, in milliseconds. */
const PATIENCE = 10_000;

export class Own {
  #pool;
  #sources;
  /** @type {{ bench?: string, settings?: object }} */
  #problem = {};

  /**
   * @param {Pool} pool
   * @param {() => Record<string, string>} sources  name and text of each cell
   */
  constructor(pool, sources) {
    this.#pool = pool;
    this.#sources = sources;
  }

  /**
   * @param {any} request
   * @returns {Promise<any>}
   */
  async ask(request) {
    if (request.kind === "open") {
      this.#problem = { bench: request.bench, settings: request.settings };
      const opened = await this.#run({ ...request, cells: this.#sources() });
      return { ...opened, ...(await this.#judge({ parameters: opened.parameters })) };
    }
    const reply = await this.#run(request);
    return reply.result ? { ...reply, result: await this.#judge(reply.result) } : reply;
  }

  /** End what the reader's code is doing. */
  stop() {
    this.#pool.stop("learner");
  }

  /** @param {{ parameters: object, ending?: string, how?: string }} found */
  #judge({ parameters, ending, how }) {
    return this.#pool.clean.ask({ kind: "judge", ...this.#problem, parameters, ending, how });
  }

  /** @param {object} request */
  async #run(request) {
    try {
      return await this.#pool.run(request, { deadline: PATIENCE });
    } catch (error) {
      if (!(error instanceof DeadlineError)) throw error;
      throw new DeadlineError(
        `Your code did not come to an end within ${PATIENCE / 1000} seconds. Look for a loop that never ends, and check the cells first.`,
      );
    }
  }
}
