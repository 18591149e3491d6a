import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { afterEach, test } from "node:test";
import { DownloadError, download } from "../../site/download.js";

/** @typedef {import("../../site/protocol.js").RuntimeFile} RuntimeFile */
/** @typedef {(url: string, options: { signal: AbortSignal }) => Promise<Response>} Fetch */

const BASE = "https://host.test/runtime/";
const PYTHON = Buffer.from("all of Python".repeat(100));
const NUMPY = Buffer.from("all of NumPy".repeat(50));
/** Short enough for a test, long enough for what does arrive. */
const patience = 200;

/** @type {(name: string, content: Buffer) => RuntimeFile} */
const describe = (name, content) => ({
  name,
  bytes: content.length,
  sha256: createHash("sha256").update(content).digest("hex"),
});
const FILES = [describe("python.wasm", PYTHON), describe("numpy.whl", NUMPY)];
const TOTAL = PYTHON.length + NUMPY.length;

const realFetch = globalThis.fetch;
const realCrypto = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(globalThis, "crypto"));
afterEach(() => {
  globalThis.fetch = realFetch;
  Object.defineProperty(globalThis, "crypto", realCrypto);
});

/**
 * A network on which each file does as told; what is not named arrives as it should.
 * @param {Record<string, Fetch>} [behaviour]
 */
function fakeFetch(behaviour = {}) {
  /** @type {Record<string, Fetch>} */
  const network = { "python.wasm": serve(PYTHON), "numpy.whl": serve(NUMPY), ...behaviour };
  globalThis.fetch = /** @type {any} */ (
    (/** @type {string} */ url, /** @type {{ signal: AbortSignal }} */ options) => {
      assert.ok(url.startsWith(BASE), url);
      return network[url.slice(BASE.length)](url, options);
    }
  );
}

/** @type {(content: Buffer, type?: string) => Fetch} */
const serve =
  (content, type = "application/octet-stream") =>
  async () =>
    new Response(new Uint8Array(content), { headers: { "content-type": type } });

/**
 * Some bytes, and then nothing more until the transfer is aborted or `end` is reached.
 * @param {(abort: Promise<unknown>) => Promise<unknown>} end
 * @returns {Fetch}
 */
const serveHalf =
  (end) =>
  async (_, { signal }) => {
    const abort = once(signal, "abort").then(() => Promise.reject(signal.reason));
    abort.catch(() => {});
    return new Response(
      new ReadableStream({
        async start(controller) {
          controller.enqueue(new Uint8Array(PYTHON.subarray(0, 10)));
          await end(abort);
        },
      }),
    );
  };

/** @param {Promise<unknown>} transfer @param {RegExp} sentence */
const assertNamed = (transfer, sentence) =>
  assert.rejects(transfer, (/** @type {Error} */ error) => {
    assert.ok(error instanceof DownloadError, String(error));
    assert.match(error.message, sentence);
    return true;
  });

const ignore = () => {};

test("all files arrive, and progress rises to the total", async () => {
  fakeFetch();
  /** @type {number[]} */
  const received = [];
  const arrived = await download(BASE, FILES, (bytes, total) => {
    received.push(bytes);
    assert.equal(total, TOTAL);
  });
  assert.deepEqual([...arrived.keys()], ["python.wasm", "numpy.whl"]);
  assert.deepEqual(Buffer.from(arrived.get("python.wasm") ?? []), PYTHON);
  assert.deepEqual(Buffer.from(arrived.get("numpy.whl") ?? []), NUMPY);
  assert.deepEqual(
    received,
    received.toSorted((a, b) => a - b),
  );
  assert.equal(received.at(-1), TOTAL);
});

test("a file that is not there is named, with the server's answer", async () => {
  fakeFetch({ "numpy.whl": async () => new Response("not found", { status: 404 }) });
  await assertNamed(
    download(BASE, FILES, ignore),
    /^numpy\.whl is missing on the server \(it answered 404\)/,
  );
});

test("a network error names the file", async () => {
  fakeFetch({ "numpy.whl": () => Promise.reject(new TypeError("Failed to fetch")) });
  await assertNamed(download(BASE, FILES, ignore), /^numpy\.whl could not be fetched \(Failed to fetch\)/);
});

