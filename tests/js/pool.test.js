import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { ClientError, DeadlineError, FaultError, LostError, StoppedError } from "../../site/client.js";
import { Pool } from "../../site/pool.js";
import * as say from "../../site/protocol.js";
import { CONFIG, FakeWorker } from "./fake-worker.js";

/** @typedef {import("../../site/pool.js").Rebuilt} Rebuilt */

const KIT = { files: new Map([["python.wasm", new Blob(["python"])]]), modules: ["json"] };
const SNAPSHOT = new Blob(["memory"]);

/** @type {FakeWorker[]} */
let workers;
/** What waits for the page to be idle. @type {(() => void)[]} */
let pending;
/** @type {Rebuilt[]} */
let rebuilt;

const worker = () => workers[workers.length - 1];
const alive = () => workers.filter(({ terminated }) => !terminated);

/** @param {{ deviceMemory?: number }} [options] */
function startedPool(options) {
  const pool = new Pool(CONFIG, {
    makeWorker() {
      workers.push(new FakeWorker());
      return /** @type {any} */ (worker());
    },
    whenIdle: (act) => pending.push(act),
    ...options,
  });
  pool.addEventListener("rebuilt", (event) => rebuilt.push(/** @type {CustomEvent} */ (event).detail));
  pool.start();
  return pool;
}

/** The page has nothing else to do. */
function idle() {
  for (const act of pending.splice(0)) act();
}

/** @param {FakeWorker} [which] */
function isReady(which = worker()) {
  if (!which.boot.kit) which.post(say.handover(KIT));
  which.post(say.ready());
}

/** A pool whose clean worker is ready. @param {{ deviceMemory?: number }} [options] */
function readyPool(options) {
  const pool = startedPool(options);
  isReady();
  return pool;
}

/** A pool whose learner is ready too, and the snapshot made. @param {{ deviceMemory?: number }} [options] */
function preparedPool(options) {
  const pool = readyPool(options);
  pool.prepare();
  idle();
  const learner = worker();
  isReady();
  idle();
  if (worker() !== learner) worker().post(say.snapshot(SNAPSHOT));
  return { pool, learner };
}

/** Let go on what only waits for a promise. */
const settle = async () => {
  for (let i = 0; i < 10; i++) await null;
};

/** @param {Promise<unknown>} question @param {RegExp} sentence @param {typeof ClientError} [Reason] */
const assertRefused = (question, sentence, Reason = ClientError) =>
  assert.rejects(question, (/** @type {Error} */ error) => {
    assert.equal(error.constructor, Reason);
    assert.match(error.message, sentence);
    return true;
  });

beforeEach(() => {
  workers = [];
  pending = [];
  rebuilt = [];
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
});

// What starts when ----------------------------------------------------------------------------------------------------

test("the clean worker starts with the page, alone and from the network", () => {
  const pool = readyPool();
  idle();
  assert.equal(workers.length, 1);
  assert.equal(worker().boot.kit, undefined);
  assert.equal(pool.clean.status.state, "ready");
  assert.equal(pool.learner.status.state, "idle");
  assert.equal(pool.snapshot, "none");
});

test("prepare starts the learner when the page is idle, from what the clean worker handed on", () => {
  const pool = readyPool();
  pool.prepare();
  assert.equal(workers.length, 1);
  idle();
  assert.equal(workers.length, 2);
  assert.equal(worker().boot.kit, KIT);
  assert.equal(worker().boot.task, undefined);
  pool.prepare();
  idle();
  assert.equal(workers.length, 2);
});

test("prepare waits for the clean worker, also over a failure of it", () => {
  const pool = startedPool();
  pool.prepare();
  idle();
  assert.equal(workers.length, 1);
  worker().post(say.failed("No network."));
  pool.clean.start();
  isReady();
  assert.equal(workers.length, 2);
  idle();
  assert.equal(workers.length, 3);
});

test("a run before the clean worker is ready waits for it", async () => {
  const pool = startedPool();
  const run = pool.run({ code: "1" });
  assert.equal(workers.length, 1);
  isReady(workers[0]);
  assert.equal(workers.length, 2);
  isReady();
  worker().answer(worker().id, { n: 1 });
  assert.deepEqual(await run, { n: 1 });
});

