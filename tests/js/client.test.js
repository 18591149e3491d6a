import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { Client, ClientError } from "../../site/client.js";
import * as say from "../../site/protocol.js";

/** @typedef {import("../../site/protocol.js").FromWorker} FromWorker */

const CONFIG = {
  worker: "https://host.test/assets/worker-1a2b.js",
  base: "https://host.test/runtime/",
  files: [],
  packages: ["numpy"],
};

/** Stands in for a worker: keeps what it was sent, says what a test makes it say. */
class FakeWorker {
  /** @type {any[]} */
  sent = [];
  terminated = false;
  /** @type {(event: any) => void} */
  onmessage = () => {};
  /** @type {(event: any) => void} */
  onerror = () => {};

  /** @param {any} message */
  postMessage(message) {
    this.sent.push(message);
  }

  terminate() {
    this.terminated = true;
  }

  /** @param {FromWorker} message */
  post(message) {
    this.onmessage({ data: message });
  }

  /** The requests it was asked, parsed. */
  get asked() {
    return this.sent
      .filter(({ kind }) => kind === "ask")
      .map(({ id, request }) => ({ id, ...JSON.parse(request) }));
  }

  /** @param {number} id @param {object} reply */
  answer(id, reply) {
    this.post(say.answer(id, JSON.stringify(reply)));
  }
}

/** @type {FakeWorker[]} */
let workers;

/** The worker started last. */
const worker = () => workers[workers.length - 1];

function newClient() {
  return new Client(CONFIG, () => {
    workers.push(new FakeWorker());
    return /** @type {any} */ (worker());
  });
}

function startedClient() {
  const client = newClient();
  client.start();
  return client;
}

function readyClient() {
  const client = startedClient();
  worker().post(say.ready());
  return client;
}

/** @param {Client} client @param {RegExp} sentence */
function assertFailed(client, sentence) {
  assert.equal(client.status.state, "failed");
  assert.match(client.status.stage, sentence);
  assert.ok(worker().terminated, "the worker goes on");
}

/** @param {Promise<unknown>} question @param {RegExp} sentence */
const assertRefused = (question, sentence) =>
  assert.rejects(question, (/** @type {Error} */ error) => {
    assert.ok(error instanceof ClientError);
    assert.match(error.message, sentence);
    return true;
  });

beforeEach(() => {
  workers = [];
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
});

test("start tells the worker where the runtime is", () => {
  startedClient();
  assert.deepEqual(worker().sent, [say.boot(CONFIG.base, CONFIG.files, CONFIG.packages)]);
});

test("every change of status is announced, with the stage and its bytes", () => {
  const client = newClient();
  /** @type {unknown[]} */
  const seen = [];
  client.addEventListener("status", () => seen.push(Object.values(client.status)));
  client.start();
  worker().post(say.progress("Downloading Python", 5, 9));
  worker().post(say.ready());
  assert.deepEqual(seen, [
    ["loading", "Downloading Python", 0, 0],
    ["loading", "Downloading Python", 5, 9],
    ["ready", "Python is ready", 0, 0],
  ]);
});

test("questions asked before Python is ready wait, and are sent once each and in order", () => {
  const client = newClient();
  client.ask({ n: 1 });
  client.start();
  client.ask({ n: 2 });
  assert.deepEqual(worker().asked, []);
  worker().post(say.ready());
  client.ask({ n: 3 });
  assert.deepEqual(
    worker().asked.map(({ n }) => n),
    [1, 2, 3],
  );
});

test("a question asked on hearing that Python is ready is sent once, after those that waited", () => {
  const client = startedClient();
  client.addEventListener("status", () => {
    if (client.status.state === "ready") client.ask({ n: 2 });
  });
  client.ask({ n: 1 });
  worker().post(say.ready());
  assert.deepEqual(
    worker().asked.map(({ n }) => n),
    [1, 2],
  );
});

test("answers find their questions by id, in any order", async () => {
  const client = readyClient();
  const first = client.ask({ n: 1 });
  const second = client.ask({ n: 2 });
  const [{ id: firstId }, { id: secondId }] = worker().asked;
  worker().answer(secondId, { n: "two" });
  worker().answer(firstId, { n: "one" });
  assert.deepEqual(await Promise.all([first, second]), [{ n: "one" }, { n: "two" }]);
});

test("an answer to a question that nobody asked changes nothing", async () => {
  const client = readyClient();
  const question = client.ask({ n: 1 });
  worker().answer(99, { n: "stray" });
  worker().answer(worker().asked[0].id, { n: "one" });
  worker().answer(worker().asked[0].id, { n: "again" });
  assert.deepEqual(await question, { n: "one" });
  assert.equal(client.status.state, "ready");
});

test("a refusal and a fault reject the question with their sentence, and Python stays ready", async () => {
  const client = readyClient();
  const refused = client.ask({});
  const faulty = client.ask({});
  const [{ id: refusedId }, { id: faultyId }] = worker().asked;
  worker().answer(refusedId, { kind: "refused", sentence: "There is no bench 'fiction'." });
  worker().post(say.fault(faultyId, "ZeroDivisionError: division by zero"));
  await assertRefused(refused, /^There is no bench 'fiction'\.$/);
  await assertRefused(faulty, /^ZeroDivisionError: division by zero$/);
  assert.equal(client.status.state, "ready");
});

