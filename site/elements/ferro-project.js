/**
 * The learner's own motion: a file is read, its columns are given a meaning, and mass and drag are fitted. All of that
 * happens in Python; this element hands it the file and the choices, and shows what comes back.
 *
 * A file or a setting that cannot be used costs nothing: the file before it, its mapping and its result stay.
 *
 * In `data-state`: empty, reading, ready, fitting, stopped, fitted, not-yet, failed.
 */

import { escapeText } from "../plot/svg.js";
import { formMarkup, placeMarkup, resultMarkup } from "./project-markup.js";
import { reportMarkup } from "./project-report.js";
import { saveFile } from "./save-file.js";

/** @typedef {import("../client.js").Client} Client */
/** @typedef {import("./ferro-panel.js").FerroPanel} FerroPanel */
/** @typedef {import("./project-markup.js").Description} Description */
/** @typedef {import("./project-markup.js").Loaded} Loaded */
/** @typedef {import("./project-markup.js").Result} Result */
/** @typedef {"empty" | "reading" | "ready" | "fitting" | "stopped" | "fitted" | "not-yet" | "failed"} State */

/** Bytes; beyond that Python in a tab would want more memory than many devices give it. */
const LARGEST = 50e6;

/** Milliseconds of work between two looks at whether Stop was pressed. */
const SLICE = 150;

/** Milliseconds that reading a file may take; Python says nothing meanwhile. */
const PATIENCE = 60_000;

export class FerroProject extends HTMLElement {
  /** @type {Client} */
  static client;

