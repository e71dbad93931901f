import assert from "node:assert/strict";
import { test } from "node:test";

import { OverlappingCalls } from "../../../../tools/control_plane/assets/overlapping_calls.js";

test("an answer counts until that of a later call was accepted", () => {
  const calls = new OverlappingCalls();
  const [first, second, third] = [calls.begin(), calls.begin(), calls.begin()];
  assert.deepEqual([first.accept(), third.accept(), second.accept()], [true, true, false]);
});

test("the latest call is the one that has begun last", () => {
  const calls = new OverlappingCalls();
  const first = calls.begin();
  assert.equal(first.isLatest(), true);
  const second = calls.begin();
  assert.deepEqual([first.isLatest(), second.isLatest()], [false, true]);
});