test("a worker that says it failed, fails the client with its sentence and all that waits", async () => {
  const client = startedClient();
  const waiting = [client.ask({ n: 1 }), client.ask({ n: 2 })];
  worker().post(say.failed("numpy.whl is missing on the server (it answered 404)."));
  assertFailed(client, /^numpy\.whl is missing/);
  for (const question of waiting) await assertRefused(question, /^numpy\.whl is missing/);
});

test("a script that does not run is named, with its reason where there is one", async () => {
  for (const [message, sentence] of /** @type {const} */ ([
    ["", /^The script worker-1a2b\.js did not run: it is missing, blocked,/],
    ["SyntaxError: <", /^The script worker-1a2b\.js did not run \(SyntaxError: <\)\.$/],
  ])) {
    const client = startedClient();
    const waiting = client.ask({});
    const preventDefault = mock.fn();
    worker().onerror({ message, preventDefault });
    assertFailed(client, sentence);
    await assertRefused(waiting, sentence);
    assert.equal(preventDefault.mock.callCount(), 1);
  }
});

test("a browser that refuses workers fails the client", async () => {
  const client = new Client(CONFIG, () => {
    throw new Error("SecurityError");
  });
  const waiting = client.ask({});
  client.start();
  assert.equal(client.status.state, "failed");
  assert.match(client.status.stage, /^This browser refused to start a worker\. SecurityError$/);
  await assertRefused(waiting, /refused to start a worker/);
});

test("a script that stays silent is named within 10 s", async () => {
  const client = startedClient();
  const waiting = client.ask({});
  mock.timers.tick(8999);
  assert.equal(client.status.state, "loading");
  mock.timers.tick(1001);
  assertFailed(client, /^The script worker-1a2b\.js did not start\.$/);
  await assertRefused(waiting, /did not start/);
});

test("silence during the start names the stage, and every sign of life restarts the clock", () => {
  const client = startedClient();
  worker().post(say.progress("Downloading Python", 1, 9));
  mock.timers.tick(59_999);
  worker().post(say.progress("Starting Python", 0, 0));
  mock.timers.tick(59_999);
  assert.equal(client.status.state, "loading");
  mock.timers.tick(1);
  assertFailed(client, /^Python did not get past this stage: Starting Python\.$/);
});

test("silence after a question fails, and rejects every open question", async () => {
  const client = readyClient();
  const [first, second, third] = [client.ask({}), client.ask({}), client.ask({})];
  mock.timers.tick(9_999);
  worker().answer(worker().asked[0].id, { n: 1 });
  mock.timers.tick(9_999);
  assert.equal(client.status.state, "ready");
  mock.timers.tick(1);
  assertFailed(client, /^Python has stopped answering\.$/);
  assert.deepEqual(await first, { n: 1 });
  for (const question of [second, third]) await assertRefused(question, /stopped answering/);
});

test("further questions do not put off that silence is noticed", async () => {
  const client = readyClient();
  const questions = [client.ask({})];
  for (let second = 0; second < 10; second++) {
    mock.timers.tick(1000);
    if (client.status.state === "ready") questions.push(client.ask({}));
  }
  assertFailed(client, /stopped answering/);
  for (const question of questions) await assertRefused(question, /stopped answering/);
});

test("silence when nothing is asked is no failure", async () => {
  const client = readyClient();
  mock.timers.tick(1e7);
  const question = client.ask({});
  worker().answer(worker().asked[0].id, {});
  await question;
  mock.timers.tick(1e7);
  assert.equal(client.status.state, "ready");
});

test("after a failure a question is refused at once, and sent to nobody", async () => {
  const client = readyClient();
  worker().post(say.failed("Out of memory."));
  await assertRefused(client.ask({}), /^Out of memory\.$/);
  assert.deepEqual(worker().asked, []);
});

test("start works again after a failure", async () => {
  const client = startedClient();
  const dropped = client.ask({ n: 1 });
  worker().post(say.failed("No network."));
  await assertRefused(dropped, /^No network\.$/);
  client.start();
  assert.equal(client.status.state, "loading");
  assert.equal(workers.length, 2);
  const question = client.ask({ n: 2 });
  worker().post(say.ready());
  assert.deepEqual(
    worker().asked.map(({ n }) => n),
    [2],
  );
  worker().answer(worker().asked[0].id, { n: "two" });
  assert.deepEqual(await question, { n: "two" });
});

test("what an ended worker still says changes nothing", async () => {
  const client = startedClient();
  const old = worker();
  old.post(say.failed("No network."));
  const afterwards = () => {
    old.post(say.ready());
    old.post(say.progress("Downloading Python", 1, 2));
    old.post(say.failed("Again."));
    old.onerror({ message: "late", preventDefault() {} });
  };
  afterwards();
  assertFailed(client, /^No network\.$/);
  client.start();
  const question = client.ask({ n: 1 });
  afterwards();
  assert.deepEqual(Object.values(client.status), ["loading", "Downloading Python", 0, 0]);
  worker().post(say.ready());
  const [{ id }] = worker().asked;
  old.answer(id, { n: "from the old one" });
  worker().answer(id, { n: "from the new one" });
  assert.deepEqual(await question, { n: "from the new one" });
});
