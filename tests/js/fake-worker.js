import * as say from "../../site/protocol.js";

/** @typedef {import("../../site/protocol.js").FromWorker} FromWorker */

export const CONFIG = {
  worker: "https://host.test/assets/worker-1a2b.js",
  base: "https://host.test/runtime/",
  files: [],
  packages: ["numpy"],
};

/** Stands in for a worker: keeps what it was sent, says what a test makes it say. */
export class FakeWorker {
  /** @type {any[]} */
  sent = [];
  terminated = false;
  /** @type {(event: any) => void} */
  onmessage = () => {};
  /** @type {(event: any) => void} */
  onerror = () => {};

  /** @param {any} message */
  postMessage(message) {
    this.sent.push(message);
  }

  terminate() {
    this.terminated = true;
  }

  /** How it was told to start. */
  get boot() {
    return this.sent[0];
  }

  /** The requests it was asked, parsed. */
  get asked() {
    return this.sent
      .filter(({ kind }) => kind === "ask")
      .map(({ id, request }) => ({ id, ...JSON.parse(request) }));
  }

  /** The id of the question that it was asked last. */
  get id() {
    return this.asked.at(-1).id;
  }

  /** The ids of the questions that it was told to stop. */
  get stops() {
    return this.sent.filter(({ kind }) => kind === "stop").map(({ id }) => id);
  }

  /** @param {FromWorker} message */
  post(message) {
    this.onmessage({ data: { ...message, token: this.boot.token } });
  }

  /** @param {number} id @param {object} reply @param {number} [heap] */
  answer(id, reply, heap = 40e6) {
    this.post(say.answer(id, JSON.stringify(reply), heap));
  }
}
