/**
 * Numbers to places, and numbers to words: scales, ticks, extents and number formatting.
 *
 * Anything that is not a finite number (and, on a log axis, anything not positive) is a gap. A gap never widens an
 * extent and has no place on a scale: its place is NaN.
 */

/** @typedef {"linear" | "log"} ScaleKind */
/** @typedef {ReadonlyArray<number | null | undefined>} Column */
/** @typedef {[low: number, high: number]} Extent  `[Infinity, -Infinity]` when nothing has been seen */
/** @typedef {(value: number | null | undefined) => number} Scale */

/** Places are held within this many pixels, so that 1e300 stays drawable arithmetic. */
const FAR = 1e7;
/** Domains are held within these magnitudes, so that their spans cannot overflow. */
const LARGEST = 1e305;
const SMALLEST = 1e-305;

const PLAIN_FROM = 1e-3;
const PLAIN_BELOW = 1e5;

/** Values map to a line on which equal lengths mean equal differences (linear) or equal ratios (log). */
const LINE = {
  linear: { to: (/** @type {number} */ value) => value, from: (/** @type {number} */ place) => place },
  log: { to: Math.log10, from: (/** @type {number} */ place) => 10 ** place },
};

/**
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

/**
 * @param {ScaleKind} kind
 * @param {Extent} domain  low < high, both positive on a log scale
 * @param {[number, number]} range  pixels
 * @returns {Scale}
 */
export function makeScale(kind, domain, range) {
  const { to } = LINE[kind];
  const low = to(domain[0]);
  const slope = (range[1] - range[0]) / (to(domain[1]) - low);
  return (value) => {
    const place = typeof value === "number" ? to(value) : Number.NaN;
    return Number.isFinite(place) ? clamp(range[0] + (place - low) * slope, -FAR, FAR) : Number.NaN;
  };
}

// Extents and domains

/** @returns {Extent} */
export function nothing() {
  return [Infinity, -Infinity];
}

/** @param {Extent} extent */
export function isEmpty([low, high]) {
  return !(low <= high);
}

/**
 * @param {Column} values
 * @param {ScaleKind} [kind]
 * @returns {Extent}
 */
export function extent(values, kind = "linear") {
  const floor = kind === "log" ? 0 : -Infinity;
  let [low, high] = nothing();
  for (const value of values) {
    if (typeof value !== "number" || !Number.isFinite(value) || value <= floor) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

/**
 * @param {Extent} a
 * @param {Extent} b
 * @returns {Extent}
 */
export function union(a, b) {
  return [Math.min(a[0], b[0]), Math.max(a[1], b[1])];
}

/**
 * An extent with `before` and `after` times its own span added. An empty extent becomes the unit one, and a constant
 * is given a span first: a tenth of itself to each side, or half a decade on a log axis.
 *
 * @param {Extent} seen
 * @param {ScaleKind} kind
 * @param {number} share
 * @returns {Extent}
 */
export function widen(seen, kind, share) {
  if (isEmpty(seen)) return kind === "log" ? [0.1, 1] : [0, 1];
  const { to, from } = LINE[kind];
  const floor = kind === "log" ? SMALLEST : -LARGEST;
  let [low, high] = seen.map((value) => to(clamp(value, floor, LARGEST)));
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (high - low <= 1e-9 * size) {
    const half = kind === "log" ? 0.5 : 0.1 * size || 1;
    [low, high] = [low - half, high + half];
  }
  const span = high - low;
  return [clamp(from(low - share * span), floor, LARGEST), clamp(from(high + share * span), floor, LARGEST)];
}

// Ticks

/**
 * @param {ScaleKind} kind
 * @param {Extent} domain
 * @param {number} count  about how many
 */
export function ticks(kind, domain, count) {
  return kind === "log" ? logTicks(...domain, count) : niceTicks(...domain, count);
}

/**
 * Multiples of 1, 2 or 5 times a power of ten, about `count` of them.
 *
 * @param {number} low
 * @param {number} high
 * @param {number} count
 * @returns {number[]}
 */
export function niceTicks(low, high, count) {
  const rough = (high - low) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  // The nearest in ratio: the borders lie at the geometric means of neighbours.
  const factor = [1, 2, 5].find((nice, i) => rough < power * Math.sqrt(nice * [2, 5, 10][i])) ?? 10;
  const step = factor * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  // A span too small or too large for its own arithmetic has no ticks rather than an endless number.
  if (!(last - first < 1000)) return [];
  // Fifteen digits take the 4 off the end of 0.30000000000000004.
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(15)));
}

