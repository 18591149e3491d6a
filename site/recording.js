/**
 * A run that the build recorded, played back through the same door as a live one: `ask` answers `open` and `advance`
 * with what Python answered then. It is what a bench shows where Python cannot start.
 */
export class Recording {
  #opened;
  #advanced;
  #position = 0;

  /** @param {{ opened: object, advanced: object[] }} run  one reply a step */
  constructor({ opened, advanced }) {
    this.#opened = opened;
    this.#advanced = advanced;
  }

  /** @param {{ kind?: string }} request */
  async ask(request) {
    if (request.kind === "open") {
      this.#position = 0;
      return this.#opened;
    }
    return this.#advanced[this.#position++];
  }
}
