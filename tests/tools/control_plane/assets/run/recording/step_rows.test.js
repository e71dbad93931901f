import assert from "node:assert/strict";
import { test } from "node:test";

import { EVERYTHING, rowsOf, toolsOf } from "../../../../../../tools/control_plane/assets/run/recording/step_rows.js";

const step = (id, fields = {}) => ({ id, tool: "computer", action: "left_click", label: `Click ${id}`, sentence: "", status: "done", started_at: 0, ended_at: 1, video_start: Number(id), ...fields });
const steps = [
  step("1", { sentence: "I begin." }),
  step("2", { sentence: "I begin.", error: "No window." }),
  step("3"),
  step("4", { sentence: "I end.", tool: "execute", action: null, label: "Run ls", video_start: null }),
];
const keys = (filter) => rowsOf(steps, { ...EVERYTHING, ...filter }).map((row) => row.key);

test("steps of one sentence are a group", () => {
  assert.deepEqual(keys({}), ["group-1", "1", "2", "3", "group-4", "4"]);
  assert.deepEqual(rowsOf(steps, EVERYTHING)[0], { kind: "group", key: "group-1", text: "I begin.", count: 2 });
});

test("a filter keeps what has all words, the tool, the failure and the span", () => {
  assert.deepEqual(keys({ text: "WINDOW click" }), ["group-2", "2"]);
  assert.deepEqual(keys({ tool: "execute" }), ["group-4", "4"]);
  assert.deepEqual(keys({ failed: true }), ["group-2", "2"]);
  assert.deepEqual(keys({ span: { from: 2.5, to: 9 } }), ["3"]);
  assert.deepEqual(keys({ text: "nothing" }), []);
});

test("a step keeps its number in the whole run", () => {
  assert.deepEqual(rowsOf(steps, { ...EVERYTHING, failed: true }).filter((row) => row.kind === "step").map((row) => row.number), [2]);
});

test("tools are counted by their names", () => {
  assert.deepEqual(toolsOf(steps), [["execute", 1], ["left_click", 3]]);
});
