/**
 * The settings of a bench: their markup, what they hold, and the refusal of what they cannot take.
 */

import { escapeText } from "../plot/svg.js";

/**
 * @typedef {object} NumberControl
 * @property {"number"} kind
 * @property {string} key
 * @property {string} symbol
 * @property {string} name
 * @property {string} unit
 * @property {number} default
 * @property {[number, number]} bounds
 * @property {number} increment
 *
 * @typedef {object} ChoiceControl
 * @property {"choice"} kind
 * @property {string} key
 * @property {string} name
 * @property {string} default
 * @property {Record<string, string>} options
 *
 * @typedef {NumberControl | ChoiceControl} Control
 */

/**
 * @param {string} bench
 * @param {Control} control
 */
export function controlMarkup(bench, control) {
  const id = `${bench}-${control.key}`;
  if (control.kind === "choice") {
    const options = Object.entries(control.options).map(
      ([value, label]) => `<option value="${escapeText(value)}">${escapeText(label)}</option>`,
    );
    return `<div class="control"><label for="${id}">${escapeText(control.name)}</label>
<select id="${id}" data-key="${escapeText(control.key)}" autocomplete="off" disabled>${options.join("")}</select></div>`;
  }
  const [low, high] = control.bounds;
  const unit = control.unit ? ` (${escapeText(control.unit)})` : "";
  return `<div class="control"><label for="${id}"><var>${escapeText(control.symbol)}</var> ${escapeText(control.name)}${unit}</label>
<input type="range" autocomplete="off" data-key="${escapeText(control.key)}" aria-label="${escapeText(control.symbol)} ${escapeText(control.name)}${unit}, slider" min="${low}" max="${high}" step="${control.increment}" value="${control.default}" disabled>
<input type="text" id="${id}" data-key="${escapeText(control.key)}" inputmode="decimal" autocomplete="off" aria-describedby="${id}-refusal" value="${control.default}" disabled>
<p class="control-refusal" id="${id}-refusal" aria-live="polite"></p></div>`;
}

/**
 * What was typed, as a value, or a sentence that says what the control accepts.
 *
 * @param {Control} control
 * @param {string} text
 * @returns {{ value: number | string, refusal: string }}
 */
export function readControl(control, text) {
  if (control.kind === "choice") return { value: text, refusal: "" };
  const [low, high] = control.bounds;
  const value = text.trim() === "" ? Number.NaN : Number(text.trim().replace(",", ".").replaceAll("−", "-"));
  if (Number.isFinite(value) && low <= value && value <= high) return { value, refusal: "" };
  const unit = control.unit ? ` ${control.unit}` : "";
  const given = text.trim() === "" ? "this is empty" : `“${text.trim()}” is not`;
  return { value, refusal: `The ${control.name} must be a number from ${low} to ${high}${unit}; ${given}.` };
}

/** The controls inside a bench, in step with each other. */
export class BenchControls {
  /** @type {Record<string, number | string>} */
  settings = {};
  /** @type {Map<string, string>} */
  #refusals = new Map();
  #root;
  #controls;

  /**
   * @param {HTMLElement} root  what the controls are in
   * @param {Control[]} controls
   */
  constructor(root, controls) {
    this.#root = root;
    this.#controls = controls;
    this.reset();
  }

  /** Sentences that say which controls hold what they cannot take; empty if none does. */
  get refusal() {
    return [...this.#refusals.values()].join(" ");
  }

  /** Back to the values at first. */
  reset() {
    for (const control of this.#controls) this.#hold(control, control.default);
  }

  /** Write into the fields what is set. */
  show() {
    for (const control of this.#controls) this.#hold(control, this.settings[control.key]);
  }

  /** @param {boolean} usable */
  enable(usable) {
    for (const field of this.#fields()) field.disabled = !usable;
  }

  /**
   * Take over what a field says.
   * @param {HTMLInputElement} field
   * @returns {boolean}  whether a setting is another one now
   */
  take(field) {
    const control = this.#controls.find(({ key }) => key === field.dataset.key);
    if (!control) return false;
    const { value, refusal } = readControl(control, field.value);
    if (refusal) {
      this.#refusals.set(control.key, refusal);
      this.#showRefusal(control.key, refusal);
      return false;
    }
    const before = this.settings[control.key];
    this.#hold(control, value, field);
    return before !== value;
  }

  /**
   * @param {Control} control
   * @param {number | string} value
   * @param {HTMLInputElement} [source]  the field that it came from, which keeps it as it was typed
   */
  #hold({ key }, value, source) {
    this.settings[key] = value;
    this.#refusals.delete(key);
    this.#showRefusal(key, "");
    for (const field of this.#fields(key)) if (field !== source) field.value = String(value);
  }

  /**
   * @param {string} key
   * @param {string} refusal
   */
  #showRefusal(key, refusal) {
    for (const field of this.#fields(key)) {
      if (field.type !== "text") continue;
      field.setAttribute("aria-invalid", String(refusal !== ""));
      const line = field.parentElement?.querySelector(".control-refusal");
      if (line) line.textContent = refusal;
    }
  }

  /**
   * @param {string} [key]  of one control; all of them without
   * @returns {NodeListOf<HTMLInputElement>}
   */
  #fields(key) {
    return this.#root.querySelectorAll(key === undefined ? "[data-key]" : `[data-key="${key}"]`);
  }
}
