/** The panel on how a speed-up is made, before and after its measurement, as HTML text. */

import { escapeText } from "../plot/svg.js";

/** @typedef {{ bench: string, steps: number, ways: { way: string, label: string, batch: boolean }[] }} Ways  see `ways` in `src/ferro_bench/session.py` */

const BATCHES = [64, 1024, 16384];

/** @param {Ways} described */
export function speedMarkup(described) {
  const { bench, steps, ways } = described;
  const first = ways[0].way;
  const last = ways.at(-1)?.way;
  return `
<div class="speed-controls">
${chooser(`${bench}-speed-fast`, "fast", "what is praised", ways, last)}
${chooser(`${bench}-speed-baseline`, "baseline", "what it is compared with", ways, first)}
<div class="control"><label for="${bench}-speed-batch">rollouts side by side</label>
<select id="${bench}-speed-batch" data-choice="batch" autocomplete="off" disabled>${BATCHES.map((size) => `<option value="${size}"${size === 1024 ? " selected" : ""}>${size.toLocaleString("en")}</option>`).join("")}</select></div>
</div>
<p class="speed-action"><button type="button" data-action="measure" disabled>Measure on this device</button></p>
<p class="speed-status" role="status">Nothing has been measured yet; it takes a few seconds.</p>
<table class="speed-table"><caption>Rollouts of ${steps} steps a second, on this device</caption>
<thead><tr><th scope="col">The same physics, run</th><th scope="col">Rollouts a second</th></tr></thead>
<tbody>${speedRows(ways, {})}</tbody></table>
<script type="application/json">${JSON.stringify(described).replaceAll("<", "\\u003c")}</script>
`;
}

/**
 * @param {string} id
 * @param {string} choice
 * @param {string} label
 * @param {Ways["ways"]} ways
 * @param {string | undefined} chosen
 */
function chooser(id, choice, label, ways, chosen) {
  const options = ways.map(
    ({ way, label }) =>
      `<option value="${escapeText(way)}"${way === chosen ? " selected" : ""}>${escapeText(label)}</option>`,
  );
  return `<div class="control"><label for="${id}">${label}</label>
<select id="${id}" data-choice="${choice}" autocomplete="off" disabled>${options.join("")}</select></div>`;
}

/**
 * @param {Ways["ways"]} ways
 * @param {Record<string, number>} rates  rollouts a second of what has been measured
 */
export const speedRows = (ways, rates) =>
  ways
    .map(
      ({ way, label }) =>
        `<tr><th scope="row">${escapeText(label)}</th><td>${way in rates ? number(rates[way]) : "–"}</td></tr>`,
    )
    .join("");

/**
 * To three digits: more is noise.
 * @param {number} value
 */
export const number = (value) => Number(value.toPrecision(3)).toLocaleString("en");
