import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { paint } from "../../site/plot/canvas.js";
import { MARKS, markOf } from "../../site/plot/marks.js";
import { layoutPanel } from "../../site/plot/panel.js";
import { toSvg } from "../../site/plot/svg.js";

/** @type {import("../../site/plot/panel.js").Panel} */
const PANEL = {
  key: "all",
  title: 'Every <role> & "kind"',
  x: { label: "time", unit: "s" },
  y: { label: "position", unit: "m" },
  lines: [
    { role: "measured", label: "measured", x: "time", y: "a" },
    { role: "predicted", label: "predicted", x: "time", y: "b" },
    { role: "start", label: "first guess", x: "time", y: "c" },
    { role: "history", label: "history", x: "time", y: "b" },
    { role: "truth", label: "</text><script>", value: 1 },
    { role: "band", label: "passes", low: 0.5, high: 0.9 },
    { role: "curve", label: "curve", x: "time", y: "c" },
    { role: "other", label: "other", x: "time", y: "c", lower: "from", upper: "to" },
    { role: "steps", label: "steps", x: "time", y: "a" },
    { role: "point", label: "point", x: "one", y: "one" },
  ],
};
const COLUMNS = {
  time: [0, 1, 2],
  a: [0, 1, 2],
  b: [0, null, 3],
  c: [1, 1, 2],
  from: [0, 0.5, 1],
  to: [2, 2, 2.5],
  one: [1],
};
const SIZE = { width: 400, height: 300 };

/** A canvas that remembers what was painted on it, and how. */
function recordingCanvas() {
  /** @type {{ call: string, args: any[], colour: string, width: number }[]} */
  const calls = [];
  const context = /** @type {any} */ ({});
  for (const call of ["setTransform", "clearRect", "setLineDash", "beginPath", "moveTo", "lineTo", "arc"]) {
    context[call] = () => {};
  }
  for (const call of ["fillRect", "stroke", "fill", "fillText"]) {
    context[call] = (/** @type {any[]} */ ...args) =>
      calls.push({
        call,
        args,
        colour: call === "stroke" ? context.strokeStyle : context.fillStyle,
        width: context.lineWidth,
      });
  }
  const canvas = /** @type {any} */ ({ width: 0, height: 0, style: {}, getContext: () => context });
  return { canvas, calls };
}

/** @type {import("../../site/plot/canvas.js").Theme} */
const THEME = {
  font: "serif",
  roles: Object.fromEntries(
    [...Object.keys(MARKS), "band", "text", "surface", "rim"].map((role) => [
      role,
      { ...markOf(role), colour: `colour of ${role}` },
    ]),
  ),
};

test("the canvas and the SVG paint the same shapes in the same order", () => {
  const shapes = layoutPanel(PANEL, COLUMNS, SIZE);
  const { canvas, calls } = recordingCanvas();
  paint(canvas, shapes, THEME);
  const onCanvas = calls.map(({ colour }) => colour.replace("colour of ", "plot-"));
  const inSvg = [...toSvg(shapes).matchAll(/ class="(plot-\w+)"| class="plot"/g)].flatMap(
    ([, name]) => name ?? [],
  );
  assert.deepEqual(onCanvas, inSvg);
});

test("the canvas is sized in device pixels and repainted without resizing", () => {
  const { canvas } = recordingCanvas();
  let resized = 0;
  Object.defineProperty(canvas, "width", { get: () => 800 * Number(resized > 0), set: () => resized++ });
  globalThis.devicePixelRatio = 2;
  try {
    const shapes = layoutPanel(PANEL, COLUMNS, SIZE);
    paint(canvas, shapes, THEME);
    assert.equal(canvas.height, 600);
    assert.equal(canvas.style.width, "400px");
    paint(canvas, shapes, THEME);
    assert.equal(resized, 1);
  } finally {
    Reflect.deleteProperty(globalThis, "devicePixelRatio");
  }
});

test("text in an SVG is escaped", () => {
  const svg = toSvg(layoutPanel(PANEL, COLUMNS, SIZE), { title: `a<b & "c"`, description: "d'e</desc>" });
  assert.ok(svg.includes("<title>a&lt;b &amp; &quot;c&quot;</title>"));
  assert.ok(svg.includes("<desc>d&#39;e&lt;/desc&gt;</desc>"));
  assert.ok(!svg.includes("<script>") && !svg.includes("<role>"));
});

test("an SVG is an image with a name, and has no inline style for a strict policy to refuse", () => {
  const svg = toSvg(layoutPanel(PANEL, COLUMNS, SIZE));
  assert.match(svg, /^<svg [^>]*viewBox="0 0 400 300"[^>]* role="img">/);
  assert.ok(!/style=|<style|NaN|undefined|null/.test(svg));
});

test("the stylesheet colours every class the SVG uses", () => {
  const css = readFileSync(new URL("../../site/style/plot.css", import.meta.url), "utf8");
  const svg = toSvg(layoutPanel(PANEL, COLUMNS, SIZE));
  const names = new Set([...svg.matchAll(/class="(plot-\w+)"/g)].map(([, name]) => name));
  for (const name of names)
    assert.match(css, new RegExp(`\\.${name}\\b[^{}]*\\{[^}]*(fill|stroke): var\\(--plot-`));
});

test("the roles differ by mark, not by colour alone", () => {
  const marks = ["measured", "predicted", "start", "truth", "history", "curve", "other", "steps"].map(
    (role) => JSON.stringify(MARKS[role]),
  );
  assert.equal(new Set(marks).size, marks.length);
});

test("every role that the package names has a mark, and a colour in every scheme and on paper", () => {
  const read = (/** @type {string} */ path) => readFileSync(new URL(path, import.meta.url), "utf8");
  const [, names] =
    /class Role\(StrEnum\):([\s\S]*?)\n\n\n/.exec(read("../../src/ferro_bench/panel.py")) ?? [];
  const roles = [...(names ?? "").matchAll(/= "([\w-]+)"/g)].map(([, role]) => role);
  assert.ok(roles.length > 10);
  const css = read("../../site/style/plot.css");
  for (const role of roles.filter((role) => role !== "band")) {
    assert.ok(MARKS[role], role);
    assert.equal(css.match(new RegExp(`--plot-${role}:`, "g"))?.length, 3, role);
    assert.ok(css.includes(`.plot-${role} {`), role);
    assert.ok(read("../../site/style/print.css").includes(`--plot-${role}:`), role);
  }
});

test("an error bar is painted undashed on a dashed line", () => {
  const svg = toSvg(layoutPanel(PANEL, COLUMNS, SIZE));
  const dashed = [...svg.matchAll(/<path class="plot-other"[^>]*>/g)].map(([path]) =>
    path.includes("dasharray"),
  );
  assert.deepEqual(new Set(dashed), new Set([true, false]));
});
