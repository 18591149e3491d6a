/**
 * What a learner has recalled and predicted, for one lesson. Only facts are stored, each of which stays as it is: that a
 * question was answered and how, that a choice was made. Two tabs, or a page that comes back from a long rest, therefore
 * join what they know as sets are joined, and nothing is lost; when a question returns follows from the facts.
 */

import { GuardedStorage } from "./storage.js";

/**
 * @typedef {object} Review
 * @property {string} question  its name
 * @property {number} turn  1 for the first time the question was answered. The order of reviews goes by it and not by
 *   the clock, which may be set back.
 * @property {number} time  in milliseconds; tells apart what two tabs call the same turn
 * @property {string} day  of the local calendar, like "2026-03-29"
 * @property {1 | 2 | 3 | 4} grade
 * @property {string} answer  in the learner's words
 *
 * @typedef {object} Prediction
 * @property {string} prediction  its name
 * @property {string} choice
 * @property {number} time
 * @property {string} day
 *
 * @typedef {{ done: string, time: number }} Achievement  something that was passed, or read to its end
 */

/** @typedef {Review | Prediction | Achievement} Fact */

/** How much of an answer is kept, in characters. */
const LONGEST_ANSWER = 4000;

const NOT_SAVED =
  "This browser refuses to store what you answer here, or has no room left: it counts for this visit only.";

/**
 * Fires `changed` when there are new facts, and when the page comes back into view, for then it may be another day.
 * Fires `trouble` whenever `trouble` changes.
 */
export class Progress extends EventTarget {
  /** A sentence for the reader as long as nothing can be saved, or else empty. */
  trouble = "";
  /** @type {Map<string, Fact>} */
  #facts = new Map(); // by their text, so that the same fact is there once
  #unsaved = false;
  #key;
  #storage;

  /**
   * @param {string} lesson
   * @param {{ storage?: import("./storage.js").BareStorage }} [options]
   */
  constructor(lesson, { storage } = {}) {
    super();
    // What is stored in another shape shall have another number here.
    this.#key = `ferro-bench/progress/1/${encodeURIComponent(lesson)}`;
    this.#storage = new GuardedStorage(storage);
    this.#join();
    for (const event of ["storage", "pageshow", "visibilitychange"]) {
      globalThis.window?.addEventListener(event, () => {
        this.#join();
        this.dispatchEvent(new Event("changed"));
      });
    }
  }

  /**
   * @param {string} question
   * @returns {Review[]}  in the order in which they were made, the newest last
   */
  reviews(question) {
    return [...this.#facts.values()]
      .filter((fact) => "question" in fact)
      .filter((review) => review.question === question)
      .sort((a, b) => a.turn - b.turn || a.time - b.time);
  }

  /** @param {Pick<Review, "question" | "day" | "grade" | "answer">} review */
  review({ question, day, grade, answer }) {
    this.#join();
    const turn = 1 + (this.reviews(question).at(-1)?.turn ?? 0);
    this.#add({ question, turn, time: Date.now(), day, grade, answer: answer.slice(0, LONGEST_ANSWER) });
  }

  /**
   * @param {string} prediction
   * @returns {Prediction[]}  the first one, which is the one that was made without knowing, is first
   */
  predictions(prediction) {
    return [...this.#facts.values()]
      .filter((fact) => "prediction" in fact)
      .filter((made) => made.prediction === prediction)
      .sort((a, b) => a.time - b.time);
  }

  /** @param {Pick<Prediction, "prediction" | "choice" | "day">} made */
  predict({ prediction, choice, day }) {
    this.#add({ prediction, choice, time: Date.now(), day });
  }

  /** @param {string} what */
  isDone(what) {
    return [...this.#facts.values()].some((fact) => "done" in fact && fact.done === what);
  }

  /** @param {string} what  is done; once and for all */
  finish(what) {
    if (!this.isDone(what)) this.#add({ done: what, time: Date.now() });
  }

  /** @param {Fact} fact */
  #add(fact) {
    this.#facts.set(JSON.stringify(fact), fact);
    this.#unsaved = true;
    this.#join();
    this.dispatchEvent(new Event("changed"));
  }

  /** Take in what is stored, and store what is missing there. */
  #join() {
    const stored = this.#storage.read(this.#key);
    let isSaved = stored !== undefined; // and nothing is written over what cannot be seen
    if (stored !== undefined) {
      const theirs = parse(stored);
      for (const [text, fact] of theirs) this.#facts.set(text, fact);
      const isMissing = this.#facts.size > theirs.size;
      // Where all is gone somebody has cleared it, and it stays so until there is something new.
      if (isMissing && (this.#unsaved || stored !== null)) {
        isSaved = this.#storage.write(this.#key, JSON.stringify([...this.#facts.values()]));
        this.#unsaved &&= !isSaved;
      }
    }
    this.#report(isSaved ? "" : NOT_SAVED);
  }

  /** @param {string} trouble */
  #report(trouble) {
    if (trouble === this.trouble) return;
    this.trouble = trouble;
    this.dispatchEvent(new Event("trouble"));
  }
}

/**
 * @param {string | null} stored
 * @returns {Map<string, Fact>}  without whatever is damaged or not ours
 */
function parse(stored) {
  /** @type {unknown} */
  let facts;
  try {
    facts = JSON.parse(stored ?? "[]");
  } catch {
    facts = [];
  }
  /** @type {Fact[]} */
  const sound = Array.isArray(facts)
    ? facts.flatMap((fact) => asReview(fact) ?? asPrediction(fact) ?? asAchievement(fact) ?? [])
    : [];
  return new Map(sound.map((fact) => [JSON.stringify(fact), fact]));
}

/**
 * @param {any} fact
 * @returns {Review | undefined}
 */
function asReview(fact) {
  const { question, turn, time, day, grade, answer } = fact ?? {};
  const isSound =
    isText(question) &&
    isCount(turn) &&
    isCount(time) &&
    isDay(day) &&
    [1, 2, 3, 4].includes(grade) &&
    isText(answer);
  return isSound ? { question, turn, time, day, grade, answer } : undefined;
}

/**
 * @param {any} fact
 * @returns {Prediction | undefined}
 */
function asPrediction(fact) {
  const { prediction, choice, time, day } = fact ?? {};
  const isSound = isText(prediction) && isText(choice) && isCount(time) && isDay(day);
  return isSound ? { prediction, choice, time, day } : undefined;
}

/**
 * @param {any} fact
 * @returns {Achievement | undefined}
 */
function asAchievement(fact) {
  const { done, time } = fact ?? {};
  return isText(done) && isCount(time) ? { done, time } : undefined;
}

/** @param {unknown} value */
const isText = (value) => typeof value === "string";

/** @param {unknown} value */
const isCount = (value) => Number.isSafeInteger(value) && Number(value) >= 0;

/** @param {unknown} value */
const isDay = (value) =>
  typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) && Number.isFinite(Date.parse(value));
