import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { Client, ClientError, DeadlineError, LostError, StoppedError } from "../../site/client.js";
import * as say from "../../site/protocol.js";
import { CONFIG, FakeWorker } from "./fake-worker.js";

/** @type {FakeWorker[]} */
let workers;

/** The worker started last. */
const worker = () => workers[workers.length - 1];

/** @typedef {ConstructorParameters<typeof Client>[1]} Options */

/** @param {Options} [options] */
function newClient(options) {
  const makeWorker = () => {
    workers.push(new FakeWorker());
    return /** @type {any} */ (worker());
  };
  return new Client(CONFIG, { makeWorker, ...options });
}

/** @param {Options} [options] */
function startedClient(options) {
  const client = newClient(options);
  client.start();
  return client;
}

/** @param {Options} [options] */
function readyClient(options) {
  const client = startedClient(options);
  worker().post(say.ready());
  return client;
}

/** Answer what is asked until nothing is. */
function answerAll() {
  for (let asked = 0; asked < worker().asked.length; asked++) worker().answer(worker().asked[asked].id, {});
}

/** @param {Client} client @param {RegExp} sentence */
function assertFailed(client, sentence) {
  assert.equal(client.status.state, "failed");
  assert.match(client.status.stage, sentence);
  assert.ok(worker().terminated, "the worker goes on");
}

/** @param {Promise<unknown>} question @param {RegExp} sentence @param {typeof ClientError} [Reason] */
const assertRefused = (question, sentence, Reason = ClientError) =>
  assert.rejects(question, (/** @type {Error} */ error) => {
    assert.equal(error.constructor, Reason);
    assert.match(error.message, sentence);
    return true;
  });

beforeEach(() => {
  workers = [];
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
});

test("start tells the worker where the runtime is, what to start from, and a token of its own", () => {
  const supplies = { snapshot: new Blob(["memory"]) };
  const client = startedClient({ supplies: () => supplies });
  client.start();
  const [{ token }, { token: next }] = workers.map(({ boot }) => boot);
  assert.deepEqual(workers[0].sent, [say.boot(CONFIG.base, CONFIG.files, CONFIG.packages, token, supplies)]);
  assert.match(token, /^\d+(-\d+){3}$/);
  assert.notEqual(token, next);
  assert.ok(workers[0].terminated);
});

test("a message without the token, or of a kind that nobody knows, changes nothing", async () => {
  const client = readyClient();
  /** @type {unknown[]} */
  const heard = [];
  const question = client.ask({ n: 1 }, { onOutput: (chunk) => heard.push(chunk) });
  const { id } = worker();
  for (const token of [undefined, "", "1-2-3-4"]) {
    worker().onmessage({ data: { ...say.answer(id, '{"n":"forged"}', 0), token } });
    worker().onmessage({ data: { ...say.failed("Forged."), token } });
    worker().onmessage({ data: { ...say.output(id, [{ stream: "note", text: "forged" }]), token } });
  }
  for (const data of [undefined, null, 7, "ready"]) worker().onmessage({ data });
  worker().post(/** @type {any} */ ({ kind: "praise" }));
  worker().answer(id, { n: "one" });
  assert.deepEqual(await question, { n: "one" });
  assert.deepEqual(heard, []);
  assert.equal(client.status.state, "ready");
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
  answerAll();
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
  answerAll();
  assert.deepEqual(
    worker().asked.map(({ n }) => n),
    [1, 2],
  );
});

test("one question is asked at a time, and the next when it is answered", async () => {
  const client = readyClient();
  const questions = [client.ask({ n: 1 }), client.ask({ n: 2 })];
  assert.deepEqual(
    worker().asked.map(({ n }) => n),
    [1],
  );
  assert.ok(!client.quiet);
  worker().answer(worker().id, { n: "one" });
  assert.equal(worker().asked.at(-1)?.n, 2);
  worker().answer(worker().id, { n: "two" });
  assert.deepEqual(await Promise.all(questions), [{ n: "one" }, { n: "two" }]);
  assert.ok(client.quiet);
});

test("each answer is announced and tells how much memory Python has", async () => {
  const client = readyClient();
  const heaps = /** @type {number[]} */ ([]);
  client.addEventListener("answer", () => heaps.push(client.heap));
  client.ask({});
  worker().answer(worker().id, {}, 31e6);
  client.ask({});
  worker().answer(worker().id, {}, 400e6);
  assert.deepEqual(heaps, [31e6, 400e6]);
});

