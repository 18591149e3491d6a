/** The report on a fit, as one HTML file without scripts: words, tables and pictures, for paper or for an archive. */

import { layoutPanel } from "../plot/panel.js";
import { escapeText, toSvg } from "../plot/svg.js";
import { describePanel } from "../plot/words.js";
import { findingsMarkup } from "./project-markup.js";

/** @typedef {import("./project-markup.js").Description} Description */
/** @typedef {import("./project-markup.js").Result} Result */

/**
 * @param {Description} description
 * @param {Result} result
 * @param {{ file: string, date: string }} about
 */
export function reportMarkup(description, result, { file, date }) {
  const pictures = result.panels.map((panel) => {
    const shapes = layoutPanel(panel, result.columns, { width: 640, height: 300 });
    const title = panel.title ?? "";
    return `<figure><figcaption>${escapeText(title)}</figcaption>${toSvg(shapes, { title, description: describePanel(panel, result.columns) })}</figure>`;
  });
  const settings = settingsRows(description, result).map(
    ([name, value]) => `<tr><th scope="row">${escapeText(name)}</th><td>${escapeText(value)}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Fit of ${escapeText(file)}</title>
<style>${STYLE}</style>
<h1>Fit of ${escapeText(file)}</h1>
<p>${escapeText(date)}, ferro-bench ${escapeText(result.version)}. ${escapeText(result.model)}</p>
<p><strong>${escapeText(result.sentence)}</strong></p>
${findingsMarkup(result)}
${pictures.join("\n")}
<table><caption>Settings</caption><tbody>${settings.join("")}</tbody></table>
</html>
`;
}

/**
 * @param {Description} description
 * @param {Result} result
 * @returns {[string, string][]}
 */
function settingsRows({ channels, choices }, { settings, columns_used: used }) {
  return [
    ...channels.map(({ key, name, without }) => {
      const elsewise = key === "force" ? `${settings.force} ${settings.units[key]}, ${without}` : without;
      return /** @type {[string, string]} */ ([
        name,
        used[key] ? `${used[key]}, in ${settings.units[key]}` : String(elsewise),
      ]);
    }),
    ...choices.map(({ key, name, options }) => {
      const known = key === "known" && settings.known === "known";
      const value = known ? `known: ${settings.mass} ${settings.mass_unit}` : options[settings[key]];
      return /** @type {[string, string]} */ ([name, value]);
    }),
  ];
}

/** The pictures have their colours by class, as on the page. */
const STYLE = `
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; color: #1e2521; background: #fff; }
table { width: 100%; margin: 1rem 0; border-collapse: collapse; font-size: .9rem; }
caption { font-weight: 600; text-align: start; }
th, td { padding: .25rem .5rem; border-bottom: 1px solid #ccc; text-align: start; vertical-align: top; }
small { display: block; color: #59625c; }
figure { margin: 1.5rem 0; break-inside: avoid; }
figcaption { font-weight: 600; }
svg { max-width: 100%; height: auto; }
dt { color: #59625c; } dd { margin: 0 0 .5rem; }
.plot-surface { fill: #fff; } .plot-text { fill: #2d352f; } .plot-grid { stroke: #ebe9e2; } .plot-axis { stroke: #858d87; }
.plot-measured { stroke: #ecb92e; } .plot-rim { stroke: #5f4700; } .plot-predicted { stroke: #0d8a4f; }
.plot-history, .plot-drive { stroke: #3d4a63; } .plot-band { fill: #59625c; }
`;
