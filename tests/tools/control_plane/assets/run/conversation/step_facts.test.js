import assert from "node:assert/strict";
import { test } from "node:test";

import { marksOf, pathsOf, picturesOf, stagesOf, tokensOfStep } from "../../../../../../tools/control_plane/assets/run/conversation/step_facts.js";

const step = (more = {}) => ({ id: "s", tool_call_id: "c", tool: "computer", status: "done", started_at: 0, ...more });

test("a click has the point that the model meant", () => {
  assert.deepEqual(marksOf(step({ arguments: { coordinate: [3, 4] } })), { point: [3, 4], path: [] });
  assert.deepEqual(marksOf(step({ details: { model_point: [5, 6] }, arguments: { coordinate: [3, 4] } })).point, [5, 6]);
  assert.deepEqual(marksOf(step({ arguments: { coordinate: "3, 4" } })), { point: null, path: [] });
  assert.deepEqual(marksOf(step()), { point: null, path: [] });
});

test("a drag has its path", () => {
  const args = { start_coordinate: [1, 2], coordinate: [3, 4] };
  assert.deepEqual(marksOf(step({ action: "left_click_drag", arguments: args })).path, [[1, 2], [3, 4]]);
  const path = [{ x: 1, y: 2 }, { x: 3, y: 4 }, { x: 5, y: 6 }];
  assert.deepEqual(marksOf(step({ action: "drag", arguments: { path } })).path, [[1, 2], [3, 4], [5, 6]]);
});

test("the picture before a step is the newest of an earlier one", () => {
  const steps = [step({ id: "a", screenshot_file_id: "f1" }), step({ id: "b" }), step({ id: "c", screenshot_file_id: "f2" })];
  assert.deepEqual(picturesOf(steps, steps[2]), { before: "f1", after: "f2" });
  assert.deepEqual(picturesOf(steps, steps[0]), { before: null, after: "f1" });
  assert.deepEqual(picturesOf([], steps[1]), { before: null, after: null });
});

test("stages share the time of the model and the call", () => {
  const timings = { act_ms: 100, settle_ms: 200, model_ms: 500 };
  assert.deepEqual(stagesOf(step({ ended_at: 0.5, timings })), [
    { name: "act", ms: 100, share: 10 },
    { name: "settle", ms: 200, share: 20 },
    { name: "model", ms: 500, share: 50 },
    { name: "other", ms: 200, share: 20 },
  ]);
  assert.deepEqual(stagesOf(step()), []);
});

test("tokens are those that were used", () => {
  const usage = { input_tokens: 10, output_tokens: 0, cache_read_tokens: 5, cost_usd: 1 };
  assert.deepEqual(tokensOfStep(step({ usage })), [["input", 10], ["cache read", 5]]);
  assert.deepEqual(tokensOfStep(step()), []);
});

test("the files of a step are named once", () => {
  assert.deepEqual(pathsOf(step({ arguments: { path: "a", edits: [{ path: "a" }, { file_path: "b" }, null] } })), ["a", "b"]);
  assert.deepEqual(pathsOf(step()), []);
});
