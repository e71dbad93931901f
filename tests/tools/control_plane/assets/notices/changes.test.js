import assert from "node:assert/strict";
import { test } from "node:test";

import { ChatChanges } from "../../../../../tools/control_plane/assets/notices/changes.js";

const chat = (/** @type {object} */ fields) =>
  /** @type {any} */ ({ id: "1", title: "Bill", parent_id: null, mode: "computer_use", turn: 1, state: "running", ...fields });

/** @param {any[][]} lists */
function kinds(...lists) {
  const changes = new ChatChanges();
  return lists.map((chats) => changes.update(chats).map(({ id, kind }) => `${id} ${kind}`));
}

test("the first list is no news", () => {
  assert.deepEqual(kinds([chat({ state: "requires_action" })]), [[]]);
});

test("an agent that needs a person is announced once", () => {
  const asking = chat({ state: "requires_action" });
  assert.deepEqual(kinds([chat({})], [asking], [asking]), [[], ["1 needsPerson"], []]);
});

test("the end of a task is announced, and a failed one as such", () => {
  assert.deepEqual(kinds([chat({})], [chat({ state: "waiting", outcome: "done" })]), [[], ["1 ended"]]);
  assert.deepEqual(kinds([chat({})], [chat({ state: "waiting", outcome: "failed" })]), [[], ["1 failed"]]);
  assert.deepEqual(kinds([chat({})], [chat({ state: "error" })]), [[], ["1 failed"]]);
});

test("what has not worked before has not ended", () => {
  const ended = chat({ state: "waiting", outcome: "done" });
  assert.deepEqual(kinds([], [ended]), [[], []]);
});

test("a task that begins and ends between two lists is announced once", () => {
  const [old, short] = [chat({ id: "0", created_at: 5 }), chat({ created_at: 6, ended_at: 7, state: "waiting", outcome: "done" })];
  assert.deepEqual(kinds([old], [short, old], [short, old]), [[], ["1 ended"], []]);
  assert.deepEqual(kinds([], [short], [short]), [[], ["1 ended"], []]);
});

test("an older task that comes into the list is no news", () => {
  const [newer, old] = [chat({ id: "0", created_at: 8 }), chat({ created_at: 6, ended_at: 7, state: "waiting", outcome: "done" })];
  assert.deepEqual(kinds([newer], [newer, old]), [[], []]);
  // Nor is a chat that was made for callers of the tools.
  assert.deepEqual(kinds([newer], [chat({ created_at: 9, turn: 0, state: "waiting" }), newer]), [[], []]);
});

test("the end of a subagent is left to the agent that started it", () => {
  const parent = chat({ id: "0" });
  const lender = chat({ id: "0", mode: "chat", turn: 0, state: "waiting" });
  const [busy, ended] = [chat({ parent_id: "0" }), chat({ parent_id: "0", state: "waiting", outcome: "done" })];
  assert.deepEqual(kinds([parent, busy], [parent, ended]), [[], []]);
  assert.deepEqual(kinds([lender, busy], [lender, ended]), [[], ["1 ended"]]);
});
