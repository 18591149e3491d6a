import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";
import { addDays, dayInWords, dayOf, daysBetween, distanceInWords, today } from "../../site/recall/day.js";
import { dueDay } from "../../site/recall/schedule.js";

/** @typedef {import("../../site/recall/schedule.js").Graded} Graded */

const ZONE = process.env.TZ;

/**
 * Where the reader is, and what the clock there is set to, with its offset.
 *
 * @param {string} zone
 * @param {string} moment
 */
function atPlaceAndTime(zone, moment) {
  process.env.TZ = zone;
  mock.timers.reset();
  mock.timers.enable({ apis: ["Date"], now: Date.parse(moment) });
}

afterEach(() => {
  mock.timers.reset();
  if (ZONE === undefined) delete process.env.TZ;
  else process.env.TZ = ZONE;
});

/** @param {[string, import("../../site/recall/schedule.js").Grade][]} made */
const reviews = (...made) => made.map(([day, grade]) => ({ day, grade }));

// Days

test("a day is the one of the local calendar, not of UTC", () => {
  atPlaceAndTime("America/Los_Angeles", "2026-03-02T07:59:59Z");
  assert.equal(today(), "2026-03-01");
  atPlaceAndTime("America/Los_Angeles", "2026-03-02T08:00:00Z");
  assert.equal(today(), "2026-03-02");
  atPlaceAndTime("Pacific/Kiritimati", "2026-03-01T10:00:00Z");
  assert.equal(today(), "2026-03-02");
});

test("days are counted over a change of clocks, a leap day and the end of a year", () => {
  for (const zone of ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo"]) {
    process.env.TZ = zone;
    assert.equal(addDays("2026-03-28", 2), "2026-03-30"); // clocks go forward in Berlin
    assert.equal(addDays("2026-10-24", 2), "2026-10-26"); // and back
    assert.equal(addDays("2028-02-28", 2), "2028-03-01");
    assert.equal(addDays("2026-12-31", 1), "2027-01-01");
    assert.equal(daysBetween("2026-03-28", "2026-03-30"), 2);
    assert.equal(daysBetween("2026-03-30", "2026-03-28"), -2);
    for (let i = -400; i <= 400; i++) assert.equal(daysBetween("2026-03-29", addDays("2026-03-29", i)), i);
  }
});

test("a day that has no midnight is a day", () => {
  atPlaceAndTime("America/Sao_Paulo", "2018-11-04T03:30:00Z"); // clocks went from 24:00 to 01:00
  assert.equal(today(), "2018-11-04");
  assert.equal(dayOf(new Date("2018-11-04T02:59:59Z")), "2018-11-03");
});

test("a coming day is said in words, whichever zone it is read in", () => {
  for (const zone of ["Pacific/Kiritimati", "Pacific/Pago_Pago"]) {
    process.env.TZ = zone;
    assert.match(dayInWords("2026-03-01"), /^Sunday,? 1 March 2026$/);
    assert.equal(distanceInWords("2026-03-01", "2026-03-01"), "today");
    assert.match(distanceInWords("2026-03-02", "2026-03-01"), /^tomorrow, Monday,? 2 March 2026$/);
    assert.match(distanceInWords("2026-03-04", "2026-03-01"), /^in 3 days, on Wednesday,? 4 March 2026$/);
  }
});

// When a question returns

test("a question that was never answered has no day", () => {
  assert.equal(dueDay([], "2026-03-01"), null);
});

test("the better it was known, the later it returns, and never on the same day", () => {
  const days = /** @type {const} */ ([1, 2, 3, 4]).map((grade) =>
    daysBetween("2026-03-01", dueDay(reviews(["2026-03-01", grade]), "2026-03-01") ?? ""),
  );
  assert.deepEqual(days, [1, 1, 2, 8]);
  for (const last of /** @type {const} */ ([1, 2, 3, 4])) {
    const due = dueDay(reviews(["2026-03-01", 3], ["2026-03-03", last]), "2026-03-03") ?? "";
    assert.ok(due > "2026-03-03");
    assert.ok(last > 1 || due === "2026-03-04");
  }
});

test("the intervals grow with each success, up to a year, and begin anew after a failure", () => {
  /** @type {Graded[]} */
  const made = [];
  let day = "2026-03-01";
  /** @type {number[]} */
  const intervals = [];
  for (let i = 0; i < 12; i++) {
    made.push({ day, grade: 3 });
    const due = dueDay(made, day) ?? "";
    intervals.push(daysBetween(day, due));
    day = due;
  }
  assert.deepEqual(
    intervals,
    intervals.toSorted((a, b) => a - b),
  );
  assert.deepEqual(intervals.slice(0, 3), [2, 11, 46]);
  assert.equal(intervals.at(-1), 365);
  made.push({ day, grade: 1 });
  assert.ok(daysBetween(day, dueDay(made, day) ?? "") < 30);
});

test("it is due from the start of its local day, through a change of clocks", () => {
  atPlaceAndTime("Europe/Berlin", "2026-03-28T23:30:00+01:00"); // the night before a day of 23 hours
  const made = reviews([today(), 1]);
  const due = dueDay(made, today());
  assert.equal(due, "2026-03-29");
  atPlaceAndTime("Europe/Berlin", "2026-03-29T00:00:00+01:00"); // half an hour later
  assert.equal(today(), due);
  atPlaceAndTime("Europe/Berlin", "2026-10-25T23:30:00+01:00"); // the end of a day of 25 hours
  assert.equal(dueDay(reviews([today(), 3]), today()), "2026-10-27");
});

test("in another time zone it is due on the same calendar day", () => {
  atPlaceAndTime("Asia/Tokyo", "2026-03-02T08:00:00+09:00");
  const made = reviews([today(), 3]);
  const due = dueDay(made, today());
  assert.equal(due, "2026-03-04");
  atPlaceAndTime("America/Los_Angeles", "2026-03-01T20:00:00-08:00"); // later, and yet the day before
  assert.equal(today(), "2026-03-01");
  assert.equal(dueDay(made, today()), due);
  const again = [...made, ...reviews([today(), 3])];
  assert.ok((dueDay(again, today()) ?? "") > today());
});

test("a clock that is set back schedules nothing into the past", () => {
  const made = reviews(["2026-03-10", 3], ["2026-03-01", 3]);
  const due = dueDay(made, "2026-03-01") ?? "";
  assert.ok(due > "2026-03-01" && due <= "2026-03-12", due);
});

test("what a clock has put far ahead is asked again at once, and then comes as usual", () => {
  const made = reviews(["2026-03-01", 3], ["2099-01-01", 3]);
  assert.equal(dueDay(made, "2026-03-04"), "2026-03-04");
  const due = dueDay([...made, ...reviews(["2026-03-04", 1])], "2026-03-04") ?? "";
  assert.ok(due > "2026-03-04" && due < "2027-03-05", due);
});
