import assert from "node:assert/strict";
import { test } from "node:test";

import { peopleMarks, videoTimeOf } from "../../../../../../tools/control_plane/assets/run/conversation/people_marks.js";

const MAP = [[1000, 0], [1010, 10], [1110, 12]];

test("a unix time has its place in the video", () => {
  assert.deepEqual([1000, 1005, 1060, 1110].map((at) => videoTimeOf(at, MAP)), [0, 5, 11, 12]);
});

test("before and after the video there is none", () => {
  assert.deepEqual([999, 1111].map((at) => videoTimeOf(at, MAP)), [null, null]);
  assert.equal(videoTimeOf(5, []), null);
});

test("what people did is marked where it was done", () => {
  const people = [
    { id: "1", kind: "control", by: "Ada", text: "2 keys", at: 1001, ended_at: 1003, video_start: 1, video_end: 3 },
    { id: "2", kind: "stop", by: "Ada", text: "", at: 1005 },
  ];
  assert.deepEqual(peopleMarks(people, MAP, ({ by }) => `${by} stopped`), [
    { title: "Ada stopped", text: "2 keys", started_at: 1001, ended_at: 1003, video_start: 1, video_end: 3 },
    { title: "Ada stopped", text: "", started_at: 1005, ended_at: 1005, video_start: 5, video_end: 5 },
  ]);
});
