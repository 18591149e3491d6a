/**
 * What a bench looks like before anything has run, as HTML text. The build bakes it into the page, so that the bench
 * is there before its script is, and stays where it is when the script takes over.
 */

import { layoutPanel } from "../plot/panel.js";
import { toSvg } from "../plot/svg.js";
import { describePanel, panelTable } from "../plot/words.js";

/** @typedef {import("../plot/panel.js").Panel} Panel */
/** @typedef {import("../plot/panel.js").Columns} Columns */

/**
 * @typedef {object} NumberControl
 * @property {"number"} kind
 * @property {string} key
 * @property {string} symbol
 * @property {string} name
 * @property {string} unit
 * @property {number} default
 * @property {[number, number]} bounds
 * @property {number} increment
 *
 * @typedef {object} ChoiceControl
 * @property {"choice"} kind
 * @property {string} key
 * @property {string} name
 * @property {string} default
 * @property {Record<string, string>} options
 *
 * @typedef {NumberControl | ChoiceControl} Control
 *
 * @typedef {object} Description  see `describe` in `src/ferro_bench/session.py`
 * @property {string} bench
 * @property {string} title
 * @property {string} summary
 * @property {number} budget
 * @property {Control[]} controls
 * @property {Record<string, string>} readout  name of a live value and its label
 * @property {Panel[]} panels
 * @property {Columns} columns
 * @property {Record<string, string>} values
 * @property {string} recording  address of a run recorded by the build
 */

/** Sizes of the baked pictures; the style sheet holds the places they go to in the same proportions. */
const LEAD = { width: 640, height: 320 };
const OTHER = { width: 360, height: 240 };

/** @param {Description} description */
export function benchMarkup(description) {
  const { bench, title, summary, controls, panels, columns, readout, values } = description;
  return `
<h3 class="bench-title">${escapeHtml(title)}</h3>
<p class="bench-summary">${escapeHtml(summary)}</p>
<noscript><p>JavaScript is off, so nothing can be trained here. The pictures show the measured data and the prediction before any training.</p></noscript>
<p class="script-missing">The page’s script has not started, so the Bench cannot run; the article is complete. A filter or an extension may block the script, or the site may be only partly uploaded. <a href="">Retry</a></p>
<ferro-runtime></ferro-runtime>
<div class="bench-controls" role="group" aria-label="Settings">
${controls.map((control) => controlMarkup(bench, control)).join("\n")}
</div>
<div class="bench-buttons" role="group" aria-label="Training">
<button type="button" class="primary" data-action="train" disabled>Train</button>
<button type="button" data-action="pause" disabled>Pause</button>
<button type="button" data-action="step" disabled>One step</button>
<button type="button" data-action="restart" disabled>Start over</button>
</div>
<p class="bench-status" role="status"></p>
<dl class="bench-readout">
${Object.entries(readout)
  .map(
    ([name, label]) =>
      `<div><dt>${escapeHtml(label)}</dt><dd><ferro-value bench="${escapeHtml(bench)}" name="${escapeHtml(name)}">${escapeHtml(values[name] ?? "")}</ferro-value></dd></div>`,
  )
  .join("\n")}
</dl>
<div class="bench-panels">
${panels.map((panel, i) => panelMarkup(panel, columns, i === 0 ? LEAD : OTHER)).join("\n")}
</div>
<table class="bench-checks" hidden>
<caption>Checks</caption>
<thead><tr><th scope="col">Result</th><th scope="col">What was asked</th><th scope="col">Value</th><th scope="col">At most</th></tr></thead>
<tbody></tbody>
</table>
<script type="application/json">${JSON.stringify(description).replaceAll("<", "\\u003c")}</script>
`;
}

/**
 * @param {string} bench
 * @param {Control} control
 */
function controlMarkup(bench, control) {
  const id = `${bench}-${control.key}`;
  if (control.kind === "choice") {
    const options = Object.entries(control.options).map(
      ([value, label]) => `<option value="${escapeHtml(value)}">${escapeHtml(label)}</option>`,
    );
    return `<div class="control"><label for="${id}">${escapeHtml(control.name)}</label>
<select id="${id}" data-key="${escapeHtml(control.key)}" disabled>${options.join("")}</select></div>`;
  }
  const [low, high] = control.bounds;
  const unit = control.unit ? ` (${escapeHtml(control.unit)})` : "";
  return `<div class="control"><label for="${id}"><var>${escapeHtml(control.symbol)}</var> ${escapeHtml(control.name)}${unit}</label>
<input type="range" data-key="${escapeHtml(control.key)}" aria-label="${escapeHtml(control.symbol)} ${escapeHtml(control.name)}${unit}, slider" min="${low}" max="${high}" step="${control.increment}" value="${control.default}" disabled>
<input type="text" id="${id}" data-key="${escapeHtml(control.key)}" inputmode="decimal" autocomplete="off" aria-describedby="${id}-refusal" value="${control.default}" disabled>
<p class="control-refusal" id="${id}-refusal" aria-live="polite"></p></div>`;
}

/**
 * @param {Panel} panel
 * @param {Columns} columns
 * @param {{ width: number, height: number }} size
 */
function panelMarkup(panel, columns, size) {
  const words = describePanel(panel, columns);
  const picture = toSvg(layoutPanel({ ...panel, title: "" }, columns, size), {
    title: panel.title ?? "",
    description: words,
  });
  return `<ferro-panel><figure>
<figcaption>${escapeHtml(panel.title ?? "")}</figcaption>
<div class="plot-place">${picture}</div>
<details><summary>Show as table</summary><div class="table-scroll" tabindex="0" role="region" aria-label="${escapeHtml(panel.title ?? "")}, table">${tableMarkup(panel, columns)}</div></details>
</figure></ferro-panel>`;
}

/**
 * @param {Panel} panel
 * @param {Columns} columns
 */
export function tableMarkup(panel, columns) {
  const { head, rows } = panelTable(panel, columns);
  const cells = (/** @type {string[]} */ row) => row.map((cell) => `<td>${escapeHtml(cell)}</td>`).join("");
  return `<table><thead><tr>${head.map((cell) => `<th scope="col">${escapeHtml(cell)}</th>`).join("")}</tr></thead>
<tbody>${rows.map((row) => `<tr>${cells(row)}</tr>`).join("")}</tbody></table>`;
}

/** @param {string} text */
export function escapeHtml(text) {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
