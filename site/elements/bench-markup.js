/**
 * What a bench looks like before anything has run, as HTML text. The build bakes it into the page, so that the bench
 * is there before its script is, and stays where it is when the script takes over.
 */

import { layoutPanel } from "../plot/panel.js";
import { escapeText, toSvg } from "../plot/svg.js";
import { describePanel, panelTable } from "../plot/words.js";
import { controlMarkup } from "./bench-controls.js";

/** @typedef {import("./bench-controls.js").Control} Control */
/** @typedef {import("../plot/panel.js").Panel} Panel */
/** @typedef {import("../plot/panel.js").Columns} Columns */

/**
 * @typedef {object} Description  see `describe` in `src/ferro_bench/session.py`
 * @property {string} bench
 * @property {string} title
 * @property {string} summary
 * @property {number} budget
 * @property {Control[]} controls
 * @property {string[]} own  exercises whose code the bench can be trained with; none if it cannot
 * @property {Record<string, string>} readout  name of a live value and its label
 * @property {Panel[]} panels
 * @property {Columns} columns
 * @property {Record<string, string>} values
 * @property {Check[]} checks  at the first iterate
 * @property {string} recording  address of a run recorded by the build
 */

/** @typedef {{ name: string, passed: boolean, value: string, limit: string, because: string, advice: string }} Check */

/** @param {Description} description */
export function benchMarkup(description) {
  const { bench, title, summary, controls, own, panels, columns, readout, values, checks } = description;
  return `
<h3 class="bench-title">${escapeText(title)}</h3>
<p class="bench-summary">${escapeText(summary)}</p>
<noscript><p>JavaScript is off, so nothing can be trained here. The pictures show the measured data and the prediction before any training.</p></noscript>
<p class="script-missing">The page’s script has not started, so the Bench cannot run; the article is complete. A filter or an extension may block the script, or the site may be only partly uploaded. <a href="">Retry</a></p>
<ferro-runtime></ferro-runtime>
<div class="bench-controls" role="group" aria-label="Settings">
${controls.map((control) => controlMarkup(bench, control)).join("\n")}
${own.length ? codeMarkup(bench) : ""}
</div>
<div class="bench-buttons" role="group" aria-label="Training">
<button type="button" class="primary" data-action="train" disabled>Train</button>
<button type="button" data-action="pause" disabled>Pause</button>
<button type="button" data-action="step" disabled>One step</button>
<button type="button" data-action="restart" disabled>Start over</button>
</div>
<p class="bench-status" role="status">Python is on its way; the pictures are here already.</p>
<div class="bench-engine"></div>
<dl class="bench-readout">
${readoutMarkup(bench, readout, values)}
</dl>
<div class="bench-panels">
${panelsMarkup(panels, columns, checks)}
</div>
<script type="application/json">${JSON.stringify(description).replaceAll("<", "\\u003c")}</script>
`;
}

/**
 * The switch between the built-in physics and training, and the reader's.
 *
 * @param {string} bench
 */
function codeMarkup(bench) {
  return `<div class="control bench-code"><label for="${bench}-code">code that is trained with</label>
<select id="${bench}-code" autocomplete="off"><option value="built-in">built-in</option><option value="mine">mine, from the cells</option></select></div>`;
}

/**
 * The live numbers.
 *
 * @param {string} bench
 * @param {Record<string, string>} readout
 * @param {Record<string, string>} values
 */
export function readoutMarkup(bench, readout, values) {
  return Object.entries(readout)
    .map(
      ([name, label]) =>
        `<div><dt>${escapeText(label)}</dt><dd><ferro-value bench="${escapeText(bench)}" name="${escapeText(name)}">${escapeText(values[name] ?? "")}</ferro-value></dd></div>`,
    )
    .join("\n");
}

/**
 * The pictures, and after the first of them what PASS asks for.
 *
 * @param {Panel[]} panels
 * @param {Columns} columns
 * @param {Check[]} checks
 */
export function panelsMarkup(panels, columns, checks) {
  return panels
    .map((panel, i) => panelMarkup(panel, columns) + (i === 0 ? checksMarkup(checks) : ""))
    .join("\n");
}

/** @param {Check[]} checks */
function checksMarkup(checks) {
  return `<table class="bench-checks">
<caption>What PASS asks for</caption>
<thead><tr><th scope="col">Result</th><th scope="col">Check</th><th scope="col">Value</th><th scope="col">At most</th></tr></thead>
<tbody>${checkRows(checks)}</tbody>
</table>`;
}

/** @param {Check[]} checks */
export function checkRows(checks) {
  return checks
    .map(
      ({ name, passed, value, limit, because, advice }) =>
        `<tr data-passed="${passed}"><td>${passed ? "✓ pass" : "○ not yet"}</td>
<td>${escapeText(name)} <small>${escapeText(passed ? because : advice)}</small></td><td>${escapeText(value)}</td><td>${escapeText(limit)}</td></tr>`,
    )
    .join("");
}

/**
 * A panel as SVG, in a size between phone and desk; the style sheet fits it into its place.
 *
 * @param {Panel} panel
 * @param {Columns} columns
 */
export function pictureMarkup(panel, columns) {
  const shapes = layoutPanel(panel, columns, { width: 480, height: 260 });
  return toSvg(shapes, { title: panel.title ?? "", description: describePanel(panel, columns) });
}

/**
 * @param {Panel} panel
 * @param {Columns} columns
 */
export function panelMarkup(panel, columns) {
  const title = escapeText(panel.title ?? "");
  return `<ferro-panel><figure>
<figcaption>${title}</figcaption>
<div class="plot-place">${pictureMarkup(panel, columns)}</div>
<p class="plot-reading"></p>
<details><summary>Show as table</summary><div class="table-scroll" tabindex="0" role="group" aria-label="${title}, table">${tableMarkup(panel, columns)}</div></details>
</figure></ferro-panel>`;
}

/**
 * @param {Panel} panel
 * @param {Columns} columns
 */
export function tableMarkup(panel, columns) {
  const { head, rows } = panelTable(panel, columns);
  const cells = (/** @type {string[]} */ row) => row.map((cell) => `<td>${escapeText(cell)}</td>`).join("");
  return `<table><thead><tr>${head.map((cell) => `<th scope="col">${escapeText(cell)}</th>`).join("")}</tr></thead>
<tbody>${rows.map((row) => `<tr>${cells(row)}</tr>`).join("")}</tbody></table>`;
}
