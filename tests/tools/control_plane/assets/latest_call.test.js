import assert from "node:assert/strict";
import { test } from "node:test";

import { LatestCall } from "../../../../tools/control_plane/assets/latest_call.js";

test("a call counts until the next one begins", () => {
  const calls = new LatestCall();
  const first = calls.begin();
  assert.equal(first(), true);
  const second = calls.begin();
  assert.deepEqual([first(), second()], [false, true]);
  assert.equal(new LatestCall().begin()(), true);
});
