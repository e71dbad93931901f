import assert from "node:assert/strict";
import { test } from "node:test";

import { scrolledTo, visibleRows } from "../../../../../../tools/control_plane/assets/run/recording/visible_rows.js";

test("only what is visible, and a few rows beside, is in the page", () => {
  assert.deepEqual(visibleRows(2000, 60, 6000, 600), { first: 94, last: 116 });
  assert.deepEqual(visibleRows(3, 60, 0, 600), { first: 0, last: 3 });
  assert.deepEqual(visibleRows(0, 60, 900, 600), { first: 0, last: 0 });
});

test("a row is scrolled to the middle, unless it is in view", () => {
  assert.equal(scrolledTo(3, 60, 0, 600), null);
  assert.equal(scrolledTo(100, 60, 0, 600), 5730);
  assert.equal(scrolledTo(1, 60, 600, 600), 0);
});
