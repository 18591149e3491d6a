/** All questions of the page: how they stand, and how to take them along, as a deck for Anki or into a calendar. */

import { ankiText } from "../recall/anki.js";
import { calendarText } from "../recall/calendar.js";
import { distanceInWords, today } from "../recall/day.js";
import { questionsOfPage } from "./ferro-recall.js";
import { saveFile } from "./save-file.js";

export class FerroDeck extends HTMLElement {
  /** @type {import("../store/progress.js").Progress} */
  static progress;

  #listening = new AbortController();

  connectedCallback() {
    this.innerHTML = `<p class="deck-standing"></p>
<div class="deck-buttons"><button type="button" data-action="anki">Download for Anki</button>
<button type="button" data-action="calendar">Download for a calendar</button></div>
<p role="status"></p>
<p class="deck-trouble" role="alert"></p>`;
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    this.addEventListener("click", this, { signal });
    FerroDeck.progress.addEventListener("changed", () => this.#show(), { signal });
    FerroDeck.progress.addEventListener("trouble", () => this.#show(), { signal });
    this.#show();
  }

  disconnectedCallback() {
    this.#listening.abort();
  }

  /** @param {Event} event */
  handleEvent(event) {
    const { action } = /** @type {HTMLElement} */ (event.target).closest("button")?.dataset ?? {};
    if (action === "anki") this.#saveAnki();
    if (action === "calendar") this.#saveCalendar();
  }

  #saveAnki() {
    const cards = questionsOfPage().map(({ card }) => card);
    const text = ankiText(cards, { deck: titleOfPage(), tags: ["ferro-bench", lesson()] });
    saveFile(`${lesson()}-anki.txt`, "text/plain", text);
    this.#say(`Downloaded as ${lesson()}-anki.txt: in Anki, choose File, then Import.`);
  }

  #saveCalendar() {
    const days = comingDays();
    if (days.length === 0) {
      this.#say("No question has a day yet. Answer one first.");
      return;
    }
    const { origin, pathname, protocol } = location;
    const address = protocol.startsWith("http") ? `${origin}${pathname}` : undefined;
    const about = { lesson: lesson(), title: titleOfPage(), address, now: new Date() };
    saveFile(`${lesson()}.ics`, "text/calendar", calendarText(days, about));
    this.#say(
      `Downloaded as ${lesson()}.ics, with ${days.length === 1 ? "one day" : `${days.length} days`}.`,
    );
  }

  #show() {
    const all = questionsOfPage();
    const answered = all.filter(({ dueDay }) => dueDay !== null);
    const [next] = comingDays();
    const standing = `You have answered ${answered.length} of the ${all.length} questions on this page.`;
    const coming = next ? ` The next is due ${distanceInWords(next.day, today())}.` : "";
    this.#put(".deck-standing", standing + coming);
    this.#put(".deck-trouble", FerroDeck.progress.trouble);
  }

  /** @param {string} sentence */
  #say(sentence) {
    this.#put("[role=status]", sentence);
  }

  /**
   * @param {string} place
   * @param {string} sentence
   */
  #put(place, sentence) {
    const element = this.querySelector(place);
    if (element && element.textContent !== sentence) element.textContent = sentence;
  }
}

/** Days from today on, each with the headings of what is due then; what is overdue is due today. */
function comingDays() {
  /** @type {Map<string, string[]>} */
  const days = new Map();
  for (const { dueDay, isDue, heading } of questionsOfPage()) {
    if (dueDay === null) continue;
    const day = isDue ? today() : dueDay;
    days.set(day, [...(days.get(day) ?? []), heading]);
  }
  return [...days].sort(([a], [b]) => (a < b ? -1 : 1)).map(([day, questions]) => ({ day, questions }));
}

const lesson = () => document.documentElement.dataset.lesson ?? "lesson";

const titleOfPage = () => document.querySelector("h1")?.textContent ?? document.title;
