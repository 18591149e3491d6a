import assert from "node:assert/strict";
import { test } from "node:test";
import { describePanel, digitsOf, panelTable } from "../../site/plot/words.js";

/** @type {import("../../site/plot/panel.js").Panel} */
const TRAJECTORY = {
  title: "Position over time",
  x: { label: "time", unit: "s" },
  y: { label: "position", unit: "m" },
  lines: [
    { role: "measured", label: "measured", x: "time", y: "measured" },
    { role: "predicted", label: "predicted", x: "time", y: "predicted" },
  ],
};

test("a description says what there is, from where to where, and how far off", () => {
  const columns = { time: [0, 1, 2], measured: [0, 1, 2], predicted: [0, 1.3, 2.4] };
  assert.equal(
    describePanel(TRAJECTORY, columns),
    "Position over time. Measured: 3 points, time 0 s to 2 s, position 0 m to 2 m. " +
      "Predicted: 3 points, time 0 s to 2 s, position 0 m to 2.4 m, " +
      "at most 0.4 m from the measured points (rms 0.289 m).",
  );
});

test("a description counts gaps, and compares only what is there", () => {
  const columns = { time: [0, 1, 2], measured: [0, null, 2], predicted: [1, 9, NaN] };
  const words = describePanel(TRAJECTORY, columns);
  assert.ok(words.includes("Measured: 2 points (1 missing)"));
  assert.ok(words.includes("at most 1 m from the measured points (rms 1 m)"));
});

test("a description of nothing, and of 1e300, is still a sentence", () => {
  assert.equal(
    describePanel(TRAJECTORY, {}),
    "Position over time. Measured: no points. Predicted: no points.",
  );
  const words = describePanel(TRAJECTORY, { time: [0], measured: [0], predicted: [1e300] });
  assert.ok(words.includes("Measured: 1 point, time 0 s, position 0 m."));
  assert.ok(words.includes("at most 1×10³⁰⁰ m from the measured points (rms 1×10³⁰⁰ m)"));
});

test("histories tell where they got to, levels and bands their values; a symbol keeps its case", () => {
  const panel = {
    title: "c",
    x: { label: "step" },
    y: { label: "c", unit: "kg/m" },
    lines: [
      { role: "history", label: "c", x: "step", y: "c" },
      { role: "truth", label: "true c", value: 0.85 },
      { role: "band", label: "passes", low: 0.8, high: 0.9 },
    ],
  };
  assert.equal(
    describePanel(panel, { step: [0, 1, 2], c: [0.2, 0.98, 0.85] }),
    "c. c: 3 points, step 0 to 2, c 0.2 kg/m to 0.98 kg/m, last 0.85 kg/m. " +
      "True c: 0.85 kg/m. Passes: 0.8 kg/m to 0.9 kg/m.",
  );
});

test("lines that share an x column share it in the table", () => {
  const columns = { time: [0, 1], measured: [-0.5, 0.1 + 0.2], predicted: [null, 1e-6] };
  assert.deepEqual(panelTable(TRAJECTORY, columns), {
    head: ["time (s)", "measured (m)", "predicted (m)"],
    rows: [
      ["0", "−0.5", "—"],
      ["1", "0.3", "1×10⁻⁶"],
    ],
  });
});

test("a second x column starts again to the right, and shorter columns end early", () => {
  const panel = {
    ...TRAJECTORY,
    lines: [...TRAJECTORY.lines, { role: "truth", label: "truth", x: "ends", y: "truth" }],
  };
  const columns = { time: [0, 1, 2], measured: [1, 2, 3], predicted: [4], ends: [0, 2], truth: [5, 6] };
  const { head, rows } = panelTable(panel, columns);
  assert.deepEqual(head, ["time (s)", "measured (m)", "predicted (m)", "time (s)", "truth (m)"]);
  assert.deepEqual(rows[2], ["2", "3", "", "", ""]);
});

test("a panel without curves has an empty table", () => {
  assert.deepEqual(panelTable({ ...TRAJECTORY, lines: [] }, {}), { head: [], rows: [] });
});

test("error bars are said, and have columns of their own in the table", () => {
  const line = { role: "other", label: "fit", x: "x", y: "y", lower: "from", upper: "to" };
  const panel = { x: { label: "noise", unit: "mm" }, y: { label: "c", unit: "kg/m" }, lines: [line] };
  const columns = { x: [0, 1], y: [1, 2], from: [0.5, 1.25], to: [1.5, 2.75] };
  assert.deepEqual(panelTable(panel, columns), {
    head: ["noise (mm)", "fit (kg/m)", "fit, from (kg/m)", "fit, to (kg/m)"],
    rows: [
      ["0", "1", "0.5", "1.5"],
      ["1", "2", "1.25", "2.75"],
    ],
  });
  assert.equal(
    describePanel(panel, columns),
    "Fit: 2 points, noise 0 mm to 1 mm, c 1 kg/m to 2 kg/m, with bars 0.5 kg/m to 2.75 kg/m.",
  );
});

test("values that are nearly equal get the digits that tell them apart", () => {
  const columns = { time: [0, 1], measured: [0.8499123, 0.8507987], predicted: [1.23456789, 9.87654321] };
  assert.deepEqual(panelTable(TRAJECTORY, columns).rows[0], ["0", "0.84991", "1.235"]);
  assert.ok(describePanel(TRAJECTORY, columns).includes("position 0.84991 m to 0.8508 m"));
  assert.equal(digitsOf([3, 3]), 4);
  assert.equal(digitsOf([]), 4);
  assert.equal(digitsOf([0, 0]), 4);
});
