import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { Output } from "../../site/output.js";

/** @typedef {import("../../site/protocol.js").Chunk} Chunk */

/** @type {Chunk[][]} */
let posts;
let clock = 0;
/** @type {Output} */
let output;

/** @param {string} text @param {"stdout" | "stderr"} [stream] */
const print = (text, stream = "stdout") => output.write(stream, new TextEncoder().encode(text));

const chunks = () => posts.flat();
/** @param {Chunk["stream"]} stream */
const textOf = (stream) =>
  chunks()
    .filter((chunk) => chunk.stream === stream)
    .map(({ text }) => text)
    .join("");

beforeEach(() => {
  posts = [];
  clock = 0;
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  output = new Output(
    (chunks) => posts.push(chunks),
    () => clock,
  );
  output.begin();
});

test("the first write is shown at once, and what follows 50 ms apart", () => {
  for (let i = 0; i < 200; i++) {
    print(`${i}\n`);
    clock += 10;
  }
  output.end();
  assert.ok(posts.length <= 41, String(posts.length));
  assert.equal(textOf("stdout"), Array.from({ length: 200 }, (_, i) => `${i}\n`).join(""));
});

test("much text is shown sooner", () => {
  print("first");
  print("x".repeat(4095));
  assert.equal(posts.length, 1);
  print("x");
  assert.equal(posts.length, 2);
});

test("what code printed before it awaits is shown while it does", () => {
  print("1");
  print("2");
  assert.equal(posts.length, 1);
  mock.timers.tick(50);
  assert.deepEqual(posts[1], [{ stream: "stdout", text: "2" }]);
});

test("both streams keep their order, and share the posts", () => {
  print("first");
  print("a");
  print("b", "stderr");
  print("c", "stderr");
  print("d");
  output.end();
  assert.deepEqual(posts[1], [
    { stream: "stdout", text: "a" },
    { stream: "stderr", text: "bc" },
    { stream: "stdout", text: "d" },
  ]);
});

test("a character that arrives in two halves is whole, and a half that stays alone is shown as such", () => {
  const bytes = new TextEncoder().encode("é");
  output.write("stdout", bytes.subarray(0, 1));
  output.write("stdout", bytes.subarray(1));
  output.write("stdout", bytes.subarray(0, 1));
  output.end();
  assert.equal(textOf("stdout"), "é\ufffd");
});

test("characters are capped, over both streams, with one note; then nothing more is posted", () => {
  for (let i = 0; i < 1000; i++) print("x".repeat(99), i % 2 ? "stdout" : "stderr");
  const { length } = posts;
  for (let i = 0; i < 1000; i++) print("x".repeat(99));
  clock += 1e6;
  print("more");
  mock.timers.tick(1e6);
  output.end();
  assert.equal(posts.length, length);
  assert.equal(textOf("stdout").length + textOf("stderr").length, 20_000);
  assert.match(textOf("note"), /^Output is cut off here/);
  assert.equal(chunks().at(-1)?.stream, "note");
});

test("exactly as much as is allowed is not cut off, and one more is", () => {
  print("x".repeat(20_000));
  assert.equal(textOf("note"), "");
  print("x");
  assert.notEqual(textOf("note"), "");
});

test("lines are capped", () => {
  for (let i = 0; i < 500; i++) print("\n");
  assert.equal(textOf("note"), "");
  print("the next");
  assert.equal(textOf("stdout"), "\n".repeat(500));
  assert.notEqual(textOf("note"), "");
});

test("one print may be larger than all that is shown", () => {
  print("😀".repeat(1e6));
  assert.equal(textOf("stdout"), "😀".repeat(10_000));
  output.end();
  output.begin();
  print("\n".repeat(1e6));
  assert.equal(textOf("stdout").length, 20_000 + 500);
});

test("each question may print as much again, and what is printed between two is dropped", () => {
  print("x".repeat(30_000));
  output.end();
  print("nobody's");
  posts = [];
  output.begin();
  print("yours");
  output.end();
  assert.deepEqual(chunks(), [{ stream: "stdout", text: "yours" }]);
});
