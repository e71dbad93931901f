import assert from "node:assert/strict";
import { test } from "node:test";

import { linesInView, linesOf, linesWith } from "../../../../../../tools/control_plane/assets/run/conversation/lines_window.js";

test("the lines in view and some beyond are drawn", () => {
  assert.deepEqual(linesInView({ top: 1000, height: 200, row: 20, count: 9000, beyond: 5 }), { from: 45, to: 65 });
  assert.deepEqual(linesInView({ top: 0, height: 200, row: 20, count: 3 }), { from: 0, to: 3 });
  assert.deepEqual(linesInView({ top: 9e9, height: 200, row: 20, count: 30, beyond: 5 }), { from: 25, to: 30 });
});

test("a search ignores case", () => {
  assert.deepEqual(linesWith(["One", "two", "oNe"], "one"), [0, 2]);
  assert.deepEqual(linesWith(["One"], ""), []);
});

test("a line that is too long becomes several", () => {
  assert.deepEqual(linesOf("abcdef\ng\n", 4), ["abcd", "ef", "g"]);
  assert.deepEqual(linesOf("", 4), [""]);
});
