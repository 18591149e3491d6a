/**
 * What the learner's own project looks like: before a file is there, which the build bakes into the page, and its
 * parts once there is one, as HTML text. All text that comes from a file is escaped here.
 */

import { escapeText } from "../plot/svg.js";
import { checkRows, panelMarkup } from "./bench-markup.js";

/**
 * @typedef {object} Description  see `project` in `src/ferro_bench/session.py`
 * @property {{ key: string, name: string, units: string[], without: string | null }[]} channels
 * @property {string[]} mass  units of the mass
 * @property {{ key: string, name: string, options: Record<string, string> }[]} choices
 * @property {string} sample  address of a file to try
 * @property {Record<string, string>} sample_settings  what is known of it
 *
 * @typedef {object} Loaded  see `load` there
 * @property {number} rows
 * @property {string[]} columns
 * @property {string[][]} preview
 * @property {{ columns: Record<string, number | null>, units: Record<string, string> }} guess
 *
 * @typedef {object} Result  see `_result` in `src/ferro_bench/project.py`
 * @property {"fitted" | "not-yet" | "failed"} state
 * @property {string} sentence
 * @property {string} model  in words
 * @property {{ symbol: string, name: string, text: string, interval: string }[]} values
 * @property {import("./bench-markup.js").Check[]} checks
 * @property {string} whiteness
 * @property {string[]} warnings
 * @property {{ label: string, text: string }[]} texts
 * @property {{ law: string, found: string, text: string, white: boolean, bic: number | null }[]} laws
 * @property {string} comparison
 * @property {string} split_note
 * @property {import("../plot/panel.js").Panel[]} panels
 * @property {import("../plot/panel.js").Columns} columns
 * @property {Record<string, any>} settings
 * @property {Record<string, string>} columns_used
 * @property {string} version
 */

/** @param {Description} description */
export function projectMarkup(description) {
  return `
<h3 class="project-title">Your own motion</h3>
<p class="project-intro">A text file with one row for each sample, evenly spaced in time: the time, the position, and the force unless it is the same throughout. Commas, semicolons or tabs may separate the cells. Nothing leaves your device. <a href="${escapeText(description.sample)}" download="ferro-bench-sample.csv">Download a sample file</a></p>
<noscript><p>JavaScript is off, so no file can be read here. With it, this is where you would say what the columns of your file mean, fit its mass and drag, see how well the fit predicts rows that it was not shown, and download a report.</p></noscript>
<div class="project-drop">
<div class="project-buttons" role="group" aria-label="File">
<button type="button" data-action="choose" disabled>Choose a file</button>
<button type="button" data-action="sample" disabled>Use the sample</button>
<span class="project-or">or drop one here</span>
</div>
<input type="file" accept=".csv,.tsv,.txt,.dat,text/*" aria-label="File with a motion" hidden>
<p class="project-file"></p>
</div>
<div class="project-alert" role="alert"></div>
<form class="project-form" novalidate hidden></form>
<div class="project-buttons project-run" role="group" aria-label="Fit" hidden>
<button type="button" class="primary" data-action="fit">Fit</button>
<button type="button" data-action="stop" aria-disabled="true">Stop</button>
</div>
<progress class="project-progress" aria-label="Fit" max="1" value="0" hidden></progress>
<p class="project-status" role="status"></p>
<div class="project-result"></div>
<script type="application/json">${JSON.stringify(description).replaceAll("<", "\\u003c")}</script>
`;
}

/**
 * The preview and what to say about it.
 *
 * @param {Description} description
 * @param {Loaded} loaded
 */
export function formMarkup({ channels, mass, choices }, { columns, preview, rows }) {
  const [known, ...others] = [choices.find(({ key }) => key === "known"), ...choices].filter(
    (choice, i, all) => choice && all.indexOf(choice) === i,
  );
  return `<div class="project-preview" tabindex="0" role="region" aria-label="First rows of the file"><table>
<caption>The first ${preview.length} of ${rows} rows</caption>
<thead><tr><th scope="col">row</th>${columns.map((name) => `<th scope="col">${escapeText(name)}</th>`).join("")}</tr></thead>
<tbody>${preview.map(([row, ...cells]) => `<tr><th scope="row">${escapeText(row)}</th>${cells.map((cell) => `<td>${escapeText(cell)}</td>`).join("")}</tr>`).join("")}</tbody></table></div>
<div class="project-fields">
${channels.map((channel) => channelMarkup(channel, columns)).join("\n")}
<div class="project-field" data-field="mass"><label for="project-known">mass</label>
${select("known", known?.options ?? {})}
${typed("mass", "mass")}
${select("mass_unit", Object.fromEntries(mass.map((unit) => [unit, unit])), "unit of the mass")}
<p class="project-refusal" id="project-mass-refusal"></p></div>
${others.map((choice) => choice && choiceMarkup(choice)).join("\n")}
</div>`;
}

