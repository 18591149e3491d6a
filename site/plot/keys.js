/**
 * Keys: the mark of a line drawn beside its word.
 */

import { column } from "./domains.js";
import { markOf } from "./marks.js";
import { clamp } from "./scale.js";
import { BASELINE, text, textWidth } from "./shapes.js";

/** @typedef {import("./clip.js").Box} Box */
/** @typedef {import("./panel.js").Columns} Columns */
/** @typedef {import("./panel.js").Line} Line */
/** @typedef {import("./scale.js").Scale} Scale */
/** @typedef {import("./shapes.js").Shape} Shape */

/** @typedef {{ middle: number, lines: Line[] }} Pool  keys that stand together, about a middle */

/** The height of a row of text. */
export const ROW = 18;
const MARK = 20;
/** The space between things that belong together. */
export const GAP = 6;

/** @param {Line} line */
export function keyWidth(line) {
  return MARK + GAP + textWidth(line.label);
}

/**
 * The mark beside its word, centred on y.
 *
 * @param {Line} line
 * @param {number} x
 * @param {number} y
 * @returns {Shape[]}
 */
export function layoutKey(line, x, y) {
  const { role, label } = line;
  const mark = markOf(role);
  /** @type {Shape[]} */
  const shapes = [];
  if (role === "band") {
    shapes.push({ kind: "rect", role, x, y: y - 5, width: MARK, height: 10 });
  } else {
    if (mark.width > 0) shapes.push({ kind: "polyline", role, points: [x + 1, y, x + MARK - 1, y] });
    const dots =
      mark.width > 0 || role === "point" ? [x + MARK / 2, y] : [x + 4, y, x + MARK / 2, y, x + MARK - 4, y];
    if (mark.radius) shapes.push({ kind: "dots", role, points: dots, radius: mark.radius });
  }
  return [...shapes, text(label, x + MARK + GAP, y + BASELINE, "start")];
}

/**
 * Every label at the height where its line ends. Labels that would overlap are pooled and spread about their common
 * middle, and all are kept beside the plot.
 *
 * @param {Line[]} lines
 * @param {Columns} columns
 * @param {Scale} toY
 * @param {Box} box
 * @returns {Shape[]}
 */
export function layoutDirectKeys(lines, columns, toY, box) {
  const ends = lines
    .map((line) => ({ line, y: clamp(endHeight(line, columns, toY), box.top, box.bottom) }))
    .filter((end) => Number.isFinite(end.y))
    .sort((a, b) => a.y - b.y);

  /** @type {Pool[]} */
  const pools = [];
  for (const { line, y } of ends) {
    let pool = within({ middle: y, lines: [line] }, box);
    for (let above = pools.at(-1); above && touches(above, pool); above = pools.at(-1)) {
      pools.pop();
      const [a, b] = [above.lines.length, pool.lines.length];
      const middle = (a * above.middle + b * pool.middle) / (a + b);
      pool = within({ middle, lines: [...above.lines, ...pool.lines] }, box);
    }
    pools.push(pool);
  }
  return pools.flatMap((pool) =>
    pool.lines.flatMap((line, i) =>
      layoutKey(line, box.right + GAP, pool.middle + (i - (pool.lines.length - 1) / 2) * ROW),
    ),
  );
}

/** @param {Pool} above @param {Pool} below */
function touches(above, below) {
  return below.middle - above.middle < ((above.lines.length + below.lines.length) * ROW) / 2;
}

/** @param {Pool} pool @param {Box} box @returns {Pool} */
function within(pool, box) {
  const half = ((pool.lines.length - 1) * ROW) / 2;
  return { ...pool, middle: clamp(pool.middle, box.top + half, Math.max(box.top + half, box.bottom - half)) };
}

/**
 * @param {Line} line
 * @param {Columns} columns
 * @param {Scale} toY
 */
function endHeight(line, columns, toY) {
  if (line.role === "band") return (toY(line.low) + toY(line.high)) / 2;
  if (!line.y) return toY(line.value);
  const places = column(columns, line.y).map(toY).filter(Number.isFinite);
  return places.at(-1) ?? Number.NaN;
}
