/** How far Python is: bytes while they arrive, one word when it is ready, and on failure a sentence with a way on. */
export class FerroRuntime extends HTMLElement {
  /** @type {import("../client.js").Client} */
  static client;

  #text = document.createElement("span");
  #bar = document.createElement("progress");
  #failure = document.createElement("div");
  #update = () => this.#show();

  connectedCallback() {
    this.#failure.setAttribute("role", "alert");
    this.tabIndex = -1;
    this.replaceChildren(this.#text, this.#bar, this.#failure);
    FerroRuntime.client.addEventListener("status", this.#update);
    this.#show();
  }

  disconnectedCallback() {
    FerroRuntime.client.removeEventListener("status", this.#update);
  }

  #show() {
    const { state, stage, received, total } = FerroRuntime.client.status;
    this.dataset.state = state;
    this.#bar.hidden = state !== "loading";
    if (total) {
      this.#bar.max = total;
      this.#bar.value = received;
    } else {
      this.#bar.removeAttribute("value"); // under way, with no telling how far
    }
    this.#bar.setAttribute("aria-label", stage);
    this.#text.textContent =
      state === "failed"
        ? "Python is not running."
        : total
          ? `${stage}: ${megabytes(received)} of ${megabytes(total)} MB`
          : stage;
    if (state !== "failed") {
      this.#failure.replaceChildren();
    } else if (!this.#failure.hasChildNodes()) {
      const retry = document.createElement("button");
      retry.type = "button";
      retry.textContent = "Retry";
      retry.addEventListener("click", () => {
        this.focus(); // the button goes away; the keyboard's place must not
        FerroRuntime.client.start();
      });
      const sentence = document.createElement("p");
      sentence.textContent = `${stage} The article stays readable.`;
      this.#failure.replaceChildren(sentence, retry);
    }
  }
}

/** @param {number} bytes */
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
