import assert from "node:assert/strict";
import { test } from "node:test";

import { TimeMap } from "../../../../../../tools/control_plane/assets/run/recording/time_map.js";

const map = new TimeMap([[100, 0], [110, 10], [350, 12], [360, 12.5], [365, 17.5]]);

test("real time and video time are each other's inverse", () => {
  assert.equal(map.video(105), 5);
  assert.equal(map.real(11), 230);
  assert.equal(map.video(365), 17.5);
});

test("there is no time outside of a recording", () => {
  assert.deepEqual([map.video(99), map.video(400), map.real(-1), new TimeMap([]).video(1)], [null, null, null, null]);
});

test("neighbouring stretches of idle time are one", () => {
  assert.deepEqual(map.stills(), [{ from: 10, to: 12.5, real: 250 }]);
});

test("a gap between two recordings has no length in the video", () => {
  const gap = new TimeMap([[0, 0], [10, 10], [500, 10], [510, 20]]);
  assert.deepEqual(gap.stills(), []);
  assert.equal(gap.video(300), 10);
});