test("where the clean worker fails, runs and checks say why, and work after Retry", async () => {
  const pool = startedPool();
  const [run, check] = [pool.run({}), pool.check([{}])];
  await settle();
  workers[0].post(say.failed("No network."));
  await assertRefused(run, /^No network\.$/);
  await assertRefused(check, /^No network\.$/);
  await assertRefused(pool.run({}), /^No network\.$/);
  pool.clean.start();
  isReady();
  const again = pool.run({});
  isReady();
  worker().answer(worker().id, {});
  await again;
});

test("a run may take for ever, and what it prints is heard", async () => {
  const { pool, learner } = preparedPool();
  /** @type {string[]} */
  const heard = [];
  const run = pool.run({}, { onOutput: ({ text }) => heard.push(text) });
  learner.post(say.begun(learner.id));
  mock.timers.tick(1e8);
  learner.post(say.output(learner.id, [{ stream: "stdout", text: "1" }]));
  learner.answer(learner.id, {});
  await run;
  assert.deepEqual(heard, ["1"]);
});

// The snapshot -------------------------------------------------------------------------------------------------------

test("the snapshot is made once, by a worker that does nothing else, when the learner is ready and the page idle", () => {
  const pool = readyPool();
  pool.prepare();
  idle();
  isReady();
  assert.equal(workers.length, 2);
  idle();
  assert.equal(workers.length, 3);
  assert.equal(worker().boot.task, "snapshot");
  assert.equal(worker().boot.kit, KIT);
  assert.equal(pool.snapshot, "making");
  worker().post(say.snapshot(SNAPSHOT));
  assert.equal(pool.snapshot, "ready");
  assert.ok(worker().terminated);
  assert.equal(alive().length, 2);
});

test("a snapshot that cannot be made is done without", async () => {
  const pool = readyPool();
  pool.run({}).catch(() => {});
  isReady();
  idle();
  worker().post(say.failed("Unsupported."));
  assert.equal(pool.snapshot, "unusable");
  assert.equal(alive().length, 2);
  workers[1].post(say.failed("Python broke down."));
  assert.equal(worker().boot.snapshot, undefined);
  assert.equal(worker().boot.kit, KIT);
  isReady();
  idle();
  assert.equal(pool.snapshot, "unusable");
});

test("a worker that does not start from the snapshot starts without it, and so do all later ones", async () => {
  const { pool, learner } = preparedPool();
  pool.run({}).catch(() => {});
  learner.post(say.failed("Python broke down."));
  assert.equal(worker().boot.snapshot, SNAPSHOT);
  const run = pool.run({});
  worker().post(say.failed("offset is out of bounds"));
  assert.equal(pool.snapshot, "unusable");
  assert.equal(worker().boot.snapshot, undefined);
  isReady();
  worker().answer(worker().id, {});
  await run;
});

for (const [when, pool] of /** @type {const} */ ([
  ["on a device with little memory", () => preparedPool({ deviceMemory: 2 })],
  [
    "after an allocation failed",
    () => {
      const pool = readyPool();
      pool.prepare();
      idle();
      worker().post(say.failed("There was not enough memory.", true));
      isReady();
      idle();
      return { pool, learner: worker() };
    },
  ],
])) {
  test(`${when} there is neither a snapshot nor a grader in waiting`, async () => {
    const { pool: frugal, learner } = pool();
    assert.equal(frugal.snapshot, "none");
    const run = frugal.run({});
    learner.answer(learner.id, {});
    await run;
    const check = frugal.check([{}]);
    await settle();
    isReady();
    worker().answer(worker().id, {});
    await check;
    await settle();
    idle();
    assert.equal(alive().length, 2);
  });
}

// Stop, and what is lost ---------------------------------------------------------------------------------------------

test("stop ends a learner that does not hear it; a fresh one starts at once and the page is told", async () => {
  const { pool, learner } = preparedPool();
  const run = pool.run({});
  learner.post(say.begun(learner.id));
  pool.stop("learner");
  mock.timers.tick(250);
  await assertRefused(run, /^Stopped\./, StoppedError);
  assert.ok(learner.terminated);
  assert.equal(worker().boot.snapshot, SNAPSHOT);
  assert.equal(rebuilt.length, 1);
  assert.equal(rebuilt[0].role, "learner");
  assert.match(rebuilt[0].reason, /^Stopped\. Python was in the middle/);
  const again = pool.run({});
  isReady();
  worker().answer(worker().id, { n: 1 });
  assert.deepEqual(await again, { n: 1 });
  assert.equal(alive().length, 2);
});