  /** @type {Description | undefined} */ #description;
  /** The file that the fields are about. @type {{ name: string, text: string, loaded: Loaded } | undefined} */
  #file;
  /** @type {{ name: string, result: Result } | undefined} */ #found;
  /** Whether Python holds that file; one that was started anew does not. */
  #isHeld = false;
  /** What comes in for an earlier one is dropped. */
  #turn = 0;
  #onStatus = () => {
    if (FerroProject.client.status.state !== "ready") this.#isHeld = false;
  };

  connectedCallback() {
    const script = this.querySelector("script[type='application/json']");
    if (!script) return;
    this.#description = JSON.parse(script.textContent ?? "");
    for (const type of ["click", "change", "dragover", "dragleave", "drop", "submit"]) {
      this.addEventListener(type, this);
    }
    FerroProject.client.addEventListener("status", this.#onStatus);
    for (const button of this.querySelectorAll("button")) button.disabled = false;
    this.#setState("empty", "Choose a file, or use the sample.");
  }

  disconnectedCallback() {
    this.#turn++;
    FerroProject.client.removeEventListener("status", this.#onStatus);
  }

  /** @param {Event} event */
  handleEvent(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.type === "submit") event.preventDefault();
    if (event.type.startsWith("dr")) this.#drag(/** @type {DragEvent} */ (event));
    if (event.type === "click") this.#act(target.closest("button"));
    if (event.type !== "change") return;
    if (target.matches("input[type=file]")) {
      const field = /** @type {HTMLInputElement} */ (target);
      const [file] = field.files ?? [];
      field.value = ""; // so that the same file can be chosen again
      if (file) this.#take(file);
    } else {
      this.#follow();
      this.#refuse({}, target.closest(".project-field"));
    }
  }

  /** @param {HTMLButtonElement | null} button */
  #act(button) {
    if (!button || button.getAttribute("aria-disabled") === "true") return;
    const { action } = button.dataset;
    if (action === "choose") this.#find("input[type=file]").click();
    if (action === "sample") this.#takeSample();
    if (action === "fit") this.#fit();
    if (action === "stop") this.#stop();
    if (action === "report") this.#saveReport();
    if (action === "json") this.#saveNumbers();
  }

  /** @param {DragEvent} event */
  #drag(event) {
    event.preventDefault();
    this.#find(".project-drop").toggleAttribute("data-over", event.type === "dragover");
    const file = event.type === "drop" ? event.dataTransfer?.files[0] : undefined;
    if (file) this.#take(file);
  }

  // The file

  async #takeSample() {
    const turn = ++this.#turn;
    try {
      const response = await fetch(this.#description?.sample ?? "");
      if (!response.ok) throw new Error(`the server answered ${response.status}`);
      const text = await response.text();
      if (turn !== this.#turn) return;
      await this.#load("ferro-bench-sample.csv", text);
      if (this.state === "ready")
        this.#settings = { ...this.#settings, ...this.#description?.sample_settings };
    } catch (error) {
      this.#alert(`The sample could not be fetched: ${/** @type {Error} */ (error).message}.`);
    }
  }

  /** @param {File} file */
  async #take(file) {
    const turn = ++this.#turn;
    if (file.size > LARGEST) {
      const size = Math.round(file.size / 1e6);
      this.#alert(`${file.name} has ${size} MB, and this page reads up to ${LARGEST / 1e6} MB.`);
      return;
    }
    try {
      const text = decoded(await file.arrayBuffer());
      if (turn === this.#turn) await this.#load(file.name, text);
    } catch (error) {
      this.#alert(`${file.name} could not be read: ${/** @type {Error} */ (error).message}`);
    }
  }

  /**
   * @param {string} name
   * @param {string} text
   */
  async #load(name, text) {
    const turn = ++this.#turn;
    const before = this.state === "reading" || this.state === "fitting" ? "ready" : this.state;
    this.#setState("reading", waitingFor(`Reading ${name}.`));
    try {
      const loaded = await FerroProject.client.ask({ kind: "load", text }, { deadline: PATIENCE });
      if (turn !== this.#turn) {
        this.#isHeld = false; // whatever Python holds now, the fields are about another file
        return;
      }
      this.#isHeld = true;
      this.#showFile({ name, text, loaded });
      this.#alert("");
      this.#setState("ready", `${name} has ${loaded.rows} rows. Say what its columns mean, then press Fit.`);
    } catch (error) {
      if (turn !== this.#turn) return;
      const kept = this.#file ? ` ${this.#file.name} is still here.` : "";
      this.#alert(`${name} was not taken. ${/** @type {Error} */ (error).message}${kept}`);
      this.#setState(this.#file ? before : "empty", this.#file ? "" : "Choose a file, or use the sample.");
    }
  }

  /** @param {{ name: string, text: string, loaded: Loaded }} file */
  #showFile(file) {
    const same = this.#file?.loaded.columns.join("\n") === file.loaded.columns.join("\n");
    const chosen = this.#file && { ...this.#settings, columns: {}, units: {} };
    const mapping = same ? this.#settings : { ...chosen, ...file.loaded.guess };
    this.#file = file;
    const form = this.#find(".project-form");
    if (this.#description) form.innerHTML = formMarkup(this.#description, file.loaded);
    this.#settings = mapping;
    this.#find(".project-file").textContent = `${file.name}, ${file.loaded.rows} rows`;
    for (const part of [form, this.#find(".project-run")]) part.hidden = false;
  }

  // The fields

  get #settings() {
    const value = (/** @type {string} */ key) => this.#find(`[data-key="${key}"]`).value;
    const channels = this.#description?.channels ?? [];
    const column = (/** @type {string} */ key) =>
      value(`column-${key}`) === "" ? null : Number(value(`column-${key}`));
    const choices = this.#description?.choices ?? [];
    return {
      ...Object.fromEntries(choices.map(({ key }) => [key, value(key)])),
      columns: Object.fromEntries(channels.map(({ key }) => [key, column(key)])),
      units: Object.fromEntries(channels.map(({ key }) => [key, value(`unit-${key}`)])),
      force: value("force"),
      mass: value("mass"),
      mass_unit: value("mass_unit"),
    };
  }

  /** @param {Record<string, any>} settings */
  set #settings({ columns, units, ...others }) {
    const put = (/** @type {string} */ key, /** @type {unknown} */ value) => {
      this.#find(`[data-key="${key}"]`).value = String(value ?? "");
    };
    for (const [key, column] of Object.entries(columns)) put(`column-${key}`, column);
    for (const [key, unit] of Object.entries(units)) put(`unit-${key}`, unit);
    for (const [key, value] of Object.entries(others)) put(key, value);
    this.#follow();
  }

  /** A number is asked for only where there is no column of them. */
  #follow() {
    this.#find("[data-key=force]").hidden = this.#find("[data-key=column-force]").value !== "";
    for (const key of ["mass", "mass_unit"]) {
      this.#find(`[data-key=${key}]`).hidden = this.#find("[data-key=known]").value !== "known";
    }
  }

  /**
   * @param {Record<string, string>} faults  sentence for each field that cannot be used
   * @param {Element | null} [only]  the field that it is about; all of them without
   */
  #refuse(faults, only) {
    for (const place of only ? [only] : this.querySelectorAll(".project-field")) {
      const fault = faults[/** @type {HTMLElement} */ (place).dataset.field ?? ""] ?? "";
      const line = place.querySelector(".project-refusal");
      if (line) line.textContent = fault;
      for (const field of place.querySelectorAll("select, input")) {
        field.setAttribute("aria-invalid", String(fault !== ""));
      }
    }
  }

  // The fit

  async #fit() {
    const file = this.#file;
    if (!file) return;
    const turn = ++this.#turn;
    const settings = this.#settings;
    this.#refuse({});
    this.#alert("");
    this.#setState("fitting", waitingFor("Fitting."));
    try {
      if (!this.#isHeld) await this.#ask({ kind: "load", text: file.text });
      this.#isHeld = true;
      let reply = await this.#ask({ kind: "fit", settings });
      if (turn !== this.#turn) return;
      if (reply.kind === "unfit") {
        this.#refuse(reply.faults);
        this.#alert(`Nothing was fitted. ${Object.values(reply.faults).join(" ")}`);
        this.#setState("ready", this.#found ? "The earlier result is still here." : "");
        return;
      }
      let slices = 1;
      while (turn === this.#turn && reply.kind === "fitting") {
        this.#setProgress(reply);
        const begun = performance.now();
        reply = await this.#ask({ kind: "pursue", slices });
        slices = Math.round(
          Math.min(2 * slices, Math.max(1, (slices * SLICE) / (performance.now() - begun))),
        );
      }
      if (turn === this.#turn) this.#finish(file.name, reply.result);
    } catch (error) {
      if (turn !== this.#turn) return;
      this.#alert(`The fit was lost. ${/** @type {Error} */ (error).message}`);
      this.#setState("ready", "");
    }
  }

  /**
   * @param {object} request
   * @returns {Promise<any>}
   */
  #ask(request) {
    return FerroProject.client.ask(request, { deadline: PATIENCE });
  }

  /** Python has been asked for one more slice at most, and what comes of it is dropped. */
  #stop() {
    this.#turn++;
    this.#setState("stopped", `Stopped.${this.#found ? " The earlier result is still here." : ""}`);
  }

  /** @param {{ share: number, sentence: string }} reply */
  #setProgress({ share, sentence }) {
    this.#find(".project-progress").value = share;
    if (sentence) this.#find(".project-status").textContent = sentence;
  }

  /**
   * @param {string} name
   * @param {Result} result
   */
  async #finish(name, result) {
    this.#found = { name, result };
    this.#setState(result.state, result.sentence);
    const place = this.#find(".project-result");
    place.innerHTML = resultMarkup(result);
    // One picture a frame, so that the page never stops answering.
    const turn = this.#turn;
    for (const panel of result.panels) {
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      if (turn !== this.#turn) return;
      const part = document.createElement("div");
      part.innerHTML = placeMarkup(panel);
      const [view] = /** @type {NodeListOf<FerroPanel>} */ (part.querySelectorAll("ferro-panel"));
      place.querySelector(".bench-panels")?.append(view);
      view.show(panel, result.columns, { fresh: true });
      view.settle();
    }
  }

  // What can be kept

  #saveReport() {
    if (!this.#found || !this.#description) return;
    const { name, result } = this.#found;
    const about = { file: name, date: new Date().toISOString().slice(0, 10) };
    saveFile(`${stem(name)}-report.html`, "text/html", reportMarkup(this.#description, result, about));
  }

  #saveNumbers() {
    if (!this.#found) return;
    const { name, result } = this.#found;
    const text = JSON.stringify({ file: name, date: new Date().toISOString(), ...result }, null, 1);
    saveFile(`${stem(name)}-report.json`, "application/json", `${text}\n`);
  }

  // Showing

  /** @returns {State} */
  get state() {
    return /** @type {State} */ (this.dataset.state ?? "empty");
  }

  /**
   * @param {State} state
   * @param {string} sentence
   */
  #setState(state, sentence) {
    this.dataset.state = state;
    const isFitting = state === "fitting";
    this.#find("[data-action=fit]").setAttribute("aria-disabled", String(isFitting || state === "reading"));
    this.#find("[data-action=stop]").setAttribute("aria-disabled", String(!isFitting));
    this.#find(".project-progress").hidden = !isFitting;
    this.#find(".project-status").textContent = sentence;
  }

  /** @param {string} sentence */
  #alert(sentence) {
    this.#find(".project-alert").innerHTML = sentence ? `<p>${escapeText(sentence)}</p>` : "";
  }

  /**
   * @param {string} selector
   * @returns {any}
   */
  #find(selector) {
    return this.querySelector(selector);
  }
}

/** @param {string} sentence */
const waitingFor = (sentence) =>
  FerroProject.client.status.state === "loading" ? `${sentence} Python is still loading.` : sentence;

/** @param {string} name */
const stem = (name) => name.replace(/\.\w+$/, "");

/**
 * Spreadsheets also write UTF-16, and say so in the first two bytes.
 * @param {ArrayBuffer} bytes
 */
function decoded(bytes) {
  const [first, second] = new Uint8Array(bytes.slice(0, 2));
  const mark = first * 256 + second;
  return new TextDecoder(mark === 0xfffe ? "utf-16le" : mark === 0xfeff ? "utf-16be" : "utf-8").decode(bytes);
}
