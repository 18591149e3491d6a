/**
 * Data held inside the plot area by geometry, so that no painter has to clip.
 */

/** @typedef {{ left: number, top: number, right: number, bottom: number }} Box */

/** @param {number[]} points @param {Box} box */
export function pointsInside(points, { left, top, right, bottom }) {
  const inside = [];
  for (let i = 0; i < points.length; i += 2) {
    const [x, y] = [points[i], points[i + 1]];
    if (x >= left && x <= right && y >= top && y <= bottom) inside.push(x, y);
  }
  return inside;
}

/**
 * The parts of a polyline inside a box, each an unbroken run. NaN breaks the line; a point alone between two gaps
 * becomes a run of no length, which round caps show as a dot.
 *
 * @param {number[]} points  x, y, x, y, …
 * @param {Box} box
 * @returns {number[][]}
 */
export function clipPolyline(points, box) {
  /** @type {number[][]} */
  const runs = [];
  /** @type {number[] | null} */
  let run = null;
  const isGap = (/** @type {number} */ i) => !(Number.isFinite(points[i]) && Number.isFinite(points[i + 1]));
  for (let i = 0; i < points.length; i += 2) {
    if (isGap(i)) {
      run = null;
      continue;
    }
    const alone = isGap(i - 2) && isGap(i + 2);
    if (isGap(i + 2) && !alone) continue;
    const [x1, y1] = [points[i], points[i + 1]];
    const [x2, y2] = alone ? [x1, y1] : [points[i + 2], points[i + 3]];
    const part = clipSegment(x1, y1, x2, y2, box);
    if (!part) {
      run = null;
      continue;
    }
    if (!run || part.enter > 0) {
      run = [x1 + part.enter * (x2 - x1), y1 + part.enter * (y2 - y1)];
      runs.push(run);
    }
    run.push(x1 + part.leave * (x2 - x1), y1 + part.leave * (y2 - y1));
  }
  return runs;
}

/**
 * Liang and Barsky: the share of the segment, from `enter` to `leave`, that lies inside all four edges.
 *
 * @param {number} x1
 * @param {number} y1
 * @param {number} x2
 * @param {number} y2
 * @param {Box} box
 * @returns {{ enter: number, leave: number } | null}
 */
function clipSegment(x1, y1, x2, y2, { left, top, right, bottom }) {
  let enter = 0;
  let leave = 1;
  /** @type {[change: number, room: number][]} */
  const edges = [
    [x1 - x2, x1 - left],
    [x2 - x1, right - x1],
    [y1 - y2, y1 - top],
    [y2 - y1, bottom - y1],
  ];
  for (const [change, room] of edges) {
    if (change === 0 && room < 0) return null;
    if (change < 0) enter = Math.max(enter, room / change);
    if (change > 0) leave = Math.min(leave, room / change);
  }
  return enter <= leave ? { enter, leave } : null;
}
