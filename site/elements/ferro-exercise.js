/**
 * An exercise: a cell to write code in, its output, and a verdict that is found elsewhere than where the code runs.
 *
 * In `data-state`: idle, running (a run or a check), passed, not-yet, broken (our check failed), stopped. Out: the event
 * `ferro-graded` with `{ exercise, outcome }` after each check.
 */

import { DeadlineError, FaultError, LostError, StoppedError } from "../client.js";
import { openEditor } from "../editor/editor.js";
import { gradeMarkup, solutionMarkup, troubleMarkup, valueMarkup, withCode } from "./exercise-markup.js";

/** @typedef {import("./exercise-markup.js").Exercise} Exercise */
/** @typedef {import("../protocol.js").Chunk} Chunk */
/** @typedef {"idle" | "running" | "passed" | "not-yet" | "broken" | "stopped"} State */

/** How long one check may take, in milliseconds. */
const DEADLINE = 5000;

/** After so many checks that did not pass the solution may be seen; or after all hints. */
const ATTEMPTS = 2;

/** @type {any} */
const unset = undefined;

export class FerroExercise extends HTMLElement {
  /** @type {import("../pool.js").Pool} */ static pool = unset;
  /** @type {import("../cells.js").Cells} */ static cells = unset;
  /** @type {import("../store/work.js").Work} */ static work = unset;
  /** Address of the editor's script. */
  static editor = "";

  /** @type {Exercise} */ #exercise = unset;
  /** @type {import("../editor/editor.js").Editor} */ #editor = unset;
  #replacing = false; // whether the text is being changed by us, and not by the reader
  #hints = 0;
  #failures = 0;
  #activity = 0; // counts runs and checks; what comes in for an earlier one is dropped
  /** Stops the last run or check. */
  #stopper = new AbortController();
  #listening = new AbortController();

