/**
 * What an exercise looks like before anything has run, and what a run, a check and a hint look like, as HTML text. All
 * text that comes from code is escaped here.
 */

import { layoutPanel } from "../plot/panel.js";
import { escapeText, toSvg } from "../plot/svg.js";

/**
 * @typedef {object} Exercise  see `exercise` in `src/ferro_bench/session.py`
 * @property {string} exercise  its name
 * @property {number} number
 * @property {string} title
 * @property {string} prompt
 * @property {string} function
 * @property {{ name: string, meaning: string, shape: string, unit: string }[]} scope
 * @property {string} starter
 * @property {string} solution
 * @property {string[]} hints
 * @property {string[]} checks
 *
 * @typedef {object} Value  what the last expression of a cell gave
 * @property {string} text
 * @property {number[] | null} shape
 * @property {string | null} dtype
 * @property {number | null} low
 * @property {number | null} high
 * @property {number} nan
 * @property {number} infinite
 * @property {(number | null)[] | null} points
 *
 * @typedef {{ kind: string, message: string, cell: string | null, line: number | null, trace: string[], explanation: string }} Trouble
 */

/** @param {Exercise} exercise */
export function exerciseMarkup(exercise) {
  const { exercise: name, number, title, prompt, scope, starter, hints, checks } = exercise;
  const id = `exercise-${name}`;
  const rows = starter.trimEnd().split("\n").length + 2;
  return `
<h4 class="exercise-title" id="${id}-title">Exercise ${number}: ${escapeText(title)}</h4>
<p class="exercise-prompt" id="${id}-prompt">${withCode(prompt)}</p>
<details class="exercise-scope" open><summary>What is in scope</summary>
<dl>${scope.map(scopeRow).join("")}</dl></details>
<p class="exercise-offer" hidden></p>
<textarea class="editor" rows="${rows}" spellcheck="false" autocapitalize="off" autocomplete="off" autocorrect="off" wrap="off" aria-labelledby="${id}-title" aria-describedby="${id}-keys">${escapeText(starter)}</textarea>
<p class="exercise-keys" id="${id}-keys">Shift-Enter runs, Ctrl-Enter checks. Esc, then Tab leaves the editor.</p>
<div class="exercise-buttons" role="group" aria-label="Exercise ${number}">
${[
  ["run", "Run"],
  ["check", "Check"],
  ["stop", "Stop"],
  ["hint", "Hint"],
  ["solution", "Show solution"],
  ["reset", "Reset"],
  ["recall", "Earlier text"],
]
  .map(
    ([action, label]) =>
      `<button type="button" data-action="${action}"${action === "check" ? ' class="primary"' : ""} disabled>${label}</button>`,
  )
  .join("\n")}
</div>
<p class="exercise-status" role="status"></p>
<p class="exercise-trouble" role="alert"></p>
<div class="exercise-output" role="region" aria-label="Output of exercise ${number}" tabindex="0" hidden></div>
<div class="exercise-verdict"></div>
<ol class="exercise-hints" aria-label="Hints" aria-live="polite"></ol>
<div class="exercise-solution" aria-live="polite"></div>
<noscript><p>JavaScript is off, so nothing can be run here. ${checks.length} checks and ${hints.length} hints wait for a browser that runs scripts.</p></noscript>
<script type="application/json">${JSON.stringify(exercise).replaceAll("<", "\\u003c")}</script>
`;
}

/** @param {Exercise["scope"][number]} entry */
function scopeRow({ name, meaning, shape, unit }) {
  const more = [shape, unit].filter(Boolean).join(", ");
  return `<div><dt><code>${escapeText(name)}</code></dt><dd>${withCode(meaning)}${more ? ` <small>${escapeText(more)}</small>` : ""}</dd></div>`;
}

/**
 * Text in which code stands in backticks.
 * @param {string} text
 */
export const withCode = (text) => escapeText(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");

/** @param {Value} value */
export function valueMarkup(value) {
  const { text, shape, dtype, low, high, nan, infinite, points } = value;
  const facts = [];
  if (shape) facts.push(`array of shape (${shape.join(", ")}${shape.length === 1 ? "," : ""})`, dtype ?? "");
  if (low !== null && high !== null) facts.push(`from ${short(low)} to ${short(high)}`);
  if (nan) facts.push(`${nan} not a number`);
  if (infinite) facts.push(`${infinite} infinite`);
  const about = facts.filter(Boolean).join(", ");
  return `<div class="cell-value"><code>${escapeText(text)}</code>${about ? `<p>${escapeText(about)}</p>` : ""}${points ? pointsMarkup(points, shape?.[0] ?? points.length) : ""}</div>`;
}

/**
 * @param {(number | null)[]} points  evenly spaced
 * @param {number} length  of the array that they are from
 */
function pointsMarkup(points, length) {
  const columns = {
    index: points.map((_, i) => (i * (length - 1)) / Math.max(1, points.length - 1)),
    value: points,
  };
  /** @type {import("../plot/panel.js").Panel} */
  const panel = {
    key: "value",
    title: "",
    x: { label: "index", unit: "" },
    y: { label: "value", unit: "" },
    lines: [{ role: "history", label: "value", x: "index", y: "value" }],
  };
  const shapes = layoutPanel(panel, columns, { width: 360, height: 160 });
  return `<div class="cell-plot">${toSvg(shapes, { title: "The array as a line", description: `${length} values over their index` })}</div>`;
}

/** @param {number} value */
const short = (value) => String(Number(value.toPrecision(5)));

/**
 * @param {Trouble} trouble
 * @param {string} cell  the cell that was run
 */
export function troubleMarkup({ kind, message, cell: where, line, trace, explanation }, cell) {
  const place = line === null ? "" : ` in ${where === cell ? "" : `the cell ${where}, `}line ${line}`;
  return `<div class="cell-trouble"><p><strong>${escapeText(kind)}${escapeText(place)}</strong>${message ? `: ${escapeText(message)}` : ""}</p>
${explanation ? `<p>${withCode(explanation)}</p>` : ""}
${trace.length > 1 ? `<details><summary>The way there</summary><pre>${escapeText(trace.join("\n"))}</pre></details>` : ""}</div>`;
}

/**
 * @param {{ name: string, passed: boolean, sentence: string }[]} checks
 * @param {number} number
 */
export function gradeMarkup(checks, number) {
  const rows = checks.map(
    ({ name, passed, sentence }) =>
      `<tr data-passed="${passed}"><td>${passed ? "✓ pass" : "○ not yet"}</td><td>${withCode(name)} <small>${withCode(sentence)}</small></td></tr>`,
  );
  return `<table class="exercise-checks"><caption>What was checked in exercise ${number}</caption>
<thead><tr><th scope="col">Result</th><th scope="col">Check</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

/** @param {string} solution */
export const solutionMarkup = (solution) =>
  `<p>One way to write it:</p><pre tabindex="0"><code>${escapeText(solution)}</code></pre>
<button type="button" data-action="take">Put it into the cell</button>`;