test("what Python prints is heard by whoever asked, until the answer", async () => {
  const client = readyClient();
  /** @type {string[]} */
  const heard = [];
  const first = client.ask({}, { onOutput: ({ stream, text }) => heard.push(`${stream}: ${text}`) });
  const { id } = worker();
  worker().post(
    say.output(id, [
      { stream: "stdout", text: "1" },
      { stream: "stderr", text: "2" },
    ]),
  );
  worker().post(say.output(id + 1, [{ stream: "stdout", text: "of another" }]));
  worker().answer(id, {});
  worker().post(say.output(id, [{ stream: "stdout", text: "late" }]));
  await first;
  client.ask({});
  worker().post(say.output(worker().id, [{ stream: "stdout", text: "nobody listens" }]));
  assert.deepEqual(heard, ["stdout: 1", "stderr: 2"]);
});

test("what a worker hands over is passed on", () => {
  const client = startedClient();
  /** @type {unknown[]} */
  const supplies = [];
  client.addEventListener("supply", (event) => supplies.push(/** @type {CustomEvent} */ (event).detail.kind));
  worker().post(say.handover({ files: new Map(), modules: [] }));
  worker().post(say.snapshot(new Blob()));
  assert.deepEqual(supplies, ["kit", "snapshot"]);
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
  worker().answer(worker().id, { kind: "refused", sentence: "There is no bench 'fiction'." });
  worker().post(say.fault(worker().id, "ZeroDivisionError: division by zero"));
  await assertRefused(refused, /^There is no bench 'fiction'\.$/);
  await assertRefused(faulty, /^ZeroDivisionError: division by zero$/);
  assert.equal(client.status.state, "ready");
});

