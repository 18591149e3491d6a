/**
 * For the build: descriptions as a JSON array on stdin, the HTML of each as a JSON array on stdout.
 *
 *     node site/prerender.js < descriptions.json
 */

import { readFileSync } from "node:fs";
import { benchMarkup } from "./elements/bench-markup.js";
import { exerciseMarkup } from "./elements/exercise-markup.js";

const markup = (/** @type {any} */ described) =>
  described.kind === "exercise" ? exerciseMarkup(described) : benchMarkup(described);

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(markup)));