/**
 * Whole decades, thinned to about `count`; within a decade or two 1, 2, 5; within less than that, as if linear.
 *
 * @param {number} low
 * @param {number} high
 * @param {number} count
 * @returns {number[]}
 */
export function logTicks(low, high, count) {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  if (last - first >= 2 || (last - first === 1 && count < 4)) {
    const stride = Math.ceil((last - first + 1) / Math.max(count, 1));
    const start = Math.ceil(first / stride) * stride;
    return Array.from({ length: Math.floor((last - start) / stride) + 1 }, (_, i) =>
      tenTo(start + i * stride),
    );
  }
  const fine = [];
  for (let decade = first - 1; decade <= last; decade++) {
    for (const factor of [1, 2, 5]) fine.push(Number(`${factor}e${decade}`));
  }
  const inside = fine.filter((tick) => tick >= low && tick <= high);
  return inside.length >= 2 ? inside : niceTicks(low, high, count);
}

/** The literal is exact where `10 ** -5` need not be. @param {number} exponent */
function tenTo(exponent) {
  return Number(`1e${exponent}`);
}

// Words for numbers

/**
 * `−0.25`, `1.2×10⁻⁶`, or a dash for what is not a number. Integers below 100 000 keep all their digits.
 *
 * @param {number | null | undefined} value
 * @param {number} [digits]  significant ones
 */
export function formatNumber(value, digits = 4) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "—";
  const rounded =
    Number.isInteger(value) && Math.abs(value) < PLAIN_BELOW ? value : Number(value.toPrecision(digits));
  if (rounded === 0) return "0";
  if (isPlain(rounded)) return properMinus(String(rounded));
  const [mantissa, exponent] = rounded.toExponential().split("e");
  return `${properMinus(mantissa)}×10${superscript(Number(exponent))}`;
}

/**
 * Labels for the ticks of one axis: the same number of decimals on all of them, or all as powers of ten.
 *
 * @param {number[]} values
 * @param {ScaleKind} [kind]
 * @returns {string[]}
 */
export function formatTicks(values, kind = "linear") {
  if (kind === "log") {
    const decades = values.every((value) => value === tenTo(Math.round(Math.log10(value))));
    if (decades && !values.every(isPlain)) return values.map(powerOfTen);
    return values.map((value) => formatNumber(value, 6));
  }
  if (values.length < 2) return values.map((value) => formatNumber(value, 15));
  const step = values[1] - values[0];
  const largest = Math.max(...values.map(Math.abs));
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  if (decimals <= 4 && largest < PLAIN_BELOW)
    return values.map((value) => properMinus(value.toFixed(decimals)));
  const digits = clamp(Math.ceil(Math.log10(largest / step)) + 1, 1, 15);
  return values.map((value) => formatNumber(value, digits));
}

/** @param {number} value */
function isPlain(value) {
  return Math.abs(value) >= PLAIN_FROM && Math.abs(value) < PLAIN_BELOW;
}

/** @param {number} value */
function powerOfTen(value) {
  const exponent = Math.round(Math.log10(value));
  return exponent === 0 ? "1" : `10${superscript(exponent)}`;
}

/** @param {string} text */
function properMinus(text) {
  return text.replace("-", "−");
}

/** @param {number} integer */
function superscript(integer) {
  return Array.from(String(integer), (sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)])).join("");
}
