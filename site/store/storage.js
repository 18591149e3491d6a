/**
 * The browser's storage behind a guard: it may be blocked, full or missing, and never throws. It is the synchronous
 * one, since what was typed last has to be saved while the page is being left.
 */

/** @typedef {Pick<Storage, "getItem" | "setItem">} BareStorage */

export class GuardedStorage {
  #storage;

  /** @param {BareStorage} [storage] */
  constructor(storage = browserStorage()) {
    this.#storage = storage;
  }

  /**
   * @param {string} key
   * @returns {string | null | undefined}  null where nothing is stored, undefined where the browser will not say
   */
  read(key) {
    try {
      return this.#storage?.getItem(key);
    } catch {
      return undefined;
    }
  }

  /**
   * @param {string} key
   * @param {string} text
   * @returns {boolean}  whether it is stored
   */
  write(key, text) {
    if (!this.#storage) return false;
    try {
      this.#storage.setItem(key, text);
      return true;
    } catch {
      return false;
    }
  }
}

/** Where storage is blocked, a browser throws as soon as it is mentioned. */
function browserStorage() {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}
