/**
 * Days of the local calendar. They are counted and compared as days and never as times, so that a day of 23 hours, or a
 * flight across time zones, makes nothing due an hour early or late.
 */

/** @typedef {string} Day  like "2026-03-29" */

const LENGTH = 86_400_000; // of a day in UTC, where every day is as long as the next

/**
 * The day that a wall calendar shows here at that moment.
 *
 * @param {Date} moment
 * @returns {Day}
 */
export const dayOf = (moment) =>
  iso(new Date(Date.UTC(moment.getFullYear(), moment.getMonth(), moment.getDate())));

/** @returns {Day} */
export const today = () => dayOf(new Date());

/**
 * @param {Day} day
 * @param {number} count
 * @returns {Day}
 */
export const addDays = (day, count) => iso(new Date(Date.parse(day) + count * LENGTH));

/**
 * @param {Day} from
 * @param {Day} to
 */
export const daysBetween = (from, to) => (Date.parse(to) - Date.parse(from)) / LENGTH;

/** @param {Day} day */
export const dayInWords = (day) => CALENDAR.format(Date.parse(day));

/**
 * How far off a coming day is, and which it is.
 *
 * @param {Day} day
 * @param {Day} from
 */
export function distanceInWords(day, from) {
  const count = daysBetween(from, day);
  if (count <= 0) return "today";
  return count === 1 ? `tomorrow, ${dayInWords(day)}` : `in ${count} days, on ${dayInWords(day)}`;
}

const CALENDAR = new Intl.DateTimeFormat("en-GB", {
  weekday: "long",
  day: "numeric",
  month: "long",
  year: "numeric",
  timeZone: "UTC",
});

/** @param {Date} midnight */
const iso = (midnight) => midnight.toISOString().slice(0, 10);
