/**
 * The shapes a picture is made of: plain data, in CSS pixels, y downwards, text on its baseline.
 */

import { TEXT_SIZE } from "./marks.js";

/** @typedef {{ kind: "rect", role: string, x: number, y: number, width: number, height: number }} Rect */
/** @typedef {{ kind: "line", role: string, x1: number, y1: number, x2: number, y2: number, solid?: boolean }} Segment  undashed if solid, whatever its role */
/** @typedef {{ kind: "polyline", role: string, points: number[] }} Polyline  points are x, y, x, y, … */
/** @typedef {{ kind: "dots", role: string, points: number[], radius: number }} Dots */
/** @typedef {{ kind: "text", role: "text", x: number, y: number, text: string, anchor: Anchor }} Text */
/** @typedef {"start" | "middle" | "end"} Anchor */
/** @typedef {Rect | Segment | Polyline | Dots | Text} Shape */

/** From the middle of a line of text down to its baseline. */
export const BASELINE = 0.35 * TEXT_SIZE;

/**
 * An estimate, a little generous: nothing here may measure, so that the layout is the same everywhere.
 *
 * @param {string} words
 */
export function textWidth(words) {
  return 0.6 * TEXT_SIZE * words.length;
}

/**
 * @param {string} words
 * @param {number} x
 * @param {number} y
 * @param {Anchor} anchor
 * @returns {Text}
 */
export function text(words, x, y, anchor) {
  return { kind: "text", role: "text", x, y, text: words, anchor };
}