test("stop of a learner that hears it costs nothing", async () => {
  const { pool, learner } = preparedPool();
  const run = pool.run({});
  pool.stop("learner");
  learner.post(say.stopping(learner.id));
  learner.post(say.fault(learner.id, "Stopped."));
  await assertRefused(run, /^Stopped\.$/, StoppedError);
  mock.timers.tick(1e6);
  assert.ok(!learner.terminated);
  assert.deepEqual(rebuilt, []);
});

test("stop before anything has started cancels the run, and nothing starts for it", async () => {
  const pool = startedPool();
  const run = pool.run({});
  pool.stop("learner");
  await assertRefused(run, /^Stopped\.$/, StoppedError);
  isReady();
  assert.equal(workers.length, 1);
});

test("stop while the learner starts cancels the run; the start goes on and nothing runs later", async () => {
  const pool = readyPool();
  const run = pool.run({});
  pool.stop("learner");
  await assertRefused(run, /^Stopped\.$/, StoppedError);
  isReady();
  assert.ok(!worker().terminated);
  assert.deepEqual(worker().asked, []);
  assert.deepEqual(rebuilt, []);
});

test("a learner that breaks down, vanishes or misses a deadline is replaced, and the page told", async () => {
  const { pool } = preparedPool();
  const learner = () => alive()[1];
  const broken = pool.run({});
  learner().post(say.failed("The code ended Python itself."));
  await assertRefused(broken, /^The code ended Python itself\.$/, LostError);
  isReady();
  const vanished = pool.run({});
  learner().onerror({});
  await assertRefused(vanished, /ended unexpectedly/, LostError);
  isReady();
  const late = pool.run({}, { deadline: 100 });
  mock.timers.tick(100);
  await assertRefused(late, /stopped answering/, DeadlineError);
  assert.deepEqual(
    rebuilt.map(({ role, reason }) => `${role}: ${reason}`),
    [
      "learner: The code ended Python itself.",
      "learner: Python has ended unexpectedly.",
      "learner: Python has stopped answering: there was nothing for 0.1 seconds.",
    ],
  );
  assert.equal(alive().length, 2);
});

test("a fault where a reader's code runs costs the worker, for ours cannot be relied on there any more", async () => {
  const { pool, learner } = preparedPool();
  const run = pool.run({});
  learner.post(say.fault(learner.id, "TypeError: 'int' object is not callable"));
  await assertRefused(run, /^TypeError/, FaultError);
  assert.ok(learner.terminated);
  assert.equal(alive().length, 2);
  assert.equal(rebuilt[0].role, "learner");
});

test("after a stop that takes a new worker, the next question waits for it", async () => {
  const { pool, learner } = preparedPool();
  const busy = pool.run({ n: 1 });
  let atRest = false;
  const resting = pool.stop("learner").then(() => {
    atRest = true;
  });
  const next = pool.run({ n: 2 });
  await settle();
  assert.ok(!atRest);
  mock.timers.tick(250);
  await assertRefused(busy, /^Stopped\./, StoppedError);
  await resting;
  assert.ok(learner.terminated);
  isReady();
  assert.equal(worker().asked[0].n, 2);
  worker().answer(worker().id, { n: 2 });
  assert.deepEqual(await next, { n: 2 });
});

test("a grader in waiting takes the place of a learner that is lost, and another one is made ready", async () => {
  const { pool, learner } = preparedPool();
  pool.run({});
  learner.answer(learner.id, {});
  idle();
  const grader = worker();
  isReady();
  const busy = pool.run({ n: 1 });
  pool.stop("learner");
  mock.timers.tick(250);
  await assertRefused(busy, /^Stopped\./, StoppedError);
  assert.ok(learner.terminated && !grader.terminated);
  const next = pool.run({ n: 2 });
  assert.equal(grader.asked[0].n, 2);
  grader.answer(grader.id, { n: 2 });
  assert.deepEqual(await next, { n: 2 });
  assert.equal(pool.grader.status.state, "idle");
  idle();
  assert.equal(pool.grader.status.state, "loading");
  assert.equal(alive().length, 3);
});

