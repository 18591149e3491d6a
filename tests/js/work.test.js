import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { FileError } from "../../site/store/file.js";
import { Work } from "../../site/store/work.js";

const STARTER = "c = 0.1\nprint(c)";
const NEXT = "c = 0.2\nprint(c)"; // what the author makes of it later
const OURS = "c = 0.3\nprint(c)";
const OTHER = "c = 0.4\nprint(c)";

/** A browser's storage for one site, which tabs share. As in a browser, a tab hears of the others' writing, later. */
class Disk {
  /** @type {Map<string, string>} */
  items = new Map();
  /** @type {Set<EventTarget>} */
  windows = new Set();
  room = Number.POSITIVE_INFINITY;
  refuses = "";
  writes = 0;

  /** @param {EventTarget} window  of the tab that uses it */
  of(window) {
    this.windows.add(window);
    return {
      getItem: (/** @type {string} */ key) => {
        if (this.refuses.includes("read")) throw new Error("SecurityError");
        return this.items.get(key) ?? null;
      },
      setItem: (/** @type {string} */ key, /** @type {string} */ text) => {
        if (this.refuses.includes("write")) throw new Error("SecurityError");
        const after = new Map(this.items).set(key, text);
        if ([...after].join().length > this.room) throw new Error("QuotaExceededError");
        this.items = after;
        this.writes++;
        for (const other of this.windows) {
          if (other !== window) setTimeout(() => other.dispatchEvent(new Event("storage")), 1);
        }
      },
    };
  }
}

/** @type {Disk} */
let disk;

/**
 * A tab with the lesson in it; `heard` is all that its work told.
 *
 * @param {{ lesson?: string, safe?: boolean }} [options]
 */
function newTab({ lesson = "lesson", safe } = {}) {
  const window = new EventTarget();
  globalThis.window = /** @type {any} */ (window);
  const work = new Work(lesson, { storage: disk.of(window), safe });
  globalThis.window = /** @type {any} */ (undefined);
  /** @type {any[]} */
  const heard = [];
  for (const kind of ["changed", "conflict"]) {
    work.addEventListener(kind, (event) => {
      heard.push([kind, /** @type {CustomEvent} */ (event).detail]);
    });
  }
  work.addEventListener("trouble", () => heard.push(["trouble", work.trouble !== ""]));
  const leave = () => {
    window.dispatchEvent(new Event("pagehide"));
    disk.windows.delete(window);
  };
  return { work, window, heard, leave };
}

/** A tab with the cell `a` open. @param {{ starter?: string, safe?: boolean }} [options] */
function openTab({ starter = STARTER, safe } = {}) {
  const tab = newTab({ safe });
  return { ...tab, state: tab.work.open("a", starter) };
}

/** What the cell `a` has when the page is opened anew. @param {string} [starter] */
const reopened = (starter) => openTab({ starter }).state;

/** Time in which everything is written and heard of. */
function settle() {
  for (let i = 0; i < 5; i++) mock.timers.tick(301); // a timer that is set during a tick waits for the next
}

/** @param {string} text @param {object} [rest] */
const touched = (text, rest) => ({ text, touched: true, offered: null, earlier: null, ...rest });

/** @param {string} text @param {object} [rest] */
const untouched = (text, rest) => ({ ...touched(text, rest), touched: false });

/** The cell `a` with a text of the learner's, saved by a tab that was closed since. @param {string} [text] */
function saved(text = OURS) {
  const { work, leave } = openTab();
  work.save("a", text);
  leave();
}

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1e12 });
  disk = new Disk();
});

// Saving ----------------------------------------------------------------------------------------------------------

test("a cell opens with its starter, and nothing is stored", () => {
  assert.deepEqual(openTab().state, untouched(STARTER));
  settle();
  assert.equal(disk.items.size, 0);
});

