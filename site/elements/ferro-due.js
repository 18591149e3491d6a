/** At the top of a later visit: which questions are due, each with the way to it. Hidden while there are none. */

import { questionsOfPage } from "./ferro-recall.js";

export class FerroDue extends HTMLElement {
  /** @type {import("../store/progress.js").Progress} */
  static progress;

  #shown = "";
  #listening = new AbortController();

  connectedCallback() {
    this.#listening = new AbortController();
    FerroDue.progress.addEventListener("changed", () => this.#show(), { signal: this.#listening.signal });
    this.setAttribute("role", "region");
    this.setAttribute("aria-label", "Questions that are due");
    this.#show();
  }

  disconnectedCallback() {
    this.#listening.abort();
  }

  #show() {
    const due = questionsOfPage().filter(({ isDue }) => isDue);
    const names = due.map(({ question }) => question).join(" ");
    if (names === this.#shown) return; // and whoever stands on a link in the list stays there
    this.#shown = names;
    this.hidden = due.length === 0;
    const title = document.createElement("p");
    const list = document.createElement("ul");
    const many = due.length === 1 ? "One question has" : `${due.length} questions have`;
    title.textContent = `${many} come back to you. Answer from memory before you read on:`;
    list.append(
      ...due.map((question) => {
        const item = document.createElement("li");
        item.append(question.link());
        return item;
      }),
    );
    this.replaceChildren(title, list);
  }
}
