import assert from "node:assert/strict";
import { test } from "node:test";

import { Subscriptions, pauseBefore } from "../../../../tools/control_plane/assets/subscriptions.js";

function opened() {
  /** @type {object[]} */
  const sent = [];
  const made = new Subscriptions((message) => sent.push(message));
  made.opened();
  return { made, sent };
}

test("a topic is subscribed once, however many parts of the page want it", () => {
  const { made, sent } = opened();
  const ends = [made.add("chats", {}), made.add("chats", {})];
  assert.deepEqual(sent, [{ subscribe: "chats" }]);
  ends.forEach((end) => end());
  assert.deepEqual(sent.slice(1), [{ unsubscribe: "chats" }]);
});

test("after a disconnect each topic continues behind its newest event", () => {
  const { made, sent } = opened();
  made.add("chats", {});
  made.add("desktops", {});
  made.received({ topic: "chats", kind: "status", id: "p:7" });
  made.closed();
  made.add("chat:1", {});
  sent.length = 0;
  made.opened();
  assert.deepEqual(sent, [{ subscribe: "chats", after: "p:7" }, { subscribe: "desktops" }, { subscribe: "chat:1" }]);
});

test("without an event to continue behind, the page reads again", () => {
  const { made } = opened();
  /** @type {string[]} */
  const calls = [];
  made.add("chats", { event: ({ kind }) => calls.push(kind), again: () => calls.push("again") });
  made.received({ topic: "chats", kind: "open" });
  made.received({ topic: "chats", kind: "status", id: "p:7" });
  made.received({ topic: "chats", kind: "open" });
  made.received({ topic: "chats", kind: "again", id: "p:9" });
  made.received({ topic: "chat:1", kind: "status", id: "p:10" });
  assert.deepEqual(calls, ["again", "status", "again"]);
});

test("a picture reaches the topic that is named before it", () => {
  const { made } = opened();
  /** @type {number[][]} */
  const shown = [];
  made.add("shot:d?width=64", { picture: (data) => shown.push([...data]) });
  made.receivedPicture(new Uint8Array([...new TextEncoder().encode("shot:d?width=64\n"), 255, 10, 1]));
  made.receivedPicture(new Uint8Array([...new TextEncoder().encode("shot:other\n"), 1]));
  assert.deepEqual(shown, [[255, 10, 1]]);
});

test("attempts to connect become rarer, up to one in five seconds", () => {
  assert.deepEqual([0, 1, 2, 9].map(pauseBefore), [250, 500, 1000, 5000]);
});
