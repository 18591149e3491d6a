/** Moves the probe of one picture: by pointer over its canvas, or by keys while it has the focus. */

import { nearestStop, readStop, stopAfter } from "../plot/probe.js";

/** @typedef {import("../plot/probe.js").Stop} Stop */
/** @typedef {{ panel: import("../plot/panel.js").Panel, columns: import("../plot/panel.js").Columns, frame: import("../plot/panel.js").Frame }} Sight */

/** Milliseconds that keys must rest before what they led to is said: whoever holds one down hears only where it ends. */
const REST = 150;

export class PanelProbe {
  /** @type {Stop | null} */
  #stop = null;
  #waiting = 0;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {object} owner
   * @param {() => Sight | undefined} owner.sight  what the picture shows now
   * @param {(words: string, live: "polite" | "off") => void} owner.say
   * @param {() => void} owner.moved
   */
  constructor(canvas, { sight, say, moved }) {
    this.sight = sight;
    this.say = say;
    this.moved = moved;
    for (const type of ["pointermove", "pointerdown", "pointerleave", "keydown", "focus", "blur"]) {
      canvas.addEventListener(type, this);
    }
  }

  /** What the probe stands at; null while it is nowhere. */
  get reading() {
    const seen = this.#stop && this.sight();
    return seen && this.#stop ? readStop(seen.panel, seen.columns, this.#stop) : null;
  }

  /** Other data under a probe that stays where it is. */
  refresh() {
    if (this.#stop && !this.#waiting) this.say(this.reading?.words ?? "", "off");
  }

  /** @param {Event} event */
  handleEvent(event) {
    const canvas = /** @type {HTMLCanvasElement} */ (event.currentTarget);
    if (event.type === "keydown") this.#press(/** @type {KeyboardEvent} */ (event));
    else if (event.type === "focus") {
      if (!this.#stop && canvas.matches(":focus-visible")) this.#lead("Home");
    } else if (event.type === "blur") this.#go(null);
    else if (event.type === "pointerleave") {
      // A finger leaves when it is lifted, and then wants to read what it pointed at.
      const { pointerType } = /** @type {PointerEvent} */ (event);
      if (pointerType === "mouse" && document.activeElement !== canvas) this.#go(null);
    } else this.#point(/** @type {PointerEvent} */ (event));
  }

  /** @param {PointerEvent} event */
  #point({ offsetX: x, offsetY: y }) {
    const seen = this.sight();
    if (seen) this.#go(nearestStop(seen.panel, seen.columns, seen.frame, { x, y }));
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (this.#lead(event.key)) event.preventDefault();
  }

  /** @param {string} key @returns {boolean} whether it leads anywhere */
  #lead(key) {
    const seen = this.sight();
    const stop = seen && stopAfter(seen.panel, seen.columns, this.#stop, key);
    if (!stop) return false;
    this.#stop = stop;
    this.moved();
    clearTimeout(this.#waiting);
    this.#waiting = window.setTimeout(() => {
      this.#waiting = 0;
      this.say(this.reading?.words ?? "", "polite");
    }, REST);
    return true;
  }

  /** @param {Stop | null} stop  where the pointer is */
  #go(stop) {
    clearTimeout(this.#waiting);
    this.#waiting = 0;
    this.#stop = stop;
    this.say(this.reading?.words ?? "", "off");
    this.moved();
  }
}
