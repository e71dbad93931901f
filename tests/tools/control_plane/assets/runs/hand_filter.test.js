import assert from "node:assert/strict";
import { test } from "node:test";

import { fitting } from "../../../../../tools/control_plane/assets/runs/hand_filter.js";

/** @param {string} id @param {string} label @param {number} at @returns {any} */
const recording = (id, label, at) => ({ id, label, started_at: at, desktop: "d1", desktopName: "Desktop 1" });
const ALL = [recording("a", "Bill of May", 100), recording("b", "", 200)];

/** @param {Record<string, string>} query */
const ids = (query) => fitting(ALL, new URLSearchParams(query)).map(({ id }) => id);

test("recordings by hand fit words, days, and the choice of recordings", () => {
  assert.deepEqual(ids({}), ["b", "a"]);
  assert.deepEqual(ids({ recorded: "true", families: "true" }), ["b", "a"]);
  assert.deepEqual(ids({ q: " may  BILL " }), ["a"]);
  assert.deepEqual(ids({ q: "desktop" }), ["b", "a"]);
  assert.deepEqual(ids({ since: "150" }), ["b"]);
  assert.deepEqual(ids({ until: "200" }), ["a"]);
});

test("what only a run has excludes them", () => {
  for (const name of ["outcome", "model", "person", "needs_person", "pinned"]) {
    assert.deepEqual(ids({ [name]: "x" }), []);
  }
});