  connectedCallback() {
    const script = this.querySelector("script[type='application/json']");
    const textarea = this.querySelector("textarea");
    if (!script || !textarea) return;
    this.#exercise = JSON.parse(script.textContent ?? "");
    const { exercise: name, number, title, starter, scope } = this.#exercise;
    const opened = FerroExercise.work.open(name, starter);
    textarea.value = opened.text;
    this.#editor = openEditor(textarea, {
      address: FerroExercise.editor,
      label: `Exercise ${number}: ${title}`,
      describedBy: `exercise-${name}-keys`,
      names: scope.map(({ name, meaning, shape }) => ({
        name,
        detail: [shape, meaning.replaceAll("`", "")].filter(Boolean).join(" "),
      })),
      onInput: () => this.#onInput(),
      onRun: () => this.#run(),
      onCheck: () => this.#check(),
    });
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    this.addEventListener("click", this, { signal });
    this.addEventListener("focusin", () => FerroExercise.pool.prepare(), { signal, once: true });
    FerroExercise.work.addEventListener("changed", (event) => this.#onElsewhere(event), { signal });
    FerroExercise.work.addEventListener("trouble", () => this.#showTrouble(), { signal });
    FerroExercise.cells.addEventListener("renewed", (event) => this.#onRenewed(event), { signal });
    this.#prepareWhenNear(signal);
    this.#showWork(opened);
    this.#showTrouble();
    this.#setState("idle", "");
  }

  disconnectedCallback() {
    this.#listening.abort();
    this.#editor?.close();
  }

  /** The text in the cell. */
  get source() {
    return this.#editor.text;
  }

  /** @returns {State} */
  get state() {
    return /** @type {State} */ (this.dataset.state ?? "idle");
  }

  /** @param {Event} event */
  handleEvent(event) {
    const button = /** @type {HTMLElement} */ (event.target).closest("button");
    if (!button?.dataset.action || button.getAttribute("aria-disabled") === "true") return;
    const { exercise: name, solution } = this.#exercise;
    switch (button.dataset.action) {
      case "run":
        this.#run();
        break;
      case "check":
        this.#check();
        break;
      case "stop":
        this.#stop();
        break;
      case "hint":
        this.#hint();
        break;
      case "solution":
        this.#showSolution();
        break;
      case "take":
        FerroExercise.work.reset(name); // what is there is set aside
        this.#editor.replace(solution);
        break;
      case "reset":
      case "offered":
        this.#put(FerroExercise.work.reset(name));
        break;
      case "recall":
        this.#put(FerroExercise.work.recall(name));
        break;
      case "keep":
        this.#showWork(FerroExercise.work.keep(name));
        break;
    }
  }

  // Running

  async #run() {
    const { exercise: name } = this.#exercise;
    const { running } = FerroExercise.cells;
    const sentence = running ? `This waits for the cell ${running}, which is running.` : "Running.";
    await this.#act("run", sentence, async (isCurrent, signal) => {
      const { source } = this;
      const output = this.#clearOutput();
      const onOutput = (/** @type {Chunk} */ chunk) => {
        if (isCurrent()) this.#print(output, chunk);
      };
      const outcome = await FerroExercise.cells.run(name, source, { onOutput, signal });
      if (!isCurrent()) return;
      const { value, trouble } = outcome;
      if (value) output.insertAdjacentHTML("beforeend", valueMarkup(value));
      if (trouble) this.#showTroubleOfCell(output, trouble, source);
      output.hidden = !output.hasChildNodes();
      if (trouble)
        this.#setState("idle", `${trouble.kind}. ${trouble.line ? `See line ${trouble.line}.` : ""}`);
      else this.#setState("idle", output.hidden ? "It ran, and printed nothing." : "It ran.");
    });
  }

  async #check() {
    const { exercise: name, number } = this.#exercise;
    await this.#act("check", "Checking on hidden inputs.", async (isCurrent, signal) => {
      const seed = crypto.getRandomValues(new Uint32Array(1))[0];
      const { source } = this;
      const { inputs } = await FerroExercise.pool.clean.ask({ kind: "pose", exercise: name, seed });
      if (!isCurrent()) return;
      const questions = inputs.map((/** @type {object} */ given, /** @type {number} */ check) => ({
        kind: "answer",
        exercise: name,
        check,
        source,
        inputs: given,
      }));
      const checking = FerroExercise.pool.check(questions, DEADLINE);
      signal.addEventListener("abort", () => FerroExercise.pool.stop("grader", checking));
      const replies = await checking;
      if (!isCurrent()) return;
      const answers = replies.map(answerOf);
      const grade = await FerroExercise.pool.clean.ask({ kind: "grade", exercise: name, seed, answers });
      if (!isCurrent()) return;
      if (this.source !== source) {
        this.#setState(
          "idle",
          "The text was changed while it was checked, so nothing is known of it. Check it again.",
        );
        return;
      }
      this.#place("verdict").innerHTML = grade.checks.length ? gradeMarkup(grade.checks, number) : "";
      if (grade.outcome === "not-yet") this.#failures++;
      const state = grade.outcome === "pass" ? "passed" : grade.outcome;
      this.#setState(state, `${grade.sentence} ${grade.hint}`.trim());
      const detail = { exercise: name, outcome: grade.outcome };
      this.dispatchEvent(new CustomEvent("ferro-graded", { bubbles: true, detail }));
    });
  }

  /**
   * One thing at a time, from its beginning to its end, however it ends.
   *
   * @param {"run" | "check"} what
   * @param {string} sentence
   * @param {(isCurrent: () => boolean, signal: AbortSignal) => Promise<void>} work
   */
  async #act(what, sentence, work) {
    if (this.state === "running") return;
    const activity = ++this.#activity;
    const isCurrent = () => activity === this.#activity;
    this.#stopper = new AbortController();
    this.#editor.clearError();
    const isLoading = FerroExercise.pool.clean.status.state === "loading";
    this.#setState(
      "running",
      isLoading ? "Python is still loading. This starts as soon as it is there." : sentence,
    );
    try {
      await work(isCurrent, this.#stopper.signal);
    } catch (error) {
      if (!isCurrent()) return;
      if (error instanceof StoppedError) this.#setState("stopped", "Stopped. Your text is as it was.");
      else if (what === "check") this.#setState("broken", `The check could not be made: ${messageOf(error)}`);
      else this.#setState("stopped", messageOf(error));
    }
  }

  #stop() {
    this.#stopper.abort();
    // Whatever comes of it, the reader's hands are free at once.
    this.#activity++;
    this.#setState("stopped", "Stopped. Your text is as it was.");
  }

  // Output

  #clearOutput() {
    const output = this.#place("output");
    output.replaceChildren();
    output.hidden = true;
    return output;
  }

  /**
   * @param {HTMLElement} output
   * @param {Chunk} chunk
   */
  #print(output, { stream, text }) {
    let last = output.lastElementChild;
    if (!(last instanceof HTMLPreElement) || last.dataset.stream !== stream) {
      last = document.createElement("pre");
      /** @type {HTMLElement} */ (last).dataset.stream = stream;
      output.append(last);
      output.hidden = false;
    }
    last.append(text); // as text, whatever it says
  }

  /**
   * @param {HTMLElement} output
   * @param {import("./exercise-markup.js").Trouble} trouble
   * @param {string} source  that ran
   */
  #showTroubleOfCell(output, trouble, source) {
    const { exercise: name } = this.#exercise;
    output.insertAdjacentHTML("beforeend", troubleMarkup(trouble, name));
    if (trouble.line !== null && trouble.cell === name && this.source === source) {
      this.#editor.markError(trouble.line, `${trouble.kind}: ${trouble.message}`);
    }
  }

  // Help

  #hint() {
    const { hints } = this.#exercise;
    if (this.#hints === hints.length) return;
    const item = document.createElement("li");
    item.innerHTML = withCode(hints[this.#hints++]);
    this.#place("hints").append(item); // a live region of its own: the verdict stays
    this.#allowHelp();
  }

  #showSolution() {
    this.#place("solution").innerHTML = solutionMarkup(this.#exercise.solution);
  }

  // Text

  #onInput() {
    if (this.#replacing) return;
    this.#showWork(FerroExercise.work.save(this.#exercise.exercise, this.source));
    this.#forgetVerdict();
  }

  /** A verdict is about a text, and goes with it. */
  #forgetVerdict() {
    this.#place("verdict").replaceChildren();
    if (this.state !== "running" && this.state !== "idle") {
      this.#setState("idle", "Changed since it was checked.");
    }
  }

  /** @param {import("../store/work.js").State} state */
  #put(state) {
    this.#replacing = true;
    const isOther = this.source !== state.text;
    if (isOther) this.#editor.replace(state.text);
    this.#replacing = false;
    if (isOther) this.#forgetVerdict();
    this.#showWork(state);
    this.#editor.clearError();
  }

  /** @param {Event} event */
  #onElsewhere(event) {
    const { cell, ...state } = /** @type {CustomEvent} */ (event).detail;
    if (cell !== this.#exercise.exercise) return;
    const isOther = this.source !== state.text;
    this.#put(state);
    if (isOther)
      this.#say(
        "The text of this cell was replaced, by another tab or a file. “Earlier text” brings yours back.",
      );
  }

  /** @param {import("../store/work.js").State} state */
  #showWork({ touched, offered, earlier }) {
    this.#allow("reset", touched);
    this.#allow("recall", earlier !== null);
    const offer = this.#place("offer");
    offer.hidden = offered === null;
    if (offered === null) offer.replaceChildren();
    else if (!offer.hasChildNodes()) {
      offer.innerHTML = `The lesson’s own text of this cell has changed since you began. Yours stands.
<button type="button" data-action="offered">Take the new text</button> <button type="button" data-action="keep">Keep mine</button>`;
    }
  }

  #showTrouble() {
    this.#place("trouble").textContent = FerroExercise.work.trouble;
  }

  /** @param {Event} event */
  #onRenewed(event) {
    const { reason, again, lost } = /** @type {CustomEvent} */ (event).detail;
    const { exercise: name } = this.#exercise;
    const isAsked = this.state === "stopped" || (this.state === "idle" && [...again, ...lost].includes(name));
    if (!isAsked) return;
    const fate = lost.includes(name)
      ? " This cell did not run again: run it."
      : again.length
        ? " The cells that had run before were run again."
        : "";
    this.#say(`${reason} Python was started anew.${fate} Your text is as it was.`);
  }

  // Showing

  /**
   * @param {State} state
   * @param {string} sentence
   */
  #setState(state, sentence) {
    this.dataset.state = state;
    const isRunning = state === "running";
    this.#allow("run", !isRunning);
    this.#allow("check", !isRunning);
    this.#allow("stop", isRunning);
    this.#allowHelp();
    this.#say(sentence);
  }

  #allowHelp() {
    const { hints } = this.#exercise;
    const isSeen = this.#hints === hints.length;
    this.#allow("hint", !isSeen);
    this.#allow("solution", this.#failures >= ATTEMPTS || isSeen || this.state === "passed");
  }

  /**
   * A button that cannot act stays in the tab order, so that pressing it does not lose the keyboard's place.
   *
   * @param {string} action
   * @param {boolean} possible
   */
  #allow(action, possible) {
    const button = /** @type {HTMLButtonElement | null} */ (this.querySelector(`[data-action=${action}]`));
    if (!button) return;
    button.disabled = false;
    button.setAttribute("aria-disabled", String(!possible));
  }

  /** @param {string} sentence */
  #say(sentence) {
    const status = this.querySelector("[role=status]");
    if (status) status.innerHTML = withCode(sentence);
  }

  /**
   * @param {string} part
   * @returns {HTMLElement}
   */
  #place(part) {
    const place = this.querySelector(`.exercise-${part}`);
    if (!(place instanceof HTMLElement)) throw new Error(`The exercise has no place for its ${part}.`);
    return place;
  }

  /** @param {AbortSignal} signal */
  #prepareWhenNear(signal) {
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      FerroExercise.pool.prepare();
    });
    observer.observe(this);
    signal.addEventListener("abort", () => observer.disconnect());
  }
}

/**
 * What one check came to: where Python was lost, not in time or not at all, and where it faulted we cannot judge.
 *
 * @param {any} reply
 */
function answerOf(reply) {
  if (reply instanceof FaultError) throw reply;
  if (reply instanceof DeadlineError) return { late: DEADLINE / 1000 };
  return reply instanceof LostError ? null : reply.answer;
}

/** @param {unknown} error */
const messageOf = (error) => (error instanceof Error ? error.message : String(error));
