import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { PanelProbe } from "../../site/elements/panel-probe.js";
import { framePanel } from "../../site/plot/panel.js";
import { layoutProbe, nearestStop, readStop, stopAfter } from "../../site/plot/probe.js";

/** @typedef {import("../../site/plot/panel.js").Panel} Panel */
/** @typedef {import("../../site/plot/probe.js").Stop} Stop */

/** @type {Panel} */
const TRAJECTORY = {
  title: "Position over time",
  x: { label: "time", unit: "s" },
  y: { label: "position", unit: "m" },
  lines: [
    { role: "measured", label: "measured", x: "time", y: "measured" },
    { role: "predicted", label: "predicted", x: "time", y: "predicted" },
    { role: "truth", label: "limit", value: 2 },
  ],
};
const COLUMNS = { time: [0, 1, 2, 3], measured: [0, 1.5, null, 3], predicted: [0, 1.25, null, null] };
const SIZE = { width: 400, height: 300 };

/** A curve with the path of a search over it, and a closed line. @type {Panel} */
const PLANE = {
  title: "Plane",
  x: { label: "c", unit: "kg/m" },
  y: { label: "loss", unit: "m²" },
  lines: [
    { role: "steps", label: "training", x: "path_c", y: "path_loss" },
    { role: "curve", label: "loss", x: "c", y: "loss" },
  ],
};
const PLANE_COLUMNS = {
  c: [0, 1, 2, 3, 4],
  loss: [4, 1, 0, 1, 4],
  path_c: [0, 3, 1, 2.5],
  path_loss: [4, 1, 1, 0.25],
};

/** @param {Panel} panel @param {any} columns @param {number} x @param {number} y  in data units */
function stopAt(panel, columns, x, y) {
  const frame = framePanel(panel, columns, SIZE);
  return nearestStop(panel, columns, frame, { x: frame.toX(x), y: frame.toY(y) });
}

/** @param {Panel} panel @param {any} columns @param {string[]} keys @param {Stop | null} [stop] */
function walk(panel, columns, keys, stop = null) {
  return keys.reduce((at, key) => stopAfter(panel, columns, at, key) ?? at, stop);
}

test("a pointer anywhere above a sample is at that sample", () => {
  for (const y of [-5, 0, 3]) {
    assert.deepEqual(stopAt(TRAJECTORY, COLUMNS, 0.8, y), { track: "time", row: 1 });
    assert.deepEqual(stopAt(TRAJECTORY, COLUMNS, -9, y), { track: "time", row: 0 });
    assert.deepEqual(stopAt(TRAJECTORY, COLUMNS, 99, y), { track: "time", row: 3 });
  }
});

test("where no line has a value there is no sample", () => {
  assert.deepEqual(stopAt(TRAJECTORY, COLUMNS, 2.1, 0), { track: "time", row: 3 });
  assert.equal(stopAt(TRAJECTORY, {}, 1, 0), null);
  assert.equal(stopAfter(TRAJECTORY, {}, null, "Home"), null);
});

test("a reading names x and every line there, and a gap as a gap", () => {
  const reading = readStop(TRAJECTORY, COLUMNS, { track: "time", row: 1 });
  assert.equal(reading?.words, "time 1 s: measured 1.5 m, predicted 1.25 m");
  assert.deepEqual(reading?.places, [
    { x: 1, y: 1.5 },
    { x: 1, y: 1.25 },
  ]);
  const last = readStop(TRAJECTORY, COLUMNS, { track: "time", row: 3 });
  assert.equal(last?.words, "time 3 s: measured 3 m, predicted — m");
  assert.equal(last?.places.length, 1);
});

test("a sample that is no longer there has no reading", () => {
  assert.equal(readStop(TRAJECTORY, COLUMNS, { track: "time", row: 2 }), null);
  assert.equal(readStop(TRAJECTORY, COLUMNS, { track: "time", row: 9 }), null);
  assert.equal(readStop(TRAJECTORY, COLUMNS, { track: "iteration", row: 0 }), null);
});

