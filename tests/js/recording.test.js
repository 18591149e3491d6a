import assert from "node:assert/strict";
import { test } from "node:test";
import { Recording } from "../../site/recording.js";

test("a recording answers as the run did, and starts anew on open", async () => {
  const run = { opened: { kind: "opened" }, advanced: [{ step: 1 }, { step: 2 }] };
  const recording = new Recording(run);
  for (let time = 0; time < 2; time++) {
    assert.equal(await recording.ask({ kind: "open" }), run.opened);
    assert.equal(await recording.ask({ kind: "advance" }), run.advanced[0]);
    assert.equal(await recording.ask({ kind: "advance" }), run.advanced[1]);
  }
  await recording.ask({ kind: "open" });
  assert.equal(await recording.ask({ kind: "advance" }), run.advanced[0]);
  await recording.ask({ kind: "open" });
  assert.equal(await recording.ask({ kind: "advance" }), run.advanced[0]);
});