test("what is typed is written soon, and however fast one types, not at each letter", () => {
  const { work } = openTab();
  for (let i = 0; i < 100; i++) {
    work.save("a", OURS + i);
    mock.timers.tick(20);
  }
  assert.ok(disk.writes >= 5 && disk.writes <= 10, `written ${disk.writes} times in 2 s`);
  settle();
  assert.deepEqual(reopened(), touched(`${OURS}99`));
});

test("what was typed last is saved when the page is left or hidden", () => {
  for (const event of ["pagehide", "visibilitychange"]) {
    disk = new Disk();
    const { work, window } = openTab();
    work.save("a", OURS);
    window.dispatchEvent(new Event(event));
    assert.deepEqual(reopened(), touched(OURS), event);
  }
});

test("a text that is given again, is the starter or is typed back to it counts as no edit", () => {
  const { work } = openTab();
  assert.deepEqual(work.save("a", STARTER), untouched(STARTER));
  assert.deepEqual(work.save("a", STARTER.replaceAll("\n", "\r\n")), untouched(STARTER));
  settle();
  assert.equal(disk.writes, 0);
  work.save("a", OURS);
  settle();
  work.save("a", OURS);
  settle();
  assert.equal(disk.writes, 1);
  assert.deepEqual(work.save("a", STARTER), untouched(STARTER));
  settle();
  assert.deepEqual(reopened(NEXT), untouched(NEXT));
});

test("lessons and cells are kept apart, whatever their names", () => {
  const names = [
    ["a", "b/c"],
    ["a/b", "c"],
    ["a", "b"],
    ["a%2Fb", "c"],
  ];
  for (const [lesson, cell] of names) {
    const { work, leave } = newTab({ lesson });
    work.open(cell, STARTER);
    work.save(cell, lesson + cell);
    leave();
  }
  for (const [lesson, cell] of names) {
    assert.equal(newTab({ lesson }).work.open(cell, STARTER).text, lesson + cell);
  }
});

test("a cell that is opened again keeps what is not yet stored", () => {
  const { work } = openTab();
  work.save("a", OURS);
  assert.deepEqual(work.open("a", STARTER), touched(OURS));
});

test("a cell that nobody opened is an author's mistake and named", () => {
  assert.throws(() => newTab().work.save("b", OURS), /^Error: The cell b is not open\.$/);
});

// Editions --------------------------------------------------------------------------------------------------------

test("an untouched cell takes the new starter, a touched one is offered it", () => {
  assert.deepEqual(reopened(NEXT), untouched(NEXT));
  saved();
  assert.deepEqual(reopened(NEXT), touched(OURS, { offered: NEXT }));
});

test("an offer stands while the learner types on", () => {
  saved();
  const { work, leave } = openTab({ starter: NEXT });
  assert.deepEqual(work.save("a", OTHER), touched(OTHER, { offered: NEXT }));
  leave();
  assert.deepEqual(reopened(NEXT), touched(OTHER, { offered: NEXT }));
});

test("an offer that is declined is not made again, but the next edition's is", () => {
  saved();
  const { work, leave } = openTab({ starter: NEXT });
  assert.deepEqual(work.keep("a"), touched(OURS));
  leave();
  assert.deepEqual(reopened(NEXT), touched(OURS));
  assert.deepEqual(reopened("another"), touched(OURS, { offered: "another" }));
});

test("an offer is taken by reset, and if the text is recalled then, it is not made again", () => {
  saved();
  const { work, leave } = openTab({ starter: NEXT });
  assert.deepEqual(work.reset("a"), untouched(NEXT, { earlier: OURS }));
  leave();
  const again = openTab({ starter: NEXT });
  assert.deepEqual(again.state, untouched(NEXT, { earlier: OURS }));
  assert.deepEqual(again.work.recall("a"), touched(OURS));
});

test("a text that the author made the starter is untouched", () => {
  saved(NEXT);
  assert.deepEqual(reopened(NEXT), untouched(NEXT));
});

// Reset and recall ------------------------------------------------------------------------------------------------

