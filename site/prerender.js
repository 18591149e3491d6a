/**
 * For the build: descriptions as a JSON array on stdin, the HTML of each as a JSON array on stdout.
 *
 *     node site/prerender.js < descriptions.json
 */

import { readFileSync } from "node:fs";
import { benchMarkup } from "./elements/bench-markup.js";
import { exerciseMarkup } from "./elements/exercise-markup.js";
import { figureMarkup } from "./elements/figure-markup.js";
import { projectMarkup } from "./elements/project-markup.js";
import { speedMarkup } from "./elements/speed-markup.js";

/** By the kind of reply that describes it; a bench's has no need to say so. */
const MARKUP = {
  exercise: exerciseMarkup,
  figure: figureMarkup,
  project: projectMarkup,
  ways: speedMarkup,
};

/** @param {any} described */
const markup = (described) => (MARKUP[/** @type {"ways"} */ (described.kind)] ?? benchMarkup)(described);

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(markup)));
