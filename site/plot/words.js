/**
 * A panel in words and as a table, for whoever does not see the picture.
 */

import { column, heights } from "./domains.js";
import { axisTitle } from "./panel.js";
import { clamp, extent, formatNumber, isEmpty } from "./scale.js";

/** @typedef {import("./panel.js").Axis} Axis */
/** @typedef {import("./panel.js").Columns} Columns */
/** @typedef {import("./panel.js").Line} Line */
/** @typedef {import("./panel.js").Panel} Panel */
/** @typedef {import("./scale.js").Column} Column */

const DIGITS = 3;
/** Of a column in the table, and of a value that is read. */
const FULL_DIGITS = 4;

/**
 * @param {Panel} panel
 * @param {Columns} columns
 * @returns {string}
 */
export function describePanel(panel, columns) {
  const title = panel.title ? [`${panel.title}.`] : [];
  return [...title, ...panel.lines.map((line) => describeLine(line, panel, columns))].join(" ");
}

/**
 * Lines that share an x column share it in the table; a second x column starts again to the right of the first.
 * Levels and bands have no rows: the description names them.
 *
 * @param {Panel} panel
 * @param {Columns} columns
 * @returns {{ head: string[], rows: string[][] }}
 */
export function panelTable(panel, columns) {
  /** @type {Map<string, Line[]>} */
  const groups = new Map();
  for (const line of panel.lines) {
    if (!line.x || !line.y) continue;
    groups.set(line.x, [...(groups.get(line.x) ?? []), line]);
  }
  /** @type {{ head: string, values: Column, digits: number }[]} */
  const table = [];
  const add = (/** @type {Axis} */ axis, /** @type {string | null | undefined} */ name) => {
    const values = column(columns, name);
    table.push({ head: axisTitle(axis), values, digits: digitsOf(values) });
  };
  for (const [x, lines] of groups) {
    add(panel.x, x);
    for (const line of lines) {
      for (const [label, name] of valuesOf(line)) add({ ...panel.y, label }, name);
    }
  }
  const length = Math.max(0, ...table.map(({ values }) => values.length));
  return {
    head: table.map(({ head }) => head),
    rows: Array.from({ length }, (_, i) =>
      table.map(({ values, digits }) => (i < values.length ? formatNumber(values[i], digits) : "")),
    ),
  };
}

/**
 * As many digits as it takes to tell the values of a column apart: more than usual where all of them are nearly the same.
 *
 * @param {Column} values
 * @param {number} [least]
 */
export function digitsOf(values, least = FULL_DIGITS) {
  const [low, high] = extent(values);
  const alike = Math.max(Math.abs(low), Math.abs(high)) / (high - low);
  return Number.isFinite(alike) && alike > 0 ? clamp(Math.ceil(Math.log10(alike)) + 2, least, 12) : least;
}

/**
 * The columns of a line, each with what to call it.
 *
 * @param {Line} line
 * @returns {[label: string, name: string][]}
 */
function valuesOf({ label, y, lower, upper }) {
  /** @type {[string, string | null | undefined][]} */
  const values = [
    [label, y],
    [`${label}, from`, lower],
    [`${label}, to`, upper],
  ];
  return values.flatMap(([words, name]) => (name ? [[words, name]] : []));
}

/**
 * @param {Line} line
 * @param {Panel} panel
 * @param {Columns} columns
 */
function describeLine(line, panel, columns) {
  const name = sentenceCase(line.label || line.role);
  if (!line.y) return `${name}: ${span(panel.y, heights(columns, line))}.`;

  const { xs, ys, missing } = paired(column(columns, line.x), column(columns, line.y));
  if (xs.length === 0) return `${name}: no points.`;
  const facts = [
    `${xs.length} ${xs.length === 1 ? "point" : "points"}${missing > 0 ? ` (${missing} missing)` : ""}`,
    `${panel.x.label} ${span(panel.x, xs)}`,
    `${panel.y.label} ${span(panel.y, ys)}`,
  ];
  if (line.lower && line.upper) facts.push(`with bars ${span(panel.y, heights(columns, line))}`);
  if (line.role === "history") facts.push(`last ${quantity(ys[ys.length - 1], panel.y)}`);
  return `${name}: ${[...facts, ...distance(line, panel, columns)].join(", ")}.`;
}

/**
 * How far a prediction is from the measured points it shares its x column with.
 *
 * @param {Line} line
 * @param {Panel} panel
 * @param {Columns} columns
 * @returns {string[]}
 */
function distance(line, panel, columns) {
  const measured = panel.lines.find((other) => other.role === "measured" && other.x === line.x);
  if (!measured || line.role === "measured") return [];
  const { xs, ys } = paired(column(columns, measured.y), column(columns, line.y));
  if (xs.length === 0) return [];
  const gaps = xs.map((value, i) => Math.abs(ys[i] - value));
  const most = gaps.reduce((a, b) => Math.max(a, b));
  // Squares of shares, so that a prediction of 1e300 does not overflow.
  const rms =
    most === 0 ? 0 : most * Math.sqrt(gaps.reduce((sum, gap) => sum + (gap / most) ** 2, 0) / gaps.length);
  return [`at most ${quantity(most, panel.y)} from the measured points (rms ${quantity(rms, panel.y)})`];
}

/**
 * The pairs of which both are numbers.
 *
 * @param {Column} first
 * @param {Column} second
 */
function paired(first, second) {
  /** @type {number[]} */
  const xs = [];
  /** @type {number[]} */
  const ys = [];
  const length = Math.min(first.length, second.length);
  for (let i = 0; i < length; i++) {
    const [x, y] = [first[i], second[i]];
    if (typeof x !== "number" || typeof y !== "number" || !Number.isFinite(x) || !Number.isFinite(y))
      continue;
    xs.push(x);
    ys.push(y);
  }
  return { xs, ys, missing: length - xs.length };
}

/** @param {Axis} axis @param {Column} values */
function span(axis, values) {
  const found = extent(values);
  if (isEmpty(found)) return "unknown";
  const [low, high] = found.map((value) => quantity(value, axis, digitsOf(found, DIGITS)));
  return low === high ? low : `${low} to ${high}`;
}

/**
 * @param {number | null | undefined} value
 * @param {Axis} axis
 * @param {number} [digits]
 */
export function quantity(value, { unit }, digits = DIGITS) {
  const number = formatNumber(value, digits);
  return unit ? `${number} ${unit}` : number;
}

/** A word may begin a sentence with a capital; a symbol, such as c, may not. @param {string} label */
function sentenceCase(label) {
  return /^\p{L}{2}/u.test(label) ? label[0].toUpperCase() + label.slice(1) : label;
}