test("reset goes back to the starter, recall to the text, also after the page was opened anew", () => {
  const { work, leave } = openTab();
  work.save("a", OURS);
  assert.deepEqual(work.reset("a"), untouched(STARTER, { earlier: OURS }));
  leave();
  const { work: later, state, leave: leaveAgain } = openTab();
  assert.deepEqual(state, untouched(STARTER, { earlier: OURS }));
  assert.deepEqual(later.recall("a"), touched(OURS));
  leaveAgain();
  assert.deepEqual(reopened(), touched(OURS));
});

test("nothing to reset and nothing to recall change nothing", () => {
  const { work } = openTab();
  assert.deepEqual(work.reset("a"), untouched(STARTER));
  assert.deepEqual(work.recall("a"), untouched(STARTER));
  settle();
  assert.equal(disk.writes, 0);
});

test("recalling again and again shows every text that was set aside, and the present one", () => {
  const { work } = openTab();
  const texts = ["1", "2", "3"];
  for (const text of texts) {
    work.save("a", text);
    work.reset("a");
  }
  work.save("a", "4");
  const seen = ["1", "2", "3", "4", "5"].map(() => work.recall("a").text);
  assert.deepEqual(seen, ["3", "2", "1", "4", "3"]);
});

test("a text that is set aside a second time is the last one", () => {
  const { work } = openTab();
  for (const text of ["1", "2", "1"]) {
    work.save("a", text);
    work.reset("a");
  }
  assert.deepEqual([work.recall("a").text, work.recall("a").text], ["1", "2"]);
});

test("what recall brings back is never the text that is there", () => {
  const { work } = openTab();
  for (const text of ["1", "2"]) {
    work.save("a", text);
    work.reset("a");
  }
  assert.deepEqual(work.save("a", "2"), touched("2", { earlier: "1" }));
  assert.equal(work.recall("a").text, "1");
  assert.equal(work.recall("a").text, "2");
});

test("what is set aside does not grow for ever", () => {
  const { work } = openTab();
  for (let i = 0; i < 1000; i++) {
    work.save("a", `x = ${i}`);
    work.reset("a");
  }
  settle();
  assert.ok([...disk.items].join().length < 2000);
  assert.equal(work.recall("a").text, "x = 999");
});

// Storage that refuses --------------------------------------------------------------------------------------------

test("where storage refuses, work goes on in memory, and a sentence says so once", () => {
  for (const refuses of ["read", "write", "read and write"]) {
    disk = new Disk();
    disk.refuses = refuses;
    const { work, heard } = openTab();
    assert.deepEqual(work.save("a", OURS), touched(OURS), refuses);
    settle();
    work.save("a", OTHER);
    settle();
    assert.match(work.trouble, /not saved here.*download your work.*\.$/);
    assert.deepEqual(heard, [["trouble", true]]);
    assert.deepEqual(work.open("a", STARTER), touched(OTHER));
    assert.deepEqual(work.reset("a"), untouched(STARTER, { earlier: OTHER }));
    assert.match(work.exportText([{ cell: "a", title: "A" }]), /print/);
  }
});

test("a browser without storage is one that refuses", () => {
  const work = new Work("lesson", { storage: undefined });
  assert.deepEqual(work.open("a", STARTER), untouched(STARTER));
  assert.match(work.trouble, /not saved here/);
});

test("storage that is full loses nothing that was saved, saves what fits, and all once there is room", () => {
  saved();
  const { work, heard } = openTab();
  work.open("b", STARTER);
  disk.room = 400;
  work.save("a", "#".repeat(1000));
  work.save("b", OURS);
  settle();
  assert.match(work.trouble, /not saved here/);
  assert.equal(reopened().text, OURS);
  assert.equal(newTab().work.open("b", STARTER).text, OURS);
  disk.room = 4000;
  work.flush();
  assert.equal(work.trouble, "");
  assert.deepEqual(heard, [
    ["trouble", true],
    ["trouble", false],
  ]);
  assert.equal(reopened().text, "#".repeat(1000));
});

