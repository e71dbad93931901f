import assert from "node:assert/strict";
import { test } from "node:test";

import { aligned, anchors, firstDifference, following, likeness } from "../../../../../tools/control_plane/assets/compare/alignment.js";

const step = (action, args = {}, more = {}) => ({ id: "s", tool: "computer", action, arguments: args, ...more });
const click = (x) => step("left_click", { coordinate: [x, 100] });
const words = (pairs) => pairs.map(({ kind, a, b }) => `${kind} ${a}-${b}`);

test("clicks at nearly the same place are the same step", () => {
  assert.equal(likeness(click(100), click(108)), 2);
  assert.equal(likeness(click(100), click(300)), 1);
  assert.equal(likeness(click(100), step("key", { text: "a" })), 0);
  assert.equal(likeness(step(null), { tool: "computer" }), 2);
  assert.equal(likeness(click(100), { ...click(100), error: "No." }), 1);
  assert.equal(likeness(step("key", { text: "a" }), step("key", { text: "b" })), 1);
  assert.equal(likeness(step("key", { text: "a" }), step("key", { other: "a" })), 1);
  assert.equal(likeness(step("key", { text: null }), step("key", { text: [1] })), 1);
});

test("equal runs have no difference", () => {
  const pairs = aligned([click(1), click(2)], [click(1), click(2)]);
  assert.deepEqual(words(pairs), ["same 0-0", "same 1-1"]);
  assert.equal(firstDifference(pairs), -1);
  assert.deepEqual(aligned([], []), []);
});

test("a step that only one run has stands alone", () => {
  const [one, other, last] = [click(100), step("type", { text: "a" }), step("key", { text: "Return" })];
  assert.deepEqual(words(aligned([one, last], [one, other, last])), ["same 0-0", "onlyB null-1", "same 1-2"]);
  const pairs = aligned([one, other, last], [last]);
  assert.deepEqual(words(pairs), ["onlyA 0-null", "onlyA 1-null", "same 2-0"]);
  assert.equal(firstDifference(pairs), 0);
});

test("steps of the same action are compared, what is the same is found again", () => {
  const a = [click(10), click(200), step("type", { text: "Ada" }), step("wait"), step("key", { text: "x" })];
  const b = [click(400), step("scroll"), step("type", { text: "Ada" }), step("zoom"), step("key", { text: "y" })];
  assert.deepEqual(words(aligned(a, b)), [
    "changed 0-0", "onlyA 1-null", "onlyB null-1", "same 2-2", "onlyA 3-null", "onlyB null-3", "changed 4-4",
  ]);
});

test("each step is in one pair, in its order", () => {
  const kinds = ["left_click", "type", "key", "scroll"];
  const make = (seed, count) => Array.from({ length: count }, (_, i) => step(kinds[(i * seed + (i >> 2)) % 4], { n: 50 * ((i * seed) % 3) }));
  const pairs = aligned(make(3, 60), make(5, 47));
  for (const side of ["a", "b"]) {
    const indexes = pairs.map((pair) => pair[side]).filter((index) => index !== null);
    assert.deepEqual(indexes, Array.from({ length: side === "a" ? 60 : 47 }, (_, i) => i));
  }
});

test("very long runs are paired by their places", () => {
  const many = (x, count) => Array.from({ length: count }, () => click(x));
  const pairs = aligned([click(0), ...many(500, 2100)], [click(0), ...many(900, 2000)]);
  assert.equal(pairs.length, 2101);
  assert.deepEqual(words(pairs.slice(0, 2)), ["same 0-0", "changed 1-1"]);
  assert.equal(pairs.at(-1).kind, "onlyA");
  const turned = aligned([click(0), ...many(500, 2000)], [...many(900, 2100), click(500)]);
  assert.equal(turned.at(-1).kind, "same");
});

test("the videos meet at the steps of each pair", () => {
  const a = [step("key", {}, { video_start: 2 }), step("key", {}, { video_start: 6 }), step("key", {}, { video_start: null })];
  const b = [step("key", {}, { video_start: 4 }), step("key", {}, { video_start: 3 }), step("key", {}, { video_start: 8 })];
  const pairs = [{ a: 0, b: 0 }, { a: 1, b: 1 }, { a: 2, b: 2 }, { a: null, b: 2 }];
  const known = anchors(pairs, a, b, 10, 20);
  assert.deepEqual(known, [[0, 0], [2, 4], [10, 20]]);
  assert.deepEqual(following(known, 1), { at: 2, rate: 2 });
  assert.deepEqual(following(known, 2), { at: 4, rate: 2 });
  assert.deepEqual(following(known, 6), { at: 12, rate: 2 });
  assert.equal(following(known, 99).at, 20);
  assert.deepEqual(anchors([], [], [], 0, 0), [[0, 0], [0.001, 0.001]]);
});
