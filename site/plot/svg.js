/**
 * Shapes to the text of an SVG. A strict content security policy forbids inline style, so colour comes by class from
 * style/plot.css and the rest by presentation attributes; without the stylesheet it is a legible drawing in one colour.
 */

import { BAND_OPACITY, markOf, TEXT_SIZE } from "./marks.js";

/** @typedef {import("./shapes.js").Shape} Shape */

/**
 * @param {readonly Shape[]} shapes
 * @param {{ title?: string, description?: string }} [words]
 * @returns {string}
 */
export function toSvg(shapes, { title = "", description = "" } = {}) {
  const [surface] = shapes;
  if (surface?.kind !== "rect") throw new Error("the first shape must be the surface");
  const { width, height } = surface;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="plot" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escapeText(title)}</title>`,
    `<desc>${escapeText(description)}</desc>`,
    ...shapes.map(element),
    "</svg>",
  ].join("\n");
}

/** @param {Shape} shape @returns {string} */
function element(shape) {
  const name = `plot-${escapeText(shape.role)}`;
  switch (shape.kind) {
    case "rect": {
      const paint =
        shape.role === "surface" ? 'fill="none"' : `fill="currentColor" fill-opacity="${BAND_OPACITY}"`;
      const [x, y, width, height] = [shape.x, shape.y, shape.width, shape.height].map(short);
      return `<rect class="${name}" x="${x}" y="${y}" width="${width}" height="${height}" ${paint}/>`;
    }
    case "line":
      return path(shape.role, name, polylinePath([shape.x1, shape.y1, shape.x2, shape.y2]), shape.solid);
    case "polyline":
      return path(shape.role, name, polylinePath(shape.points));
    case "dots":
      return dots(shape.role, name, shape.points, shape.radius);
    case "text": {
      const place = `x="${short(shape.x)}" y="${short(shape.y)}" text-anchor="${shape.anchor}"`;
      return `<text class="${name}" ${place} font-size="${TEXT_SIZE}">${escapeText(shape.text)}</text>`;
    }
  }
}

/** @param {string} role @param {string} name @param {string} d @param {boolean} [solid] */
function path(role, name, d, solid = false) {
  const { width, dash } = markOf(role);
  const dashes = dash && !solid ? ` stroke-dasharray="${dash.join(" ")}"` : "";
  return `<path class="${name}" d="${d}" ${stroke(width)}${dashes}/>`;
}

/**
 * A stroke of no length with round caps is a dot: one short path for all of them, and a wider one below as the rim.
 *
 * @param {string} role
 * @param {string} name
 * @param {readonly number[]} points
 * @param {number} radius
 */
function dots(role, name, points, radius) {
  const { outline = 0 } = markOf(role);
  let d = "";
  for (let i = 0; i < points.length; i += 2) d += `M${short(points[i])} ${short(points[i + 1])}h0`;
  const rim = outline > 0 ? `<path class="plot-rim" d="${d}" ${stroke(2 * (radius + outline))}/>` : "";
  return `<g>${rim}<path class="${name}" d="${d}" ${stroke(2 * radius)}/></g>`;
}

/** @param {number} width */
function stroke(width) {
  return `fill="none" stroke="currentColor" stroke-width="${short(width)}" stroke-linecap="round" stroke-linejoin="round"`;
}

/** @param {readonly number[]} points */
function polylinePath(points) {
  return `M${points.map(short).join(" ")}`;
}

/** @param {number} length */
function short(length) {
  return Number(length.toFixed(1));
}

/** @type {Record<string, string>} */
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** @param {string} words */
export function escapeText(words) {
  return words.replace(/[&<>"']/g, (sign) => ENTITIES[sign]);
}
