/** A live number in a sentence: `<ferro-value bench="friction" name="c">0.2000 kg/m</ferro-value>`. */
export class FerroValue extends HTMLElement {
  #update = (/** @type {Event} */ event) => {
    const { bench, values } = /** @type {CustomEvent} */ (event).detail;
    const text = values[this.getAttribute("name") ?? ""];
    if (bench === this.getAttribute("bench") && text !== undefined) this.textContent = text;
  };

  connectedCallback() {
    document.addEventListener("ferro-values", this.#update);
  }

  disconnectedCallback() {
    document.removeEventListener("ferro-values", this.#update);
  }
}