test("arrow keys go from sample to sample, over gaps, and stay at the ends", () => {
  const rows = (/** @type {string[]} */ ...keys) => walk(TRAJECTORY, COLUMNS, keys)?.row;
  assert.equal(rows("ArrowRight"), 0);
  assert.equal(rows("ArrowLeft"), 0);
  assert.equal(rows("Home", "ArrowRight"), 1);
  assert.equal(rows("Home", "ArrowRight", "ArrowRight"), 3);
  assert.equal(rows("End"), 3);
  assert.equal(rows("End", "ArrowRight"), 3);
  assert.equal(rows("End", "ArrowLeft"), 1);
  assert.equal(rows("End", "PageUp"), 0);
  assert.equal(rows("Home", "PageDown"), 3);
});

test("keys that lead nowhere are left to the page", () => {
  for (const key of ["Tab", "Enter", " ", "a", "ArrowUp", "ArrowDown"]) {
    assert.equal(stopAfter(TRAJECTORY, COLUMNS, { track: "time", row: 0 }, key), null, key);
  }
});

test("after the data has shrunk, keys go on from the nearest sample left", () => {
  assert.equal(walk(TRAJECTORY, COLUMNS, ["ArrowLeft"], { track: "time", row: 99 })?.row, 1);
  assert.equal(walk(TRAJECTORY, COLUMNS, ["Home"], { track: "gone", row: 99 })?.track, "time");
});

test("lines on clocks of their own are read together where they meet", () => {
  const panel = {
    ...TRAJECTORY,
    lines: [
      { role: "drive", label: "fit", x: "time", y: "fit" },
      { role: "held-out", label: "held out", x: "other", y: "held" },
    ],
  };
  const columns = { time: [0, 1, 2], fit: [1, 2, 3], other: [0.1, 1.1, 7], held: [4, 5, 6] };
  assert.equal(readStop(panel, columns, { track: "time", row: 1 })?.words, "time 1 s: fit 2 m, held out 5 m");
  assert.equal(readStop(panel, columns, { track: "time", row: 2 })?.words, "time 2 s: fit 3 m");
});

test("a path that turns back is read along itself, in its own order", () => {
  const stops = ["Home", "ArrowRight", "ArrowRight"].map((_, i, keys) =>
    walk(PLANE, PLANE_COLUMNS, keys.slice(0, i + 1)),
  );
  assert.deepEqual(
    stops.map((stop) => stop && readStop(PLANE, PLANE_COLUMNS, stop)?.words),
    [
      "Point 1 of 4, c 0 kg/m: training 4 m²",
      "Point 2 of 4, c 3 kg/m: training 1 m²",
      "Point 3 of 4, c 1 kg/m: training 1 m²",
    ],
  );
});

test("up and down lead to another line, at the sample nearest in x", () => {
  const path = { track: "path_c", row: 1 };
  const curve = { track: "c", row: 3 };
  for (const key of ["ArrowDown", "ArrowUp"]) {
    assert.deepEqual(stopAfter(PLANE, PLANE_COLUMNS, path, key), curve);
    assert.deepEqual(stopAfter(PLANE, PLANE_COLUMNS, curve, key), path);
  }
});

test("a pointer on a path reads the path, and off it the curve", () => {
  assert.deepEqual(stopAt(PLANE, PLANE_COLUMNS, 2.5, 0.25), { track: "path_c", row: 3 });
  assert.deepEqual(stopAt(PLANE, PLANE_COLUMNS, 2.1, 3), { track: "c", row: 2 });
});

test("a pointer inside a closed line reads its nearest point", () => {
  const panel = { ...PLANE, lines: [{ role: "curve", label: "region", x: "x", y: "y" }] };
  const columns = { x: [1, 0, -1, 0, 1], y: [0, 1, 0, -1, 0] };
  assert.deepEqual(stopAt(panel, columns, -0.5, 0.1), { track: "x", row: 2 });
});

test("an error bar is read as its ends, and nearly equal values with the digits that tell them apart", () => {
  const line = { role: "other", label: "fit", x: "x", y: "y", lower: "from", upper: "to" };
  const columns = {
    x: [0, 1],
    y: [0.85, 0.850012345],
    from: [0.8499, 0.8498],
    to: [0.8501, 0.8502],
  };
  assert.equal(
    readStop({ ...PLANE, lines: [line] }, columns, { track: "x", row: 1 })?.words,
    "c 1 kg/m: fit 0.8500123 m² (0.8498 to 0.8502)",
  );
});