/**
 * @param {Description["channels"][number]} channel
 * @param {string[]} columns
 */
function channelMarkup({ key, name, units, without }, columns) {
  const options = /** @type {[string, string][]} */ (columns.map((column, i) => [String(i), column]));
  if (without) options.push(["", without]);
  return `<div class="project-field" data-field="${key}"><label for="project-column-${key}">${escapeText(name)}</label>
${select(`column-${key}`, options)}
${key === "force" ? typed("force", "force in every row") : ""}
${select(`unit-${key}`, Object.fromEntries(units.map((unit) => [unit, unit])), `unit of the ${name}`)}
<p class="project-refusal" id="project-${key}-refusal"></p></div>`;
}

/** @param {Description["choices"][number]} choice */
const choiceMarkup = ({ key, name, options }) =>
  `<div class="project-field" data-field="${key}"><label for="project-${key}">${escapeText(name)}</label>
${select(key, options)}
<p class="project-refusal" id="project-${key}-refusal"></p></div>`;

/**
 * @param {string} key
 * @param {Record<string, string> | [string, string][]} options  value and label of each
 * @param {string} [label]  where no label element has it
 */
function select(key, options, label) {
  const entries = Array.isArray(options) ? options : Object.entries(options);
  const list = entries.map(
    ([value, text]) => `<option value="${escapeText(value)}">${escapeText(text)}</option>`,
  );
  const name = label ? ` aria-label="${escapeText(label)}"` : "";
  return `<select id="project-${key}" data-key="${key}" autocomplete="off"${name}>${list.join("")}</select>`;
}

/** @param {string} key @param {string} label */
const typed = (key, label) =>
  `<input type="text" id="project-typed-${key}" data-key="${key}" inputmode="decimal" autocomplete="off" aria-label="${label}" aria-describedby="project-${key}-refusal">`;

/** @param {Result} result */
export function resultMarkup(result) {
  return `<h4 class="project-heading">Result</h4>
${findingsMarkup(result)}
<div class="project-buttons" role="group" aria-label="Report">
<button type="button" data-action="report">Download the report</button>
<button type="button" data-action="json">Download the numbers</button>
</div>
<div class="bench-panels"></div>`;
}

/**
 * The place of a picture, which is drawn once it is there.
 * @param {import("../plot/panel.js").Panel} panel
 */
export const placeMarkup = (panel) => panelMarkup({ ...panel, lines: [] }, {});

/**
 * Everything but the pictures; the report has it too.
 * @param {Result} result
 */
export function findingsMarkup({ values, checks, warnings, texts, laws, comparison, whiteness, split_note }) {
  const numbers = values.map(
    ({ symbol, name, text, interval }) =>
      `<tr><th scope="row">${escapeText(symbol)}</th><td>${escapeText(name)}</td><td>${escapeText(text)}</td><td>${escapeText(interval)}</td></tr>`,
  );
  const compared = laws.map(
    ({ law, found, text, white, bic }) =>
      `<tr><th scope="row">${escapeText(law)}</th><td>${escapeText(found)}</td><td>${escapeText(text)}</td><td>${white ? "yes" : "no"}</td><td>${bic === null ? "none" : bic.toFixed(1).replace("-", "−")}</td></tr>`,
  );
  return `<div class="project-scroll" tabindex="0" role="region" aria-label="What was found">
<table class="project-values"><caption>What was found</caption>
<thead><tr><th scope="col">Symbol</th><th scope="col">Meaning</th><th scope="col">Value</th><th scope="col">95 % interval</th></tr></thead>
<tbody>${numbers.join("")}</tbody></table></div>
${warnings.length ? `<ul class="project-warnings">${warnings.map((warning) => `<li>${escapeText(warning)}</li>`).join("")}</ul>` : ""}
<table class="bench-checks"><caption>What was asked of the fit</caption>
<thead><tr><th scope="col">Result</th><th scope="col">Check</th><th scope="col">Value</th><th scope="col">At most</th></tr></thead>
<tbody>${checkRows(checks)}</tbody></table>
<p>${escapeText(whiteness)}</p>
<p>${escapeText(split_note)}</p>
<dl class="project-numbers">${texts.map(({ label, text }) => `<div><dt>${escapeText(label)}</dt><dd>${escapeText(text)}</dd></div>`).join("")}</dl>
${
  comparison
    ? `<div class="project-scroll" tabindex="0" role="region" aria-label="The drag laws compared"><table class="project-laws"><caption>The drag laws compared, on the fitted rows</caption>
<thead><tr><th scope="col">Law</th><th scope="col">Found</th><th scope="col">Rms</th><th scope="col">Leaves noise</th><th scope="col">BIC</th></tr></thead>
<tbody>${compared.join("")}</tbody></table></div><p>${escapeText(comparison)}</p>`
    : ""
}`;
}
