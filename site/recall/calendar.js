/**
 * Days on which questions return, as a calendar file (iCalendar, RFC 5545): an entry for each day, which takes the whole
 * day and blocks none of it. An entry's UID is made of lesson and day, so that a later file replaces what it holds.
 */

/**
 * @param {{ day: import("./day.js").Day, questions: string[] }[]} days
 * @param {{ lesson: string, title: string, address?: string, now: Date }} about  `lesson` is its short name
 */
export function calendarText(days, { lesson, title, address, now }) {
  const stamp = `${now.toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;
  const entries = days.flatMap(({ day, questions }) => [
    "BEGIN:VEVENT",
    `UID:${day}.${lesson}@ferro-bench`,
    `DTSTAMP:${stamp}`,
    `DTSTART;VALUE=DATE:${day.replaceAll("-", "")}`,
    `SUMMARY:${text(`Recall ${questions.length === 1 ? "a question" : `${questions.length} questions`}: ${title}`)}`,
    `DESCRIPTION:${text([...questions, ...(address ? [address] : [])].join("\n"))}`,
    ...(address ? [`URL:${address}`] : []),
    "TRANSP:TRANSPARENT",
    "END:VEVENT",
  ]);
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//ferro-bench//Recall//EN",
    ...entries,
    "END:VCALENDAR",
  ];
  return lines.map((line) => `${fold(line)}\r\n`).join("");
}

/**
 * A value of type TEXT.
 *
 * @param {string} value
 */
const text = (value) =>
  value
    .replace(/[\\;,]/g, "\\$&")
    .replace(/\r\n?|\n/g, "\\n")
    .replace(/\p{Cc}/gu, " ");

/**
 * No line may be longer than 75 octets; what is over goes on in the next, behind a space that counts. No character is
 * torn apart.
 *
 * @param {string} line
 */
function fold(line) {
  let folded = "";
  let length = 0;
  for (const character of line) {
    const octets = new TextEncoder().encode(character).length;
    if (length + octets > 75) {
      folded += "\r\n ";
      length = 1;
    }
    folded += character;
    length += octets;
  }
  return folded;
}
