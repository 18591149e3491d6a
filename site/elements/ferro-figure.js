/** A figure: `<ferro-figure name="shares">`. The build has filled it; here its pictures learn to be read. */

/** @typedef {import("./ferro-panel.js").FerroPanel} FerroPanel */
/** @typedef {import("./figure-markup.js").Drawn} Drawn */

export class FerroFigure extends HTMLElement {
  connectedCallback() {
    const script = this.querySelector("script[type='application/json']");
    /** @type {Pick<Drawn, "panels" | "columns">} */
    const { panels, columns } = JSON.parse(script?.textContent ?? '{ "panels": [] }');
    const views = /** @type {NodeListOf<FerroPanel>} */ (this.querySelectorAll("ferro-panel"));
    for (const [i, view] of views.entries()) {
      view.show(panels[i], columns);
      view.settle();
    }
  }
}
