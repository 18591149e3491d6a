/**
 * A bench: settings, the four training buttons, the panels and the verdict. All it knows of its problem comes from the
 * description that the build baked into it.
 *
 * In `data-state`: idle, loading (Train was pressed before Python was there), running, paused, passed, not-yet, diverged,
 * failed. Out: the event `ferro-values` with `{ bench, values }` whenever the live numbers change.
 */

import { Recording } from "../recording.js";

/** @typedef {import("../client.js").Client} Client */
/** @typedef {import("./bench-markup.js").Description} Description */
/** @typedef {import("./bench-markup.js").Control} Control */
/** @typedef {import("./ferro-panel.js").FerroPanel} FerroPanel */
/** @typedef {import("../plot/panel.js").Columns} Columns */
/** @typedef {{ columns: Columns, values: Record<string, string> }} Sight  a run at its first iterate */
/** @typedef {"idle" | "loading" | "running" | "paused" | "passed" | "not-yet" | "diverged" | "failed"} State */

/** Milliseconds between two iterates: slow enough to see the curve slide, fast enough not to wait for it. */
const PACE = 70;

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

export class FerroBench extends HTMLElement {
  /** @type {Client} */
  static client;

  /** @type {Description} */ #description = JSON.parse("null");
  /** @type {Sight} */ #first = { columns: {}, values: {} };
  /** @type {Record<string, (number | null)[]>} */ #columns = {};
  /** @type {Record<string, number | string>} */ #settings = {};
  /** @type {Map<string, string>} */ #refusals = new Map();
  /** @type {Pick<Client, "ask">} */ #answerer = FerroBench.client;
  /** @type {Promise<void> | undefined} */ #opened;
  #generation = 0; // replies to an earlier run are stale and dropped
  #onStatus = () => this.#followRuntime();

  connectedCallback() {
    const script = this.querySelector("script[type='application/json']");
    if (!script) return;
    this.#description = JSON.parse(script.textContent ?? "");
    this.#first = this.#description;
    this.#columns = copyOf(this.#first.columns);
    for (const control of this.#description.controls) this.#settings[control.key] = control.default;
    this.addEventListener("click", this);
    this.addEventListener("input", this);
    this.addEventListener("change", this);
    for (const field of this.#fields()) field.disabled = false;
    FerroBench.client.addEventListener("status", this.#onStatus);
    this.#showFirst();
    this.#setState("idle", "");
    this.#followRuntime();
  }

  disconnectedCallback() {
    this.#generation++;
    FerroBench.client.removeEventListener("status", this.#onStatus);
  }

  /** @returns {State} */
  get state() {
    return /** @type {State} */ (this.dataset.state ?? "idle");
  }

  /** @param {Event} event */
  handleEvent(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const action = target.closest("button")?.dataset.action;
    if (event.type === "click" && action) this.#act(action);
    if (event.type !== "click" && target.dataset.key) {
      const field = /** @type {HTMLInputElement} */ (target);
      // A text field is judged when it is left, not while a number is half typed.
      if (event.type === "change" || field.type === "range") this.#change(field);
    }
  }

  /** @param {string} action */
  #act(action) {
    // A button that cannot act stays in the tab order, so that pressing it does not lose the keyboard's place.
    if (this.querySelector(`[data-action="${action}"]`)?.getAttribute("aria-disabled") === "true") return;
    if (action === "train") this.#train();
    if (action === "step") this.#oneStep();
    if (action === "pause") this.#pause();
    if (action === "restart") this.#restart("");
    if (action === "recording") this.#playRecording();
  }

  // Settings

  /** @param {HTMLInputElement} field */
  #change(field) {
    const key = field.dataset.key ?? "";
    const control = this.#description.controls.find((candidate) => candidate.key === key);
    if (!control) return;
    const { value, refusal } = readControl(control, field.value);
    this.#showRefusal(field, refusal);
    if (refusal) {
      this.#refusals.set(key, refusal);
      return;
    }
    this.#refusals.delete(key);
    for (const twin of this.#fields())
      if (twin.dataset.key === key && twin !== field) twin.value = String(value);
    if (this.#settings[key] === value) return;
    this.#settings[key] = value;
    this.#restart("");
  }

  /**
   * @param {HTMLInputElement} field
   * @param {string} refusal
   */
  #showRefusal(field, refusal) {
    const control = field.closest(".control");
    const line = control?.querySelector(".control-refusal");
    if (line) line.textContent = refusal;
    control?.querySelector("input[type=text]")?.setAttribute("aria-invalid", String(refusal !== ""));
  }

  /** @returns {NodeListOf<HTMLInputElement>} */
  #fields() {
    return this.querySelectorAll("[data-key]");
  }

  // Training

  async #train() {
    if (!(await this.#begin())) return;
    const generation = this.#generation;
    const steps = reducedMotion.matches ? this.#description.budget + 1 : 1;
    this.#setState("running", "Training.");
    await this.#guard(generation, async () => {
      while (generation === this.#generation && this.state === "running") {
        const frame = nextFrame(steps === 1 ? PACE : 0);
        await this.#advance(generation, steps);
        await frame;
      }
    });
    this.#rest(generation);
  }

  async #oneStep() {
    if (!(await this.#begin())) return;
    const generation = this.#generation;
    this.#setState("paused", "");
    await this.#guard(generation, () => this.#advance(generation, 1));
    this.#rest(generation);
  }

  /**
   * Say where a run rests, once the step that was under way has come in.
   * @param {number} generation
   */
  #rest(generation) {
    if (generation !== this.#generation || this.state !== "paused") return;
    this.#say(`Paused at iteration ${this.#columns.iteration.at(-1)}.`);
    this.#settle();
  }

  /** Wait for Python and an open run; false if something else was asked for meanwhile, or if it cannot be. */
  async #begin() {
    if (this.#refusals.size) {
      this.#say(`Not started. ${[...this.#refusals.values()].join(" ")}`);
      return false;
    }
    if (isEnded(this.state)) this.#restart("");
    const generation = this.#generation;
    if (this.#answerer === FerroBench.client && FerroBench.client.status.state !== "ready") {
      this.#setState("loading", "Python is still loading. Training starts as soon as it is there.");
    }
    return this.#guard(generation, () => (this.#opened ??= this.#open()));
  }

  #pause() {
    if (this.state === "loading") {
      this.#restart("The waiting run was cancelled.");
    } else {
      this.#setState("paused", "");
    }
  }

