/**
 * For the build: descriptions of benches as a JSON array on stdin, the HTML of each as a JSON array on stdout.
 *
 *     node site/prerender.js < descriptions.json
 */

import { readFileSync } from "node:fs";
import { benchMarkup } from "./elements/bench-markup.js";

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(benchMarkup)));
