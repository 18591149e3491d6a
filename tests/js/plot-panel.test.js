import assert from "node:assert/strict";
import { test } from "node:test";
import { clipPolyline } from "../../site/plot/clip.js";
import { stickyDomains } from "../../site/plot/domains.js";
import { framePanel, layoutPanel } from "../../site/plot/panel.js";

/** @typedef {import("../../site/plot/panel.js").Panel} Panel */
/** @typedef {import("../../site/plot/panel.js").Line} Line */
/** @typedef {import("../../site/plot/panel.js").Shape} Shape */

const BOX = { left: 0, top: 0, right: 10, bottom: 10 };

/** @type {Line} */
const measured = { role: "measured", label: "measured", x: "time", y: "measured" };
/** @type {Line} */
const predicted = { role: "predicted", label: "predicted", x: "time", y: "predicted" };
/** @type {Line} */
const history = { role: "history", label: "loss", x: "time", y: "loss" };

/**
 * @param {Line[]} lines
 * @param {Partial<Panel["y"]>} [y]
 * @returns {Panel}
 */
function panelOf(lines, y = {}) {
  return {
    title: "Title",
    x: { label: "time", unit: "s", scale: "linear" },
    y: { label: "position", unit: "m", scale: "linear", ...y },
    lines,
  };
}

/** @param {Shape[]} shapes @param {string} kind @param {string} role */
function pick(shapes, kind, role) {
  return /** @type {any[]} */ (shapes.filter((shape) => shape.kind === kind && shape.role === role));
}

/** The plot area, from the ends of the bottom axis and the grid. @param {Shape[]} shapes */
function plotArea(shapes) {
  const [axis] = pick(shapes, "line", "axis");
  const tops = pick(shapes, "line", "grid")
    .filter((line) => line.x1 === line.x2)
    .map((line) => line.y1);
  return { left: axis.x1, right: axis.x2, top: Math.min(...tops), bottom: axis.y1 };
}

/** For lines without labels, whose marks would stand outside. @param {Shape[]} shapes @param {string} role */
function assertDataInside(shapes, role) {
  const { left, right, top, bottom } = plotArea(shapes);
  for (const { points } of [...pick(shapes, "polyline", role), ...pick(shapes, "dots", role)]) {
    assert.ok(points.every(Number.isFinite));
    for (let i = 0; i < points.length; i += 2) {
      assert.ok(points[i] >= left - 0.01 && points[i] <= right + 0.01, `x ${points[i]}`);
      assert.ok(points[i + 1] >= top - 0.01 && points[i + 1] <= bottom + 0.01, `y ${points[i + 1]}`);
    }
  }
}

test("a polyline inside the box is one run, unchanged", () => {
  assert.deepEqual(clipPolyline([1, 1, 5, 5, 9, 1], BOX), [[1, 1, 5, 5, 9, 1]]);
});

test("a polyline that leaves and comes back is two runs that end on the edge", () => {
  assert.deepEqual(clipPolyline([1, 5, 3, 15, 5, 5], BOX), [
    [1, 5, 2, 10],
    [4, 10, 5, 5],
  ]);
});

test("a segment through the box from outside to outside is kept, one past it is not", () => {
  assert.deepEqual(clipPolyline([-5, 5, 15, 5], BOX), [[0, 5, 10, 5]]);
  assert.deepEqual(clipPolyline([-5, 20, 15, 20], BOX), []);
  assert.deepEqual(clipPolyline([-5, 8, 8, 21], BOX), []);
});

test("NaN breaks the line, and a point alone stays as a dot", () => {
  assert.deepEqual(clipPolyline([1, 1, 2, 2, 3, NaN, 4, 4, 5, NaN, 6, 6, 7, 7], BOX), [
    [1, 1, 2, 2],
    [4, 4, 4, 4],
    [6, 6, 7, 7],
  ]);
  assert.deepEqual(clipPolyline([3, 3], BOX), [[3, 3, 3, 3]]);
  assert.deepEqual(clipPolyline([], BOX), []);
});