test("what cannot be read is not written over", () => {
  saved();
  disk.refuses = "read";
  const { work } = openTab();
  mock.timers.tick(1);
  work.save("a", OTHER);
  settle();
  disk.refuses = "";
  work.flush();
  assert.deepEqual(reopened(), touched(OTHER, { earlier: OURS }));
});

test("damaged and foreign entries are as none, and harm no other cell", () => {
  saved();
  const [[key, sound]] = disk.items;
  const cases = [
    "",
    "{",
    "null",
    "7",
    '"text"',
    "[]",
    "{}",
    '{"mine":null}',
    '{"mine":{"text":"x","edition":"x"},"time":"now","earlier":[]}',
    '{"mine":"text","time":1,"earlier":[]}',
    '{"mine":{"text":1,"edition":"x"},"time":1,"earlier":[]}',
    '{"mine":{"text":"x"},"time":1,"earlier":[]}',
    '{"mine":null,"time":1,"earlier":{}}',
    '{"mine":null,"time":1,"earlier":[null]}',
    sound.slice(0, -1),
  ];
  for (const damaged of cases) {
    disk.items = new Map([
      [key, damaged],
      [`${key}2`, sound],
      ["theme", damaged],
    ]);
    const { work, state, leave } = openTab();
    assert.deepEqual(state, untouched(STARTER), damaged);
    assert.deepEqual(work.open("a2", STARTER), touched(OURS), damaged);
    work.save("a", OTHER);
    leave();
    assert.deepEqual(reopened(), touched(OTHER), damaged);
    assert.equal(disk.items.get("theme"), damaged);
    assert.equal(work.trouble, "");
  }
});

test("an entry that another tab damages, or a storage that is cleared, changes no open cell", () => {
  const { work, heard } = openTab();
  work.save("a", OURS);
  settle();
  const [key] = disk.items.keys();
  disk.items.set(key, "{");
  work.flush();
  disk.items.clear();
  work.flush();
  assert.deepEqual(work.open("a", STARTER), touched(OURS));
  assert.deepEqual(heard, []);
  work.save("a", OTHER);
  settle();
  assert.deepEqual(reopened(), touched(OTHER));
});

// Two tabs --------------------------------------------------------------------------------------------------------

test("what one tab writes the other shows, and says so once", () => {
  const [one, two] = [openTab(), openTab()];
  one.work.save("a", OURS);
  settle();
  assert.deepEqual(two.heard, [["changed", { cell: "a", ...touched(OURS) }]]);
  two.work.save("a", OTHER);
  settle();
  assert.deepEqual(one.heard, [["changed", { cell: "a", ...touched(OTHER) }]]);
  assert.equal(two.heard.length, 1);
  one.work.reset("a");
  settle();
  assert.deepEqual(two.heard[1], ["changed", { cell: "a", ...untouched(STARTER, { earlier: OTHER }) }]);
});

test("an editor that gives back what it was told to show starts no exchange between tabs", () => {
  const tabs = [openTab(), openTab()];
  for (const { work } of tabs) {
    work.addEventListener("changed", (event) => {
      const { cell, text } = /** @type {CustomEvent} */ (event).detail;
      work.save(cell, text);
    });
  }
  tabs[0].work.save("a", OURS);
  settle();
  assert.equal(disk.writes, 1);
});

test("tabs with different cells do not disturb each other", () => {
  const [one, two] = [openTab(), openTab()];
  two.work.open("b", STARTER);
  one.work.save("a", OURS);
  two.work.save("b", OTHER);
  settle();
  assert.deepEqual(one.heard, []);
  assert.equal(reopened().text, OURS);
  assert.equal(newTab().work.open("b", STARTER).text, OTHER);
});