test("the probe is a rule at the sample and a ring about each value inside the plot", () => {
  const frame = framePanel(TRAJECTORY, COLUMNS, SIZE);
  const { box, toX, toY } = frame;
  const reading = {
    words: "",
    places: [
      { x: 1, y: 1.5 },
      { x: 1, y: 1e9 },
    ],
  };
  const shapes = /** @type {any[]} */ (layoutProbe(reading, frame));
  assert.deepEqual(
    shapes.map(({ kind, role }) => [kind, role]),
    [
      ["line", "probe"],
      ["polyline", "probe"],
    ],
  );
  assert.ok(Math.abs(shapes[0].x1 - toX(1)) <= 0.5 && shapes[0].x1 === shapes[0].x2);
  assert.deepEqual([shapes[0].y1, shapes[0].y2], [box.top, box.bottom]);
  const { points } = shapes[1];
  for (let i = 0; i < points.length; i += 2) {
    assert.ok(Math.abs(Math.hypot(points[i] - toX(1), points[i + 1] - toY(1.5)) - 5) < 1e-9);
  }
  assert.deepEqual(layoutProbe({ words: "", places: [{ x: 99, y: 1 }] }, frame), []);
  assert.deepEqual(layoutProbe({ words: "", places: [] }, frame), []);
});

// The element's end of it: what is said, and when.

/** A probe on a canvas that is none. @param {Panel} [panel] @param {any} [columns] */
function probeOn(panel = TRAJECTORY, columns = COLUMNS) {
  const canvas = /** @type {any} */ (new EventTarget());
  canvas.matches = () => true;
  globalThis.document = /** @type {any} */ ({ activeElement: null });
  globalThis.window = /** @type {any} */ (globalThis);
  /** @type {[string, string][]} */
  const said = [];
  const probe = new PanelProbe(canvas, {
    sight: () => ({ panel, columns, frame: framePanel(panel, columns, SIZE) }),
    say: (words, live) => said.push([words, live]),
    moved: () => {},
  });
  const send = (/** @type {string} */ type, given = {}) => {
    const event = Object.assign(new Event(type, { cancelable: true }), given);
    canvas.dispatchEvent(event);
    return event;
  };
  const frame = framePanel(panel, columns, SIZE);
  const at = (/** @type {number} */ x) => ({ offsetX: frame.toX(x), offsetY: 50, pointerType: "mouse" });
  return { probe, said, send, at };
}

test("a pointer writes at once and says nothing aloud; when it leaves, the line is empty", () => {
  const { said, send, at } = probeOn();
  send("pointermove", at(1));
  send("pointermove", at(3));
  send("pointerleave", at(3));
  assert.deepEqual(said, [
    ["time 1 s: measured 1.5 m, predicted 1.25 m", "off"],
    ["time 3 s: measured 3 m, predicted — m", "off"],
    ["", "off"],
  ]);
});

test("a finger that is lifted leaves what it pointed at", () => {
  const { probe, send, at } = probeOn();
  send("pointerdown", { ...at(1), pointerType: "touch" });
  send("pointerleave", { pointerType: "touch" });
  assert.ok(probe.reading);
  send("blur");
  assert.equal(probe.reading, null);
});

test("keys are spoken once they rest, however long one is held down", (t) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  t.after(() => mock.timers.reset());
  const { probe, said, send } = probeOn();
  send("focus");
  for (let i = 0; i < 20; i++) {
    assert.ok(send("keydown", { key: "ArrowRight" }).defaultPrevented);
    mock.timers.tick(30);
  }
  probe.refresh(); // as when a run brings new data meanwhile
  assert.deepEqual(said, []);
  mock.timers.tick(200);
  assert.deepEqual(said, [["time 3 s: measured 3 m, predicted — m", "polite"]]);
});

test("new data under a probe at rest is written and not spoken", () => {
  const { probe, said, send, at } = probeOn();
  probe.refresh();
  assert.deepEqual(said, []);
  send("pointermove", at(1));
  probe.refresh();
  assert.deepEqual(said.at(-1), ["time 1 s: measured 1.5 m, predicted 1.25 m", "off"]);
});

test("keys with a modifier, and those that lead nowhere, are the browser's", () => {
  const { probe, send } = probeOn();
  assert.ok(!send("keydown", { key: "ArrowRight", altKey: true }).defaultPrevented);
  assert.ok(!send("keydown", { key: "Tab" }).defaultPrevented);
  assert.equal(probe.reading, null);
});