test("an answer that cannot be read is refused", async () => {
  const client = readyClient();
  for (const reply of /** @type {any[]} */ (["no JSON", undefined])) {
    const question = client.ask({});
    worker().post(say.answer(worker().id, reply, 0));
    await assertRefused(question, /^Python's answer could not be read\.$/);
  }
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
  const client = newClient({
    makeWorker() {
      throw new Error("SecurityError");
    },
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
  worker().answer(worker().id, { n: 1 });
  mock.timers.tick(9_999);
  assert.equal(client.status.state, "ready");
  mock.timers.tick(1);
  assertFailed(client, /^Python has stopped answering: there was nothing for 10 seconds\.$/);
  assert.deepEqual(await first, { n: 1 });
  await assertRefused(second, /stopped answering/, DeadlineError);
  await assertRefused(third, /stopped answering/);
});

test("a question may have a deadline of its own, which runs from when it is sent", async () => {
  const client = startedClient();
  const question = client.ask({}, { deadline: 2000 });
  mock.timers.tick(8000);
  worker().post(say.ready());
  mock.timers.tick(1999);
  assert.equal(client.status.state, "ready");
  mock.timers.tick(1);
  assertFailed(client, /nothing for 2 seconds/);
  await assertRefused(question, /nothing for 2 seconds/, DeadlineError);
});

test("a question without a deadline may take for ever once it has begun, and must begin", async () => {
  const client = readyClient();
  const question = client.ask({}, { deadline: Number.POSITIVE_INFINITY });
  worker().post(say.begun(worker().id));
  mock.timers.tick(1e8);
  assert.equal(client.status.state, "ready");
  worker().answer(worker().id, {});
  await question;
  const unheard = client.ask({}, { deadline: Number.POSITIVE_INFINITY });
  worker().post(say.begun(worker().id - 1));
  mock.timers.tick(10_000);
  assertFailed(client, /stopped answering/);
  await assertRefused(unheard, /stopped answering/, DeadlineError);
});

test("that it has begun does not put off the deadline of a question that has one", async () => {
  const client = readyClient();
  const question = client.ask({});
  worker().post(say.begun(worker().id));
  mock.timers.tick(10_000);
  await assertRefused(question, /stopped answering/, DeadlineError);
});

test("further questions do not put off that silence is noticed", async () => {
  const client = readyClient();
  const questions = [client.ask({})];
  for (let second = 0; second < 10; second++) {
    mock.timers.tick(1000);
    if (client.status.state === "ready") questions.push(client.ask({}));
  }
  assertFailed(client, /stopped answering/);
  await assertRefused(questions[0], /stopped answering/, DeadlineError);
  for (const question of questions.slice(1)) await assertRefused(question, /stopped answering/);
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

test("a worker that ends unexpectedly fails the client, and is told from one that never was in use", async () => {
  const client = readyClient();
  let lost = 0;
  client.addEventListener("lost", () => lost++);
  const question = client.ask({}, { deadline: Number.POSITIVE_INFINITY });
  worker().onerror({ message: "" });
  assertFailed(client, /^Python has ended unexpectedly\.$/);
  await assertRefused(question, /ended unexpectedly/, LostError);
  assert.equal(lost, 1);
  client.start();
  worker().post(say.ready());
  worker().onerror({ message: "" });
  assertFailed(client, /ended unexpectedly/);
  assert.equal(lost, 1);
});

test("a start is attempted as often as allowed, with what is supplied for each, and questions wait", async () => {
  /** @type {number[]} */
  const attempts = [];
  const options = {
    attempts: 2,
    supplies(/** @type {number} */ attempt) {
      attempts.push(attempt);
      return {};
    },
  };
  const client = startedClient(options);
  const question = client.ask({ n: 1 });
  worker().post(say.failed("There was not enough memory.", true));
  assert.equal(client.status.state, "loading");
  assert.ok(client.outOfMemory);
  worker().post(say.ready());
  worker().answer(worker().id, {});
  await question;
  client.start();
  const refused = client.ask({ n: 2 });
  worker().post(say.failed("No."));
  worker().post(say.failed("Still no."));
  assertFailed(client, /^Still no\.$/);
  await assertRefused(refused, /^Still no\.$/);
  assert.deepEqual(attempts, [1, 2, 1, 2]);
});

test("a script that cannot be had any more starts from the copy that was handed on", async () => {
  const kit = { files: new Map(), modules: [], script: new Blob(["script"]) };
  /** @type {string[]} */
  const urls = [];
  const client = startedClient({
    supplies: () => ({ kit }),
    makeWorker(url) {
      urls.push(url);
      workers.push(new FakeWorker());
      return /** @type {any} */ (worker());
    },
  });
  worker().onerror({});
  assert.equal(client.status.state, "loading");
  assert.equal(urls[0], CONFIG.worker);
  assert.match(urls[1], /^blob:/);
  assert.equal(worker().boot.kit, kit);
  worker().onerror({});
  assertFailed(client, /^The script worker-1a2b\.js did not run/);
  assert.equal(urls.length, 2);
  client.start();
  worker().onerror({ message: "SyntaxError" }); // it could be had
  assertFailed(client, /SyntaxError/);
});

test("end lets the worker go and refuses what waits", async () => {
  const client = readyClient();
  const questions = [client.ask({}), client.ask({})];
  client.end(new StoppedError());
  assert.ok(worker().terminated);
  assert.equal(client.status.state, "idle");
  for (const question of questions) await assertRefused(question, /^Stopped\.$/, StoppedError);
  mock.timers.tick(1e6);
  assert.equal(client.status.state, "idle");
});

// Stop ---------------------------------------------------------------------------------------------------------------

test("stop while Python is loading drops the questions; loading goes on, and nothing runs later", async () => {
  const client = startedClient();
  const question = client.ask({});
  client.stop();
  await assertRefused(question, /^Stopped\.$/, StoppedError);
  worker().post(say.ready());
  assert.equal(client.status.state, "ready");
  assert.deepEqual(worker().asked, []);
});

test("stop reaches the question that is asked, and what waits behind it is never asked", async () => {
  const client = readyClient();
  const [first, second] = [client.ask({ n: 1 }), client.ask({ n: 2 })];
  client.stop();
  client.stop();
  await assertRefused(second, /^Stopped\.$/, StoppedError);
  assert.deepEqual(worker().stops, [worker().id]);
  worker().post(say.stopping(worker().id));
  mock.timers.tick(999);
  worker().post(say.fault(worker().id, "Stopped."));
  await assertRefused(first, /^Stopped\.$/, StoppedError);
  mock.timers.tick(1e6);
  assert.equal(client.status.state, "ready");
  assert.equal(worker().asked.length, 1);
});

test("Python may still answer what was stopped", async () => {
  const client = readyClient();
  const question = client.ask({});
  client.stop();
  worker().answer(worker().id, { kind: "stopped" });
  assert.deepEqual(await question, { kind: "stopped" });
});

test("a worker that does not hear the stop within 250 ms is ended", async () => {
  const client = readyClient();
  const question = client.ask({}, { deadline: Number.POSITIVE_INFINITY });
  worker().post(say.begun(worker().id));
  client.stop();
  mock.timers.tick(249);
  assert.equal(client.status.state, "ready");
  mock.timers.tick(1);
  assertFailed(client, /^Stopped\. Python was in the middle/);
  await assertRefused(question, /^Stopped\./, StoppedError);
});

test("a question that has only now begun does not put off the stop", async () => {
  const client = readyClient();
  const question = client.ask({}, { deadline: Number.POSITIVE_INFINITY });
  client.stop();
  worker().post(say.begun(worker().id));
  mock.timers.tick(250);
  await assertRefused(question, /^Stopped\./, StoppedError);
});

test("a worker that hears the stop and goes on is ended a second later", async () => {
  const client = readyClient();
  const question = client.ask({});
  client.stop();
  mock.timers.tick(200);
  worker().post(say.stopping(worker().id));
  mock.timers.tick(999);
  assert.equal(client.status.state, "ready");
  mock.timers.tick(1);
  assertFailed(client, /^Stopped\. The code went on/);
  await assertRefused(question, /^Stopped\./, StoppedError);
});

test("stop with nothing to stop does nothing", () => {
  const client = readyClient();
  client.stop();
  mock.timers.tick(1e6);
  assert.equal(client.status.state, "ready");
  assert.deepEqual(worker().stops, []);
});
