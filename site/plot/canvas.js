/**
 * Shapes onto a canvas. Colours come from the page's stylesheet through `readTheme`; the marks are in marks.js.
 */

import { BAND_OPACITY, MARKS, markOf, TEXT_SIZE } from "./marks.js";

/** @typedef {import("./shapes.js").Shape} Shape */
/** @typedef {import("./marks.js").Mark & { colour: string }} Style */
/** @typedef {{ font: string, roles: Record<string, Style> }} Theme */

const COLOURED = [...Object.keys(MARKS), "rim", "text", "surface"];

/**
 * Read again when the colour scheme changes, not on every paint: it makes the browser resolve styles.
 *
 * @param {Element} element
 * @returns {Theme}
 */
export function readTheme(element) {
  const style = getComputedStyle(element);
  const read = (/** @type {string} */ name) => style.getPropertyValue(`--plot-${name}`).trim();
  /** @type {Record<string, Style>} */
  const roles = {};
  for (const role of COLOURED) roles[role] = { ...markOf(role), colour: read(role) || style.color };
  roles.band = { ...markOf("band"), colour: roles.truth.colour };
  return { font: read("font") || style.fontFamily, roles };
}

/**
 * The canvas takes the size of the surface shape, in device pixels inside and CSS pixels outside.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {readonly Shape[]} shapes
 * @param {Theme} theme
 */
export function paint(canvas, shapes, theme) {
  const context = canvas.getContext("2d");
  const [surface] = shapes;
  if (!context || surface?.kind !== "rect") return;
  const ratio = globalThis.devicePixelRatio || 1;
  fitCanvas(canvas, surface.width, surface.height, ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, surface.width, surface.height);
  context.lineCap = "round";
  context.lineJoin = "round";
  for (const shape of shapes) paintShape(context, shape, theme);
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 * @param {number} ratio
 */
function fitCanvas(canvas, width, height, ratio) {
  const inner = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width === inner[0] && canvas.height === inner[1]) return;
  [canvas.width, canvas.height] = inner;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Shape} shape
 * @param {Theme} theme
 */
function paintShape(context, shape, theme) {
  const style = theme.roles[shape.role] ?? theme.roles.axis;
  context.fillStyle = style.colour;
  context.strokeStyle = style.colour;
  context.lineWidth = style.width;
  context.setLineDash(shape.kind === "line" && shape.solid ? [] : (style.dash ?? []));
  switch (shape.kind) {
    case "rect":
      context.globalAlpha = shape.role === "band" ? BAND_OPACITY : 1;
      context.fillRect(shape.x, shape.y, shape.width, shape.height);
      context.globalAlpha = 1;
      break;
    case "line":
      tracePolyline(context, [shape.x1, shape.y1, shape.x2, shape.y2]);
      context.stroke();
      break;
    case "polyline":
      tracePolyline(context, shape.points);
      context.stroke();
      break;
    case "dots":
      traceDots(context, shape.points, shape.radius);
      if (style.outline) {
        context.strokeStyle = theme.roles.rim.colour;
        context.lineWidth = 2 * style.outline;
        context.stroke();
      }
      context.fill();
      break;
    case "text":
      context.font = `${TEXT_SIZE}px ${theme.font}`;
      context.textAlign = shape.anchor === "middle" ? "center" : shape.anchor;
      context.fillText(shape.text, shape.x, shape.y);
      break;
  }
}

/** @param {CanvasRenderingContext2D} context @param {readonly number[]} points */
function tracePolyline(context, points) {
  context.beginPath();
  context.moveTo(points[0], points[1]);
  for (let i = 2; i < points.length; i += 2) context.lineTo(points[i], points[i + 1]);
}

/** @param {CanvasRenderingContext2D} context @param {readonly number[]} points @param {number} radius */
function traceDots(context, points, radius) {
  context.beginPath();
  for (let i = 0; i < points.length; i += 2) {
    context.moveTo(points[i] + radius, points[i + 1]);
    context.arc(points[i], points[i + 1], radius, 0, 2 * Math.PI);
  }
}
