/**
 * The code that a learner writes: saved as one types, by lesson and cell. It survives a new edition of the lesson, a
 * second tab and a browser that refuses to store. A text of the learner's that gives way to another, for whatever
 * reason, is set aside and can be recalled.
 */

import { plainLineEnds, readFile, writeFile } from "./file.js";
import { GuardedStorage } from "./storage.js";

/** @typedef {{ text: string, edition: string }} Version  a text, and the edition of the starter that it goes back to */

/**
 * What is stored for a cell. Other shapes shall have another number in their key.
 *
 * @typedef {object} Entry
 * @property {Version | null} mine  null is untouched: the cell shows whatever starter the lesson has
 * @property {number} time  of the last change
 * @property {Version[]} earlier  set aside, the last one last
 */

/**
 * @typedef {object} Cell  that is open
 * @property {string} starter
 * @property {string} edition
 * @property {Entry} entry
 * @property {boolean} unsaved  whether `entry` has changes of this tab's that are not stored
 * @property {string | null | undefined} stored  as last seen
 */

/**
 * @typedef {object} State
 * @property {string} text
 * @property {boolean} touched
 * @property {string | null} offered  a starter newer than the one the text goes back to: `reset` takes it, `keep` declines it
 * @property {string | null} earlier  what `recall` brings back
 */

/** Typing is written this often at most, in milliseconds. */
const PAUSE = 300;

/** How many different texts are set aside for a cell before the oldest makes room. */
const SET_ASIDE = 20;

const NOT_SAVED =
  "Your work is not saved here, for this browser refuses to store it or has no room left: download your work before you leave this page.";

/**
 * Fires `changed` {cell, ...State} when a cell changed otherwise than by a call for that cell: another tab wrote it, or
 * a file was taken. Only its state may have changed, and not its text.
 * Fires `conflict` {cell, mine, theirs} besides, when two tabs changed a cell at once: the newer text stands, and the
 * older one is set aside. Fires `trouble` whenever `trouble` changes.
 */
export class Work extends EventTarget {
  /** A sentence for the reader as long as work cannot be saved, or else empty. */
  trouble = "";
  /** @type {Map<string, Cell>} */
  #cells = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #lesson;
  #storage;
  #safe;

  /**
   * @param {string} lesson
   * @param {{ storage?: import("./storage.js").BareStorage, safe?: boolean }} [options]  `safe` opens cells with their
   *   starters; what was saved is set aside
   */
  constructor(lesson, { storage, safe = false } = {}) {
    super();
    this.#lesson = lesson;
    this.#storage = new GuardedStorage(storage);
    this.#safe = safe;
    // A page that is left may never come back; one that does come back has heard of nothing in between.
    for (const event of ["storage", "pagehide", "pageshow", "visibilitychange"]) {
      globalThis.window?.addEventListener(event, () => this.flush());
    }
  }

  /**
   * @param {string} cell
   * @param {string} starter
   * @returns {State}
   */
  open(cell, starter) {
    const held = this.#cells.get(cell) ?? this.#load(cell);
    this.#cells.set(cell, held);
    held.starter = plainLineEnds(starter);
    held.edition = editionOf(held.starter);
    held.entry = plain(held.entry, held.starter);
    return state(held);
  }

  /**
   * To be called at every edit.
   *
   * @param {string} cell
   * @param {string} text
   * @returns {State}
   */
  save(cell, text) {
    const held = this.#held(cell);
    const { mine } = held.entry;
    const version = { text: plainLineEnds(text), edition: mine?.edition ?? held.edition };
    if (version.text !== textOf(held)) this.#change(held, { mine: version });
    return state(held);
  }

  /**
   * Back to the starter.
   *
   * @param {string} cell
   */
  reset(cell) {
    this.keep(cell); // so that the text, if it is recalled, is not offered what it was just preferred to
    const held = this.#held(cell);
    const { mine, earlier } = held.entry;
    if (mine) this.#change(held, { mine: null, earlier: setAside(earlier, mine) });
    return state(held);
  }

