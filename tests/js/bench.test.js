import assert from "node:assert/strict";
import { test } from "node:test";
import { benchMarkup, escapeHtml } from "../../site/elements/bench-markup.js";
import * as say from "../../site/protocol.js";
import { Recording } from "../../site/recording.js";

/** @typedef {import("../../site/elements/bench-markup.js").Description} Description */
/** @typedef {import("../../site/elements/bench-markup.js").NumberControl} NumberControl */

// The element's module needs these two of a browser to be read at all.
Object.assign(globalThis, { HTMLElement: class {}, matchMedia: () => ({ matches: false }) });
const { readControl } = await import("../../site/elements/ferro-bench.js");

/** @type {NumberControl} */
const FORCE = {
  kind: "number",
  key: "force",
  symbol: "F",
  name: "push",
  unit: "N",
  default: 1,
  bounds: [-5, 5],
  increment: 0.5,
};

/** @type {import("../../site/elements/bench-markup.js").ChoiceControl} */
const METHOD = {
  kind: "choice",
  key: "method",
  name: "method",
  default: "fast",
  options: { fast: "Fast & rough", slow: "Slow" },
};

/**
 * @param {Partial<Description>} [changes]
 * @returns {Description}
 */
function description(changes = {}) {
  /** @type {Description["panels"][0]} */
  const panel = {
    title: "Position",
    x: { label: "time", unit: "s", scale: "linear" },
    y: { label: "position", unit: "m", scale: "linear" },
    lines: [{ role: "measured", label: "measured", x: "time", y: "measured" }],
  };
  return {
    bench: "slide",
    title: "A slide",
    summary: "Something slides.",
    budget: 10,
    controls: [FORCE, { ...FORCE, key: "rate", symbol: "η", name: "learning rate", unit: "" }, METHOD],
    readout: { c: "drag" },
    panels: [panel, { ...panel, title: "Again" }],
    columns: { time: [0, 1, 2], measured: [0, 0.5, 2] },
    values: { c: "0.20 kg/m" },
    recording: "assets/slide-run.json",
    ...changes,
  };
}

/** @param {string} text @param {RegExp} pattern */
const count = (text, pattern) => [...text.matchAll(pattern)].length;

// What a control makes of what was typed

for (const [typed, value] of /** @type {const} */ ([
  ["2", 2],
  [" 2.5 ", 2.5],
  ["2,5", 2.5],
  [".5", 0.5],
  ["-3", -3],
  ["−3", -3], // U+2212, as typeset pages have it
  ["2.5e-1", 0.25],
  ["5", 5],
  ["-5", -5],
  ["0x1", 1], // odd, but a number, and the slider shows which
])) {
  test(`a control reads ${JSON.stringify(typed)} as ${value}`, () =>
    assert.deepEqual(readControl(FORCE, typed), { value, refusal: "" }));
}

for (const typed of [
  "much",
  "NaN",
  "Infinity",
  "-Infinity",
  "1e999",
  "5.01",
  "-6",
  "1,000.5",
  "1 N",
  "--1",
]) {
  test(`a control refuses ${JSON.stringify(typed)} and names its bounds`, () =>
    assert.equal(
      readControl(FORCE, typed).refusal,
      `The push must be a number from -5 to 5 N; “${typed}” is not.`,
    ));
}

for (const typed of ["", "  "]) {
  test(`a control refuses ${JSON.stringify(typed)} as empty, not as zero`, () =>
    assert.equal(
      readControl({ ...FORCE, unit: "" }, typed).refusal,
      "The push must be a number from -5 to 5; this is empty.",
    ));
}

test("a choice is taken as it stands", () =>
  assert.deepEqual(readControl(METHOD, "slow"), { value: "slow", refusal: "" }));

// What a bench looks like before anything has run

test("the four buttons are there, and wait for the script", () => {
  const buttons = [...benchMarkup(description()).matchAll(/<button ([^>]*)>([^<]*)</g)];
  assert.deepEqual(
    buttons.map(([, , name]) => name),
    ["Train", "Pause", "One step", "Start over"],
  );
  for (const [, attributes] of buttons) assert.match(attributes, /type="button".* disabled$/);
});