test("on hearing that the learner was rebuilt the page may ask at once", async () => {
  const { pool, learner } = preparedPool();
  const replayed = new Promise((resolve, reject) =>
    pool.addEventListener("rebuilt", () => pool.run({ n: 1 }).then(resolve, reject)),
  );
  pool.run({}).catch(() => {});
  learner.post(say.failed("Broken."));
  isReady();
  assert.equal(worker().asked[0].n, 1);
  worker().answer(worker().id, {});
  await replayed;
});

test("a start that fails is tried once more; then the role has failed, and a later run tries again", async () => {
  const pool = readyPool();
  const run = pool.run({});
  worker().post(say.failed("Once."));
  worker().post(say.failed("Twice."));
  await assertRefused(run, /^Twice\.$/);
  assert.equal(workers.length, 3);
  assert.equal(pool.learner.status.state, "failed");
  assert.equal(pool.learner.status.stage, "Twice.");
  mock.timers.tick(1e6);
  idle();
  assert.equal(workers.length, 3);
  const again = pool.run({});
  isReady();
  worker().answer(worker().id, {});
  await again;
  assert.deepEqual(rebuilt, []);
});

test("the clean worker is not replaced behind the reader's back", async () => {
  const { pool } = preparedPool();
  const question = pool.clean.ask({});
  workers[0].post(say.failed("Python broke down."));
  await assertRefused(question, /^Python broke down\.$/, LostError);
  assert.equal(pool.clean.status.state, "failed");
  assert.deepEqual(alive(), [workers[1]]);
  pool.clean.start();
  assert.equal(worker().boot.kit, KIT);
  assert.equal(worker().boot.snapshot, undefined);
});

test("a learner with a swollen heap is replaced when nothing more is asked", async () => {
  const { pool, learner } = preparedPool();
  const runs = [pool.run({}), pool.run({})];
  learner.answer(learner.id, { n: 1 }, 301e6);
  mock.timers.tick(0);
  assert.ok(!learner.terminated);
  learner.answer(learner.id, { n: 2 }, 301e6);
  assert.deepEqual(await Promise.all(runs), [{ n: 1 }, { n: 2 }]);
  assert.ok(!learner.terminated);
  mock.timers.tick(0);
  assert.ok(learner.terminated);
  assert.match(rebuilt[0].reason, /memory/);
  assert.equal(rebuilt.length, 1);
  assert.equal(worker().boot.snapshot, SNAPSHOT);
});

test("a learner with a heap of usual size stays", async () => {
  const { pool, learner } = preparedPool();
  const run = pool.run({});
  learner.answer(learner.id, {}, 299e6);
  await run;
  mock.timers.tick(1e6);
  assert.ok(!learner.terminated);
});

// Checks -------------------------------------------------------------------------------------------------------------

test("a check has a worker of its own, which ends with it", async () => {
  const { pool } = preparedPool();
  const check = pool.check([{ n: 1 }], 5000);
  await settle();
  const grader = worker();
  assert.equal(grader.boot.snapshot, SNAPSHOT);
  isReady();
  assert.equal(grader.asked[0].n, 1);
  grader.answer(grader.id, { passed: true });
  assert.deepEqual(await check, [{ passed: true }]);
  assert.ok(grader.terminated);
  assert.deepEqual(rebuilt, []);
});

test("a grader waits for the next check, once something was run or checked and the page is idle", async () => {
  const { pool, learner } = preparedPool();
  idle();
  assert.equal(alive().length, 2);
  const run = pool.run({});
  learner.answer(learner.id, {});
  await run;
  assert.equal(alive().length, 2);
  idle();
  assert.equal(alive().length, 3);
  isReady();
  const first = worker();
  const check = pool.check([{}]);
  await settle();
  assert.equal(worker(), first);
  first.answer(first.id, {});
  await check;
  await settle();
  assert.equal(alive().length, 2);
  idle();
  assert.equal(alive().length, 3);
});

