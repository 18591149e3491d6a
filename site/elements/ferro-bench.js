/**
 * A bench: settings, the four training buttons, the panels and the verdict. All it knows of its problem comes from the
 * description that the build baked into it.
 *
 * In `data-state`: idle, loading (Train was pressed before Python was there), running, paused, passed, not-yet, diverged,
 * failed. Out: the event `ferro-values` with `{ bench, values }` whenever the live numbers change.
 */

import { Own } from "../own.js";
import { escapeText } from "../plot/svg.js";
import { Recording } from "../recording.js";
import { BenchControls } from "./bench-controls.js";
import { checkRows, panelsMarkup, readoutMarkup } from "./bench-markup.js";

/** @typedef {import("../client.js").Client} Client */
/** @typedef {import("./bench-markup.js").Check} Check */
/** @typedef {import("./bench-markup.js").Description} Description */
/** @typedef {import("./ferro-panel.js").FerroPanel} FerroPanel */
/** @typedef {import("../plot/panel.js").Columns} Columns */
/** @typedef {"idle" | "loading" | "running" | "paused" | "passed" | "not-yet" | "diverged" | "failed"} State */
/** @typedef {Pick<Description, "readout" | "panels" | "columns" | "values" | "checks"> & { engine?: string, program?: string }} Sight  a run at its first iterate */
/** @typedef {Pick<Client, "ask">} Answerer */

/** Milliseconds from one iterate to the next: the first ones, which go far, are given time to be seen. */
const pace = (/** @type {number} */ iteration) => 60 + 600 * Math.exp(-iteration / 2);

/** Iterates a request where nothing is to move: few enough that Pause is heard between two requests. */
const SLICE = 10;

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

/** @type {any} */
const unset = undefined;

/** One run, from Start over to Start over. What comes in for a run that is no longer the bench's own is dropped. */
class Run {
  /** How many further iterates are wanted: none at rest, one for a step, no end of them for training. */
  wanted = 0;
  /** Whether somebody is pulling it already; there must not be two. */
  pulled = false;
  /** Whether an answer is under way. */
  isAsking = false;
  /** @type {Promise<void> | undefined} */
  opened;

  /** @param {Answerer} answerer  Python, Python with the reader's own code, or a recording */
  constructor(answerer) {
    this.answerer = answerer;
  }

  /** @param {object} request */
  async ask(request) {
    this.isAsking = true;
    try {
      return await this.answerer.ask(request);
    } finally {
      this.isAsking = false;
    }
  }
}

export class FerroBench extends HTMLElement {
  /** @type {Client} */
  static client;
  /** Makes what answers when a bench is trained with the code in some exercises. @type {(exercises: string[]) => Own} */
  static own;

  // The three that follow are set when the element is connected, before anything can read them.
  /** @type {Description} */ #description = unset;
  /** @type {BenchControls} */ #controls = unset;
  /** @type {Sight} */ #first = unset;
  /** @type {Record<string, (number | null)[]>} */ #columns = {};
  #run = new Run(FerroBench.client);
  #opening = Promise.resolve(); // one run is opened at a time, and only if it is still wanted by then
  /** @type {Own | undefined} */ #own;
  #sentence = "";
  #arranged = ""; // keys of the panels that are there
  #onStatus = () => this.#followRuntime();
  // A browser may fill in, after going back, what the fields held when the page was left.
  #onShow = () => this.#controls.show();

