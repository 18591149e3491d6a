/**
 * How each role is marked. The roles differ by mark, not by colour alone, so a plot reads in grey and in print; the
 * canvas and the SVG both take their widths and dashes from here, and their colours from the stylesheet.
 *
 * @typedef {object} Mark
 * @property {number} width  of the stroke, in CSS pixels; 0 is no line
 * @property {number[]} [dash]
 * @property {number} [radius]  of a dot at each point
 * @property {number} [outline]  width of the rim around each dot
 * @property {boolean} [every]  whether every dot of a line is shown, however crowded
 */

/** @type {Record<string, Mark>} */
export const MARKS = {
  grid: { width: 1 },
  axis: { width: 1 },
  measured: { width: 0, radius: 3, outline: 0.75 },
  // Thick, yet narrower than the dots, so that the data still shows around a prediction that fits.
  predicted: { width: 2.5 },
  start: { width: 1.5, dash: [6, 5] },
  // Almost no dash between round caps: a row of round dots.
  truth: { width: 2.25, dash: [0.1, 5] },
  history: { width: 1.5, radius: 2.25 },
  drive: { width: 2 },
  interval: { width: 1.25, dash: [3, 3] },
  "held-out": { width: 2, dash: [2, 4] },
  curve: { width: 2 },
  other: { width: 2, dash: [7, 5] },
  point: { width: 0, radius: 4 },
  steps: { width: 1, radius: 2.5, every: true },
  probe: { width: 1 },
};

/** @type {Mark} */
const PLAIN_LINE = { width: 1.5 };

/** @param {string} role */
export function markOf(role) {
  return MARKS[role] ?? PLAIN_LINE;
}

export const TEXT_SIZE = 12;
export const BAND_OPACITY = 0.14;
