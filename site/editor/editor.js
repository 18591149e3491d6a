/**
 * Where readers write Python. A textarea that lies in the page works from the first moment, and works alone; once
 * `codemirror.js` has arrived, a script of its own because it is large, that takes its place. Where it never arrives,
 * the textarea stays. Whoever holds an `Editor` need not know which of the two it is.
 */

/**
 * @typedef {{ name: string, detail: string }} Name  what code may use, and a word on it: "array (120,), m"
 *
 * @typedef {object} Options
 * @property {string} address  of the bundled `codemirror.js`, as seen from the page
 * @property {string} label  the editor's accessible name
 * @property {string} describedBy  ids of what describes it, such as the task and how the keys work
 * @property {Name[]} names  in scope, offered for completion
 * @property {() => void} onInput  after each change, by the reader or by `replace`
 * @property {() => void} onRun  Shift-Enter
 * @property {() => void} onCheck  Ctrl-Enter, or Cmd-Enter
 *
 * @typedef {object} Surface  what the two kinds have in common
 * @property {"textarea" | "codemirror"} kind
 * @property {HTMLElement} element
 * @property {string} text
 * @property {[number, number]} selection  where it began, and where the cursor is
 * @property {() => void} focus
 * @property {(text: string) => void} replace
 * @property {(line?: number) => void} mark  this line and no other; without one, none
 * @property {() => void} close
 */

let opened = 0;

const whenIdle = () => new Promise((done) => (globalThis.requestIdleCallback ?? setTimeout)(done));

/**
 * @param {HTMLTextAreaElement} textarea  in the page, with the text in it
 * @param {Options} options
 */
export const openEditor = (textarea, options) => new Editor(textarea, options);

export class Editor {
  #textarea;
  #options;
  #describedBy;
  #message;
  #paper;
  /** @type {Surface} */
  #surface;
  /** @type {number | undefined} */
  #marked;
  #listening = new AbortController();
  #composed = Promise.resolve();

  /**
   * @param {HTMLTextAreaElement} textarea
   * @param {Options} options
   */
  constructor(textarea, options) {
    this.#textarea = textarea;
    this.#options = options;
    const { ownerDocument: page } = textarea;
    const id = `editor-error-${++opened}`;
    this.#message = Object.assign(page.createElement("p"), { id, className: "editor-error" });
    this.#message.setAttribute("aria-live", "polite");
    this.#describedBy = `${options.describedBy} ${id}`.trim();
    textarea.after(this.#message);
    // A field prints what is in sight of it, and CodeMirror has no more than that in the page.
    this.#paper = Object.assign(page.createElement("pre"), { className: "editor-paper" });
    textarea.before(this.#paper);
    const write = () => {
      this.#paper.textContent = this.text;
    };
    page.defaultView?.addEventListener("beforeprint", write, { signal: this.#listening.signal });
    this.#surface = this.#openTextarea();
    this.#listenForCommands();
    /** Resolves when CodeMirror has taken over, or cannot; never rejects. */
    this.settled = this.#upgrade();
  }

  get kind() {
    return this.#surface.kind;
  }

  get text() {
    return this.#surface.text;
  }

  /**
   * Put another text in place of the whole; CodeMirror can undo that.
   * @param {string} text
   */
  replace(text) {
    this.#surface.replace(text);
  }

  focus() {
    this.#surface.focus();
  }

  /**
   * Say what is wrong and where, in place of what was said before. It stands until `clearError`.
   * @param {number} line  from 1
   * @param {string} message
   */
  markError(line, message) {
    this.#mark(line, `Line ${line}: ${message}`);
  }

  clearError() {
    this.#mark(undefined, "");
  }

  /** Leave the textarea alone in the page, with the text as it is now. */
  close() {
    if (this.#listening.signal.aborted) return;
    this.#listening.abort();
    this.clearError();
    this.#message.remove();
    this.#paper.remove();
    this.#textarea.setAttribute("aria-describedby", this.#options.describedBy);
    if (this.#surface.element === this.#textarea) return;
    this.#textarea.value = this.#surface.text;
    this.#surface.element.replaceWith(this.#textarea);
    this.#surface.close();
  }

  async #upgrade() {
    const textarea = this.#textarea;
    try {
      /** @type {typeof import("./codemirror.js")} */
      const { openCodeMirror } = await import(new URL(this.#options.address, textarea.baseURI).href);
      await whenIdle(); // several editors at once would hold up the page
      await this.#composed; // an input method would lose the word that it is in the middle of
      if (this.#listening.signal.aborted) return;
      const { text, selection } = this.#surface;
      const given = { ...this.#options, describedBy: this.#describedBy, text, selection };
      const surface = openCodeMirror(given);
      const focused = textarea.ownerDocument.activeElement === textarea;
      textarea.replaceWith(surface.element);
      this.#surface = surface;
      this.#listenForCommands();
      surface.mark(this.#marked);
      if (focused) surface.focus();
    } catch (error) {
      console.warn("The code editor could not be loaded; the plain text field stays.", error);
    }
  }

  /** The two commands are caught on their way down, so that neither kind makes a line break of them. */
  #listenForCommands() {
    const { onRun, onCheck } = this.#options;
    const follow = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter" || event.altKey || event.isComposing) return;
      const command = event.ctrlKey || event.metaKey ? onCheck : event.shiftKey ? onRun : undefined;
      if (!command) return;
      event.preventDefault();
      event.stopPropagation();
      if (!event.repeat) command();
    };
    const { signal } = this.#listening;
    this.#surface.element.addEventListener("keydown", follow, { capture: true, signal });
  }

  /**
   * @param {number | undefined} line
   * @param {string} sentence
   */
  #mark(line, sentence) {
    this.#marked = line;
    this.#surface.mark(line);
    this.#message.textContent = sentence;
  }

  /** @returns {Surface} */
  #openTextarea() {
    const textarea = this.#textarea;
    const { label, onInput } = this.#options;
    const { signal } = this.#listening;
    textarea.classList.add("editor");
    const attributes = {
      "aria-label": label,
      "aria-describedby": this.#describedBy,
      autocapitalize: "off",
      autocomplete: "off",
      autocorrect: "off",
      spellcheck: "false",
    };
    for (const [name, value] of Object.entries(attributes)) textarea.setAttribute(name, value);
    textarea.addEventListener("input", onInput, { signal });
    const compose = () => {
      this.#composed = new Promise((resolve) => {
        textarea.addEventListener("compositionend", () => resolve(), { once: true, signal });
      });
    };
    textarea.addEventListener("compositionstart", compose, { signal });
    return {
      kind: "textarea",
      element: textarea,
      get text() {
        return textarea.value;
      },
      /** @returns {[number, number]} */
      get selection() {
        const { selectionStart: start, selectionEnd: end, selectionDirection } = textarea;
        return selectionDirection === "backward" ? [end, start] : [start, end];
      },
      focus: () => textarea.focus(),
      replace(text) {
        textarea.value = text;
        onInput();
      },
      // A textarea cannot show which line; the sentence beside it names it.
      mark: (line) => textarea.setAttribute("aria-invalid", String(line !== undefined)),
      close() {},
    };
  }
}
