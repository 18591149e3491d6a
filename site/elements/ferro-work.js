/** All of the reader's code: to download as one file, to take from such a file again, and to run in a fresh Python. */

import { FileError } from "../store/file.js";
import { saveFile } from "./save-file.js";

export class FerroWork extends HTMLElement {
  /** @type {import("../store/work.js").Work} */
  static work;
  /** @type {import("../cells.js").Cells} */
  static cells;

  #status = document.createElement("p");

  connectedCallback() {
    const download = button("Download my code");
    const upload = button("Load a file");
    const anew = button("Start Python anew");
    const file = document.createElement("input");
    file.type = "file";
    file.accept = ".py,text/x-python,text/plain";
    file.hidden = true;
    download.addEventListener("click", () => this.#download());
    upload.addEventListener("click", () => file.click());
    file.addEventListener("change", () => this.#take(file));
    anew.addEventListener("click", () => {
      FerroWork.cells.startAnew();
      this.#status.textContent =
        "Python was started anew. No cell has run in it yet; the texts are as they were.";
    });
    this.#status.setAttribute("role", "status");
    const buttons = document.createElement("div");
    buttons.className = "work-buttons";
    buttons.append(download, upload, anew, file);
    this.replaceChildren(buttons, this.#status);
  }

  #download() {
    const cells = [...document.querySelectorAll("ferro-exercise")].map((exercise) => ({
      cell: exercise.getAttribute("name") ?? "",
      title: exercise.querySelector(".exercise-title")?.textContent ?? "",
    }));
    saveFile("ferro-bench-cells.py", "text/x-python", FerroWork.work.exportText(cells));
    this.#status.textContent =
      "Downloaded as ferro-bench-cells.py, one readable file with every cell of this page.";
  }

  /** @param {HTMLInputElement} field */
  async #take(field) {
    const [file] = field.files ?? [];
    field.value = ""; // so that the same file can be chosen again
    if (!file) return;
    try {
      const { taken, unknown, kept } = FerroWork.work.importText(await file.text());
      const words = [
        taken.length
          ? `Taken from ${file.name}: ${taken.join(", ")}.`
          : "Nothing in it differs from what is here.",
      ];
      if (kept.length)
        words.push(`What was in ${kept.join(", ")} before is kept: “Earlier text” brings it back.`);
      if (unknown.length) words.push(`Not on this page: ${unknown.join(", ")}.`);
      this.#status.textContent = words.join(" ");
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#status.textContent =
        error instanceof FileError ? reason : `${file.name} could not be read: ${reason}`;
    }
  }
}

/** @param {string} label */
function button(label) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  return made;
}
