/**
 * A question that returns. The learner answers it from memory, compares with the model answer, and says how well it
 * went; that decides on which day it is due again. What the author wrote, a heading, the question and a `details` with
 * the model answer, stays where it is and is only shown or hidden.
 *
 * In `data-state`: new, waiting or due while nobody is at it, then answering, then comparing.
 */

import { dayInWords, distanceInWords, today } from "../recall/day.js";
import { dueDay, GRADES } from "../recall/schedule.js";

/** @typedef {import("./ferro-predict.js").FerroPredict} FerroPredict */

export class FerroRecall extends HTMLElement {
  /** @type {import("../store/progress.js").Progress} */
  static progress;

  #listening = new AbortController();

  connectedCallback() {
    if (!this.dataset.state) this.#addControls();
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    this.addEventListener("click", this, { signal });
    FerroRecall.progress.addEventListener("changed", () => this.#rest(), { signal });
    this.#rest();
  }

  disconnectedCallback() {
    this.#listening.abort();
  }

  get question() {
    return this.getAttribute("name") ?? "";
  }

  get heading() {
    return this.querySelector("h2, h3, h4")?.textContent ?? "";
  }

  get reviews() {
    return FerroRecall.progress.reviews(this.question);
  }

  /** From whose start it is due, or null where it was never answered. */
  get dueDay() {
    return dueDay(this.reviews, today());
  }

  get isDue() {
    return this.dueDay !== null && this.dueDay <= today();
  }

  /** @returns {import("../recall/anki.js").Card} */
  get card() {
    const authored = [...this.children].filter((child) => !child.matches("h2, h3, h4, [data-control]"));
    const answer = this.#answer.children;
    return {
      front: plainHtml(authored.filter((child) => child !== this.#answer)),
      back: plainHtml([...answer].filter((child) => !child.matches("summary"))),
    };
  }

  /** A link that leads to where the question is answered. */
  link() {
    const link = document.createElement("a");
    link.href = `#${this.id}`;
    link.textContent = this.heading;
    link.addEventListener("click", () => setTimeout(() => this.begin())); // going there takes the focus away first
    return link;
  }

  begin() {
    if (this.dataset.state !== "comparing") this.dataset.state = "answering";
    // Live from here on: a page full of questions shall not announce itself when it opens.
    this.#status.setAttribute("role", "status");
    this.#own.focus();
  }

  /** @param {Event} event */
  handleEvent(event) {
    const button = /** @type {HTMLElement} */ (event.target).closest("button");
    if (button?.dataset.action === "begin") this.begin();
    if (button?.dataset.action === "compare") this.#compare();
    if (button?.dataset.grade)
      this.#grade(/** @type {import("../recall/schedule.js").Grade} */ (Number(button.dataset.grade)));
  }

  #compare() {
    if (!this.#own.value.trim()) {
      this.#say("Write a few words first. “I do not know” is an answer too.");
      this.#own.focus();
      return;
    }
    this.dataset.state = "comparing";
    this.#own.readOnly = true;
    this.#answer.open = true;
    this.#say("Compare the two, then say how well you knew it.");
    this.#part("memories").replaceChildren(...this.#memories().map(paragraph));
    this.#answer.querySelector("summary")?.focus();
  }

  /** What the learner thought of it before. */
  #memories() {
    const predict = /** @type {FerroPredict | null} */ (
      document.querySelector(`ferro-predict[recall="${this.question}"]`)
    );
    const predicted = predict?.predicted;
    const last = this.reviews.at(-1);
    return [
      ...(predicted ? [`You predicted: “${predicted.text}” (${dayInWords(predicted.day)})`] : []),
      ...(last ? [`You wrote last time, on ${dayInWords(last.day)}: “${last.answer}”`] : []),
    ];
  }

  /** @param {import("../recall/schedule.js").Grade} grade */
  #grade(grade) {
    const { progress } = FerroRecall;
    const answer = this.#own.value.trim();
    this.#own.value = "";
    this.#own.readOnly = false;
    this.#answer.open = false;
    this.dataset.state = "waiting";
    progress.review({ question: this.question, day: today(), grade, answer });
    const said = [`${GRADES[grade - 1].name}.`, this.#when(), progress.trouble].filter(Boolean).join(" ");
    const next = questionsOfPage().find(({ isDue }) => isDue);
    this.#say(said, ...(next ? [" Also due: ", next.link()] : []));
    this.querySelector("button")?.focus({ preventScroll: true });
  }

  /** Show what the reviews say, unless somebody is at it. */
  #rest() {
    if (this.dataset.state === "answering" || this.dataset.state === "comparing") return;
    this.dataset.state = this.dueDay === null ? "new" : this.isDue ? "due" : "waiting";
    this.#say(this.#when());
  }

  #when() {
    const day = this.dueDay;
    if (day === null) return "";
    if (!this.isDue) return `Returns ${distanceInWords(day, today())}.`;
    return day === today() ? "Due today." : `Due since ${dayInWords(day)}.`;
  }

  /**
   * @param {string} sentence
   * @param {(string | Node)[]} more
   */
  #say(sentence, ...more) {
    const isSaid = this.#status.textContent === sentence && more.length === 0;
    if (!isSaid) this.#status.replaceChildren(sentence, ...more); // so that nothing is announced twice
  }

  #addControls() {
    this.setAttribute("role", "group"); // so that a button in it is heard with the question's name
    this.setAttribute("aria-label", this.heading);
    const id = `${this.id}-own`;
    this.#answer.insertAdjacentHTML(
      "beforebegin",
      `<p class="recall-status" data-control></p>
<div class="recall-own" data-control><label for="${id}">Your answer, from memory</label><textarea id="${id}" rows="4"></textarea></div>`,
    );
    this.#answer.insertAdjacentHTML(
      "afterend",
      `<div class="recall-memories" data-control></div>
<div class="recall-buttons" data-control><button type="button" data-action="begin">Answer from memory</button>
<button type="button" class="primary" data-action="compare">Compare</button></div>
<fieldset class="recall-grades" data-control><legend>How well did you know it?</legend>
${GRADES.map(({ grade, name, meaning }) => `<button type="button" data-grade="${grade}">${name} <small>${meaning}</small></button>`).join("\n")}
</fieldset>`,
    );
  }

  get #answer() {
    return /** @type {HTMLDetailsElement} */ (this.querySelector(":scope > details"));
  }

  get #own() {
    return /** @type {HTMLTextAreaElement} */ (this.querySelector("textarea"));
  }

  get #status() {
    return this.#part("status");
  }

  /** @param {string} part */
  #part(part) {
    return /** @type {HTMLElement} */ (this.querySelector(`.recall-${part}`));
  }
}

/** @returns {FerroRecall[]} */
export const questionsOfPage = () =>
  [...document.querySelectorAll("ferro-recall")].filter((element) => element instanceof FerroRecall);

/** @param {string} text */
function paragraph(text) {
  const made = document.createElement("p");
  made.textContent = text;
  return made;
}

/**
 * HTML that means the same outside this page: our own elements give way to what is in them.
 *
 * @param {Element[]} elements
 */
function plainHtml(elements) {
  const holder = document.createElement("div");
  holder.append(...elements.map((element) => element.cloneNode(true)));
  for (const element of [...holder.querySelectorAll("*")]) {
    if (element.localName.startsWith("ferro-")) element.replaceWith(...element.childNodes);
  }
  return holder.innerHTML;
}
