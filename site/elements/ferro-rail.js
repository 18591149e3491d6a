/**
 * Where one is in the lesson and what is done: a thin bar of the sections, kept in sight. A section is done when it was
 * read to its end and all that it asks for, predictions, exercises, benches, recall and the project, was done once.
 */

const ITEMS = "ferro-predict, ferro-exercise, ferro-bench, ferro-recall, ferro-project";

/** Exercises and benches are passed; what the reader brings has no known answer, and is fitted. */
const isPassed = (/** @type {HTMLElement} */ item) => ["passed", "fitted"].includes(item.dataset.state ?? "");

/** @typedef {{ id: string, heading: HTMLElement, end: Element, items: HTMLElement[], entry: HTMLLIElement, link: HTMLAnchorElement, mark: HTMLSpanElement }} Section */

export class FerroRail extends HTMLElement {
  /** @type {import("../store/progress.js").Progress} */
  static progress;

  /** @type {Section[]} */
  #sections = [];
  #listening = new AbortController();

  connectedCallback() {
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    this.#build();
    FerroRail.progress.addEventListener("changed", () => this.#show(), { signal });
    // Elements say their state in an attribute; whoever passes may well fail again, and stays done.
    const states = new MutationObserver(() => this.#takeIn());
    const ends = new IntersectionObserver((entries) => this.#takeEnds(entries));
    for (const { items, end } of this.#sections) {
      for (const item of items) states.observe(item, { attributeFilter: ["data-state"] });
      ends.observe(end);
    }
    window.addEventListener("scroll", () => this.#follow(), { signal, passive: true });
    signal.addEventListener("abort", () => {
      states.disconnect();
      ends.disconnect();
    });
    this.#takeIn();
    this.#show();
    this.#follow();
  }

  disconnectedCallback() {
    this.#listening.abort();
  }

  /** From the list of contents, so that both name the same sections. */
  #build() {
    const nav = document.createElement("nav");
    nav.setAttribute("aria-label", "Progress");
    const list = document.createElement("ol");
    nav.append(list);
    this.replaceChildren(nav);
    const contents = [
      .../** @type {NodeListOf<HTMLAnchorElement>} */ (
        document.querySelectorAll(".masthead nav li:not(.unnumbered) a")
      ),
    ];
    this.#sections = contents.flatMap((given, i) => {
      const id = given.hash.slice(1);
      const heading = document.getElementById(id);
      if (!heading) return [];
      const entry = document.createElement("li");
      const link = document.createElement("a");
      const mark = document.createElement("span");
      link.href = given.hash;
      link.innerHTML = `<span class="rail-number">${i + 1}</span> <span class="rail-title"></span> `;
      /** @type {HTMLElement} */ (link.querySelector(".rail-title")).textContent = given.textContent;
      mark.className = "rail-mark";
      link.append(mark);
      entry.append(link);
      list.append(entry);
      return [{ id, heading, end: heading, items: [], entry, link, mark }];
    });
    this.#gather();
  }

  /** What stands after one section's beginning and before the next one's belongs to it. */
  #gather() {
    const parts = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("main > *")]);
    let current = -1;
    for (const part of parts) {
      const begun = this.#sections.findIndex(({ id }) => part.id === id);
      if (begun >= 0) current = begun;
      else if (part.id && part.matches("section")) current = -1; // one without a number
      const section = this.#sections[current];
      if (!section) continue;
      section.end = part.lastElementChild ?? part;
      const inside = /** @type {HTMLElement[]} */ ([...part.querySelectorAll(ITEMS)]);
      section.items.push(...(part.matches(ITEMS) ? [part] : []), ...inside);
    }
  }

  /** @param {IntersectionObserverEntry[]} entries */
  #takeEnds(entries) {
    for (const { isIntersecting, target } of entries) {
      const section = this.#sections.find(({ end }) => end === target);
      if (isIntersecting && section) FerroRail.progress.finish(`read ${section.id}`);
    }
  }

  #takeIn() {
    for (const { items } of this.#sections) {
      for (const item of items) if (isPassed(item)) FerroRail.progress.finish(nameOf(item));
    }
  }

  #show() {
    const { progress } = FerroRail;
    for (const { id, items, entry, mark } of this.#sections) {
      const done = items.filter((item) => isDone(item)).length;
      const isFinished = done === items.length && progress.isDone(`read ${id}`);
      entry.dataset.done = String(isFinished);
      mark.textContent = isFinished ? "✓" : items.length ? `${done}/${items.length}` : "";
      mark.setAttribute(
        "aria-label",
        isFinished ? "done" : items.length ? `${done} of ${items.length} done` : "",
      );
    }
  }

  #follow() {
    const begun = this.#sections.filter(
      ({ heading }) => heading.getBoundingClientRect().top < innerHeight / 3,
    );
    const current = begun.at(-1);
    for (const { link } of this.#sections) {
      if (link === current?.link) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    }
  }
}

/** @param {HTMLElement} item */
function isDone(item) {
  const { progress } = FerroRail;
  const name = item.getAttribute("name") ?? "";
  if (item.matches("ferro-recall")) return progress.reviews(name).length > 0;
  if (item.matches("ferro-predict")) return progress.predictions(name).length > 0;
  return progress.isDone(nameOf(item));
}

/** @param {HTMLElement} item */
const nameOf = (item) => `${item.localName.replace("ferro-", "")} ${item.getAttribute("name") ?? ""}`.trim();
