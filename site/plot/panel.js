/**
 * A panel of data to a flat list of shapes: a pure function, so the canvas, the baked SVG and the tests all see the
 * same picture.
 */

import { layoutBars } from "./bars.js";
import { clipPolyline, pointsInside } from "./clip.js";
import { column, drawnDomain, kindOf, stickyDomains } from "./domains.js";
import { GAP, keyWidth, layoutDirectKeys, layoutKey, ROW } from "./keys.js";
import { markOf, TEXT_SIZE } from "./marks.js";
import { clamp, formatTicks, makeScale, ticks } from "./scale.js";
import { BASELINE, text, textWidth } from "./shapes.js";

/** @typedef {import("./clip.js").Box} Box */
/** @typedef {import("./domains.js").Domains} Domains */
/** @typedef {import("./scale.js").Column} Column */
/** @typedef {import("./scale.js").Extent} Extent */
/** @typedef {import("./scale.js").Scale} Scale */
/** @typedef {import("./scale.js").ScaleKind} ScaleKind */
/** @typedef {import("./shapes.js").Shape} Shape */

/**
 * @typedef {object} Axis
 * @property {string} label
 * @property {string | null} [unit]
 * @property {ScaleKind} [scale]
 * @property {[number | null, number | null] | null} [domain]  ends that are given do not move
 */

/**
 * A curve has `x` and `y`, the names of its columns; a level has only `value`; a band has `low` and `high`. A curve may
 * turn back or close. With `lower` and `upper`, names of columns too, it has an error bar at each of its points.
 *
 * @typedef {object} Line
 * @property {string} role  see `Role` in `src/ferro_bench/panel.py`
 * @property {string} label
 * @property {string | null} [x]
 * @property {string | null} [y]
 * @property {number | null} [value]
 * @property {number | null} [low]
 * @property {number | null} [high]
 * @property {string | null} [lower]
 * @property {string | null} [upper]
 */

/** @typedef {{ key?: string, title?: string, x: Axis, y: Axis, lines: Line[] }} Panel */
/** @typedef {Record<string, Column | undefined>} Columns */

const PADDING = { x: 0.02, y: 0.06 };
/** From this width on there is room for each label at the end of its line. */
const DIRECT_FROM = 560;

/** Later roles are painted over earlier ones. */
const ORDER = [
  "band",
  "truth",
  "start",
  "drive",
  "held-out",
  "interval",
  "other",
  "curve",
  "measured",
  "predicted",
  "history",
  "steps",
  "point",
];

/**
 * @typedef {object} Frame  where a picture has its plot area, and where in it a value lies
 * @property {Box} box
 * @property {Scale} toX
 * @property {Scale} toY
 * @property {Tick[]} xTicks
 * @property {Tick[]} yTicks
 * @property {Shape[]} head  what stands above the plot area
 * @property {Line[]} direct  lines that are named where they end
 */

/** @typedef {{ width: number, height: number, domains?: Domains | null }} Size */

/**
 * @param {Panel} panel
 * @param {Columns} columns
 * @param {Size} size
 * @returns {Frame}
 */
export function framePanel(panel, columns, { width, height, domains }) {
  const seen = domains ?? stickyDomains(panel, columns);
  const domain = { x: drawnDomain(panel.x, seen.x, PADDING.x), y: drawnDomain(panel.y, seen.y, PADDING.y) };

  const named = panel.lines.filter((line) => line.label);
  const margin = Math.max(0, ...named.map(keyWidth)) + 2 * GAP;
  const isDirect = width >= DIRECT_FROM && margin < width / 4;
  const head = layoutHead(panel, isDirect ? [] : named, width);

  const top = head.bottom + GAP;
  const bottom = Math.max(height - 2 * ROW - GAP, top + 1);
  const yTicks = labelledTicks(panel.y, domain.y, (bottom - top) / 36);
  const left = Math.max(30, ...yTicks.map((tick) => textWidth(tick.label))) + GAP;
  const right = Math.max(width - (isDirect ? margin : 2 * GAP), left + 1);

  const toX = makeScale(kindOf(panel.x), domain.x, [left, right]);
  const toY = makeScale(kindOf(panel.y), domain.y, [bottom, top]);
  const xTicks = roomyTicks(panel.x, domain.x, toX, right - left);
  const box = { left, top, right, bottom };
  return { box, toX, toY, xTicks, yTicks, head: head.shapes, direct: isDirect ? named : [] };
}

/**
 * @param {Panel} panel
 * @param {Columns} columns
 * @param {Size} size
 * @returns {Shape[]}  the first is the surface and has the size of the picture
 */
export function layoutPanel(panel, columns, size) {
  const { width, height } = size;
  const { box, toX, toY, xTicks, yTicks, head, direct } = framePanel(panel, columns, size);
  const sorted = [...panel.lines].sort((a, b) => ORDER.indexOf(a.role) - ORDER.indexOf(b.role));
  return [
    { kind: "rect", role: "surface", x: 0, y: 0, width, height },
    ...sorted.filter((line) => line.role === "band").flatMap((line) => layoutBand(line, toY, box)),
    ...layoutAxes(panel, xTicks, yTicks, toX, toY, box, width),
    ...sorted
      .filter((line) => line.role !== "band")
      .flatMap((line) => layoutLine(line, columns, toX, toY, box)),
    ...layoutDirectKeys(direct, columns, toY, box),
    ...head,
  ];
}

// Around the data

/**
 * Keys and the upright title of the y axis, in rows from the top.
 *
 * @param {Panel} panel
 * @param {Line[]} keys
 * @param {number} width
 * @returns {{ shapes: Shape[], bottom: number }}
 */
