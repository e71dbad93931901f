import assert from "node:assert/strict";
import { test } from "node:test";

import { RATES, SHORTCUTS, commandOf, keyWords, nextRate } from "../../../../../../tools/control_plane/assets/run/recording/keys.js";

const press = (key, more = {}) => commandOf({ key, shiftKey: false, ctrlKey: false, altKey: false, metaKey: false, ...more });

test("keys have the commands of the table, whatever the layout's shift", () => {
  assert.deepEqual(["k", " ", "ArrowLeft", ",", "x"].map((key) => press(key)), ["play", "play", "previousStep", "previousFrame", null]);
  assert.deepEqual([press("ArrowLeft", { shiftKey: true }), press("?", { shiftKey: true }), press("k", { ctrlKey: true })], ["back", "help", null]);
});

test("each key has one command, in words", () => {
  const keys = SHORTCUTS.flatMap((each) => each.keys);
  assert.equal(new Set(keys).size, keys.length);
  assert.ok(SHORTCUTS.every(({ words }) => words.length > 3));
  assert.deepEqual([keyWords("ArrowLeft"), keyWords("k")], ["←", "k"]);
});

test("rates go up and down in steps and end", () => {
  assert.deepEqual([nextRate(1, 1), nextRate(1, -1), nextRate(8, 1), nextRate(0.25, -1)], [1.5, 0.5, 8, 0.25]);
  assert.deepEqual([RATES[0], RATES.at(-1)], [0.25, 8]);
});
