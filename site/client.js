/**
 * The page's end of the worker: starts it, notices when it fails or falls silent, queues questions until Python is
 * ready, and matches answers to questions.
 */

import { ask, boot } from "./protocol.js";

/** @typedef {import("./protocol.js").FromWorker} FromWorker */
/** @typedef {import("./protocol.js").RuntimeFile} RuntimeFile */
/** @typedef {{ worker: string, base: string, files: RuntimeFile[], packages: string[] }} RuntimeConfig */
/** @typedef {{ state: "loading" | "ready" | "failed", stage: string, received: number, total: number }} Status */
/** @typedef {{ message: import("./protocol.js").Ask, resolve: (reply: any) => void, reject: (error: Error) => void }} Question */

/** Python said no, or could not be asked. Its message is a sentence for the reader. */
export class ClientError extends Error {}

/** How long the worker may be silent at each stage, in milliseconds. */
const SILENCE = { script: 9000, start: 60000, answer: 10000 };

/** Fires `status` whenever `status` changes. */
export class Client extends EventTarget {
  /** @type {Status} */
  status = { state: "loading", stage: "Downloading Python", received: 0, total: 0 };
  /** @type {Map<number, Question>} */
  #questions = new Map();
  /** @type {Worker | undefined} */
  #worker;
  #lastId = 0;
  #listening = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #watchdog;
  #config;
  #makeWorker;

  /**
   * @param {RuntimeConfig} config
   * @param {(url: string) => Worker} [makeWorker]
   */
  constructor(config, makeWorker = (url) => new Worker(url, { type: "module" })) {
    super();
    this.#config = config;
    this.#makeWorker = makeWorker;
  }

  /** Start, or start anew after a failure. */
  start() {
    const { worker: url, base, files, packages } = this.#config;
    this.#setStatus("loading", "Downloading Python");
    try {
      const worker = this.#makeWorker(url);
      this.#worker = worker;
      // What a terminated worker had under way may still arrive.
      worker.onmessage = ({ data }) => {
        if (worker === this.#worker) this.#receive(data);
      };
      worker.onerror = (event) => {
        event.preventDefault();
        if (worker !== this.#worker) return;
        this.#fail(
          `The script ${url.split("/").at(-1)} did not run${event.message ? ` (${event.message})` : ": it is missing, blocked, or sent as something else than a script"}.`,
        );
      };
      this.#watch(SILENCE.script, `The script ${url.split("/").at(-1)} did not start.`);
      worker.postMessage(boot(base, files, packages));
    } catch (error) {
      this.#fail(`This browser refused to start a worker. ${/** @type {Error} */ (error).message}`);
    }
  }

  /**
   * Ask Python. Before it is ready the question waits; after a failure it is refused.
   *
   * @param {object} request
   * @returns {Promise<any>}  the reply
   */
  ask(request) {
    if (this.status.state === "failed") return Promise.reject(new ClientError(this.status.stage));
    const message = ask(++this.#lastId, request);
    return new Promise((resolve, reject) => {
      const question = { message, resolve, reject };
      this.#questions.set(message.id, question);
      if (this.status.state === "ready") this.#send(question);
    });
  }

  /** @param {Question} question */
  #send({ message }) {
    this.#worker?.postMessage(message);
    if (!this.#listening) this.#listen();
  }

  /** @param {FromWorker} message */
  #receive(message) {
    switch (message.kind) {
      case "progress":
        this.#watch(SILENCE.start, `Python did not get past this stage: ${message.stage}.`);
        this.#setStatus("loading", message.stage, message.received, message.total);
        break;
      case "ready":
        clearTimeout(this.#watchdog);
        for (const question of this.#questions.values()) this.#send(question);
        this.#setStatus("ready", "Python is ready"); // last, for whoever hears of it may ask at once
        break;
      case "failed":
        this.#fail(message.sentence);
        break;
      case "answer": {
        const reply = JSON.parse(message.reply);
        this.#settle(message.id, (question) =>
          reply.kind === "refused"
            ? question.reject(new ClientError(reply.sentence))
            : question.resolve(reply),
        );
        break;
      }
      case "fault":
        this.#settle(message.id, (question) => question.reject(new ClientError(message.sentence)));
        break;
    }
  }

  /**
   * @param {number} id
   * @param {(question: Question) => void} how
   */
  #settle(id, how) {
    const question = this.#questions.get(id);
    this.#questions.delete(id);
    this.#listening = false;
    clearTimeout(this.#watchdog);
    if (this.#questions.size > 0) this.#listen();
    if (question) how(question);
  }

  /** Expect an answer. The time runs from the last one that came, so further questions do not put it off. */
  #listen() {
    this.#listening = true;
    this.#watch(SILENCE.answer, "Python has stopped answering.");
  }

  /** @param {string} sentence */
  #fail(sentence) {
    clearTimeout(this.#watchdog);
    this.#listening = false;
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#setStatus("failed", sentence);
    const questions = [...this.#questions.values()];
    this.#questions.clear();
    for (const question of questions) question.reject(new ClientError(sentence));
  }

  /**
   * @param {number} milliseconds
   * @param {string} sentence
   */
  #watch(milliseconds, sentence) {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => this.#fail(sentence), milliseconds);
  }

  /** @type {(state: Status["state"], stage: string, received?: number, total?: number) => void} */
  #setStatus(state, stage, received = 0, total = 0) {
    this.status = { state, stage, received, total };
    this.dispatchEvent(new Event("status"));
  }
}