function layoutHead(panel, keys, width) {
  /** @type {Shape[]} */
  const shapes = [];
  let bottom = 0;
  let x = 0;
  for (const line of keys) {
    if (x > 0 && x + keyWidth(line) > width) {
      x = 0;
      bottom += ROW;
    }
    shapes.push(...layoutKey(line, x, bottom + ROW / 2));
    x += keyWidth(line) + 2 * GAP;
  }
  if (keys.length > 0) bottom += ROW + 2;
  shapes.push(text(axisTitle(panel.y), 0, bottom + TEXT_SIZE, "start"));
  return { shapes, bottom: bottom + ROW };
}

/**
 * @param {Panel} panel
 * @param {Tick[]} xTicks
 * @param {Tick[]} yTicks
 * @param {Scale} toX
 * @param {Scale} toY
 * @param {Box} box
 * @param {number} width
 * @returns {Shape[]}
 */
function layoutAxes(panel, xTicks, yTicks, toX, toY, box, width) {
  const { left, top, right, bottom } = box;
  /** @type {Shape[]} */
  const shapes = [];
  for (const { value, label } of yTicks) {
    const y = crisp(toY(value));
    shapes.push({ kind: "line", role: "grid", x1: left, y1: y, x2: right, y2: y });
    shapes.push(text(label, left - GAP, y + BASELINE, "end"));
  }
  for (const { value, label } of xTicks) {
    const x = crisp(toX(value));
    const half = textWidth(label) / 2;
    shapes.push({ kind: "line", role: "grid", x1: x, y1: top, x2: x, y2: bottom });
    shapes.push(text(label, clamp(x, half, Math.max(half, width - half)), bottom + ROW - 2, "middle"));
  }
  const base = crisp(bottom);
  shapes.push({ kind: "line", role: "axis", x1: left, y1: base, x2: right, y2: base });
  shapes.push(text(axisTitle(panel.x), (left + right) / 2, bottom + 2 * ROW, "middle"));
  return shapes;
}

// The data

/**
 * @param {Line} line
 * @param {Scale} toY
 * @param {Box} box
 * @returns {Shape[]}
 */
function layoutBand({ role, low, high }, toY, { left, top, right, bottom }) {
  const upper = clamp(toY(high), top, bottom);
  const lower = clamp(toY(low), top, bottom);
  if (!(lower > upper)) return [];
  return [{ kind: "rect", role, x: left, y: upper, width: right - left, height: lower - upper }];
}

/**
 * @param {Line} line
 * @param {Columns} columns
 * @param {Scale} toX
 * @param {Scale} toY
 * @param {Box} box
 * @returns {Shape[]}
 */
function layoutLine(line, columns, toX, toY, box) {
  const { role } = line;
  const mark = markOf(role);
  if (!line.y) {
    const y = toY(line.value);
    if (!(y >= box.top && y <= box.bottom)) return [];
    return [{ kind: "line", role, x1: box.left, y1: y, x2: box.right, y2: y }];
  }
  const points = place(column(columns, line.x), column(columns, line.y), toX, toY);
  const shapes = layoutBars(line, columns, toX, toY, box);
  if (mark.width > 0) {
    for (const run of clipPolyline(points, box)) shapes.push({ kind: "polyline", role, points: run });
  }
  if (mark.radius) {
    const inside = pointsInside(points, box);
    const spacing = (2 * (box.right - box.left)) / points.length;
    // Crowded dots shrink; on a line with no room for a dot at every point, one still shows where it has got to.
    const shown = mark.width > 0 && !mark.every && spacing < 2.5 * mark.radius ? inside.slice(-2) : inside;
    const radius = mark.width > 0 ? mark.radius : clamp(0.5 * spacing, 0.75 * mark.radius, mark.radius);
    if (shown.length > 0) shapes.push({ kind: "dots", role, points: shown, radius });
  }
  return shapes;
}

/**
 * @param {Column} xs
 * @param {Column} ys
 * @param {Scale} toX
 * @param {Scale} toY
 * @returns {number[]}  x, y, x, y, …
 */
function place(xs, ys, toX, toY) {
  const points = [];
  for (let i = 0; i < Math.min(xs.length, ys.length); i++) points.push(toX(xs[i]), toY(ys[i]));
  return points;
}

// Axes and text

/** @param {Axis} axis */
export function axisTitle({ label, unit }) {
  return unit ? `${label} (${unit})` : label;
}

/** @typedef {{ value: number, label: string }} Tick */

/**
 * @param {Axis} axis
 * @param {Extent} domain
 * @param {number} count
 * @returns {Tick[]}
 */
function labelledTicks(axis, domain, count) {
  const values = ticks(kindOf(axis), domain, clamp(Math.floor(count), 2, 10));
  const labels = formatTicks(values, kindOf(axis));
  return values.map((value, i) => ({ value, label: labels[i] }));
}

/**
 * Ticks whose labels have room side by side: every one, or every second, third, …
 *
 * @param {Axis} axis
 * @param {Extent} domain
 * @param {Scale} toX
 * @param {number} room  pixels
 * @returns {Tick[]}
 */
function roomyTicks(axis, domain, toX, room) {
  const found = labelledTicks(axis, domain, clamp(room / 72, 3, 8));
  if (found.length < 2) return found;
  const widest = Math.max(...found.map((tick) => textWidth(tick.label)));
  const spacing = toX(found[1].value) - toX(found[0].value);
  const stride = Math.ceil((widest + 2 * GAP) / spacing);
  return found.filter((_, i) => i % stride === 0);
}

/** A one-pixel line is sharp when it runs through the middle of its pixels. @param {number} place */
function crisp(place) {
  return Math.floor(place) + 0.5;
}