  connectedCallback() {
    const script = this.querySelector("script[type='application/json']");
    if (!script) return;
    this.#description = JSON.parse(script.textContent ?? "");
    this.#first = this.#description;
    this.#controls = new BenchControls(this, this.#description.controls);
    this.#controls.enable(true);
    this.addEventListener("click", this);
    this.addEventListener("input", this);
    this.addEventListener("change", this);
    window.addEventListener("pageshow", this.#onShow);
    FerroBench.client.addEventListener("status", this.#onStatus);
    this.#showFirst();
    this.#setState("idle", INVITATION);
    this.#followRuntime();
  }

  disconnectedCallback() {
    this.#run = new Run(FerroBench.client);
    window.removeEventListener("pageshow", this.#onShow);
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
    if (event.type === "change" && target.matches(".bench-code select")) {
      this.#choose(/** @type {HTMLSelectElement} */ (target).value === "mine");
    }
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
    if (action === "train") this.#want(Number.POSITIVE_INFINITY);
    if (action === "step") this.#want(1);
    if (action === "pause") this.#pause();
    if (action === "restart") this.#restart();
    if (action === "recording") this.#playRecording();
  }

  /** @param {HTMLInputElement} field */
  #change(field) {
    if (this.#controls.take(field)) {
      this.#restart();
      if (FerroBench.client.status.state === "loading") {
        this.#setState("idle", "The prediction from these settings appears as soon as Python is there.");
      }
    } else if (!this.#controls.refusal) {
      this.#say(this.#sentence); // in place of a refusal that no longer holds
    }
  }

  /** @param {boolean} mine  whether the reader's own code is to be trained with */
  #choose(mine) {
    this.#leave();
    this.#own = mine ? FerroBench.own(this.#description.own) : undefined;
    this.#own?.addEventListener("lost", () => this.#onLost());
    this.#run = new Run(this.#answerer);
    this.#restart(mine ? "Train now runs the code in your cells." : INVITATION);
  }

  /** The Python in which the reader's code was training is gone. */
  #onLost() {
    if (this.#run.answerer !== this.#own || !this.#run.opened || this.#run.isAsking || isEnded(this.state))
      return;
    // Not opened at once: that would run the cells, one of which may be what brought Python down.
    this.#restart("Python was started anew, and this run with it. Press Train.", { open: false });
  }

  /** @returns {Answerer} */
  get #answerer() {
    return this.#own ?? FerroBench.client;
  }

  /** The reader's code may be in a loop that never ends; nobody waits for it any more. */
  #leave() {
    if (this.#run.answerer instanceof Own && this.#run.isAsking) this.#run.answerer.stop();
  }

  // Training

