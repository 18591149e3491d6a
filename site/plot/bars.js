/** Error bars: from one column to another at each point of a line. */

import { column } from "./domains.js";
import { clamp } from "./scale.js";

/** @typedef {import("./clip.js").Box} Box */
/** @typedef {import("./panel.js").Columns} Columns */
/** @typedef {import("./panel.js").Line} Line */
/** @typedef {import("./scale.js").Scale} Scale */
/** @typedef {import("./shapes.js").Shape} Shape */

/** Half the width of the bar across an end. */
const CAP = 4;

/**
 * @param {Line} line
 * @param {Columns} columns
 * @param {Scale} toX
 * @param {Scale} toY
 * @param {Box} box
 * @returns {Shape[]}
 */
export function layoutBars({ role, x, lower, upper }, columns, toX, toY, box) {
  if (!lower || !upper) return [];
  const [xs, lows, highs] = [x, lower, upper].map((name) => column(columns, name));
  return xs.flatMap((value, i) => {
    const [place, low, high] = [toX(value), toY(lows[i]), toY(highs[i])];
    if (!(place >= box.left && place <= box.right && high <= box.bottom && low >= box.top)) return [];
    const [top, bottom] = [high, low].map((end) => clamp(end, box.top, box.bottom));
    // Round a point whose bar is shorter than its line is thick, the caps would only thicken the line.
    if (bottom - top < 2) return [];
    const cap = (/** @type {number} */ y) => bar(role, place - CAP, y, place + CAP, y);
    const caps = [...(top === high ? [cap(top)] : []), ...(bottom === low ? [cap(bottom)] : [])];
    return [bar(role, place, top, place, bottom), ...caps];
  });
}

/**
 * @param {string} role
 * @param {number} x1
 * @param {number} y1
 * @param {number} x2
 * @param {number} y2
 * @returns {Shape}
 */
function bar(role, x1, y1, x2, y2) {
  return { kind: "line", role, x1, y1, x2, y2, solid: true };
}
