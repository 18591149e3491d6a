/**
 * What an axis covers: everything seen so far in a run, within reach of the measured data, padded for drawing.
 */

import { extent, isEmpty, nothing, union, widen } from "./scale.js";

/** @typedef {import("./panel.js").Axis} Axis */
/** @typedef {import("./panel.js").Columns} Columns */
/** @typedef {import("./panel.js").Line} Line */
/** @typedef {import("./panel.js").Panel} Panel */
/** @typedef {import("./scale.js").Column} Column */
/** @typedef {import("./scale.js").Extent} Extent */
/** @typedef {import("./scale.js").ScaleKind} ScaleKind */

/** @typedef {{ x: Extent, y: Extent }} Domains  what each axis has seen, before padding */

/** How far, in spans of the measured data, an axis may follow anything else. */
const REACH = 2;

/**
 * What each axis has seen so far in this run. Handing the result back in as `previous` holds the axes still while a
 * prediction slides onto its data; the reach keeps a diverging prediction from flattening that data.
 *
 * @param {Panel} panel
 * @param {Columns} columns
 * @param {Domains | null} [previous]  leave out at the start of a run
 * @returns {Domains}
 */
export function stickyDomains(panel, columns, previous) {
  const { x, y } = panel;
  return {
    x: seenBy(kindOf(x), panel.lines, (line) => column(columns, line.x), previous?.x),
    y: seenBy(kindOf(y), panel.lines, (line) => heights(columns, line), previous?.y),
  };
}

/**
 * @param {ScaleKind} kind
 * @param {Line[]} lines
 * @param {(line: Line) => Column} valuesOf
 * @param {Extent} [previous]
 * @returns {Extent}
 */
function seenBy(kind, lines, valuesOf, previous = nothing()) {
  const reduce = (/** @type {Line[]} */ some, /** @type {Extent} */ from) =>
    some.reduce((seen, line) => union(seen, extent(valuesOf(line), kind)), from);
  const seen = reduce(lines, previous);
  const measured = reduce(
    lines.filter((line) => line.role === "measured"),
    nothing(),
  );
  if (isEmpty(measured)) return seen;
  const [low, high] = widen(measured, kind, REACH);
  return [Math.max(seen[0], low), Math.min(seen[1], high)];
}

/**
 * What was seen, padded, with the ends that the axis fixes put in place. An end that cannot be drawn (not positive on
 * a log axis) is ignored; an end on the wrong side of the data pushes the other one away.
 *
 * @param {Axis} axis
 * @param {Extent} seen
 * @param {number} padding
 * @returns {Extent}
 */
export function drawnDomain(axis, seen, padding) {
  const kind = kindOf(axis);
  const [fixedLow, fixedHigh] = (axis.domain ?? [null, null]).map((end) =>
    isEmpty(extent([end], kind)) ? null : end,
  );
  const [low, high] = widen(seen, kind, padding);
  const domain = /** @type {Extent} */ ([fixedLow ?? low, fixedHigh ?? high]);
  if (domain[0] < domain[1]) return domain;
  const anchor = fixedLow ?? fixedHigh ?? low;
  const around = widen([anchor, anchor], kind, 0);
  return fixedLow === null ? [around[0], anchor] : [anchor, around[1]];
}

/** @param {Axis} axis @returns {ScaleKind} */
export function kindOf(axis) {
  return axis.scale ?? "linear";
}

/**
 * A column that is missing is an empty one.
 *
 * @param {Columns} columns
 * @param {string | null} [name]
 * @returns {Column}
 */
export function column(columns, name) {
  return (name && Object.hasOwn(columns, name) && columns[name]) || [];
}

/**
 * All the y values a line has, whichever kind it is, and with its error bars.
 *
 * @param {Columns} columns
 * @param {Line} line
 * @returns {Column}
 */
export function heights(columns, line) {
  if (!line.y) return [line.value, line.low, line.high];
  return [line.y, line.lower, line.upper].flatMap((name) => column(columns, name));
}
