/**
 * When a question returns. Nothing of that is stored: it follows from the reviews alone, gone through in their order, by
 * FSRS (Free Spaced Repetition Scheduler), which is given whole days and answers in whole days.
 */

import { FSRSAlgorithm } from "ts-fsrs";
import { addDays, daysBetween } from "./day.js";

/**
 * @typedef {import("./day.js").Day} Day
 * @typedef {1 | 2 | 3 | 4} Grade
 * @typedef {{ day: Day, grade: Grade }} Graded
 */

/** @type {{ grade: Grade, name: string, meaning: string }[]} */
export const GRADES = [
  { grade: 1, name: "Again", meaning: "I did not know it" },
  { grade: 2, name: "Hard", meaning: "with effort" },
  { grade: 3, name: "Good", meaning: "I knew it" },
  { grade: 4, name: "Easy", meaning: "without thinking" },
];

/** Once a year is seldom enough, in days. */
const LONGEST = 365;

/**
 * Travelling west across the date line, one honestly meets a day that has been twice. A review from further ahead was
 * dated by a clock that was wrong.
 */
const DATE_LINE = 2;

const algorithm = new FSRSAlgorithm({ maximum_interval: LONGEST });

/**
 * The day from whose start a question is due: null where it was never answered, and perhaps long past.
 *
 * @param {Graded[]} reviews  in the order in which they were made
 * @param {Day} today
 * @returns {Day | null}
 */
export function dueDay(reviews, today) {
  const last = reviews.at(-1);
  if (!last) return null;
  // What a clock has put decades ahead would never return. It is asked again, and the new review counts.
  if (daysBetween(today, last.day) > DATE_LINE) return today;
  return addDays(last.day, intervalAfter(reviews));
}

/**
 * @param {Graded[]} reviews  at least one
 * @returns {number}  of days, at least one
 */
function intervalAfter(reviews) {
  /** @type {import("ts-fsrs").FSRSState | null} */
  let memory = null;
  let elapsed = 0;
  reviews.forEach(({ day, grade }, i) => {
    elapsed = i === 0 ? 0 : Math.max(0, daysBetween(reviews[i - 1].day, day)); // a clock may have been set back
    memory = algorithm.next_state(memory, elapsed, grade);
  });
  const { stability } = /** @type {import("ts-fsrs").FSRSState} */ (/** @type {unknown} */ (memory));
  return algorithm.next_interval(stability, elapsed);
}