  /**
   * Decline the starter that is offered.
   *
   * @param {string} cell
   */
  keep(cell) {
    const held = this.#held(cell);
    const { mine } = held.entry;
    if (mine && mine.edition !== held.edition)
      this.#change(held, { mine: { ...mine, edition: held.edition } });
    return state(held);
  }

  /**
   * Bring back the text that was set aside last. The present one goes behind all others, so that calling on shows each
   * of them in turn.
   *
   * @param {string} cell
   */
  recall(cell) {
    const held = this.#held(cell);
    const { mine, earlier } = held.entry;
    const last = recallable(held);
    const others = earlier.filter((version) => version !== last);
    if (last) this.#change(held, { mine: last, earlier: setAside(mine ? [mine] : [], ...others) });
    return state(held);
  }

  /** Take in what other tabs have written, and write what is unsaved. */
  flush() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    let saved = true;
    for (const [cell, held] of this.#cells) saved = this.#sync(cell, held) && saved;
    this.#report(saved ? "" : NOT_SAVED);
  }

  /**
   * The cells that are open, as one Python file.
   *
   * @param {{ cell: string, title: string }[]} cells  in the order of the lesson
   */
  exportText(cells) {
    const sections = cells.flatMap(({ cell, title }) => {
      const held = this.#cells.get(cell);
      return held
        ? [{ cell, title, edition: held.entry.mine?.edition ?? held.edition, text: textOf(held) }]
        : [];
    });
    return writeFile(this.#lesson, sections);
  }

  /**
   * @param {string} file
   * @returns {{ taken: string[], unknown: string[], kept: string[] }}  cells that now have the file's text; cells of the
   *   file that are not open here; and those of the taken ones that had a text of the learner's, which is set aside
   * @throws {import("./file.js").FileError}
   */
  importText(file) {
    /** @type {{ taken: Set<string>, unknown: Set<string>, kept: Set<string> }} */
    const found = { taken: new Set(), unknown: new Set(), kept: new Set() };
    for (const { cell, edition, text } of readFile(this.#lesson, file)) {
      if (editionOf(text) === edition) continue; // untouched: a starter, perhaps an old one, and nobody's work
      const held = this.#cells.get(cell);
      if (!held) {
        found.unknown.add(cell);
      } else if (text !== textOf(held)) {
        const { mine, earlier } = held.entry;
        if (mine) found.kept.add(cell);
        this.#change(held, {
          mine: { text, edition: edition || held.edition },
          earlier: mine ? setAside(earlier, mine) : earlier,
        });
        found.taken.add(cell);
        this.#tell("changed", { cell, ...state(held) });
      }
    }
    return { taken: [...found.taken], unknown: [...found.unknown], kept: [...found.kept] };
  }

  /**
   * @param {string} cell
   * @returns {Cell}
   */
  #load(cell) {
    const stored = this.#storage.read(this.#key(cell));
    if (stored === undefined) this.#report(NOT_SAVED);
    let entry = parse(stored) ?? { mine: null, time: 0, earlier: [] };
    if (this.#safe && entry.mine)
      entry = { ...entry, mine: null, earlier: setAside(entry.earlier, entry.mine) };
    return { starter: "", edition: "", entry, unsaved: false, stored };
  }

