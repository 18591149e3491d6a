/**
 * One picture: a canvas drawn from columns of data, with its words and its table. A pointer or the arrow keys read it
 * sample by sample. Attributes in: none; its owner hands it data with `show`.
 */

import { paint, readTheme } from "../plot/canvas.js";
import { stickyDomains } from "../plot/domains.js";
import { framePanel, layoutPanel } from "../plot/panel.js";
import { layoutProbe } from "../plot/probe.js";
import { describePanel } from "../plot/words.js";
import { pictureMarkup, tableMarkup } from "./bench-markup.js";
import { PanelProbe } from "./panel-probe.js";

/** @typedef {import("../plot/panel.js").Panel} Panel */
/** @typedef {import("../plot/panel.js").Columns} Columns */
/** @typedef {import("../plot/panel.js").Domains} Domains */

/** What changes the colours without changing the page. */
const SCHEMES = [matchMedia("(prefers-color-scheme: dark)"), matchMedia("(forced-colors: active)")];

export class FerroPanel extends HTMLElement {
  /** @type {Panel | undefined} */
  #panel;
  /** @type {Columns} */
  #columns = {};
  /** @type {Domains | undefined} */
  #domains;
  /** @type {import("../plot/canvas.js").Theme | undefined} */
  #theme;
  #onPaper = false;
  #frame = 0;
  #canvas = document.createElement("canvas");
  #probe = new PanelProbe(this.#canvas, {
    sight: () =>
      this.#panel && { panel: this.#panel, columns: this.#columns, frame: this.#frameOf(this.#panel) },
    say: (words, live) => this.#say(words, live),
    moved: () => this.#repaint(),
  });
  #observer = new ResizeObserver(() => this.#repaint());
  #repaint = () => {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#paint();
    });
  };
  #recolour = () => {
    this.#theme = undefined;
    this.#repaint();
  };

  /** Paper has another width and other colours than the screen: print lines, not the screen's pixels. */
  #toPaper = () => {
    if (!this.#panel) return;
    this.#onPaper = true;
    const place = this.#place();
    if (place) place.innerHTML = pictureMarkup(this.#panel, this.#columns);
  };
  #toScreen = () => {
    this.#onPaper = false;
    this.#recolour();
  };

  connectedCallback() {
    // An image's arrow keys belong to the screen reader; an application's reach the page.
    this.#canvas.setAttribute("role", "application");
    this.#canvas.setAttribute("aria-roledescription", "plot");
    this.#canvas.tabIndex = 0;
    this.#observer.observe(this);
    for (const scheme of SCHEMES) scheme.addEventListener("change", this.#recolour);
    window.addEventListener("resize", this.#repaint); // also when only the density of pixels changes
    window.addEventListener("beforeprint", this.#toPaper);
    window.addEventListener("afterprint", this.#toScreen);
    this.querySelector("details")?.addEventListener("toggle", this.#fillTable);
  }

  disconnectedCallback() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#observer.disconnect();
    for (const scheme of SCHEMES) scheme.removeEventListener("change", this.#recolour);
    window.removeEventListener("resize", this.#repaint);
    window.removeEventListener("beforeprint", this.#toPaper);
    window.removeEventListener("afterprint", this.#toScreen);
  }

  /**
   * Draw columns, at most once a frame. The axes keep what they have seen, so that they hold still while a curve moves;
   * `fresh` lets them go.
   *
   * @param {Panel} panel
   * @param {Columns} columns
   * @param {{ fresh?: boolean }} [options]
   */
  show(panel, columns, { fresh = false } = {}) {
    this.#panel = panel;
    this.#columns = columns;
    this.#domains = stickyDomains(panel, columns, fresh ? undefined : this.#domains);
    this.#probe.refresh();
    this.#repaint();
  }

  /** Bring words and table up to date; left out while a run is under way, when nobody could follow them. */
  settle() {
    if (!this.#panel) return;
    const description = describePanel(this.#panel, this.#columns);
    this.#canvas.setAttribute("aria-label", `${description} Arrow keys read it point by point.`);
    this.#fillTable();
  }

  #fillTable = () => {
    const details = this.querySelector("details");
    const place = details?.querySelector(".table-scroll");
    if (this.#panel && place && details?.open) place.innerHTML = tableMarkup(this.#panel, this.#columns);
  };

  /** @returns {HTMLElement | null} */
  #place() {
    return this.querySelector(".plot-place");
  }

  /**
   * @param {string} words
   * @param {"polite" | "off"} live  what a pointer sweeps over is not read out, what keys have led to is
   */
  #say(words, live) {
    const line = this.querySelector(".plot-reading");
    line?.setAttribute("aria-live", live);
    if (line && line.textContent !== words) line.textContent = words;
  }

  /** @param {Panel} panel */
  #frameOf(panel) {
    return framePanel(panel, this.#columns, this.#size);
  }

  get #size() {
    const { clientWidth: width = 0, clientHeight: height = 0 } = this.#place() ?? {};
    return { width, height, domains: this.#domains };
  }

  #paint() {
    const plot = this.#place();
    if (!this.#panel || !plot || this.#onPaper) return;
    if (this.#canvas.parentNode !== plot) plot.replaceChildren(this.#canvas);
    if (this.#size.width === 0 || this.#size.height === 0) return;
    this.#theme ??= readTheme(this);
    const shapes = layoutPanel(this.#panel, this.#columns, this.#size);
    const { reading } = this.#probe;
    if (reading) shapes.push(...layoutProbe(reading, this.#frameOf(this.#panel)));
    paint(this.#canvas, shapes, this.#theme);
  }
}
