/**
 * A question to be answered before reading on. What the author wrote, a heading, the question, a `details` for each
 * choice with its reasoning and one with what follows, is hidden until the learner has committed to a choice, and is then
 * shown as it stands, the choices marked. The first commitment counts, here and when the matching question returns.
 *
 * In `data-state`: open, committed.
 */

import { dayInWords, today } from "../recall/day.js";

export class FerroPredict extends HTMLElement {
  /** @type {import("../store/progress.js").Progress} */
  static progress;

  #listening = new AbortController();

  connectedCallback() {
    if (!this.dataset.state) this.#addControls();
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    this.addEventListener("submit", this, { signal });
    FerroPredict.progress.addEventListener("changed", () => this.#show(), { signal });
    this.#show();
  }

  disconnectedCallback() {
    this.#listening.abort();
  }

  /**
   * What was predicted, in the words that it has on the page now; null where nothing was, or nothing that is still
   * among the choices.
   */
  get predicted() {
    for (const { choice, day } of FerroPredict.progress.predictions(this.#name)) {
      const chosen = this.#choices.find((details) => details.dataset.choice === choice);
      if (chosen) return { choice, day, text: wordsOf(chosen), isRight: isRight(chosen) };
    }
    return null;
  }

  /** @param {Event} event */
  handleEvent(event) {
    event.preventDefault();
    const choice = new FormData(/** @type {HTMLFormElement} */ (event.target)).get("choice");
    if (typeof choice !== "string") {
      this.#say("Choose one first.");
      return;
    }
    FerroPredict.progress.predict({ prediction: this.#name, choice, day: today() });
    this.querySelector("summary")?.focus();
  }

  #show() {
    const before = this.dataset.state;
    const { predicted } = this;
    this.dataset.state = predicted ? "committed" : "open";
    if (!predicted || before === "committed") return;
    for (const details of this.#choices) this.#mark(details, details.dataset.choice === predicted.choice);
    for (const details of this.querySelectorAll("details")) details.open = true;
    const when = predicted.day === today() ? "Today" : `On ${dayInWords(predicted.day)}`;
    const result = predicted.isRight ? "That is right." : "That is not right.";
    this.#say(`${when} you predicted: “${predicted.text}” ${result} ${FerroPredict.progress.trouble}`);
  }

  /**
   * @param {HTMLDetailsElement} details
   * @param {boolean} isChosen
   */
  #mark(details, isChosen) {
    const mark = document.createElement("span");
    mark.className = "predict-mark";
    mark.textContent = [
      isRight(details) ? "✓ right" : "✗ not right",
      ...(isChosen ? ["your prediction"] : []),
    ].join(", ");
    details.toggleAttribute("data-chosen", isChosen);
    details.querySelector("summary")?.append(" ", mark);
  }

  /** @param {string} sentence */
  #say(sentence) {
    const status = this.querySelector("[role=status]");
    if (status) status.textContent = sentence.trim();
  }

  #addControls() {
    const form = document.createElement("form");
    form.noValidate = true;
    form.innerHTML = `<fieldset><legend>Your prediction</legend></fieldset>
<button class="primary">Commit to it</button>`;
    form.firstElementChild?.append(...this.#choices.map(radio));
    const status = document.createElement("p");
    status.setAttribute("role", "status");
    this.#choices[0].before(form, status);
  }

  get #name() {
    return this.getAttribute("name") ?? "";
  }

  get #choices() {
    return /** @type {HTMLDetailsElement[]} */ ([...this.querySelectorAll("details[data-choice]")]);
  }
}

/** @param {HTMLElement} choice */
const isRight = (choice) => "right" in choice.dataset;

/** @param {HTMLElement} choice */
function wordsOf(choice) {
  const authored = [...(choice.querySelector("summary")?.childNodes ?? [])].filter(
    (node) => !(node instanceof Element && node.matches(".predict-mark")),
  );
  return authored
    .map((node) => node.textContent)
    .join("")
    .trim();
}

/** @param {HTMLElement} choice */
function radio(choice) {
  const input = document.createElement("input");
  input.type = "radio";
  input.name = "choice";
  input.value = choice.dataset.choice ?? "";
  const label = document.createElement("label");
  label.append(input, " ", wordsOf(choice));
  return label;
}
