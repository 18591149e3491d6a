/** A figure as HTML text, for the build: its question, the answer, and its pictures with what they are drawn from. */

import { escapeText } from "../plot/svg.js";
import { panelMarkup } from "./bench-markup.js";

/**
 * @typedef {object} Drawn  see `figure` in `src/ferro_bench/session.py`
 * @property {string} figure
 * @property {string} question
 * @property {string} caption
 * @property {import("../plot/panel.js").Panel[]} panels
 * @property {import("../plot/panel.js").Columns} columns
 */

/** @param {Drawn} drawn */
export function figureMarkup({ question, caption, panels, columns }) {
  const data = JSON.stringify({ panels, columns }).replaceAll("<", "\\u003c");
  return `<figure>
<figcaption><strong>${escapeText(question)}</strong> ${escapeText(caption)}</figcaption>
<div class="figure-panels">
${panels.map((panel) => panelMarkup(panel, columns)).join("\n")}
</div>
<script type="application/json">${data}</script>
</figure>`;
}
