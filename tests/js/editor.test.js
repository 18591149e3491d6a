import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { openEditor } from "../../site/editor/editor.js";

/** @typedef {import("../../site/editor/editor.js").Options} Options */

/** As much of an element as the editor asks for. */
class FakeElement extends EventTarget {
  id = "";
  className = "";
  textContent = "";
  focused = false;
  /** @type {Map<string, string>} */
  attributes = new Map();
  classList = { add: (/** @type {string} */ name) => (this.className = name) };

  /** @param {FakePage} page */
  constructor(page) {
    super();
    this.ownerDocument = page;
    this.baseURI = "https://host.test/lesson/";
  }

  /** @param {string} name @param {string} value */
  setAttribute(name, value) {
    this.attributes.set(name, value);
  }

  focus() {
    this.ownerDocument.activeElement = this;
  }

  /** @param {FakeElement} other */
  after(other) {
    this.ownerDocument.body.splice(this.ownerDocument.body.indexOf(this) + 1, 0, other);
  }

  /** @param {FakeElement} other */
  before(other) {
    this.ownerDocument.body.splice(this.ownerDocument.body.indexOf(this), 0, other);
  }

  /** @param {FakeElement} other */
  replaceWith(other) {
    this.ownerDocument.body.splice(this.ownerDocument.body.indexOf(this), 1, other);
  }

  remove() {
    this.ownerDocument.body.splice(this.ownerDocument.body.indexOf(this), 1);
  }
}

class FakeTextarea extends FakeElement {
  value = "x = 1\ny = 2";
  selectionStart = 2;
  selectionEnd = 4;
  selectionDirection = "forward";
}

class FakePage {
  /** @type {FakeElement[]} */
  body = [];
  /** @type {FakeElement | undefined} */
  activeElement;
  defaultView = new EventTarget();
  createElement() {
    return new FakeElement(this);
  }
}

/** @type {FakePage} */
let page;
/** @type {FakeTextarea} */
let textarea;
/** @type {string[]} */
let heard;

beforeEach(() => {
  page = new FakePage();
  textarea = new FakeTextarea(page);
  page.body.push(textarea);
  heard = [];
  mock.restoreAll();
  mock.method(console, "warn", () => heard.push("warning"));
});

/** A chunk that has not arrived yet, and will not within a test. */
const LOADING = "data:text/javascript,await new Promise(() => {})";

/** A chunk that does not run, as one that is missing or blocked. */
const MISSING = "data:text/javascript,throw new Error('missing')";

/** A chunk with a stand-in for CodeMirror, which keeps what it was given. */
const PRESENT = `data:text/javascript,${encodeURIComponent(`
  export function openCodeMirror(given) {
    const element = new fakes.FakeElement(fakes.page());
    fakes.given = given;
    return {
      kind: "codemirror", element, text: given.text + "!", selection: given.selection,
      focus: () => element.focus(), replace() {}, close() { element.closed = true },
      mark(line) { element.marked = line },
    };
  }`)}`;

/** @type {any} */
const fakes = { FakeElement, page: () => page };
Object.assign(globalThis, { fakes });

/** @param {Partial<Options>} [changes] */
function open(changes) {
  return openEditor(/** @type {any} */ (textarea), {
    address: LOADING,
    label: "Your loss",
    describedBy: "task keys",
    names: [{ name: "velocity", detail: "array (120,), m/s" }],
    onInput: () => heard.push("input"),
    onRun: () => heard.push("run"),
    onCheck: () => heard.push("check"),
    ...changes,
  });
}

/** @param {FakeElement} element @param {object} properties */
function press(element, properties) {
  const event = Object.assign(new Event("keydown", { cancelable: true }), { key: "Enter", ...properties });
  element.dispatchEvent(event);
  return event.defaultPrevented;
}

const message = () => page.body.find(({ className }) => className === "editor-error");

test("the textarea works at once, and stays where CodeMirror does not come", async () => {
  const editor = open({ address: MISSING });
  assert.equal(editor.kind, "textarea");
  assert.equal(editor.text, "x = 1\ny = 2");
  await editor.settled;
  assert.equal(editor.kind, "textarea");
  assert.ok(page.body.includes(textarea));
  assert.deepEqual(heard, ["warning"]);
});

for (const [named, address] of [
  ["no address", ""],
  ["an address of nothing", "https://"],
  ["a script without CodeMirror in it", "data:text/javascript,export const other = 1"],
]) {
  test(`the textarea stays at ${named}`, async () => {
    const editor = open({ address });
    await editor.settled;
    assert.equal(editor.kind, "textarea");
    assert.equal(editor.text, "x = 1\ny = 2");
  });
}

test("an address is as seen from the page, not from the script", async () => {
  textarea.baseURI = import.meta.url;
  await open({ address: "../../site/plot/scale.js" }).settled;
  const [{ arguments: given }] = /** @type {any} */ (console.warn).mock.calls;
  assert.match(given[1].message, /openCodeMirror is not a function/); // it was found, and is another script
});

