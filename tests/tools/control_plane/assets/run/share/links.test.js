import assert from "node:assert/strict";
import { test } from "node:test";

import { linksOf, remaining, scopesOf, shownBy } from "../../../../../../tools/control_plane/assets/run/share/links.js";

const token = (/** @type {string} */ id, /** @type {string[]} */ ...scopes) => ({
  id,
  name: "",
  scopes,
  created_at: Number(id),
  created_by: "",
  expires_at: null,
});

test("the links of a run are those that show it and no more, newest first", () => {
  const tokens = [
    token("1", "run:a:view"),
    token("2", "run:a:conversation", "desktop:d:view"),
    token("3", "run:b:view"),
    token("4", "run:a:view", "chat:c"),
    token("5", "run:a:view", "desktop:d:control"),
    token("6", "admin"),
  ];
  assert.deepEqual(linksOf(tokens, "a").map((each) => each.id), ["2", "1"]);
});

test("a link has the scopes of what was chosen", () => {
  assert.deepEqual(scopesOf("a", { conversation: false, desktop: "" }), ["run:a:view"]);
  assert.deepEqual(scopesOf("a", { conversation: true, desktop: "d" }), ["run:a:conversation", "desktop:d:view"]);
});

test("a link is described by what it shows", () => {
  assert.equal(shownBy({ scopes: ["run:a:view"] }), "Video, steps and report");
  assert.equal(
    shownBy({ scopes: ["run:a:conversation", "desktop:d:view"] }),
    "Video, steps and report, the conversation and its files, the live view",
  );
});

test("the remaining time has its largest unit", () => {
  assert.deepEqual([604799, 7300, 3599, 10].map(remaining), ["6 d", "2 h", "59 min", "less than a minute"]);
});
