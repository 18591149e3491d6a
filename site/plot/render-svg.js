/**
 * Bakes pictures at build time: `{ panels, columns, width, height }` as JSON on stdin, a JSON array of SVG strings on
 * stdout. The static picture and the live canvas so have one source.
 *
 *     node site/plot/render-svg.js < panels.json
 */

import { readFileSync } from "node:fs";
import { layoutPanel } from "./panel.js";
import { toSvg } from "./svg.js";
import { describePanel } from "./words.js";

/** @typedef {import("./panel.js").Panel} Panel */

const { panels, columns, width, height } = JSON.parse(readFileSync(0, "utf8"));

const pictures = panels.map((/** @type {Panel} */ panel) =>
  toSvg(layoutPanel(panel, columns, { width, height }), {
    title: panel.title,
    description: describePanel(panel, columns),
  }),
);

process.stdout.write(`${JSON.stringify(pictures)}\n`);
