/**
 * Questions as a text file that Anki imports. The lines with a `#` are its file headers. A column for the deck makes
 * Anki create the deck, and the question, being the first field, is how a second import finds the note to update.
 */

/** @typedef {{ front: string, back: string }} Card  of HTML */

/**
 * @param {Card[]} cards
 * @param {{ deck: string, tags: string[] }} about  tags are words without spaces
 */
export function ankiText(cards, { deck, tags }) {
  const headers = [
    "#separator:tab",
    "#html:true",
    "#notetype:Basic",
    "#deck column:3",
    "#tags column:4",
    "#columns:Front\tBack\tDeck\tTags",
  ];
  const rows = cards.map(({ front, back }) => [front, back, deck, tags.join(" ")].map(field).join("\t"));
  return `${[...headers, ...rows].join("\n")}\n`;
}

/**
 * In quotes, so that nothing in it can end it; on one line, since in HTML a line's end is a space.
 *
 * @param {string} text
 */
const field = (text) => `"${text.replace(/\s+/g, " ").trim().replaceAll('"', '""')}"`;