test("data reaching 1e300 stays inside the plot area, and gaps break it", () => {
  const columns = {
    time: [0, 1, 2, 3, 4, 5],
    measured: [0, 1, 2, 1, 0, 1],
    predicted: [0, 1e3, -1e300, null, 1, Number.MAX_VALUE],
  };
  for (const width of [340, 1100]) {
    const unlabelled = [measured, predicted].map((line) => ({ ...line, label: "" }));
    const shapes = layoutPanel(panelOf(unlabelled), columns, { width, height: 250 });
    assert.ok(pick(shapes, "polyline", "predicted").length >= 3);
    assertDataInside(shapes, "predicted");
    assertDataInside(shapes, "measured");
  }
});

test("no column, no numbers, one point or no size at all: never an exception, never a NaN in a shape", () => {
  const columnSets = [
    {},
    { time: [], measured: [], predicted: [] },
    { time: [0, 1], measured: [null, NaN], predicted: [Infinity, undefined] },
    { time: [1], measured: [2], predicted: [2] },
    { time: [1e300, -1e300], measured: [-Number.MAX_VALUE, Number.MAX_VALUE], predicted: [0, 0] },
  ];
  const band = { role: "band", label: "passes", low: null, high: 0.9 };
  const truth = { role: "truth", label: "true", value: null };
  for (const columns of columnSets) {
    for (const scale of /** @type {const} */ (["linear", "log"])) {
      for (const width of [0, 340, 1100]) {
        const panel = panelOf([measured, predicted, band, truth], { scale });
        const shapes = layoutPanel(panel, columns, { width, height: width / 2 });
        assert.ok(!/null/.test(JSON.stringify(shapes)), "JSON writes NaN as null");
      }
    }
  }
});

test("a column named like a property of every object is missing, not a function", () => {
  const line = { role: "history", label: "odd", x: "constructor", y: "toString" };
  assert.deepEqual(stickyDomains(panelOf([line]), {}), {
    x: [Infinity, -Infinity],
    y: [Infinity, -Infinity],
  });
});

test("a domain is the union of everything seen in the run", () => {
  const panel = panelOf([history]);
  const first = stickyDomains(panel, { time: [0, 1], loss: [5, 4] });
  const second = stickyDomains(panel, { time: [1, 2], loss: [1, 2] }, first);
  assert.deepEqual(second, { x: [0, 2], y: [1, 5] });
  assert.deepEqual(stickyDomains(panel, {}, second), second);
});

test("an axis that has seen nothing leaves no trace in the next domain", () => {
  const panel = panelOf([history], { scale: "log" });
  const before = stickyDomains(panel, {});
  assert.deepEqual(stickyDomains(panel, { time: [0, 1], loss: [300, 200] }, before).y, [200, 300]);
});

test("a diverging prediction reaches at most two spans beyond the measured data", () => {
  const columns = { time: [0, 1], measured: [0, 2], predicted: [1e300, -1e300] };
  assert.deepEqual(stickyDomains(panelOf([measured, predicted]), columns).y, [-4, 6]);
  assert.deepEqual(stickyDomains(panelOf([predicted]), columns).y, [-1e300, 1e300]);
});

test("the reach is in decades on a log axis", () => {
  const columns = { time: [0, 1], measured: [1, 10], predicted: [1e-300, 1e300] };
  const [low, high] = stickyDomains(panelOf([measured, predicted], { scale: "log" }), columns).y;
  assert.ok(Math.abs(low / 1e-2 - 1) < 1e-9 && Math.abs(high / 1e3 - 1) < 1e-9);
});

test("levels and bands are part of the domain", () => {
  const lines = [
    history,
    { role: "truth", label: "t", value: 9 },
    { role: "band", label: "b", low: -3, high: 1 },
  ];
  assert.deepEqual(stickyDomains(panelOf(lines), { time: [0, 1], loss: [1, 2] }).y, [-3, 9]);
});

