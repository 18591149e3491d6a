import assert from "node:assert/strict";
import { test } from "node:test";
import {
  extent,
  formatNumber,
  formatTicks,
  isEmpty,
  logTicks,
  makeScale,
  niceTicks,
  union,
  widen,
} from "../../site/plot/scale.js";

test("a linear scale maps its domain to its range", () => {
  const scale = makeScale("linear", [0, 2], [100, 0]);
  assert.deepEqual([0, 1, 2].map(scale), [100, 50, 0]);
});

test("a log scale maps equal ratios to equal lengths and has no place for what is not positive", () => {
  const scale = makeScale("log", [1e-2, 1e2], [0, 400]);
  assert.deepEqual([1e-2, 1, 1e2].map(scale), [0, 200, 400]);
  assert.deepEqual([0, -1, null].map(scale), [NaN, NaN, NaN]);
});

test("gaps have no place, and a value of 1e300 has a finite one", () => {
  const scale = makeScale("linear", [0, 1], [0, 100]);
  assert.deepEqual([null, undefined, NaN, Infinity].map(scale), [NaN, NaN, NaN, NaN]);
  assert.ok(Number.isFinite(scale(1e300)) && Number.isFinite(scale(-Number.MAX_VALUE)));
});

test("an extent skips null, NaN, undefined and Infinity", () => {
  assert.deepEqual(extent([null, 3, NaN, -Infinity, undefined, -2, Infinity]), [-2, 3]);
  assert.deepEqual(extent([-5, -4]), [-5, -4]);
});

test("an extent on a log axis skips what is not positive", () => {
  assert.deepEqual(extent([0, -1, 0.5, 4], "log"), [0.5, 4]);
});

test("an empty extent is empty, and disappears in a union", () => {
  assert.ok(isEmpty(extent([])));
  assert.ok(isEmpty(extent([null, NaN])));
  assert.deepEqual(union(extent([]), [1, 2]), [1, 2]);
});

test("an empty or constant extent is widened to a sensible span", () => {
  assert.deepEqual(widen(extent([]), "linear", 0.1), [0, 1]);
  assert.deepEqual(widen(extent([]), "log", 0.1), [0.1, 1]);
  assert.deepEqual(widen([0, 0], "linear", 0), [-1, 1]);
  assert.deepEqual(widen([-5, -5], "linear", 0), [-5.5, -4.5]);
  const [low, high] = widen([1, 1], "log", 0);
  assert.ok(Math.abs(low - 10 ** -0.5) < 1e-12 && Math.abs(high - 10 ** 0.5) < 1e-12);
});

test("rounding noise on a constant does not become the axis", () => {
  const [low, high] = widen([0.3, 0.1 + 0.2], "linear", 0);
  assert.ok(high - low > 0.01);
});

test("widening pads by shares of the span, in ratios on a log axis", () => {
  assert.deepEqual(widen([0, 10], "linear", 0.1), [-1, 11]);
  const [low, high] = widen([1e-2, 1e2], "log", 0.25);
  assert.ok(Math.abs(low / 1e-3 - 1) < 1e-9 && Math.abs(high / 1e3 - 1) < 1e-9);
});

test("the largest numbers have a finite domain", () => {
  for (const kind of /** @type {const} */ (["linear", "log"])) {
    const domain = widen([kind === "log" ? 5e-324 : -Number.MAX_VALUE, Number.MAX_VALUE], kind, 2);
    assert.ok(domain.every(Number.isFinite) && domain[0] < domain[1]);
    assert.ok(Number.isFinite(makeScale(kind, domain, [0, 100])(1)));
  }
});

test("ticks are multiples of 1, 2 or 5, without rounding dust", () => {
  assert.deepEqual(niceTicks(0, 1, 10), [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]);
  assert.deepEqual(niceTicks(-0.9, 1.1, 4), [-0.5, 0, 0.5, 1]);
  assert.deepEqual(niceTicks(0, 230, 5), [0, 50, 100, 150, 200]);
  assert.ok(!niceTicks(-0.3, 0.3, 5).some((tick) => Object.is(tick, -0)));
});

test("ticks of impossible domains end", () => {
  for (const [low, high] of [
    [0, 0],
    [0, NaN],
    [0, Infinity],
    [1, 1 + 1e-16],
    [-1e305, 1e305],
    [1e16, 1e16 + 2],
    [0, 5e-324],
  ]) {
    assert.ok(niceTicks(low, high, 5).length < 20, `${low} to ${high}`);
  }
});

test("log ticks are whole decades, thinned when there are many", () => {
  assert.deepEqual(logTicks(1e-3, 1, 6), [1e-3, 1e-2, 1e-1, 1]);
  assert.deepEqual(logTicks(1e-6, 1, 4), [1e-6, 1e-4, 1e-2, 1]);
  assert.ok(logTicks(1e-300, 1e300, 6).length <= 8);
});

test("log ticks within a decade or two are finer", () => {
  assert.deepEqual(logTicks(0.9, 11, 5), [1, 2, 5, 10]);
  assert.deepEqual(logTicks(2.2, 4.1, 4), [2.5, 3, 3.5, 4]);
});

test("numbers have a proper minus, superscripts and no dust", () => {
  assert.equal(formatNumber(0.1 + 0.2), "0.3");
  assert.equal(formatNumber(-1.25), "−1.25");
  assert.equal(formatNumber(1e-6), "1×10⁻⁶");
  assert.equal(formatNumber(-1.234567e12), "−1.235×10¹²");
  assert.equal(formatNumber(12345), "12345");
  assert.equal(formatNumber(-0), "0");
  for (const gap of [null, undefined, NaN, Infinity]) assert.equal(formatNumber(gap), "—");
});

test("the labels of one axis agree with each other", () => {
  assert.deepEqual(formatTicks([-0.5, 0, 0.5]), ["−0.5", "0.0", "0.5"]);
  assert.deepEqual(formatTicks([0, 20, 40]), ["0", "20", "40"]);
  assert.deepEqual(formatTicks([0, 5e-6, 1e-5]), ["0", "5×10⁻⁶", "1×10⁻⁵"]);
  assert.deepEqual(formatTicks([1000001, 1000002]), ["1.000001×10⁶", "1.000002×10⁶"]);
  assert.deepEqual(formatTicks([1e-4, 1e-2, 1, 100], "log"), ["10⁻⁴", "10⁻²", "1", "10²"]);
  assert.deepEqual(formatTicks([0.1, 0.2, 0.5], "log"), ["0.1", "0.2", "0.5"]);
  assert.deepEqual(formatTicks([1000005]), ["1.000005×10⁶"]);
  assert.deepEqual(formatTicks([]), []);
});
