/**
 * Reading a picture sample by sample: from a pointer or a key to a sample, and from there to words and to a mark.
 *
 * Lines that share an x column are one track. Where x only grows, a track is read at an x, together with all others that
 * have a sample there. A track that turns back, such as an ellipse or the path of a search, is read along itself.
 */

import { column } from "./domains.js";
import { formatNumber } from "./scale.js";
import { digitsOf, quantity } from "./words.js";

/** @typedef {import("./panel.js").Columns} Columns */
/** @typedef {import("./panel.js").Frame} Frame */
/** @typedef {import("./panel.js").Line} Line */
/** @typedef {import("./panel.js").Panel} Panel */
/** @typedef {import("./scale.js").Column} Column */
/** @typedef {import("./shapes.js").Shape} Shape */

/** @typedef {{ track: string, row: number }} Stop  a sample: its x column and its place in that */
/** @typedef {{ name: string, lines: Line[], xs: Column, rows: number[], turns: boolean }} Track  rows that have an x and a y */
/** @typedef {{ words: string, places: { x: number, y: number }[] }} Reading  places in data units */

/** A line that turns back is read from within this many pixels; farther away it is not what the pointer is at. */
const NEAR = 24;
const LAST = 1e6;
/** How many samples a page is. */
const PAGE = 10;
const RING = 5;
const RING_CORNERS = 24;

/**
 * The sample that a pointer is at; null where there is none.
 *
 * @param {Panel} panel
 * @param {Columns} columns
 * @param {Frame} frame
 * @param {{ x: number, y: number }} pointer  in pixels
 * @returns {Stop | null}
 */
export function nearestStop(panel, columns, { toX, toY }, pointer) {
  /** @type {{ stop: Stop, rank: number }[]} */
  const found = tracksOf(panel, columns).map(({ name, lines, xs, rows, turns }) => {
    const distance = (/** @type {number} */ row) => {
      const across = Math.abs(toX(xs[row]) - pointer.x);
      if (!turns) return across;
      const ups = lines.map((line) => Math.abs(toY(column(columns, line.y)[row]) - pointer.y));
      return Math.hypot(across, Math.min(...ups.filter(Number.isFinite)));
    };
    const row = least(rows, distance);
    const far = distance(row);
    // A line that turns back comes first where the pointer is on it, and last elsewhere.
    return { stop: { track: name, row }, rank: !turns ? far : far + (far > NEAR ? LAST : -LAST) };
  });
  return found.length > 0 ? least(found, ({ rank }) => rank).stop : null;
}

/**
 * Where a key leads to; null for a key that leads nowhere, which is then for somebody else.
 *
 * @param {Panel} panel
 * @param {Columns} columns
 * @param {Stop | null} stop
 * @param {string} key
 * @returns {Stop | null}
 */
export function stopAfter(panel, columns, stop, key) {
  const tracks = tracksOf(panel, columns);
  if (tracks.length === 0) return null;
  const at = Math.max(
    0,
    tracks.findIndex(({ name }) => name === stop?.track),
  );
  const { name, xs, rows } = tracks[at];
  const row = stop ? least(rows, (other) => Math.abs(other - stop.row)) : rows[0];
  const place = rows.indexOf(row);
  const moved = { ArrowRight: 1, ArrowLeft: -1, PageDown: PAGE, PageUp: -PAGE }[key];
  if (moved) {
    const ahead = stop ? place + moved : place; // the first key goes to where reading begins
    return { track: name, row: rows[Math.min(Math.max(ahead, 0), rows.length - 1)] };
  }
  if (key === "Home") return { track: name, row: rows[0] };
  if (key === "End") return { track: name, row: rows[rows.length - 1] };
  const turned = { ArrowUp: -1, ArrowDown: 1 }[key];
  if (!turned || tracks.length === 1) return null;
  const next = tracks[(at + turned + tracks.length) % tracks.length];
  return {
    track: next.name,
    row: least(next.rows, (other) => Math.abs(Number(next.xs[other]) - Number(xs[row]))),
  };
}

/**
 * What stands at a sample; null where it is no longer there.
 *
 * @param {Panel} panel
 * @param {Columns} columns
 * @param {Stop} stop
 * @returns {Reading | null}
 */
