/**
 * How a "×" is made: measures the same physics, run in several ways, on the reader's device, and divides whichever two
 * the reader chooses.
 */

import { number, speedRows } from "./speed-markup.js";

/** @typedef {import("./speed-markup.js").Ways} Ways */

/** How long each way is measured for, in milliseconds; and how many single rollouts one request asks for at most. */
const SPAN = 300;
const MOST = 2000;

/** @type {any} */
const unset = undefined;

export class FerroSpeed extends HTMLElement {
  /** @type {Pick<import("../client.js").Client, "ask">} */ static client = unset;

  /** @type {Ways} */ #described = unset;
  /** @type {Record<string, number>} */ #rates = {};
  #measuring = false;
  #listening = new AbortController();

  connectedCallback() {
    const script = this.querySelector("script[type='application/json']");
    if (!script) return;
    this.#described = JSON.parse(script.textContent ?? "");
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    for (const field of this.querySelectorAll("select, button")) field.removeAttribute("disabled");
    this.querySelector("button")?.addEventListener("click", () => this.#measure(), { signal });
    this.addEventListener("change", (event) => this.#onChange(event), { signal });
  }

  disconnectedCallback() {
    this.#listening.abort();
  }

  /** @param {Event} event */
  #onChange(event) {
    // A batch of another size runs at another rate.
    if (/** @type {HTMLElement} */ (event.target).dataset.choice === "batch") {
      for (const { way, batch } of this.#described.ways) if (batch) delete this.#rates[way];
    }
    this.#show();
  }

  async #measure() {
    if (this.#measuring) return;
    this.#measuring = true;
    this.#rates = {};
    this.querySelector("button")?.setAttribute("aria-disabled", "true");
    try {
      for (const { way, label, batch } of this.#described.ways) {
        this.#say(`Measuring: ${label}.`);
        this.#rates[way] = await this.#rate(way, batch ? Number(this.#choice("batch")) : 0);
        this.#show(false);
      }
      this.#show();
    } catch (error) {
      this.#say(/** @type {Error} */ (error).message);
    } finally {
      this.#measuring = false;
      this.querySelector("button")?.setAttribute("aria-disabled", "false");
    }
  }

  /**
   * Rollouts a second.
   *
   * @param {string} way
   * @param {number} size  of a batch; 0 for one rollout at a time
   */
  async #rate(way, size) {
    const roll = (/** @type {number} */ count) =>
      FerroSpeed.client.ask({ kind: "rollouts", bench: this.#described.bench, way, count });
    let count = size || 1;
    await roll(count); // the first one may have to compile
    let done = 0;
    const begun = performance.now();
    while (performance.now() - begun < SPAN) {
      await roll(count);
      done += count;
      if (!size) count = Math.min(2 * count, MOST); // few messages, so that they do not count
    }
    return (1000 * done) / (performance.now() - begun);
  }

  #show(say = true) {
    const rows = this.querySelector("tbody");
    if (rows) rows.innerHTML = speedRows(this.#described.ways, this.#rates);
    const [fast, baseline] = [this.#choice("fast"), this.#choice("baseline")];
    if (!say) return;
    if (!(fast in this.#rates) || !(baseline in this.#rates)) {
      this.#say("Measure to see this comparison.");
      return;
    }
    const ratio = this.#rates[fast] / this.#rates[baseline];
    this.#say(
      `${number(ratio)}×: “${this.#label(fast)}” against “${this.#label(baseline)}”, ${number(this.#rates[fast])} against ${number(this.#rates[baseline])} rollouts a second, on your device, now.`,
    );
  }

  /** @param {string} name */
  #choice(name) {
    return /** @type {HTMLSelectElement} */ (this.querySelector(`[data-choice=${name}]`)).value;
  }

  /** @param {string} way */
  #label(way) {
    return this.#described.ways.find((given) => given.way === way)?.label ?? way;
  }

  /** @param {string} sentence */
  #say(sentence) {
    const status = this.querySelector("[role=status]");
    if (status) status.textContent = sentence;
  }
}
