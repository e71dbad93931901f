import assert from "node:assert/strict";
import { test } from "node:test";

import { presenceOf } from "../../../../../tools/control_plane/assets/home/presence.js";

test("a person in control is named, and those who watch are counted", () => {
  const ada = { kind: "person", name: "Ada" };
  assert.deepEqual(presenceOf({ holder: ada, private: false, watchers: 2 }), ["Ada has control", "2 people watch"]);
  assert.deepEqual(presenceOf({ holder: ada, private: true, watchers: 1 }), ["Ada has control, in private", "1 person watches"]);
});

test("an agent in control, and a desktop without viewers, are not named", () => {
  assert.deepEqual(presenceOf({ holder: { kind: "chat" }, watchers: 0 }), []);
  assert.deepEqual(presenceOf({}), []);
});
