import assert from "node:assert/strict";
import { test } from "node:test";

import { nextFailure, sentencesOf, shownSteps, stepAt } from "../../../../../../tools/control_plane/assets/run/recording/steps.js";

const text = (words) => ({ type: "text", text: words });
const call = (id) => ({ type: "tool_call", id });

test("a sentence belongs to the calls that follow it, until the next", () => {
  const messages = [
    { content: [text("Do it.")] },
    { content: [text("I open\n the page."), call("a"), call("b")] },
    { content: [{ type: "tool_result", call_id: "a" }] },
    { content: [call("c")] },
    { content: [text("Now something else.")] },
    { content: [call("d")] },
  ];
  assert.deepEqual([...sentencesOf(messages)], [["a", "I open the page."], ["b", "I open the page."], ["c", "I open the page."], ["d", ""]]);
});

test("control sessions of people are steps in their place", () => {
  const steps = [
    { id: "1", tool_call_id: "a", tool: "computer", started_at: 5, details: { reason: "To look." } },
    { id: "2", tool_call_id: "b", tool: "computer", started_at: 9, video_start: 4 },
  ];
  const session = { index: 0, title: "Ada was in control", text: "3 clicks", started_at: 7, ended_at: 8, video_start: 2, video_end: 3 };
  const shown = shownSteps(steps, [session], new Map([["b", "Then."]]), (step) => `Step ${step.id}`);
  assert.deepEqual(shown.map((step) => [step.label, step.sentence, step.video_start]), [["Step 1", "To look.", null], ["Ada was in control", "", 2], ["Step 2", "Then.", 4]]);
});

const timed = [1, 2, 2, 5].map((video_start, index) => ({ id: String(index), video_start, error: index === 1 ? "No." : null, status: "done" }));

test("the step of a moment is the last that has begun", () => {
  assert.deepEqual([0.5, 1, 2, 4.9, 9].map((time) => stepAt(timed, time)?.id), [undefined, "0", "2", "2", "3"]);
});

test("the next failure begins again at the first", () => {
  assert.equal(nextFailure(timed, 0)?.id, "1");
  assert.equal(nextFailure(timed, 2)?.id, "1");
  assert.equal(nextFailure([], 2), null);
});
