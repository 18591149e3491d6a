import assert from "node:assert/strict";
import { test } from "node:test";
import { calendarText } from "../../site/recall/calendar.js";

const NOW = new Date("2026-03-01T23:59:58.765Z");
const ABOUT = { lesson: "a-lesson", title: "Structure, at scale", now: NOW };

/** @param {string} text */
const unfolded = (text) => text.replaceAll("\r\n ", "").split("\r\n");

test("there is an entry for each day, for the whole of it", () => {
  const days = [
    { day: "2026-03-02", questions: ["The principle"] },
    { day: "2026-12-31", questions: ["The claim", "The benchmark"] },
  ];
  assert.deepEqual(unfolded(calendarText(days, { ...ABOUT, address: "https://host.test/lesson/?a=1,2;3" })), [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//ferro-bench//Recall//EN",
    "BEGIN:VEVENT",
    "UID:2026-03-02.a-lesson@ferro-bench",
    "DTSTAMP:20260301T235958Z",
    "DTSTART;VALUE=DATE:20260302",
    "SUMMARY:Recall a question: Structure\\, at scale",
    "DESCRIPTION:The principle\\nhttps://host.test/lesson/?a=1\\,2\\;3",
    "URL:https://host.test/lesson/?a=1,2;3",
    "TRANSP:TRANSPARENT",
    "END:VEVENT",
    "BEGIN:VEVENT",
    "UID:2026-12-31.a-lesson@ferro-bench",
    "DTSTAMP:20260301T235958Z",
    "DTSTART;VALUE=DATE:20261231",
    "SUMMARY:Recall 2 questions: Structure\\, at scale",
    "DESCRIPTION:The claim\\nThe benchmark\\nhttps://host.test/lesson/?a=1\\,2\\;3",
    "URL:https://host.test/lesson/?a=1,2;3",
    "TRANSP:TRANSPARENT",
    "END:VEVENT",
    "END:VCALENDAR",
    "",
  ]);
});

test("text is escaped, and no control character is left", () => {
  const text = calendarText([{ day: "2026-03-02", questions: ["a\\b;c,d\r\ne\0f"] }], ABOUT);
  assert.ok(unfolded(text).includes("DESCRIPTION:a\\\\b\\;c\\,d\\ne f"));
});

test("every line ends in CRLF and has 75 octets at most, and no character is torn", () => {
  const question = "Größe “×” 𝄞 — ".repeat(40);
  for (let pad = 0; pad < 8; pad++) {
    const text = calendarText([{ day: "2026-03-02", questions: ["x".repeat(pad) + question] }], ABOUT);
    assert.ok(!/[^\r]\n|\r[^\n]/.test(text));
    for (const line of text.split("\r\n")) {
      assert.ok(new TextEncoder().encode(line).length <= 75, line);
      assert.doesNotMatch(line, /\p{Surrogate}/u);
    }
    assert.ok(unfolded(text).includes(`DESCRIPTION:${"x".repeat(pad)}${question}`));
  }
});