  /** @param {number} iterates */
  #want(iterates) {
    if (this.#controls.refusal) {
      this.#say(`Not started. ${this.#controls.refusal}`);
      return;
    }
    if (isEnded(this.state)) this.#restart();
    this.#run.wanted = iterates;
    const waiting = this.#isLive && FerroBench.client.status.state === "loading";
    const training = this.#own?.isHeldUp ? "This waits for a cell that is running." : "Training.";
    this.#setState(
      waiting ? "loading" : "running",
      waiting ? "Python is still loading. This starts as soon as it is there." : training,
    );
    this.#pull(this.#run);
  }

  #pause() {
    this.#run.wanted = 0;
    if (this.state === "loading") this.#setState("idle", "The waiting run was cancelled.");
    else this.#rest();
  }

  /**
   * Bring in iterates as long as they are wanted.
   * @param {Run} run
   */
  async #pull(run) {
    if (run.pulled) return;
    run.pulled = true;
    try {
      await this.#open(run);
      while (run === this.#run && run.wanted > 0 && !isEnded(this.state)) {
        if (this.state === "loading") this.#setState("running", "Training.");
        const steps = Math.min(run.wanted, reducedMotion.matches ? SLICE : 1);
        const breath = wait(reducedMotion.matches ? 0 : pace(this.#columns.iteration.length));
        await this.#advance(run, steps);
        run.wanted -= steps;
        if (run.wanted > 0) await breath;
      }
      if (run === this.#run && isUnderWay(this.state)) this.#rest();
    } catch (error) {
      if (run === this.#run) this.#setState("failed", /** @type {Error} */ (error).message);
    } finally {
      run.pulled = false;
    }
  }

  #rest() {
    this.#setState("paused", `Paused at iteration ${this.#columns.iteration.at(-1)}.`);
    this.#settle();
  }

  /**
   * @param {Run} run
   * @returns {Promise<void>}
   */
  #open(run) {
    run.opened ??= this.#opening.then(async () => {
      if (run !== this.#run) return;
      const opened = await run.ask({
        kind: "open",
        run: this.#description.bench,
        bench: this.#description.bench,
        settings: this.#controls.settings,
      });
      if (run !== this.#run) return;
      this.#first = opened;
      this.#showFirst();
    });
    this.#opening = run.opened.catch(() => {}); // whoever awaits the run itself hears of a failure
    return run.opened;
  }

  /**
   * @param {Run} run
   * @param {number} steps
   */
  async #advance(run, steps) {
    const reply = await run.ask({ kind: "advance", run: this.#description.bench, steps });
    if (run !== this.#run) return;
    Object.assign(this.#columns, reply.replace);
    for (const [name, entries] of Object.entries(reply.append)) this.#columns[name].push(...entries);
    this.#show();
    this.#announce(reply.values);
    if (reply.result) this.#finish(reply.result);
  }

  /** @param {{ state: State, sentence: string, checks: Check[] }} result */
  #finish({ state, sentence, checks }) {
    this.#showChecks(checks);
    this.#setState(state, this.#isLive ? sentence : `${sentence} (Recorded when this page was built.)`);
    this.#settle();
  }

  /**
   * Drop the run and go back to the first iterate.
   * @param {string} [sentence]
   * @param {{ open?: boolean }} [options]  whether the new run is opened before anyone asks for more
   */
  #restart(sentence = INVITATION, { open = true } = {}) {
    this.#leave();
    this.#run = new Run(this.#run.answerer);
    this.#showFirst();
    this.#setState("idle", sentence);
    // The first prediction from other settings needs Python, and comes when it is there.
    if (open && (!this.#isLive || FerroBench.client.status.state === "ready")) this.#pull(this.#run);
  }

  // The runtime

  /** Whether Python answers, and not a recording of it. */
  get #isLive() {
    return !(this.#run.answerer instanceof Recording);
  }

  #followRuntime() {
    const { state } = FerroBench.client.status;
    if (state === "failed") this.#offerRecording();
    if (state !== "ready" || this.state === "loading") return;
    this.querySelector("[data-action=recording]")?.remove();
    const lost = !this.#isLive || isUnderWay(this.state);
    this.#run = new Run(this.#answerer);
    this.#controls.enable(true);
    if (isEnded(this.state) && !lost) return;
    this.#restart(lost ? "Python has been started anew, and the run with it." : INVITATION);
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
    const run = new Run(FerroBench.client);
    this.#run = run;
    try {
      const response = await fetch(this.#description.recording);
      if (!response.ok) throw new Error(`the server answered ${response.status}`);
      const recording = new Recording(await response.json());
      if (run !== this.#run) return; // Python, or the reader, was faster
      this.#run = new Run(recording);
    } catch (error) {
      const reason = /** @type {Error} */ (error).message;
      if (run === this.#run) this.#setState("failed", `The recorded run could not be fetched: ${reason}.`);
      return;
    }
    this.#own = undefined;
    for (const select of this.querySelectorAll("select")) if (!select.dataset.key) select.value = "built-in";
    this.#controls.reset(); // it was recorded with the settings at first, and with no others
    this.#controls.enable(false);
    this.#want(Number.POSITIVE_INFINITY);
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
    this.#sentence = sentence;
    this.#say(sentence);
  }

  /** @param {string} sentence */
  #say(sentence) {
    const status = this.querySelector("[role=status]");
    if (status) status.textContent = sentence;
  }

  #showFirst() {
    this.#columns = structuredClone(/** @type {Record<string, (number | null)[]>} */ (this.#first.columns));
    this.#arrange();
    this.#show({ fresh: true });
    this.#announce(this.#first.values);
    this.#showChecks(this.#first.checks);
    this.#showEngine(this.#first);
    this.#settle();
  }

  /** @param {Sight} sight  with the reader's own code: what differentiates it, and the program where there is one */
  #showEngine({ engine, program }) {
    const place = this.querySelector(".bench-engine");
    if (!place) return;
    const listing = program
      ? `<details><summary>The generated adjoint of your plant</summary><pre tabindex="0"><code>${escapeText(program)}</code></pre></details>`
      : "";
    place.innerHTML = this.#own && engine ? `<p>${escapeText(engine)}</p>${listing}` : "";
  }

  /** Other settings may ask for other pictures and numbers than those that are there. */
  #arrange() {
    const { panels, readout, columns, values, checks } = this.#first;
    const wanted = panels.map(({ key }) => key).join();
    if (wanted === this.#arranged) return;
    const [pictures, numbers] = [this.querySelector(".bench-panels"), this.querySelector(".bench-readout")];
    if (this.#arranged && pictures && numbers) {
      pictures.innerHTML = panelsMarkup(panels, columns, checks);
      numbers.innerHTML = readoutMarkup(this.#description.bench, readout, values);
    }
    this.#arranged = wanted;
  }

  /** @param {{ fresh?: boolean }} [options] */
  #show(options) {
    for (const [i, view] of this.#panels().entries()) {
      view.show(this.#first.panels[i], this.#columns, options);
    }
  }

  /** @param {Check[]} checks */
  #showChecks(checks) {
    const rows = this.querySelector(".bench-checks tbody");
    if (rows) rows.innerHTML = checkRows(checks);
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
}

const INVITATION = "Press Train, or follow the gradient One step at a time.";

/** @param {State} state */
const isEnded = (state) => ["passed", "not-yet", "diverged"].includes(state);

/** @param {State} state */
const isUnderWay = (state) => state === "running" || state === "paused";

/** @param {number} milliseconds */
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
