/** Makes the one pool of workers and the one store of work, defines the elements, and starts Python. */

import { Cells } from "./cells.js";
import { FerroBench } from "./elements/ferro-bench.js";
import { FerroExercise } from "./elements/ferro-exercise.js";
import { FerroPanel } from "./elements/ferro-panel.js";
import { FerroRuntime } from "./elements/ferro-runtime.js";
import { FerroValue } from "./elements/ferro-value.js";
import { FerroWork } from "./elements/ferro-work.js";
import { Own } from "./own.js";
import { Pool } from "./pool.js";
import { Work } from "./store/work.js";

const config = JSON.parse(document.getElementById("ferro-runtime-config")?.textContent ?? "{}");
const absolute = (/** @type {string} */ path) => new URL(path, document.baseURI).href;
const pool = new Pool({ ...config, worker: absolute(config.worker), base: absolute(config.base) });

const follow = () => {
  document.documentElement.dataset.runtime = pool.clean.status.state;
};
pool.clean.addEventListener("status", follow);
follow();
pool.start();

// `?safe` opens every cell with its first text, for whoever saved one that does the page no good.
const safe = new URLSearchParams(location.search).has("safe");
const work = new Work(document.documentElement.dataset.lesson ?? "", { safe });
const exercise = (/** @type {string} */ name) =>
  /** @type {FerroExercise | null} */ (document.querySelector(`ferro-exercise[name="${name}"]`));
const sources = (/** @type {string[]} */ names) =>
  Object.fromEntries(names.map((name) => [name, exercise(name)?.source ?? ""]));

FerroBench.client = pool.clean;
FerroBench.own = (names) => new Own(pool, () => sources(names));
FerroExercise.pool = pool;
FerroExercise.cells = new Cells(pool);
FerroExercise.work = work;
FerroExercise.editor = config.editor;
FerroWork.work = work;
FerroRuntime.client = pool.clean;
customElements.define("ferro-panel", FerroPanel);
customElements.define("ferro-value", FerroValue);
customElements.define("ferro-runtime", FerroRuntime);
customElements.define("ferro-bench", FerroBench);
customElements.define("ferro-exercise", FerroExercise);
customElements.define("ferro-work", FerroWork);