test("a transfer that breaks off names the file too", async () => {
  fakeFetch({ "python.wasm": serveHalf(() => Promise.reject(new TypeError("network error"))) });
  await assertNamed(download(BASE, FILES, ignore), /^python\.wasm could not be fetched \(network error\)/);
});

test("another file in its place is damaged, with its type and both sizes", async () => {
  fakeFetch({ "python.wasm": serve(Buffer.alloc(1234), "text/html") });
  await assertNamed(
    download(BASE, FILES, ignore),
    /^python\.wasm arrived damaged: 1,234 bytes of text\/html in place of 1,300\./,
  );
});

test("one wrong byte is damage, whatever the length", async () => {
  const wrong = Buffer.from(PYTHON);
  wrong[7] ^= 1;
  fakeFetch({ "python.wasm": serve(wrong) });
  await assertNamed(download(BASE, FILES, ignore), /^python\.wasm arrived damaged: 1,300 bytes/);
});

test("without crypto.subtle the length decides", async () => {
  Object.defineProperty(globalThis, "crypto", { value: {}, configurable: true });
  const wrong = Buffer.alloc(PYTHON.length);
  fakeFetch({ "python.wasm": serve(wrong) });
  const arrived = await download(BASE, FILES, ignore);
  assert.deepEqual(Buffer.from(arrived.get("python.wasm") ?? []), wrong);
  fakeFetch({ "python.wasm": serve(wrong.subarray(1)) });
  await assertNamed(download(BASE, FILES, ignore), /^python\.wasm arrived damaged/);
});

test("a transfer that stalls is aborted, and only what is missing is named", async () => {
  fakeFetch({ "python.wasm": serveHalf((abort) => abort) });
  await assertNamed(
    download(BASE, FILES, ignore, { patience }),
    /^The download stalled: nothing arrived for 0\.2 seconds while waiting for python\.wasm\. /,
  );
});

test("a server that never answers stalls too, and every file is named", async () => {
  const never = serveNothing();
  fakeFetch({ "python.wasm": never, "numpy.whl": never });
  await assertNamed(download(BASE, FILES, ignore, { patience }), /waiting for python\.wasm, numpy\.whl\./);
});

test("bytes that keep arriving are no stall, however long it takes", async () => {
  /** @type {Fetch} */
  const slowly = async (_, { signal }) =>
    new Response(
      new ReadableStream({
        async start(controller) {
          for (const at of [0, 1, 2, 3, 4]) {
            await new Promise((resolve) => setTimeout(resolve, patience / 4));
            signal.throwIfAborted();
            controller.enqueue(new Uint8Array(PYTHON.subarray(at * 260, (at + 1) * 260)));
          }
          controller.close();
        },
      }),
    );
  fakeFetch({ "python.wasm": slowly });
  const arrived = await download(BASE, FILES, ignore, { patience });
  assert.equal(arrived.get("python.wasm")?.length, PYTHON.length);
});

test("when one file fails, the others are aborted", async () => {
  /** @type {AbortSignal | undefined} */
  let signal;
  const never = serveNothing();
  fakeFetch({
    "python.wasm": (url, options) => {
      signal = options.signal;
      return never(url, options);
    },
    "numpy.whl": async () => new Response("", { status: 500 }),
  });
  await assertNamed(download(BASE, FILES, ignore), /failed to send numpy\.whl .*answered 500/);
  assert.ok(signal?.aborted);
});

test("it works with a real server, and says which file that one lacks", async (context) => {
  const server = createServer((request, response) => {
    const content = { "/python.wasm": PYTHON, "/numpy.whl": NUMPY }[request.url ?? ""];
    response.writeHead(content ? 200 : 404).end(content);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  context.after(() => server.close());
  const base = `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}/`;
  const arrived = await download(base, FILES, ignore);
  assert.deepEqual(Buffer.from(arrived.get("numpy.whl") ?? []), NUMPY);
  await assertNamed(
    download(base, [...FILES, describe("micropip.whl", NUMPY)], ignore),
    /^micropip\.whl is missing on the server \(it answered 404\)/,
  );
});

/** @returns {Fetch} */
function serveNothing() {
  return async (_, { signal }) => {
    await once(signal, "abort");
    throw signal.reason;
  };
}
