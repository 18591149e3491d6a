import assert from "node:assert/strict";
import { test } from "node:test";
import { readControl } from "../../site/elements/bench-controls.js";
import { benchMarkup } from "../../site/elements/bench-markup.js";

/** @typedef {import("../../site/elements/bench-markup.js").Description} Description */
/** @typedef {import("../../site/elements/bench-controls.js").NumberControl} NumberControl */

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

/** @type {import("../../site/elements/bench-controls.js").ChoiceControl} */
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
    own: [],
    readout: { c: "drag" },
    panels: [panel, { ...panel, title: "Again" }],
    columns: { time: [0, 1, 2], measured: [0, 0.5, 2] },
    values: { c: "0.20 kg/m" },
    checks: [
      {
        name: "Near & far",
        passed: false,
        value: "1 m",
        limit: "2 m",
        because: "of this",
        advice: "Do that.",
      },
    ],
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
  assert.match(markup, /<option value="fast">Fast &amp; rough<\/option>/);
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

test("live values stand in the readout, and the status line says what is going on", () => {
  const markup = benchMarkup(description());
  assert.match(
    markup,
    /<dt>drag<\/dt><dd><ferro-value bench="slide" name="c">0\.20 kg\/m<\/ferro-value><\/dd>/,
  );
  assert.match(markup, /<p class="bench-status" role="status">[^<]+<\/p>/);
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
