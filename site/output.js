/**
 * What Python prints, on its way to the page: gathered, so that a page is not flooded with messages, and cut off, so that
 * neither it nor the worker is flooded with text.
 *
 * While Python runs no timer fires, so a write looks at the clock itself; the timer is for code that awaits.
 */

/** @typedef {import("./protocol.js").Chunk} Chunk */

/** A post goes out when the last one is that long ago [ms] or that much has gathered [characters]. */
const INTERVAL = 50;
const BATCH = 4096;

/** What one question may print. */
const CHARACTERS = 20_000;
const LINES = 500;

const CUT = `Output is cut off here: a cell shows its first ${CHARACTERS.toLocaleString("en")} characters or ${LINES} lines.`;

export class Output {
  /** @type {Chunk[]} */
  #chunks = [];
  #gathered = 0;
  #characters = 0;
  #lines = 0;
  #open = false;
  #posted = Number.NEGATIVE_INFINITY;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  #post;
  #now;

  /**
   * @param {(chunks: Chunk[]) => void} post
   * @param {() => number} [now]  a clock in milliseconds
   */
  constructor(post, now = () => performance.now()) {
    this.#post = post;
    this.#now = now;
  }

  /** A question begins; what it prints counts from nothing. */
  begin() {
    this.#characters = 0;
    this.#lines = 0;
    this.#open = true;
  }

  /** The question is over. What is printed between two questions belongs to none and is dropped. */
  end() {
    if (this.#open) {
      // Half a character that was never completed.
      this.#add("stdout", this.#decoders.stdout.decode());
      this.#add("stderr", this.#decoders.stderr.decode());
    }
    this.#open = false;
    this.#flush();
  }

  /**
   * @param {"stdout" | "stderr"} stream
   * @param {Uint8Array} bytes  good until this returns
   */
  write(stream, bytes) {
    if (!this.#open) return; // comes first: a loop that prints for ever gets here a million times
    // In pieces: one print may be larger than all that is shown.
    const room = 4 * (CHARACTERS - this.#characters) + 4;
    this.#add(stream, this.#decoders[stream].decode(bytes.subarray(0, room), { stream: true }));
    if (this.#chunks.length === 0) return;
    if (this.#gathered >= BATCH || this.#now() - this.#posted >= INTERVAL) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), INTERVAL);
  }

  /**
   * @param {"stdout" | "stderr"} stream
   * @param {string} text
   */
  #add(stream, text) {
    if (!text || !this.#open) return;
    const shown = this.#within(text);
    const last = this.#chunks.at(-1);
    if (last?.stream === stream) last.text += shown;
    else if (shown) this.#chunks.push({ stream, text: shown });
    this.#gathered += shown.length;
    if (shown.length === text.length) return;
    this.#open = false;
    this.#decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
    this.#chunks.push({ stream: "note", text: CUT });
    this.#flush();
  }

  /**
   * As much of a text as there is still room for.
   * @param {string} text
   */
  #within(text) {
    if (this.#lines >= LINES) return "";
    let end = Math.min(text.length, CHARACTERS - this.#characters);
    for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) {
      if (++this.#lines === LINES) end = at + 1;
    }
    this.#characters += end;
    return text.slice(0, end);
  }

  #flush() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#chunks.length === 0) return;
    this.#posted = this.#now();
    this.#post(this.#chunks);
    this.#chunks = [];
    this.#gathered = 0;
  }
}