test("a check takes over a grader that is still starting", async () => {
  const { pool, learner } = preparedPool();
  pool.run({});
  learner.answer(learner.id, {});
  idle();
  const check = pool.check([{ n: 1 }]);
  await settle();
  assert.equal(alive().length, 3);
  isReady();
  worker().answer(worker().id, {});
  await check;
});

test("one check at a time", async () => {
  const { pool } = preparedPool();
  const checks = [pool.check([{ n: 1 }]), pool.check([{ n: 2 }])];
  for (const n of [1, 2]) {
    await settle();
    idle();
    assert.equal(alive().length, 3);
    isReady();
    assert.deepEqual(
      worker().asked.map((asked) => asked.n),
      [n],
    );
    worker().answer(worker().id, { n });
  }
  assert.deepEqual(await Promise.all(checks), [[{ n: 1 }], [{ n: 2 }]]);
});

test("a check that misses its deadline, or breaks Python, ends its grader; the next one has a fresh one", async () => {
  const { pool } = preparedPool();
  const late = pool.check([{}], 3000);
  await settle();
  isReady();
  mock.timers.tick(3000);
  assert.ok((await late)[0] instanceof DeadlineError);
  const broken = pool.check([{}]);
  await settle();
  isReady();
  worker().post(say.failed("The code ended Python itself."));
  assert.match((await broken)[0].message, /^The code ended/);
  const good = pool.check([{}]);
  await settle();
  isReady();
  worker().answer(worker().id, {});
  await good;
  assert.deepEqual(
    rebuilt.map(({ role }) => role),
    ["grader", "grader"],
  );
});

test("the questions of a check share a grader, and one that is lost costs only itself", async () => {
  const { pool } = preparedPool();
  const check = pool.check([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }], 3000);
  await settle();
  isReady();
  const first = worker();
  first.answer(first.id, { n: 1 });
  await settle();
  assert.equal(worker(), first);
  mock.timers.tick(3000);
  await settle();
  const second = worker();
  assert.ok(first.terminated && second !== first);
  isReady();
  for (const n of [3, 4]) {
    assert.equal(second.asked.at(-1).n, n);
    second.answer(second.id, { n });
    await settle();
  }
  const [one, two, three, four] = await check;
  assert.deepEqual([one, three, four], [{ n: 1 }, { n: 3 }, { n: 4 }]);
  assert.ok(two instanceof DeadlineError);
  assert.ok(second.terminated);
});

test("a question that Python refuses is our mistake, and fails the check as a whole", async () => {
  const { pool } = preparedPool();
  const check = pool.check([{ n: 1 }, { n: 2 }]);
  await settle();
  isReady();
  worker().answer(worker().id, { kind: "refused", sentence: "There is no such check." });
  await assertRefused(check, /^There is no such check\.$/);
});

test("stop cancels a check at once, and those that wait for their turn", async () => {
  const { pool } = preparedPool();
  const checks = [pool.check([{}]), pool.check([{}])];
  await settle();
  const grader = worker();
  isReady();
  pool.stop("grader");
  assert.ok(grader.terminated);
  for (const check of checks) await assertRefused(check, /^Stopped\.$/, StoppedError);
  const next = pool.check([{ n: 3 }]);
  await settle();
  isReady();
  assert.equal(worker().asked[0].n, 3);
  worker().answer(worker().id, {});
  await next;
});

test("stop while the grader starts cancels the check and keeps the grader for the next", async () => {
  const { pool } = preparedPool();
  const check = pool.check([{}]);
  await settle();
  pool.stop("grader");
  await assertRefused(check, /^Stopped\.$/, StoppedError);
  const grader = worker();
  isReady();
  assert.ok(!grader.terminated);
  assert.equal(grader.asked.length, 0);
  pool.check([{ n: 2 }]);
  await settle();
  assert.equal(grader.asked[0].n, 2);
});

test("a grader that fails to start twice says so, and the next check tries again", async () => {
  const { pool } = preparedPool();
  const check = pool.check([{}]);
  await settle();
  worker().post(say.failed("Once."));
  worker().post(say.failed("Twice."));
  await assertRefused(check, /^Twice\.$/);
  const again = pool.check([{}]);
  await settle();
  isReady();
  worker().answer(worker().id, {});
  await again;
});
