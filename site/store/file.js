/**
 * The file in which learners carry their work away and bring it back: Python text with a comment line before each cell,
 * of the kind by which other editors also tell cells apart. Readers may edit the file, so nothing in it is counted:
 * a line of code that looks like a marker carries one more `#` while it is in the file.
 */

/** @typedef {{ cell: string, edition: string, text: string }} Section  a cell's id is one word, as ids are in HTML */

/** The file cannot be taken. The message is a sentence for the reader. */
export class FileError extends Error {}

const HEADER = /^# Work from the lesson "(.*)" \(format 1\)$/;
const MARKER = /^# %% cell (\S+)(?: \((\w+)\))?/;
const LOOKS_LIKE_A_MARKER = /^#+ %% cell /;
const ESCAPED = /^##+ %% cell /;

/**
 * Line ends as Python and the editors of a page have them.
 *
 * @param {string} text
 */
export const plainLineEnds = (text) => text.replace(/\r\n?/g, "\n");

/**
 * @param {string} lesson
 * @param {(Section & { title: string })[]} sections
 */
export function writeFile(lesson, sections) {
  const header = `# Work from the lesson "${lesson}" (format 1)
# The lesson's page can read this file again. The lines that begin with "# %% cell" tell it where each cell starts.
`;
  const cells = sections.map(({ cell, edition, title, text }) => {
    const lines = text.split("\n").map((line) => (LOOKS_LIKE_A_MARKER.test(line) ? `#${line}` : line));
    return `# %% cell ${cell} (${edition}) ${title.replace(/\s+/g, " ")}\n${lines.join("\n")}\n`;
  });
  return [header, ...cells].join("\n"); // a blank line before each marker
}

/**
 * @param {string} lesson
 * @param {string} file
 * @returns {Section[]}  where somebody removed an edition it is empty
 */
export function readFile(lesson, file) {
  /** @type {{ cell: string, edition: string, lines: string[] }[]} */
  const sections = [];
  /** @type {string | undefined} */
  let from;
  for (const line of plainLineEnds(file.replace(/^\uFEFF/, "")).split("\n")) {
    const [marker, cell, edition = ""] = line.match(MARKER) ?? [];
    if (marker) sections.push({ cell, edition, lines: [] });
    else if (sections.length > 0)
      sections[sections.length - 1].lines.push(ESCAPED.test(line) ? line.slice(1) : line);
    else from ??= line.match(HEADER)?.[1];
  }
  if (from === undefined)
    throw new FileError("This is not a file of work that was downloaded from this lesson.");
  if (from !== lesson) throw new FileError(`This file holds work from another lesson, "${from}".`);
  return sections.map(({ cell, edition, lines }) => {
    if (lines.at(-1) === "") lines.pop(); // the blank line before the next marker, or the end of the file's last line
    return { cell, edition, text: lines.join("\n") };
  });
}
