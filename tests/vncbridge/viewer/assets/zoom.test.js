import assert from "node:assert/strict";
import { test } from "node:test";

import { MOST, panned, pinched, revealed, WHOLE, within } from "../../../../vncbridge/viewer/assets/zoom.js";

const BOX = { width: 400, height: 200 };

test("what is between the fingers stays there", () => {
  const view = pinched(WHOLE, 2, { x: 100, y: 50 }, { x: 100, y: 50 }, BOX);
  assert.deepEqual(view, { scale: 2, left: -100, top: -50 });
});

test("the picture follows fingers that move while they spread", () => {
  const view = pinched({ scale: 2, left: -100, top: -50 }, 1, { x: 100, y: 50 }, { x: 60, y: 40 }, BOX);
  assert.deepEqual(view, { scale: 2, left: -140, top: -60 });
});

test("the picture is never smaller than its box, nor larger than eight times", () => {
  assert.deepEqual(pinched(WHOLE, 0.2, { x: 9, y: 9 }, { x: 9, y: 9 }, BOX), WHOLE);
  assert.equal(pinched(WHOLE, 100, { x: 9, y: 9 }, { x: 9, y: 9 }, BOX).scale, MOST);
});

test("no edge comes inside of the box", () => {
  const view = { scale: 2, left: -100, top: -50 };
  assert.deepEqual(panned(view, { x: 500, y: 500 }, BOX), { scale: 2, left: 0, top: 0 });
  assert.deepEqual(panned(view, { x: -900, y: -900 }, BOX), { scale: 2, left: -400, top: -200 });
  assert.deepEqual(panned(WHOLE, { x: 30, y: 30 }, BOX), WHOLE);
});

test("a point behind the keyboard comes above it", () => {
  const covered = { ...BOX, visible: 100 };
  assert.deepEqual(revealed(WHOLE, { x: 10, y: 150 }, covered), { scale: 1, left: 0, top: -100 });
  assert.deepEqual(revealed(WHOLE, { x: 10, y: 40 }, covered), WHOLE);
  assert.deepEqual(revealed(WHOLE, { x: 10, y: 190 }, BOX), WHOLE);
});

test("without the keyboard the picture returns to its place", () => {
  assert.deepEqual(within({ scale: 1, left: 0, top: -100 }, BOX), WHOLE);
});
