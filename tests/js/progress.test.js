import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { Progress } from "../../site/store/progress.js";

const KEY = "ferro-bench/progress/1/lesson";

/** @type {Map<string, string>} */
let disk;
let refuses = "";

/** A tab with the lesson in it: its progress, and its window, which hears what a browser tells it. */
function newTab({ lesson = "lesson", saw = /** @type {Map<string, string> | null} */ (null) } = {}) {
  const window = new EventTarget();
  globalThis.window = /** @type {any} */ (window);
  const storage = {
    // A browser may show a tab for a moment what was there before another one wrote.
    getItem: (/** @type {string} */ key) => {
      if (refuses.includes("read")) throw new Error("SecurityError");
      return (saw ?? disk).get(key) ?? null;
    },
    setItem: (/** @type {string} */ key, /** @type {string} */ text) => {
      if (refuses.includes("write")) throw new Error("QuotaExceededError");
      disk.set(key, text);
    },
  };
  const progress = new Progress(lesson, { storage });
  globalThis.window = /** @type {any} */ (undefined);
  let changes = 0;
  progress.addEventListener("changed", () => changes++);
  return {
    progress,
    hear: () => {
      saw = null;
      window.dispatchEvent(new Event("storage"));
    },
    get changes() {
      return changes;
    },
  };
}

/** @type {(question: string, grade?: 1 | 2 | 3 | 4, day?: string) => any} */
const reviewOf = (question, grade = 3, day = "2026-03-01") => ({ question, grade, day, answer: "my words" });

/** @param {Progress} progress */
const grades = (progress, question = "q") => progress.reviews(question).map(({ grade }) => grade);

beforeEach(() => {
  disk = new Map();
  refuses = "";
  mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-03-01T12:00Z") });
});

afterEach(() => mock.timers.reset());

test("reviews and predictions are there on a later visit, in their order", () => {
  const { progress } = newTab();
  assert.deepEqual(progress.reviews("q"), []);
  progress.review(reviewOf("q", 1));
  progress.review(reviewOf("q", 3, "2026-03-02"));
  progress.review(reviewOf("other", 4));
  progress.predict({ prediction: "p", choice: "yes", day: "2026-03-01" });
  const later = newTab().progress;
  assert.deepEqual(grades(later), [1, 3]);
  assert.deepEqual(grades(later, "other"), [4]);
  const [{ turn, day, answer }] = later.reviews("q");
  assert.deepEqual({ turn, day, answer }, { turn: 1, day: "2026-03-01", answer: "my words" });
  assert.equal(later.predictions("p")[0].choice, "yes");
  assert.deepEqual(newTab({ lesson: "another" }).progress.reviews("q"), []);
});

test("a clock that is set back neither loses a review nor changes their order", () => {
  newTab().progress.review(reviewOf("q", 1));
  mock.timers.setTime(Date.parse("2025-01-01T12:00Z"));
  newTab().progress.review(reviewOf("q", 4, "2025-01-01"));
  assert.deepEqual(grades(newTab().progress), [1, 4]);
});

test("of two tabs the newest review is the last one, and none is lost", () => {
  const first = newTab();
  const second = newTab();
  first.progress.review(reviewOf("q", 1));
  mock.timers.tick(1000);
  second.progress.review(reviewOf("q", 2)); // which looks before it writes, though it has heard nothing yet
  first.hear();
  assert.deepEqual(grades(first.progress), [1, 2]);
  assert.deepEqual(grades(newTab().progress), [1, 2]);
  assert.ok(first.changes > 1);
});

test("two tabs that write without having seen each other join what they wrote", () => {
  const first = newTab({ saw: new Map() });
  const second = newTab({ saw: new Map() });
  first.progress.review(reviewOf("q", 1));
  mock.timers.tick(1000);
  second.progress.review(reviewOf("q", 4));
  assert.deepEqual(grades(newTab().progress), [4]); // as it lies there now
  first.hear();
  second.hear();
  for (const { progress } of [first, second, newTab()]) assert.deepEqual(grades(progress), [1, 4]);
});

test("the first prediction comes first, whichever tab wrote it", () => {
  const early = newTab({ saw: new Map() });
  const late = newTab({ saw: new Map() });
  early.progress.predict({ prediction: "p", choice: "yes", day: "2026-03-01" });
  mock.timers.tick(1000);
  late.progress.predict({ prediction: "p", choice: "no", day: "2026-03-01" });
  early.hear();
  late.hear();
  for (const { progress } of [early, late, newTab()]) {
    assert.deepEqual(
      progress.predictions("p").map(({ choice }) => choice),
      ["yes", "no"],
    );
  }
});

test("damaged entries are ignored, and the sound ones beside them count", () => {
  const sound = { question: "q", turn: 1, time: 1, day: "2026-03-01", grade: 2, answer: "" };
  const damaged = [
    null,
    7,
    "text",
    [],
    {},
    { ...sound, grade: 5 },
    { ...sound, grade: "2" },
    { ...sound, turn: 1e300 },
    { ...sound, time: null },
    { ...sound, day: "yesterday" },
    { ...sound, day: "2026-13-45" },
    { ...sound, answer: undefined },
    { prediction: "p", choice: 3, time: 1, day: "2026-03-01" },
  ];
  disk.set(KEY, JSON.stringify([...damaged, sound]));
  const { progress } = newTab();
  assert.deepEqual(progress.reviews("q"), [sound]);
  assert.deepEqual(progress.predictions("p"), []);
  for (const text of ["", "{", "null", "{}", '"x"', "[[", "\0"]) {
    disk.set(KEY, text);
    const other = newTab().progress;
    assert.deepEqual(other.reviews("q"), []);
    other.review(reviewOf("q"));
    assert.deepEqual(grades(newTab().progress), [3]);
  }
});

test("storage that refuses is reported, and what is answered counts for this visit", () => {
  for (const what of ["read", "write", "read write"]) {
    disk = new Map();
    refuses = what;
    const { progress, hear } = newTab();
    let told = 0;
    progress.addEventListener("trouble", () => told++);
    progress.review(reviewOf("q"));
    progress.predict({ prediction: "p", choice: "yes", day: "2026-03-01" });
    assert.deepEqual(grades(progress), [3]);
    assert.equal(progress.predictions("p").length, 1);
    assert.match(progress.trouble, /this visit only/);
    assert.equal(disk.size, 0);
    refuses = "";
    hear();
    assert.equal(progress.trouble, "");
    assert.ok(told > 0);
    assert.deepEqual(grades(newTab().progress), [3]);
  }
});

test("what somebody has cleared does not come back by itself", () => {
  const { progress, hear } = newTab();
  progress.review(reviewOf("q"));
  disk.clear();
  hear();
  assert.equal(disk.size, 0);
});

test("an answer is kept up to a length", () => {
  const { progress } = newTab();
  progress.review({ ...reviewOf("q"), answer: "x".repeat(100_000) });
  assert.equal(progress.reviews("q")[0].answer.length, 4000);
});