  /**
   * Drop the run and go back to the first iterate.
   * @param {string} sentence
   */
  #restart(sentence) {
    const generation = ++this.#generation;
    this.#opened = undefined;
    this.#checksTable().hidden = true;
    this.#setState("idle", sentence);
    this.#showFirst();
    // The first prediction from other settings needs Python, and comes when it is there.
    if (this.#answerer !== FerroBench.client || FerroBench.client.status.state === "ready") {
      this.#guard(generation, () => (this.#opened = this.#open()));
    }
  }

  async #open() {
    const generation = this.#generation;
    const opened = await this.#answerer.ask({
      kind: "open",
      run: this.#description.bench,
      bench: this.#description.bench,
      settings: this.#settings,
    });
    if (generation !== this.#generation) return;
    this.#first = opened;
    this.#showFirst();
  }

  /**
   * @param {number} generation
   * @param {number} steps
   */
  async #advance(generation, steps) {
    const reply = await this.#answerer.ask({ kind: "advance", run: this.#description.bench, steps });
    if (generation !== this.#generation) return;
    Object.assign(this.#columns, reply.replace);
    for (const [name, entries] of Object.entries(reply.append)) this.#columns[name].push(...entries);
    this.#show();
    this.#announce(reply.values);
    if (reply.result) this.#finish(reply.result);
  }

  /** @param {{ state: State, sentence: string, checks: Check[] }} result */
  #finish({ state, sentence, checks }) {
    const table = this.#checksTable();
    table.hidden = false;
    table.tBodies[0].replaceChildren(...checks.map(checkRow));
    this.#setState(state, sentence);
    this.#settle();
  }

  /**
   * Do something that may fail; what failed is said in the status line.
   *
   * @param {number} generation
   * @param {() => Promise<void> | undefined} action
   * @returns {Promise<boolean>}  whether the bench is still at the same run
   */
  async #guard(generation, action) {
    try {
      await action();
      return generation === this.#generation;
    } catch (error) {
      if (generation === this.#generation) {
        this.#opened = undefined;
        this.#setState("failed", /** @type {Error} */ (error).message);
      }
      return false;
    }
  }

  // The runtime

  #followRuntime() {
    const { state } = FerroBench.client.status;
    if (state === "failed") this.#offerRecording();
    else this.querySelector("[data-action=recording]")?.remove();
    if (state !== "ready") return;
    const recorded = this.#answerer !== FerroBench.client;
    this.#answerer = FerroBench.client;
    for (const field of this.#fields()) field.disabled = false;
    if (recorded || this.state === "idle" || this.state === "failed") this.#restart("");
  }

  #offerRecording() {
    if (this.querySelector("[data-action=recording]")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.action = "recording";
    button.textContent = "Play the recorded run";
    this.querySelector(".bench-buttons")?.append(button);
  }

  async #playRecording() {
    const generation = ++this.#generation;
    await this.#guard(generation, async () => {
      const response = await fetch(this.#description.recording);
      if (!response.ok)
        throw new Error(`The recorded run is missing on the server (it answered ${response.status}).`);
      this.#answerer = new Recording(await response.json());
      for (const field of this.#fields()) field.disabled = true; // it was recorded with one setting only
    });
    if (generation !== this.#generation) return;
    this.#restart("");
    this.#train();
  }

  // Showing

  /**
   * @param {State} state
   * @param {string} sentence
   */
  #setState(state, sentence) {
    this.dataset.state = state;
    const can = {
      train: state !== "running" && state !== "loading",
      step: state !== "running" && state !== "loading" && !isEnded(state),
      pause: state === "running" || state === "loading",
      restart: true,
    };
    for (const [action, possible] of Object.entries(can)) {
      const button = /** @type {HTMLButtonElement} */ (this.querySelector(`[data-action=${action}]`));
      button.disabled = false;
      button.setAttribute("aria-disabled", String(!possible));
    }
    this.#say(sentence);
  }

  /** @param {string} sentence */
  #say(sentence) {
    const status = this.querySelector("[role=status]");
    if (status) status.textContent = sentence;
  }

  #showFirst() {
    this.#columns = copyOf(this.#first.columns);
    this.#show({ fresh: true });
    this.#announce(this.#first.values);
    this.#settle();
  }

  /** @param {{ fresh?: boolean }} [options] */
  #show(options) {
    for (const [i, view] of this.#panels().entries()) {
      view.show(this.#description.panels[i], this.#columns, options);
    }
  }

  #settle() {
    for (const view of this.#panels()) view.settle();
  }

  /** @param {Record<string, string>} values */
  #announce(values) {
    const detail = { bench: this.#description.bench, values };
    this.dispatchEvent(new CustomEvent("ferro-values", { bubbles: true, detail }));
  }

  /** @returns {FerroPanel[]} */
  #panels() {
    return [.../** @type {NodeListOf<FerroPanel>} */ (this.querySelectorAll("ferro-panel"))];
  }

  #checksTable() {
    return /** @type {HTMLTableElement} */ (this.querySelector(".bench-checks"));
  }
}

/** @typedef {{ name: string, passed: boolean, value: string, limit: string, because: string, advice: string }} Check */

/** @param {State} state */
const isEnded = (state) => ["passed", "not-yet", "diverged"].includes(state);

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

/** @param {Check} check */
function checkRow({ name, passed, value, limit, because, advice }) {
  const row = document.createElement("tr");
  row.dataset.passed = String(passed);
  row.insertCell().textContent = passed ? "✓ pass" : "✗ not yet";
  const asked = row.insertCell();
  asked.textContent = name;
  const reason = document.createElement("small");
  reason.textContent = passed ? because : advice;
  asked.append(reason);
  row.insertCell().textContent = value;
  row.insertCell().textContent = limit;
  return row;
}

/** @param {number} milliseconds */
const nextFrame = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** @param {Columns} columns */
const copyOf = (columns) => structuredClone(/** @type {Record<string, (number | null)[]>} */ (columns));
