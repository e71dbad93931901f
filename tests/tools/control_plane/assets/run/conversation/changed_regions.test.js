import assert from "node:assert/strict";
import { test } from "node:test";

import { changedRegions } from "../../../../../../tools/control_plane/assets/run/conversation/changed_regions.js";

const picture = (width, height) => new Uint8ClampedArray(width * height * 4);
const paint = (pixels, width, x, y, value = 255) => pixels.fill(value, (y * width + x) * 4, (y * width + x) * 4 + 3);

test("equal pictures have no regions", () => {
  assert.deepEqual(changedRegions(picture(40, 40), picture(40, 40), 40, 40), []);
});

test("neighbouring tiles are one region, others are not", () => {
  const after = picture(100, 40);
  for (const [x, y] of [[2, 2], [17, 2], [17, 20], [99, 39]]) {
    paint(after, 100, x, y);
  }
  assert.deepEqual(changedRegions(picture(100, 40), after, 100, 40), [
    { x: 0, y: 0, width: 32, height: 32 },
    { x: 96, y: 32, width: 4, height: 8 },
  ]);
});

test("the noise of an encoder is no change", () => {
  const after = picture(16, 16);
  paint(after, 16, 3, 3, 7);
  assert.deepEqual(changedRegions(picture(16, 16), after, 16, 16), []);
});
