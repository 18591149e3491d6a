/**
 * One picture of a bench: a canvas drawn from columns of data, with its words and its table. Attributes in: none; its
 * owner hands it data with `show`.
 */

import { paint, readTheme } from "../plot/canvas.js";
import { layoutPanel, stickyDomains } from "../plot/panel.js";
import { describePanel } from "../plot/words.js";
import { tableMarkup } from "./bench-markup.js";

/** @typedef {import("../plot/panel.js").Panel} Panel */
/** @typedef {import("../plot/panel.js").Columns} Columns */
/** @typedef {import("../plot/panel.js").Domains} Domains */

const darkness = matchMedia("(prefers-color-scheme: dark)");

export class FerroPanel extends HTMLElement {
  /** @type {Panel | undefined} */
  #panel;
  /** @type {Columns} */
  #columns = {};
  /** @type {Domains | undefined} */
  #domains;
  #frame = 0;
  #canvas = document.createElement("canvas");
  #observer = new ResizeObserver(() => this.#repaint());
  #repaint = () => {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#paint();
    });
  };

  connectedCallback() {
    this.#canvas.setAttribute("role", "img");
    this.#observer.observe(this);
    darkness.addEventListener("change", this.#repaint);
    this.querySelector("details")?.addEventListener("toggle", () => this.#fillTable());
  }

  disconnectedCallback() {
    cancelAnimationFrame(this.#frame);
    this.#observer.disconnect();
    darkness.removeEventListener("change", this.#repaint);
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
    this.#repaint();
  }

  /** Bring words and table up to date; left out while a run is under way, when nobody could follow them. */
  settle() {
    if (!this.#panel) return;
    this.#canvas.setAttribute("aria-label", describePanel(this.#panel, this.#columns));
    this.#fillTable();
  }

  #fillTable() {
    const details = this.querySelector("details");
    const place = details?.querySelector(".table-scroll");
    if (this.#panel && place && details?.open) place.innerHTML = tableMarkup(this.#panel, this.#columns);
  }

  #paint() {
    const plot = this.querySelector(".plot-place");
    if (!this.#panel || !plot) return;
    if (this.#canvas.parentNode !== plot) plot.replaceChildren(this.#canvas);
    const { clientWidth: width, clientHeight: height } = plot;
    if (width === 0 || height === 0) return;
    const panel = { ...this.#panel, title: "" }; // the caption bears the title
    paint(
      this.#canvas,
      layoutPanel(panel, this.#columns, { width, height, domains: this.#domains }),
      readTheme(this),
    );
  }
}