export function readStop(panel, columns, { track, row }) {
  const tracks = tracksOf(panel, columns);
  const own = tracks.find(({ name }) => name === track);
  if (!own?.rows.includes(row)) return null;
  const x = Number(own.xs[row]);
  const met = own.turns ? [{ lines: own.lines, row }] : meeting(tracks, own, x);
  const values = met.flatMap(({ lines, row }) => lines.map((line) => ({ line, row })));
  const place = own.turns ? `Point ${own.rows.indexOf(row) + 1} of ${own.rows.length}, ` : "";
  return {
    words: `${place}${panel.x.label} ${quantity(x, panel.x, digitsOf(own.xs))}: ${values
      .map(({ line, row }) => valueInWords(panel, columns, line, row))
      .join(", ")}`,
    places: values
      .map(({ line, row }) => ({ x, y: Number(column(columns, line.y)[row] ?? Number.NaN) }))
      .filter(({ y }) => Number.isFinite(y)),
  };
}

/**
 * A rule through the sample, and a ring about each of its values.
 *
 * @param {Reading} reading
 * @param {Frame} frame
 * @returns {Shape[]}
 */
export function layoutProbe({ places }, { box, toX, toY }) {
  const x = toX(places[0]?.x);
  if (!(x >= box.left - 0.5 && x <= box.right + 0.5)) return [];
  const middle = Math.floor(x) + 0.5;
  /** @type {Shape[]} */
  const shapes = [{ kind: "line", role: "probe", x1: middle, y1: box.top, x2: middle, y2: box.bottom }];
  for (const place of places) {
    const y = toY(place.y);
    if (y >= box.top - 0.5 && y <= box.bottom + 0.5) {
      shapes.push({ kind: "polyline", role: "probe", points: ring(x, y) });
    }
  }
  return shapes;
}

/**
 * The tracks of a panel that have anything to read.
 *
 * @param {Panel} panel
 * @param {Columns} columns
 * @returns {Track[]}
 */
function tracksOf(panel, columns) {
  /** @type {Map<string, Line[]>} */
  const groups = new Map();
  for (const line of panel.lines) {
    if (line.x && line.y) groups.set(line.x, [...(groups.get(line.x) ?? []), line]);
  }
  return [...groups].flatMap(([name, lines]) => {
    const xs = column(columns, name);
    const rows = [...xs.keys()].filter(
      (row) =>
        Number.isFinite(xs[row]) && lines.some((line) => Number.isFinite(column(columns, line.y)[row])),
    );
    const turns = rows.some((row, i) => i > 0 && Number(xs[row]) <= Number(xs[rows[i - 1]]));
    return rows.length > 0 ? [{ name, lines, xs, rows, turns }] : [];
  });
}

/**
 * Of all tracks that grow, those with a sample at an x: nearer to it than the next sample of the track that is read.
 *
 * @param {Track[]} tracks
 * @param {Track} own
 * @param {number} x
 */
function meeting(tracks, own, x) {
  const gaps = own.rows.map((row) => Math.abs(Number(own.xs[row]) - x)).filter((gap) => gap > 0);
  const reach = Math.min(...gaps) / 2;
  return tracks
    .filter(({ turns }) => !turns)
    .map(({ lines, xs, rows }) => ({
      lines,
      xs,
      row: least(rows, (row) => Math.abs(Number(xs[row]) - x)),
    }))
    .filter(({ xs, row }) => Math.abs(Number(xs[row]) - x) <= reach);
}

/**
 * @param {Panel} panel
 * @param {Columns} columns
 * @param {Line} line
 * @param {number} row
 */
function valueInWords(panel, columns, line, row) {
  const digits = digitsOf(column(columns, line.y));
  const [value, lower, upper] = [line.y, line.lower, line.upper].map((name) => column(columns, name)[row]);
  const words = `${line.label} ${quantity(value, panel.y, digits)}`;
  if (!line.lower || !line.upper) return words;
  return `${words} (${formatNumber(lower, digits)} to ${formatNumber(upper, digits)})`;
}

/**
 * @template T
 * @param {readonly T[]} items  at least one
 * @param {(item: T) => number} size
 * @returns {T}
 */
function least(items, size) {
  let [best] = items;
  let smallest = size(best);
  for (const item of items.slice(1)) {
    const found = size(item);
    if (found < smallest || Number.isNaN(smallest)) [best, smallest] = [item, found];
  }
  return best;
}

/** @param {number} x @param {number} y */
function ring(x, y) {
  return Array.from({ length: RING_CORNERS + 1 }, (_, i) => {
    const angle = (2 * Math.PI * i) / RING_CORNERS;
    return [x + RING * Math.cos(angle), y + RING * Math.sin(angle)];
  }).flat();
}
