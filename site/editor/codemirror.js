/**
 * The better editor. The build bundles this file by itself; `editor.js` fetches it when it is wanted. Its colours are
 * classes that `editor.css` paints, so that they follow the page.
 */

import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionStatus,
  ifNotIn,
  moveCompletionSelection,
  selectedCompletionIndex,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory } from "@codemirror/commands";
import { localCompletionSource, pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
import { tagHighlighter, tags } from "@lezer/highlight";

/** @typedef {import("./editor.js").Name} Name */
/** @typedef {import("./editor.js").Surface} Surface */
/** @typedef {import("@codemirror/autocomplete").Completion} Completion */
/** @typedef {import("@codemirror/autocomplete").CompletionSource} CompletionSource */

/** By the classes of the listings, whose Python is coloured by Pygments when the page is built. */
const colours = tagHighlighter([
  { tag: tags.keyword, class: "py-k" },
  {
    tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className)],
    class: "py-nf",
  },
  { tag: tags.comment, class: "py-c" },
  { tag: tags.string, class: "py-s" },
  { tag: [tags.number, tags.bool, tags.null], class: "py-m" },
]);

/** @type {import("@codemirror/state").StateEffectType<number | undefined>} */
const markLine = StateEffect.define();
const wrongLine = Decoration.line({ class: "editor-wrong-line" });
const wrongLines = StateField.define({
  create: () => Decoration.none,
  update(marks, { changes, effects, state }) {
    const effect = effects.find((given) => given.is(markLine));
    if (!effect) return marks.map(changes);
    if (effect.value === undefined) return Decoration.none;
    const line = Math.min(Math.max(effect.value, 1), state.doc.lines);
    return Decoration.set(wrongLine.range(state.doc.line(line).from));
  },
  provide: (field) => [
    EditorView.decorations.from(field),
    EditorView.contentAttributes.from(field, ({ size }) => ({ "aria-invalid": String(size > 0) })),
  ],
});

const KEYWORDS =
  "and as assert break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield";
const CONSTANTS = "False None True";
const BUILTINS =
  "abs all any bool callable complex dict divmod enumerate filter float format frozenset getattr hasattr int isinstance iter len list map max min next object pow print range repr reversed round set slice sorted str sum super tuple type zip ArithmeticError Exception IndexError KeyError NotImplementedError TypeError ValueError ZeroDivisionError";

/**
 * @param {Name[]} names
 * @returns {CompletionSource[]}
 */
function completions(names) {
  /** @type {Completion[]} */
  const options = names.map(({ name, detail }) => ({ label: name, detail, boost: 10 }));
  const known = new Set(names.map(({ name }) => name));
  for (const words of [KEYWORDS, CONSTANTS, BUILTINS]) {
    options.push(
      ...words
        .split(" ")
        .filter((word) => !known.has(word))
        .map((label) => ({ label })),
    );
  }
  return [
    ifNotIn(["String", "FormatString", "Comment"], (context) => {
      // A dotted path counts as one word, so that "np.e" finds a name "np.exp" and no builtin.
      const word = context.matchBefore(/[\w.]+/);
      if (word ? /^[\d.]/.test(word.text) : !context.explicit) return null;
      return { from: word?.from ?? context.pos, options, validFor: /^[\w.]*$/ };
    }),
    // What the code itself defines; what is among the names as well has its detail there.
    async (context) => {
      const found = await localCompletionSource(context);
      return found && { ...found, options: found.options.filter(({ label }) => !known.has(label)) };
    },
  ];
}

/**
 * What a name in scope is, when the pointer rests on it.
 *
 * @param {Name[]} names
 */
const meanings = (names) =>
  hoverTooltip((view, at) => {
    const word = view.state.wordAt(at);
    const known = word && names.find(({ name }) => name === view.state.sliceDoc(word.from, word.to));
    if (!known) return null;
    const dom = document.createElement("div");
    dom.className = "editor-meaning";
    dom.textContent = `${known.name}: ${known.detail}`;
    return { pos: word.from, end: word.to, above: true, create: () => ({ dom }) };
  });

/**
 * Tab takes a completion, the first if none was chosen. Enter takes only one that was chosen: a line that ends in a
 * short name is common here, and must not become another one.
 *
 * @param {EditorView} view
 */
function completeWithTab(view) {
  if (completionStatus(view.state) !== "active") return false;
  if (selectedCompletionIndex(view.state) === null) moveCompletionSelection(true)(view);
  acceptCompletion(view);
  return true;
}

/**
 * After Escape the Tab key leaves the editor, however long that takes; CodeMirror alone would wait two seconds.
 *
 * @param {EditorView} view
 */
function releaseTab(view) {
  view.setTabFocusMode(true);
  return false;
}

/**
 * CodeMirror puts its own rules into a <style>, which a strict policy forbids, except in a root without a head: there
 * it adopts a style sheet, which every policy allows. So the head is out of sight while the rules are first put down.
 *
 * @template T
 * @param {() => T} make
 * @returns {T}
 */
function withAdoptedStyles(make) {
  if (!("adoptedStyleSheets" in document)) return make();
  Object.defineProperty(document, "head", { value: null, configurable: true });
  try {
    return make();
  } finally {
    Reflect.deleteProperty(document, "head");
  }
}

/**
 * @param {Pick<Surface, "text" | "selection"> & Omit<import("./editor.js").Options, "address" | "onRun" | "onCheck">} options
 * @returns {Surface}
 */
export function openCodeMirror({ text, selection: [anchor, head], label, describedBy, names, onInput }) {
  const extensions = [
    EditorView.editorAttributes.of({ class: "editor" }),
    EditorView.contentAttributes.of({ tabindex: "0", "aria-label": label, "aria-describedby": describedBy }),
    lineNumbers(),
    meanings(names),
    pythonLanguage,
    syntaxHighlighting(colours),
    indentUnit.of("    "),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    autocompletion({ override: completions(names), icons: false, selectOnOpen: false }),
    history(),
    wrongLines,
    keymap.of([
      { key: "Tab", run: completeWithTab },
      { key: "Escape", run: releaseTab },
      ...closeBracketsKeymap,
      ...historyKeymap,
      ...defaultKeymap,
      indentWithTab,
    ]),
    EditorView.updateListener.of(({ view, docChanged, selectionSet, focusChanged }) => {
      if (docChanged || selectionSet || focusChanged) view.setTabFocusMode(false);
      if (docChanged) onInput();
    }),
  ];
  const view = withAdoptedStyles(
    () => new EditorView({ doc: text, selection: { anchor, head }, extensions }),
  );
  return {
    kind: "codemirror",
    element: view.dom,
    get text() {
      return view.state.doc.toString();
    },
    /** @returns {[number, number]} */
    get selection() {
      const { anchor, head } = view.state.selection.main;
      return [anchor, head];
    },
    focus: () => view.focus(),
    replace(text) {
      const changes = { from: 0, to: view.state.doc.length, insert: text };
      view.dispatch({ changes, annotations: isolateHistory.of("full") });
    },
    mark: (line) => view.dispatch({ effects: markLine.of(line) }),
    close: () => view.destroy(),
  };
}