test("the field bears a name, and its description ends with what is wrong", () => {
  open();
  assert.equal(textarea.attributes.get("aria-label"), "Your loss");
  assert.equal(textarea.attributes.get("aria-describedby"), `task keys ${message()?.id}`);
  assert.equal(message()?.attributes.get("aria-live"), "polite");
  assert.equal(textarea.attributes.get("spellcheck"), "false");
});

test("typing and replacing are input", () => {
  const editor = open();
  textarea.value = "typed";
  textarea.dispatchEvent(new Event("input"));
  assert.equal(editor.text, "typed");
  editor.replace("put there");
  assert.equal(textarea.value, "put there");
  assert.deepEqual(heard, ["input", "input"]);
});

for (const [named, keys, command] of /** @type {const} */ ([
  ["Shift-Enter", { shiftKey: true }, "run"],
  ["Ctrl-Enter", { ctrlKey: true }, "check"],
  ["Cmd-Enter", { metaKey: true }, "check"],
  ["Ctrl-Shift-Enter", { ctrlKey: true, shiftKey: true }, "check"],
])) {
  test(`${named} is ${command}, and no line break`, () => {
    open();
    assert.ok(press(textarea, keys));
    assert.deepEqual(heard, [command]);
    assert.ok(press(textarea, { ...keys, repeat: true }), "a key held down breaks the line");
    assert.deepEqual(heard, [command], "a key held down repeats the command");
  });
}

for (const [named, keys] of Object.entries({
  Enter: {},
  Tab: { key: "Tab" },
  "Shift-Tab": { key: "Tab", shiftKey: true },
  Escape: { key: "Escape" },
  "Alt-Enter": { altKey: true, ctrlKey: true },
  "Shift-Enter that ends a composition": { shiftKey: true, isComposing: true },
})) {
  test(`${named} is left to the textarea`, () => {
    open();
    assert.ok(!press(textarea, keys));
    assert.deepEqual(heard, []);
  });
}

test("an error is said, and taken back", () => {
  const editor = open();
  editor.markError(2, "y is not used.");
  assert.equal(message()?.textContent, "Line 2: y is not used.");
  assert.equal(textarea.attributes.get("aria-invalid"), "true");
  editor.clearError();
  assert.equal(message()?.textContent, "");
  assert.equal(textarea.attributes.get("aria-invalid"), "false");
});

test("CodeMirror takes over text, selection, focus and error", async () => {
  const editor = open({ address: PRESENT });
  textarea.focus();
  textarea.value = "typed meanwhile";
  textarea.selectionDirection = "backward";
  editor.markError(1, "Meanwhile.");
  await editor.settled;
  const element = /** @type {any} */ (page.activeElement);
  assert.equal(editor.kind, "codemirror");
  assert.equal(fakes.given.text, "typed meanwhile");
  assert.deepEqual(fakes.given.selection, [4, 2]);
  assert.equal(fakes.given.describedBy, `task keys ${message()?.id}`);
  assert.equal(element.marked, 1);
  assert.ok(page.body.includes(element) && !page.body.includes(textarea));
  assert.ok(press(element, { shiftKey: true }));
  assert.deepEqual(heard, ["run"]);
});

test("CodeMirror does not take the focus from elsewhere", async () => {
  const editor = open({ address: PRESENT });
  await editor.settled;
  assert.equal(page.activeElement, undefined);
  editor.focus();
  assert.ok(page.body.includes(/** @type {any} */ (page.activeElement)));
});

test("CodeMirror waits for the end of a composition", async () => {
  const editor = open({ address: PRESENT });
  textarea.dispatchEvent(new Event("compositionstart"));
  await import(PRESENT);
  await new Promise(setImmediate);
  assert.equal(editor.kind, "textarea");
  textarea.value = "日本";
  textarea.dispatchEvent(new Event("compositionend"));
  await editor.settled;
  assert.equal(fakes.given.text, "日本");
});

test("closed, the textarea is alone in the page with the text", async () => {
  const editor = open({ address: PRESENT });
  await editor.settled;
  const [, element] = /** @type {any[]} */ (page.body);
  editor.close();
  editor.close();
  assert.deepEqual(page.body, [textarea]);
  assert.equal(textarea.value, "x = 1\ny = 2!");
  assert.equal(textarea.attributes.get("aria-describedby"), "task keys");
  assert.ok(element.closed);
  press(textarea, { shiftKey: true });
  textarea.dispatchEvent(new Event("input"));
  assert.deepEqual(heard, []);
});

test("closed while it was loading, CodeMirror does not come any more", async () => {
  const editor = open({ address: PRESENT });
  editor.close();
  await editor.settled;
  assert.equal(editor.kind, "textarea");
  assert.deepEqual(page.body, [textarea]);
  assert.deepEqual(heard, []);
});

test("before printing the text is written down as a listing", () => {
  const editor = open();
  editor.replace("on paper");
  page.defaultView.dispatchEvent(new Event("beforeprint"));
  const paper = page.body.find(({ className }) => className === "editor-paper");
  assert.equal(paper?.textContent, "on paper");
});
