import assert from "node:assert/strict";
import { test } from "node:test";

import { childIdsOf } from "../../../../../../tools/control_plane/assets/run/conversation/children.js";

test("a spawn names its child in its result, a wait in its arguments", () => {
  const spawn = { call: { name: "spawn_agent", arguments: {} }, output: '{"chat_id": "c-1", "state": "queued"}' };
  assert.deepEqual(childIdsOf(spawn), ["c-1"]);
  assert.deepEqual(childIdsOf({ ...spawn, output: null }), []);
  const wait = { step: { tool: "wait_agent", arguments: { chat_id: "c-1", chat_ids: ["c-2", "c-1"] } }, output: null };
  assert.deepEqual(childIdsOf(wait), ["c-1", "c-2"]);
});

test("other calls have no children", () => {
  assert.deepEqual(childIdsOf({ call: { name: "execute", arguments: { chat_id: "c-1" } }, output: '{"chat_id": "c-1"}' }), []);
});
