import assert from "node:assert/strict";
import { test } from "node:test";

import { laneSpans, secondsOf } from "../../../../../../tools/control_plane/assets/run/recording/lanes.js";
import { TimeMap } from "../../../../../../tools/control_plane/assets/run/recording/time_map.js";

const map = new TimeMap([[100, 0], [200, 100]]);
const step = (fields) => ({ id: "1", tool: "computer", action: "left_click", status: "done", started_at: 110, ended_at: 112, timings: {}, ...fields });

test("a step's time is divided by what it was spent on", () => {
  const parts = secondsOf(step({ timings: { model_ms: 3000, queue_ms: 500, act_ms: 200, settle_ms: 800, capture_ms: 100, encode_ms: 100 } }));
  assert.deepEqual(parts, { model: 3, action: 0.5, settle: 1, waiting: 0.5, person: 0 });
});

test("waiting tools wait, and control sessions are a person's", () => {
  assert.equal(secondsOf(step({ tool: "wait_agent", action: null })).waiting, 2);
  assert.equal(secondsOf(step({ tool: "human", action: null })).person, 2);
  assert.equal(secondsOf(step({ ended_at: null, timings: null })).action, 0);
});

test("the model works before its step, and never before the end of the step before", () => {
  const spans = laneSpans([step({ timings: { model_ms: 4000 } }), step({ started_at: 114, ended_at: 115, error: "No.", timings: { model_ms: 9000 } })], map);
  const rounded = spans.map((span) => ({ ...span, from: Math.round(span.from), to: Math.round(span.to) }));
  assert.deepEqual(rounded, [
    { lane: "model", from: 6, to: 10, failed: false },
    { lane: "action", from: 10, to: 12, failed: false },
    { lane: "model", from: 12, to: 14, failed: false },
    { lane: "action", from: 14, to: 15, failed: true },
  ]);
});

test("what was not recorded has no span", () => {
  assert.deepEqual(laneSpans([step({ started_at: 10, ended_at: 20 })], map), []);
});
