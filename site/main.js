/** Makes the one pool of workers and the stores of work and progress, defines the elements, and starts Python. */

import { Cells } from "./cells.js";
import { FerroBench } from "./elements/ferro-bench.js";
import { FerroDeck } from "./elements/ferro-deck.js";
import { FerroDue } from "./elements/ferro-due.js";
import { FerroExercise } from "./elements/ferro-exercise.js";
import { FerroFigure } from "./elements/ferro-figure.js";
import { FerroPanel } from "./elements/ferro-panel.js";
import { FerroPredict } from "./elements/ferro-predict.js";
import { FerroProject } from "./elements/ferro-project.js";
import { FerroRail } from "./elements/ferro-rail.js";
import { FerroRecall } from "./elements/ferro-recall.js";
import { FerroRuntime } from "./elements/ferro-runtime.js";
import { FerroSpeed } from "./elements/ferro-speed.js";
import { FerroValue } from "./elements/ferro-value.js";
import { FerroWork } from "./elements/ferro-work.js";
import { Own } from "./own.js";
import { Pool } from "./pool.js";
import { Progress } from "./store/progress.js";
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
const lesson = document.documentElement.dataset.lesson ?? "";
const work = new Work(lesson, { safe });
const progress = new Progress(lesson);
const exercise = (/** @type {string} */ name) =>
  /** @type {FerroExercise | null} */ (document.querySelector(`ferro-exercise[name="${name}"]`));
const sources = (/** @type {string[]} */ names) =>
  Object.fromEntries(names.map((name) => [name, exercise(name)?.source ?? ""]));

FerroBench.client = pool.clean;
FerroBench.own = (names) => new Own(pool, () => sources(names));
FerroExercise.pool = pool;
const cells = new Cells(pool);
FerroExercise.cells = cells;
FerroExercise.work = work;
FerroExercise.editor = config.editor;
FerroWork.work = work;
FerroWork.cells = cells;
FerroRuntime.client = pool.clean;
FerroProject.client = pool.clean;
FerroSpeed.client = pool.clean;
FerroPredict.progress = progress;
FerroRecall.progress = progress;
FerroDue.progress = progress;
FerroDeck.progress = progress;
FerroRail.progress = progress;
customElements.define("ferro-panel", FerroPanel);
customElements.define("ferro-figure", FerroFigure);
customElements.define("ferro-value", FerroValue);
customElements.define("ferro-runtime", FerroRuntime);
customElements.define("ferro-bench", FerroBench);
customElements.define("ferro-exercise", FerroExercise);
customElements.define("ferro-work", FerroWork);
customElements.define("ferro-project", FerroProject);
customElements.define("ferro-predict", FerroPredict);
customElements.define("ferro-recall", FerroRecall);
// These two ask the questions, which therefore come first.
customElements.define("ferro-due", FerroDue);
customElements.define("ferro-deck", FerroDeck);
customElements.define("ferro-speed", FerroSpeed);
customElements.define("ferro-rail", FerroRail);
