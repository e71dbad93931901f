import assert from "node:assert/strict";
import { test } from "node:test";

import { chatsAfter } from "../../../../../tools/control_plane/assets/home/known_chats.js";

const CHATS = [
  { id: "a", version: 2, title: "old", state: "running" },
  { id: "b", version: 1, title: "other", state: "waiting" },
];

test("a status changes its chat and no other", () => {
  const found = chatsAfter(CHATS, { kind: "status", chat_id: "a", data: { title: "new", version: 3 } });
  assert.deepEqual(found, [{ id: "a", version: 3, title: "new", state: "running" }, CHATS[1]]);
  assert.equal(CHATS[0].title, "old");
});

test("a status that is older than what was read changes nothing", () => {
  assert.equal(chatsAfter(CHATS, { kind: "status", chat_id: "a", data: { title: "older", version: 1 } }), CHATS);
});

test("a deleted chat is left out", () => {
  assert.deepEqual(chatsAfter(CHATS, { kind: "deleted", chat_id: "a" }), [CHATS[1]]);
  assert.equal(chatsAfter(CHATS, { kind: "deleted", chat_id: "unknown" }), CHATS);
});

test("other events, and chats that were not read, change nothing", () => {
  assert.equal(chatsAfter(CHATS, { kind: "step", chat_id: "a", data: { title: "a step" } }), CHATS);
  assert.equal(chatsAfter(CHATS, { kind: "status", chat_id: "unknown", data: { version: 9 } }), CHATS);
});