test("when both tabs were edited the newer text stands in both, and the older one can be recalled in both", () => {
  for (const firstWritesFirst of [true, false]) {
    disk = new Disk();
    const [older, newer] = [openTab(), openTab()];
    const write = [older, newer];
    if (!firstWritesFirst) write.reverse();
    older.work.save("a", OURS);
    mock.timers.tick(1);
    newer.work.save("a", OTHER);
    for (const { work } of write) work.flush();
    settle();
    for (const { work } of write) {
      assert.deepEqual(work.open("a", STARTER), touched(OTHER, { earlier: OURS }));
    }
    assert.deepEqual(reopened(), touched(OTHER, { earlier: OURS }));
    const { heard } = write[1];
    const [mine, theirs] = firstWritesFirst ? [OTHER, OURS] : [OURS, OTHER];
    assert.deepEqual(heard.slice(0, 2), [
      ["changed", { cell: "a", ...touched(OTHER, { earlier: OURS }) }],
      ["conflict", { cell: "a", mine, theirs }],
    ]);
    const both = [...older.heard, ...newer.heard];
    assert.equal(both.filter(([kind]) => kind === "conflict").length, 1);
    assert.equal(older.work.recall("a").text, OURS);
  }
});

test("an edit against the other tab's reset: the newer stands, and no text is lost", () => {
  saved();
  const [one, two] = [openTab(), openTab()];
  one.work.save("a", OTHER);
  one.work.reset("a");
  one.work.save("a", "and on");
  mock.timers.tick(1);
  two.work.reset("a");
  two.work.flush();
  settle();
  assert.deepEqual(one.work.open("a", STARTER), untouched(STARTER, { earlier: "and on" }));
  const recalled = [1, 2, 3].map(() => one.work.recall("a").text);
  assert.deepEqual(recalled, ["and on", OURS, OTHER]);
});

test("tabs with different editions of the lesson: each has its own starter", () => {
  const [one, two] = [openTab(), openTab({ starter: NEXT })];
  one.work.save("a", OURS);
  settle();
  assert.deepEqual(two.work.open("a", NEXT), touched(OURS, { offered: NEXT }));
  one.work.save("a", NEXT);
  settle();
  assert.deepEqual(two.heard[1], ["changed", { cell: "a", ...untouched(NEXT) }]);
});

test("both tabs typed the same: no conflict", () => {
  const [one, two] = [openTab(), openTab()];
  one.work.save("a", OURS);
  two.work.save("a", OURS);
  settle();
  assert.deepEqual([...one.heard, ...two.heard], []);
});

test("a tab that slept through the other's writing sees it when it is shown, and never writes over it", () => {
  for (const event of ["pageshow", "visibilitychange"]) {
    disk = new Disk();
    const [one, two] = [openTab(), openTab()];
    disk.windows.delete(two.window);
    one.work.save("a", OURS);
    settle();
    two.window.dispatchEvent(new Event(event));
    assert.deepEqual(two.heard, [["changed", { cell: "a", ...touched(OURS) }]], event);
    one.work.save("a", OTHER);
    settle();
    two.work.save("a", `${OURS}#`);
    settle();
    assert.deepEqual(reopened(), touched(`${OURS}#`, { earlier: OTHER }), event);
  }
});

// Safe ------------------------------------------------------------------------------------------------------------

test("safe opens with starters, and what was saved is left alone until the learner edits", () => {
  saved();
  const before = new Map(disk.items);
  const { work, state, leave } = openTab({ safe: true });
  assert.deepEqual(state, untouched(STARTER, { earlier: OURS }));
  leave();
  assert.deepEqual(disk.items, before);
  work.save("a", OTHER);
  settle();
  assert.deepEqual(reopened(), touched(OTHER, { earlier: OURS }));
});

test("safe brings back what was saved when it is asked to, with the offer that belongs to it", () => {
  saved();
  const { work, leave } = openTab({ starter: NEXT, safe: true });
  assert.deepEqual(work.recall("a"), touched(OURS, { offered: NEXT }));
  leave();
  assert.deepEqual(reopened(NEXT), touched(OURS, { offered: NEXT }));
});

// Files -----------------------------------------------------------------------------------------------------------