test("each control is labelled by symbol, name and unit, and starts at its default", () => {
  const markup = benchMarkup(description());
  const labels = [...markup.matchAll(/<label for="([^"]*)">(.*?)<\/label>/g)];
  assert.deepEqual(
    labels.map(([, , label]) => label),
    ["<var>F</var> push (N)", "<var>η</var> learning rate", "method"],
  );
  for (const [, id] of labels) assert.equal(count(markup, new RegExp(` id="${id}"`, "g")), 1);
  assert.match(markup, /<input type="range" [^>]*min="-5" max="5" step="0\.5" value="1"/);
  assert.match(markup, /<input type="text" id="slide-force" [^>]*value="1"/);
  assert.match(markup, /<option value="fast">Fast &#38; rough<\/option>/);
});

test("each panel has one picture, one table and its caption", () => {
  const panels = benchMarkup(description()).split("<ferro-panel>").slice(1);
  assert.equal(panels.length, 2);
  for (const [i, title] of ["Position", "Again"].entries()) {
    const [panel] = panels[i].split("</ferro-panel>");
    assert.equal(count(panel, /<svg /g), 1);
    assert.equal(count(panel, /<table>/g), 1);
    assert.equal(count(panel, /<tbody>.*<\/tbody>/g), 1);
    assert.equal(count(panel, /<tr><td>/g), 3);
    assert.match(panel, new RegExp(`<figcaption>${title}</figcaption>`));
  }
});

test("live values stand in the readout, and the status line is empty", () => {
  const markup = benchMarkup(description());
  assert.match(
    markup,
    /<dt>drag<\/dt><dd><ferro-value bench="slide" name="c">0\.20 kg\/m<\/ferro-value><\/dd>/,
  );
  assert.match(markup, /<p class="bench-status" role="status"><\/p>/);
});

test("no text of a bench becomes markup", () => {
  const evil = '</script><img src=x onerror="alert(1)">&';
  const given = description({
    title: evil,
    summary: evil,
    values: { c: evil },
    readout: { c: evil },
    controls: [
      { ...FORCE, symbol: evil, name: evil, unit: evil },
      { ...METHOD, name: evil, options: { [evil]: evil } },
    ],
  });
  const [panel] = given.panels;
  panel.title = panel.x.label = panel.y.label = panel.lines[0].label = evil;
  const markup = benchMarkup(given);
  assert.doesNotMatch(markup, /<img/);
  assert.equal(count(markup, /<\/script>/g), 1);
  assert.equal(count(markup, /<script/g), 1);
});

test("the description travels inside the markup, whole", () => {
  const given = description({ title: "</script> <!-- “quoted” & \\u003c" });
  const script = benchMarkup(given).match(/<script type="application\/json">(.*?)<\/script>/s);
  assert.deepEqual(JSON.parse(script?.[1] ?? ""), given);
});

test("escaping covers what ends text or a quoted attribute", () =>
  assert.equal(escapeHtml(`<a b="c">&'`), "&#60;a b=&#34;c&#34;&#62;&#38;'"));

// The recorded run, and the messages

test("a recording answers as the run did, and starts anew on open", async () => {
  const run = { opened: { kind: "opened" }, advanced: [{ step: 1 }, { step: 2 }] };
  const recording = new Recording(run);
  for (let time = 0; time < 2; time++) {
    assert.equal(await recording.ask({ kind: "open" }), run.opened);
    assert.equal(await recording.ask({ kind: "advance" }), run.advanced[0]);
    assert.equal(await recording.ask({ kind: "advance" }), run.advanced[1]);
  }
  await recording.ask({ kind: "open" });
  assert.equal(await recording.ask({ kind: "advance" }), run.advanced[0]);
  await recording.ask({ kind: "open" });
  assert.equal(await recording.ask({ kind: "advance" }), run.advanced[0]);
});

test("every message is plain data under its own kind", () => {
  const file = { name: "numpy.whl", bytes: 3, sha256: "abc" };
  const messages = [
    say.boot("base/", [file], ["numpy"]),
    say.ask(1, { kind: "open", run: "slide" }),
    say.progress("Downloading Python", 1, 2),
    say.ready(),
    say.failed("No."),
    say.answer(1, "{}"),
    say.fault(1, "No."),
  ];
  assert.deepEqual(messages, [
    { kind: "boot", base: "base/", files: [file], packages: ["numpy"] },
    { kind: "ask", id: 1, request: '{"kind":"open","run":"slide"}' },
    { kind: "progress", stage: "Downloading Python", received: 1, total: 2 },
    { kind: "ready" },
    { kind: "failed", sentence: "No." },
    { kind: "answer", id: 1, reply: "{}" },
    { kind: "fault", id: 1, sentence: "No." },
  ]);
  assert.deepEqual(structuredClone(messages), messages);
});
