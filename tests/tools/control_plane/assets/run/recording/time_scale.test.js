import assert from "node:assert/strict";
import { test } from "node:test";

import { SHORTEST_WINDOW, TimeScale } from "../../../../../../tools/control_plane/assets/run/recording/time_scale.js";

test("times and pixels are each other's inverse", () => {
  const scale = new TimeScale(100, 200, { from: 20, to: 40 });
  assert.equal(scale.x(25), 50);
  assert.equal(scale.time(50), 25);
  assert.equal(scale.time(-9000), 0);
});

test("zooming keeps the moment below the pointer in its place", () => {
  const scale = new TimeScale(100, 200).zoomed(30, 0.5);
  assert.deepEqual([scale.from, scale.to, scale.x(30)], [15, 65, 60]);
});

test("a window stays within the video and is never too short", () => {
  const scale = new TimeScale(100, 200);
  assert.deepEqual([scale.zoomed(0, 9).from, scale.zoomed(0, 9).to], [0, 100]);
  assert.ok(Math.abs(scale.zoomed(50, 1e-9).seconds - SHORTEST_WINDOW) < 1e-9);
  assert.equal(scale.zoomed(90, 0.1).moved(1000).to, 100);
  assert.equal(new TimeScale(0.3, 200).zoomed(0, 0.1).seconds, 0.3);
});

test("a video that grows stays visible as a whole, or as far as it was", () => {
  assert.equal(new TimeScale(10, 200).resized(20, 100).to, 20);
  assert.equal(new TimeScale(10, 200, { from: 2, to: 4 }).resized(20, 100).to, 4);
  assert.deepEqual([new TimeScale(10, 9, { from: 8, to: 9 }).resized(5, 9).from, new TimeScale(0, 0).resized(0, 9).x(1)], [0, 0]);
});

test("a moment out of view moves the window, a visible one does not", () => {
  const scale = new TimeScale(100, 200, { from: 0, to: 10 });
  assert.equal(scale.showing(5), scale);
  assert.deepEqual([scale.showing(50).from, scale.around({ from: 50, to: 60 }).from], [45, 49]);
});

test("ticks of the ruler are at round times and apart from each other", () => {
  assert.deepEqual(new TimeScale(60, 600).ticks(), { times: [0, 10, 20, 30, 40, 50, 60], step: 10 });
  assert.deepEqual(new TimeScale(100, 600, { from: 59.9, to: 61 }).ticks().step, 0.2);
  assert.equal(new TimeScale(72000, 100).ticks().step, 54000);
});