  /** @param {string} cell */
  #held(cell) {
    const held = this.#cells.get(cell);
    if (!held) throw new Error(`The cell ${cell} is not open.`);
    return held;
  }

  /**
   * @param {Cell} held
   * @param {Partial<Entry>} change
   */
  #change(held, change) {
    held.entry = plain({ ...held.entry, ...change, time: Date.now() }, held.starter);
    held.unsaved = true;
    this.#timer ??= setTimeout(() => this.flush(), PAUSE);
  }

  /**
   * Events only say that it is time to look: what counts is what lies in the storage.
   *
   * @param {string} cell
   * @param {Cell} held
   * @returns {boolean}  whether the storage lets us
   */
  #sync(cell, held) {
    const key = this.#key(cell);
    const stored = this.#storage.read(key);
    if (stored === undefined) return false; // and nothing is written over what cannot be seen
    if (stored !== held.stored) {
      held.stored = stored;
      const theirs = parse(stored);
      if (theirs) this.#merge(cell, held, theirs);
    }
    if (!held.unsaved) return true;
    const text = JSON.stringify(held.entry);
    if (!this.#storage.write(key, text)) return false;
    held.stored = text;
    held.unsaved = false;
    return true;
  }

  /**
   * @param {string} cell
   * @param {Cell} held
   * @param {Entry} stored
   */
  #merge(cell, held, stored) {
    const before = state(held);
    const ours = held.entry;
    const theirs = plain(stored, held.starter);
    held.entry = theirs;
    const text = textOf(held);
    let lost = null;
    if (held.unsaved) {
      const [older, newer] = theirs.time > ours.time ? [ours, theirs] : [theirs, ours];
      if (text !== before.text) lost = older.mine;
      const earlier = setAside(older.earlier, ...newer.earlier, ...(lost ? [lost] : []));
      held.entry = { ...newer, earlier };
    }
    const after = state(held);
    if (JSON.stringify(after) !== JSON.stringify(before)) this.#tell("changed", { cell, ...after });
    if (lost) this.#tell("conflict", { cell, mine: before.text, theirs: text });
  }

  /** @param {string} trouble */
  #report(trouble) {
    if (trouble === this.trouble) return;
    this.trouble = trouble;
    this.dispatchEvent(new Event("trouble"));
  }

  /**
   * @param {string} event
   * @param {object} detail
   */
  #tell(event, detail) {
    this.dispatchEvent(new CustomEvent(event, { detail }));
  }

  /** @param {string} cell */
  #key(cell) {
    return `ferro-bench/work/1/${encodeURIComponent(this.#lesson)}/${encodeURIComponent(cell)}`;
  }
}

/** @param {Cell} held */
const textOf = ({ starter, entry }) => entry.mine?.text ?? starter;

/** @param {Cell} held */
const recallable = (held) => held.entry.earlier.findLast(({ text }) => text !== textOf(held));

/**
 * @param {Cell} held
 * @returns {State}
 */
function state(held) {
  const { mine } = held.entry;
  return {
    text: textOf(held),
    touched: mine !== null,
    offered: mine && mine.edition !== held.edition ? held.starter : null,
    earlier: recallable(held)?.text ?? null,
  };
}

/**
 * A text that is the starter's is no text of the learner's.
 *
 * @param {Entry} entry
 * @param {string} starter
 */
const plain = (entry, starter) => (entry.mine?.text === starter ? { ...entry, mine: null } : entry);

/**
 * @param {Version[]} earlier
 * @param {Version[]} versions
 */
function setAside(earlier, ...versions) {
  /** @type {Map<string, Version>} */
  const byText = new Map();
  for (const version of [...earlier, ...versions]) {
    byText.delete(version.text); // so that it moves to the end
    byText.set(version.text, version);
  }
  return [...byText.values()].slice(-SET_ASIDE);
}

/**
 * @param {string | null | undefined} stored
 * @returns {Entry | undefined}  nothing where it is damaged or not ours
 */
function parse(stored) {
  try {
    const { mine, time, earlier } = JSON.parse(stored ?? "null");
    const sound = (mine === null || isVersion(mine)) && Number.isFinite(time) && earlier.every(isVersion);
    return sound ? { mine, time, earlier } : undefined;
  } catch {
    return undefined;
  }
}

/** @param {any} value */
const isVersion = (value) => typeof value?.text === "string" && typeof value.edition === "string";

/**
 * A short name for an edition of a starter, by FNV-1a.
 *
 * @param {string} starter
 */
function editionOf(starter) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < starter.length; i++) hash = Math.imul(hash ^ starter.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
