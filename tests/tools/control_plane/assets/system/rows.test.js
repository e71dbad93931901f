import assert from "node:assert/strict";
import { test } from "node:test";

import {
  auditRows,
  isShareLink,
  kindRows,
  nodeRows,
  peopleRows,
  runRows,
  tokenRows,
} from "../../../../../tools/control_plane/assets/system/rows.js";

test("a link of a run is a share link, and a token with more rights is not", () => {
  const scopes = (/** @type {string[]} */ ...scopes) => ({ name: "", scopes });
  assert.ok(isShareLink(scopes("run:1:view", "desktop:2:view")));
  assert.ok(!isShareLink(scopes("run:1:view", "admin")));
  assert.ok(!isShareLink(scopes("desktop:2:control")));
  assert.ok(!isShareLink(scopes()));
});

test("tokens show when they end, in UTC", () => {
  const token = { name: "", scopes: ["admin"], created_by: null, expires_at: 86_400 };
  assert.deepEqual(tokenRows([token]), [["without a name", "admin", "", "1970-01-02 00:00"]]);
  assert.equal(tokenRows([{ ...token, expires_at: null }])[0][3], "never");
});

test("disk use has sizes in words, and runs are links", () => {
  const used = [{ name: "step", files: 1200, bytes: 2_500_000 }];
  assert.deepEqual(kindRows(used), [["step", "1,200", "2.5 MB"]]);
  assert.deepEqual(runRows(used)[0][0], { run: "step" });
});

test("a person who has never signed in is shown so", () => {
  const ada = { name: "Ada", role: "member", signed_in_at: null, created_by: "owner" };
  assert.deepEqual(peopleRows([ada]), [["Ada", "member", "never", "owner"]]);
});

test("a request of the audit log has its method and path", () => {
  const record = { at: 0, actor: "owner", action: "request", subject: "c1", details: { method: "POST", path: "/x" } };
  assert.deepEqual(auditRows([record]), [["1970-01-01 00:00:00", "owner", "request: POST /x", "c1"]]);
  assert.equal(auditRows([{ ...record, details: {} }])[0][2], "request");
});

test("a node shows why it gets no desktops", () => {
  const node = { name: "n7", state: "refused", desktops: 2, places: 40, failures: 5, version: "1.0", reason: "no X" };
  assert.deepEqual(nodeRows([node]), [["n7", "refused", "2", "40", "5", "1.0", "no X"]]);
});