test("a fixed end of an axis stays where it is, without padding", () => {
  const columns = { time: [0, 1, 2], loss: [0, 1, 100] };
  const line = { ...history, label: "" };
  const shapes = layoutPanel(panelOf([line], { domain: [0, 1] }), columns, { width: 400, height: 300 });
  const { top, bottom } = plotArea(shapes);
  const [{ points }] = pick(shapes, "dots", "history");
  assert.equal(points.length, 4);
  assert.ok(Math.abs(points[1] - bottom) <= 1 && Math.abs(points[3] - top) <= 1);
});

test("a fixed end beyond the data, or impossible on a log axis, still gives an axis", () => {
  const columns = { time: [0, 1], loss: [1, 2] };
  for (const y of /** @type {const} */ ([
    { domain: [50, null] },
    { domain: [null, -50] },
    { domain: [3, 3] },
    { domain: [0, null], scale: "log" },
  ])) {
    const shapes = layoutPanel(panelOf([history], /** @type {any} */ (y)), columns, {
      width: 400,
      height: 300,
    });
    const grid = pick(shapes, "line", "grid").filter((line) => line.y1 === line.y2);
    assert.ok(grid.length >= 2, JSON.stringify(y));
  }
});

test("a log axis skips what is not positive and breaks the line there", () => {
  const columns = { time: [0, 1, 2, 3, 4], loss: [1, 0.1, 0, 0.01, 0.001] };
  const shapes = layoutPanel(panelOf([history], { scale: "log" }), columns, { width: 400, height: 300 });
  const { top } = plotArea(shapes);
  const runs = pick(shapes, "polyline", "history").filter(({ points }) => points[1] > top);
  assert.deepEqual(
    runs.map(({ points }) => points.length / 2),
    [2, 2],
  );
});

test("absent and null mean the same in a line and an axis", () => {
  const line = { role: "truth", label: "true", value: 1 };
  const bare = panelOf([line]);
  const full = { ...bare, lines: [{ ...line, x: null, y: null, low: null, high: null }] };
  const size = { width: 400, height: 300 };
  assert.deepEqual(layoutPanel(full, {}, size), layoutPanel(bare, {}, size));
});

test("axis titles carry their units, and nothing when there is none", () => {
  const texts = (/** @type {Panel} */ panel) =>
    layoutPanel(panel, {}, { width: 400, height: 300 }).flatMap((shape) =>
      shape.kind === "text" ? [shape.text] : [],
    );
  assert.ok(texts(panelOf([])).includes("time (s)"));
  assert.ok(texts(panelOf([], { unit: "" })).includes("position"));
});

test("labels stand in a row above a narrow plot, and at the ends of the lines of a wide one, apart", () => {
  const columns = { time: [0, 1], measured: [0, 1], predicted: [0, 1.001], start: [0, 0.999] };
  const panel = panelOf([
    measured,
    predicted,
    { role: "start", label: "first guess", x: "time", y: "start" },
  ]);
  for (const width of [340, 800]) {
    const shapes = layoutPanel(panel, columns, { width, height: 300 });
    const { right, top } = plotArea(shapes);
    const keys = panel.lines.map(({ label }) =>
      pick(shapes, "text", "text").find(({ text }) => text === label),
    );
    if (width === 340) assert.ok(keys.every((key) => key.y < top));
    else {
      assert.ok(keys.every((key) => key.x > right));
      const heights = keys.map((key) => key.y).sort((a, b) => a - b);
      assert.ok(heights.slice(1).every((y, i) => y - heights[i] >= 17.9));
    }
  }
});

test("tick labels of an axis do not overlap, however long", () => {
  for (const time of [
    [0.000012, 0.000019],
    [1000001, 1000009],
    [0, 1],
  ]) {
    for (const width of [200, 340, 1100]) {
      const shapes = layoutPanel(panelOf([history]), { time, loss: [1, 2] }, { width, height: 250 });
      const { bottom } = plotArea(shapes);
      const row = pick(shapes, "text", "text").filter(({ y }) => y > bottom && y < bottom + 20);
      assert.ok(row.length >= 2);
      for (let i = 1; i < row.length; i++) {
        assert.ok(row[i].x - row[i - 1].x > 6.5 * row[i].text.length, `${row[i].text} at ${width} px`);
      }
    }
  }
});

