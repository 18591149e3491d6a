import assert from "node:assert/strict";
import { test } from "node:test";
import { ankiText } from "../../site/recall/anki.js";

const ABOUT = { deck: "A lesson, at scale", tags: ["ferro-bench", "a-lesson"] };

test("the headers come first, the separator before the columns that it separates", () => {
  const lines = ankiText([{ front: "<p>Why?</p>", back: "<p>Because.</p>" }], ABOUT).split("\n");
  assert.deepEqual(lines, [
    "#separator:tab",
    "#html:true",
    "#notetype:Basic",
    "#deck column:3",
    "#tags column:4",
    "#columns:Front\tBack\tDeck\tTags",
    '"<p>Why?</p>"\t"<p>Because.</p>"\t"A lesson, at scale"\t"ferro-bench a-lesson"',
    "",
  ]);
});

test("nothing in a field ends it or its line", () => {
  const text = ankiText([{ front: '<p class="x">a\tb\r\nc</p>', back: "#no header; “×” &lt;" }], ABOUT);
  const row = text.split("\n")[6];
  assert.equal(row.split("\t")[0], '"<p class=""x"">a b c</p>"');
  assert.equal(row.split("\t")[1], '"#no header; “×” &lt;"');
  assert.equal(row.split("\t").length, 4);
});