const CELLS = [
  { cell: "a", title: "First steps" },
  { cell: "b", title: "The loss:\n (a) what it is" },
];

/** Work with the cells of the file below open. @param {Record<string, string>} [texts]  typed into them */
function workWith(texts = {}) {
  const tab = newTab();
  for (const { cell } of CELLS) tab.work.open(cell, STARTER);
  for (const [cell, text] of Object.entries(texts)) tab.work.save(cell, text);
  return tab;
}

/** The same work in another browser. @param {Record<string, string>} [texts] */
function elsewhere(texts) {
  disk = new Disk();
  return workWith(texts);
}

/** @param {Record<string, string>} texts */
const fileWith = (texts) => elsewhere(texts).work.exportText(CELLS);

test("the file is Python that a reader understands", () => {
  assert.equal(
    fileWith({ a: "x = 1\n" }),
    `# Work from the lesson "lesson" (format 1)
# The lesson's page can read this file again. The lines that begin with "# %% cell" tell it where each cell starts.

# %% cell a (0f20ffff) First steps
x = 1


# %% cell b (0f20ffff) The loss: (a) what it is
c = 0.1
print(c)
`,
  );
});

test("only cells that are open are in the file, in the order that was asked for", () => {
  const { work } = workWith({ a: OURS, b: OTHER });
  const cells = [CELLS[1], { cell: "gone", title: "Gone" }, CELLS[0]];
  const markers = work.exportText(cells).match(/^# %% cell \w+/gm);
  assert.deepEqual(markers, ["# %% cell b", "# %% cell a"]);
});

test("a file fills untouched cells, replaces touched ones and sets their text aside", () => {
  const file = fileWith({ a: OURS, b: OTHER });
  const { work, heard } = elsewhere({ b: "mine" });
  assert.deepEqual(work.importText(file), { taken: ["a", "b"], unknown: [], kept: ["b"] });
  assert.deepEqual(heard, [
    ["changed", { cell: "a", ...touched(OURS) }],
    ["changed", { cell: "b", ...touched(OTHER, { earlier: "mine" }) }],
  ]);
  settle();
  assert.deepEqual(reopened(), touched(OURS));
  assert.equal(work.recall("b").text, "mine");
  assert.deepEqual(work.importText(fileWith({ a: OURS })), { taken: [], unknown: [], kept: [] });
});

test("a cell that was untouched in the file replaces nothing, neither work nor a newer starter", () => {
  const file = fileWith({ a: OURS });
  const { work } = elsewhere({ b: "mine" });
  assert.deepEqual(work.importText(file).taken, ["a"]);
  assert.deepEqual(work.open("b", STARTER), touched("mine"));
  disk = new Disk();
  const { work: later } = newTab();
  for (const { cell } of CELLS) later.open(cell, NEXT);
  assert.deepEqual(later.importText(file).taken, ["a"]);
  assert.deepEqual(later.open("a", NEXT), touched(OURS, { offered: NEXT }));
  assert.deepEqual(later.open("b", NEXT), untouched(NEXT));
});

test("an offer that stands goes with the file", () => {
  saved();
  const file = openTab({ starter: NEXT }).work.exportText(CELLS);
  disk = new Disk();
  const { work } = openTab({ starter: NEXT });
  work.importText(file);
  assert.deepEqual(work.open("a", NEXT), touched(OURS, { offered: NEXT }));
});

test("cells that the lesson does not have are named, and the others taken", () => {
  const file = fileWith({ a: OURS, b: OTHER });
  disk = new Disk();
  const { work } = openTab();
  assert.deepEqual(work.importText(file), { taken: ["a"], unknown: ["b"], kept: [] });
});

test("a file may have been through Windows, or edited by hand", () => {
  const file = fileWith({ a: OURS, b: OTHER });
  const edited = {
    "Windows line ends": file.replaceAll("\n", "\r\n"),
    "old Macintosh line ends": file.replaceAll("\n", "\r"),
    "a byte order mark": `\uFEFF${file}`,
    "no last line end": file.slice(0, -1),
    "a line before": `# -*- coding: utf-8 -*-\n${file}`,
    "no titles": file.replace(/(cell \w+ \(\w+\)).*/g, "$1"),
    "no editions": file.replace(/(cell \w+).*/g, "$1"),
  };
  for (const [how, text] of Object.entries(edited)) {
    const { work } = elsewhere();
    assert.deepEqual(work.importText(text), { taken: ["a", "b"], unknown: [], kept: [] }, how);
    assert.deepEqual(work.open("a", STARTER), touched(OURS), how);
    assert.deepEqual(work.open("b", STARTER), touched(OTHER), how);
  }
  const { work } = elsewhere();
  work.importText(file.replace(OURS, `${OURS}\n\n# and more`));
  assert.equal(work.open("a", STARTER).text, `${OURS}\n\n# and more`);
});

test("a cell that is in the file twice loses neither text", () => {
  const again = fileWith({ a: OTHER });
  const file = `${fileWith({ a: OURS })}\n${again.slice(again.indexOf("# %% cell a"), again.indexOf("\n# %% cell b"))}`;
  const { work } = elsewhere();
  work.importText(file);
  assert.deepEqual(work.open("a", STARTER), touched(OTHER, { earlier: OURS }));
});

test("a file that is not ours is refused in a sentence, and changes nothing", () => {
  const ours = fileWith({ a: OURS });
  const cases = [
    ["", /^This is not a file of work that was downloaded from this lesson\.$/],
    ["print(1)\n", /^This is not a file/],
    ["# %% cell a\nprint(1)\n", /^This is not a file/],
    ["PK\u0003\u0004\u0000", /^This is not a file/],
    [ours.replace("(format 1)", "(format 2)"), /^This is not a file/],
    [ours.replace('"lesson"', '"other"'), /^This file holds work from another lesson, "other"\.$/],
  ];
  const { work, heard } = elsewhere();
  for (const [text, sentence] of /** @type {[string, RegExp][]} */ (cases)) {
    assert.throws(
      () => work.importText(text),
      (/** @type {Error} */ error) => {
        assert.ok(error instanceof FileError, text);
        assert.match(error.message, sentence);
        return true;
      },
    );
  }
  assert.deepEqual(heard, []);
  assert.deepEqual(work.open("a", STARTER), untouched(STARTER));
});

test("whatever the code, a file brings it back to the letter", () => {
  const pieces = [
    "",
    " ",
    "\t",
    "\n",
    "\r\n",
    "x = 1",
    "# %% cell a (12345678) First steps",
    "# %% cell b",
    "## %% cell b (12345678) twice",
    "### %% cell ",
    "#",
    "# %% cell",
    " # %% cell a",
    '# Work from the lesson "other" (format 1)',
    "\uFEFF",
    "\u2028# %% cell a",
    "Ω·π = '🦀'",
    "é e\u0301 \u0000 \ud800",
    "'''",
    "\\",
    "trailing   ",
    "\f# %% cell a",
  ];
  let seed = 1;
  const random = (/** @type {number} */ below) => {
    seed = (seed * 48271) % 2147483647;
    return seed % below;
  };
  const nasty = () =>
    Array.from({ length: random(9) }, () => pieces[random(pieces.length)] + (random(3) ? "\n" : "")).join("");
  for (let i = 0; i < 2000; i++) {
    const texts = { a: nasty(), b: nasty() };
    const from = elsewhere(texts).work;
    const file = from.exportText(CELLS);
    assert.ok(file.endsWith("\n"));
    for (const way of [file, `\uFEFF${file.replaceAll("\n", "\r\n")}`]) {
      const { work } = elsewhere();
      work.importText(way);
      for (const { cell } of CELLS) {
        assert.deepEqual(work.open(cell, STARTER), from.open(cell, STARTER), JSON.stringify(texts));
      }
    }
  }
});
