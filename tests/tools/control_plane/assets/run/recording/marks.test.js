import assert from "node:assert/strict";
import { test } from "node:test";

import { densityOf, marksOf } from "../../../../../../tools/control_plane/assets/run/recording/marks.js";
import { TimeScale } from "../../../../../../tools/control_plane/assets/run/recording/time_scale.js";

const steps = (...times) => times.map((video_start, index) => ({ id: String(index), video_start, error: index === 1 ? "No." : null }));

test("marks closer than six pixels are a band that knows its failures", () => {
  const marks = marksOf(steps(1, 1.5, 2, 50), new TimeScale(100, 1000));
  assert.deepEqual(marks.map(({ x, end, steps: all, failed }) => [x, end, all.length, failed]), [[10, 20, 3, 1], [500, 500, 1, 0]]);
});

test("zooming in divides a band, and leaves out what is not visible", () => {
  const marks = marksOf(steps(1, 1.5, 2, 50), new TimeScale(100, 1000, { from: 1, to: 11 }));
  assert.deepEqual(marks.map(({ x }) => x), [0, 50, 100]);
});

test("two thousand steps have fewer marks than elements may be in a page", () => {
  const many = steps(...Array.from({ length: 2000 }, (_, index) => index / 3));
  assert.ok(marksOf(many, new TimeScale(700, 900)).length < 160);
});

test("the bars of a band show where its steps are", () => {
  const scale = new TimeScale(100, 1000);
  const [band] = marksOf(steps(1, 1.1, 1.2, 1.7), scale);
  assert.deepEqual(densityOf(band, scale, 6), [1, 1 / 3]);
});
