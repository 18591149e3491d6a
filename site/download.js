/**
 * Fetches the runtime's files all at once, counts their bytes as they arrive, and lets none pass that is not the file
 * the build made. What a server calls a file (its MIME type) does not matter: its bytes do.
 */

/** @typedef {import("./protocol.js").RuntimeFile} RuntimeFile */

/** How long nothing at all may arrive before the transfer counts as stalled, in milliseconds. */
const PATIENCE = 8000;

/** A file that could not be had. Its message is a sentence for the reader. */
export class DownloadError extends Error {}

/**
 * @param {string} base  address of the folder that holds the files, with a slash at its end
 * @param {RuntimeFile[]} files
 * @param {(received: number, total: number) => void} onProgress
 * @param {{ patience?: number }} [options]
 * @returns {Promise<Map<string, Uint8Array<ArrayBuffer>>>}  name of each file and its verified bytes
 * @throws {DownloadError} naming the first file that is missing, damaged or stalled
 */
export async function download(base, files, onProgress, { patience = PATIENCE } = {}) {
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  const waiting = new Set(files.map((file) => file.name));
  const abort = new AbortController();
  let received = 0;
  let stalled = false;
  const giveUp = () => {
    stalled = true;
    abort.abort();
  };
  let timer = setTimeout(giveUp, patience);
  const arrived = (/** @type {number} */ bytes) => {
    received += bytes;
    clearTimeout(timer);
    timer = setTimeout(giveUp, patience);
    onProgress(received, total);
  };

  try {
    const bodies = await Promise.all(
      files.map(async (file) => {
        const bytes = await fetchOne(base, file, arrived, abort.signal);
        waiting.delete(file.name);
        return /** @type {const} */ ([file.name, bytes]);
      }),
    );
    return new Map(bodies);
  } catch (error) {
    abort.abort(); // the other transfers would be of no use
    if (stalled) {
      throw new DownloadError(
        `The download stalled: nothing arrived for ${patience / 1000} seconds while waiting for ${[...waiting].join(", ")}. Check the connection and retry.`,
      );
    }
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * @param {string} base
 * @param {RuntimeFile} file
 * @param {(bytes: number) => void} arrived
 * @param {AbortSignal} signal
 */
async function fetchOne(base, file, arrived, signal) {
  const failed = (/** @type {Error} */ error) => {
    throw new DownloadError(
      `${file.name} could not be fetched (${error.message}). The network, a filter or an extension may block it.`,
    );
  };
  const response = await fetch(base + file.name, { signal }).catch(failed);
  if (response.status >= 500) {
    throw new DownloadError(`The server failed to send ${file.name} (it answered ${response.status}).`);
  }
  if (!response.ok) {
    throw new DownloadError(
      `${file.name} is missing on the server (it answered ${response.status}). The site may be only partly uploaded.`,
    );
  }
  const bytes = await readAll(response, arrived).catch(failed);
  if (bytes.length !== file.bytes || !(await isGenuine(bytes, file.sha256))) {
    const type = response.headers.get("content-type") ?? "no type";
    throw new DownloadError(
      `${file.name} arrived damaged: ${bytes.length.toLocaleString("en")} bytes of ${type} in place of ${file.bytes.toLocaleString("en")}. The server may have sent another file in its place.`,
    );
  }
  return bytes;
}

/**
 * @param {Response} response
 * @param {(bytes: number) => void} arrived
 */
async function readAll(response, arrived) {
  /** @type {Uint8Array[]} */
  const chunks = [];
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    chunks.push(part.value);
    arrived(part.value.length);
  }
  return new Uint8Array(await new Blob(/** @type {BlobPart[]} */ (chunks)).arrayBuffer());
}

/**
 * Browsers offer hashing on https and localhost only; elsewhere the length has to do.
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {string} sha256
 */
async function isGenuine(bytes, sha256) {
  if (!globalThis.crypto?.subtle) return true;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("") === sha256;
}