test("data is painted over the grid, and the prediction over the measured dots", () => {
  const columns = { time: [0, 1], measured: [0, 1], predicted: [0, 2] };
  const roles = layoutPanel(panelOf([predicted, measured]), columns, { width: 800, height: 300 }).map(
    (s) => s.role,
  );
  assert.ok(roles.lastIndexOf("grid") < roles.indexOf("measured"));
  assert.ok(roles.indexOf("measured") < roles.indexOf("predicted"));
  assert.equal(roles[0], "surface");
});

/** @type {Line} */
const spread = {
  role: "other",
  label: "",
  x: "time",
  y: "middle",
  lower: "from",
  upper: "to",
};
const SPREAD = { time: [0, 1, 2], middle: [1, 2, 3], from: [0, 1.5, 2.9999], to: [2, 2.5, 3.0001] };

test("an error bar goes from end to end, with caps, and undashed whatever the line", () => {
  const shapes = layoutPanel(panelOf([spread]), SPREAD, { width: 400, height: 300 });
  const bars = pick(shapes, "line", "other");
  assert.equal(bars.length, 6, "two bars of three strokes; the third is shorter than the line is thick");
  assert.ok(bars.every(({ solid }) => solid));
  const [bar, top, bottom] = bars;
  assert.equal(bar.x1, bar.x2);
  assert.deepEqual([top.y1, bottom.y1], [bar.y1, bar.y2]);
  assert.ok(top.x1 < bar.x1 && bar.x1 < top.x2);
  assert.deepEqual(pick(shapes, "polyline", "other").length, 1);
});

test("an axis makes room for error bars", () => {
  assert.deepEqual(stickyDomains(panelOf([spread]), SPREAD).y, [0, 3.0001]);
});

test("an error bar beyond a fixed end stops there, without a cap; one without ends is none", () => {
  const columns = { ...SPREAD, from: [-50, null, null], to: [2, 3, 4] };
  const shapes = layoutPanel(panelOf([spread], { domain: [0, 5] }), columns, { width: 400, height: 300 });
  const bars = pick(shapes, "line", "other");
  assert.equal(bars.length, 2);
  assert.ok(Math.abs(bars[0].y2 - plotArea(shapes).bottom) <= 1);
});

test("a closed line is drawn whole, and reaches to its own ends on both axes", () => {
  const line = { role: "curve", label: "", x: "x", y: "y" };
  const columns = { x: [1, 0, -1, 0, 1], y: [0, 1, 0, -1, 0] };
  assert.deepEqual(stickyDomains(panelOf([line]), columns), { x: [-1, 1], y: [-1, 1] });
  const [{ points }] = pick(
    layoutPanel(panelOf([line]), columns, { width: 400, height: 300 }),
    "polyline",
    "curve",
  );
  assert.equal(points.length, 10);
  assert.deepEqual(points.slice(0, 2), points.slice(-2));
});

test("the steps of a search keep their dots however many they are", () => {
  const time = Array.from({ length: 300 }, (_, i) => i);
  const dots = (/** @type {string} */ role) =>
    pick(
      layoutPanel(panelOf([{ ...history, role }]), { time, loss: time }, { width: 400, height: 300 }),
      "dots",
      role,
    )[0].points.length / 2;
  assert.equal(dots("history"), 1);
  assert.equal(dots("steps"), 300);
});

test("a frame says where the picture has its plot area and its values", () => {
  const columns = { time: [0, 1, 2], loss: [5, 3, 4] };
  const line = { ...history, label: "" };
  const size = { width: 400, height: 300 };
  const { box, toX, toY } = framePanel(panelOf([line]), columns, size);
  const shapes = layoutPanel(panelOf([line]), columns, size);
  const [{ points }] = pick(shapes, "polyline", "history");
  assert.deepEqual(points, [toX(0), toY(5), toX(1), toY(3), toX(2), toY(4)]);
  const { left, right } = plotArea(shapes);
  assert.deepEqual([box.left, box.right], [left, right]);
});
